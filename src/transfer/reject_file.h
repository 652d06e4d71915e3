// The file of rejected records: one JSON object a line, with where the record was, why it was
// rejected, and the record itself, or its beginning when it was too long.
//
//   {"source":"orders.csv","line":12,"reason":"it has no id: …","record":"{\"city\":\"Oslo\"}"}
//
// It is made when there is a first one. Only its owner can read it: it has data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace orrery::transfer {

// Such a line, without its end.
std::string reject_line(std::string_view source, uint64_t line, std::string_view reason,
                        std::string_view record);

class RejectFile {
 public:
  explicit RejectFile(std::string path) : path_(std::move(path)) {}

  // Code::invalid when a file of that name is there: what another run rejected stays.
  Status check_is_new() const;
  // Goes on after the first `bytes` of what a run before this one wrote.
  Status resume(uint64_t bytes);
  Status add(std::string_view line);
  // Makes what was added durable.
  Status sync();

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return bytes_; }

 private:
  Status open(bool resumed);

  std::string path_;
  FileDescriptor file_;
  uint64_t bytes_ = 0;
};

}  // namespace orrery::transfer
