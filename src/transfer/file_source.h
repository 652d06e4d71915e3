// Records out of files, one file after the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transfer/input_stream.h"
#include "transfer/record_parser.h"
#include "transfer/record_source.h"

namespace orrery::transfer {

struct FileOptions {
  std::optional<Format> format;  // nothing: by the name, then by the first bytes
  std::optional<Compression> compression;
  CsvOptions csv;
};

// The files that are meant: a folder is all files in it whose names say a format (all, with a
// format given), by name. `passed_over` gets the others.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths,
                                              const FileOptions& options,
                                              std::vector<std::string>& passed_over);

class FileSource final : public RecordSource {
 public:
  FileSource(std::vector<std::string> paths, FileOptions options);

  Result<Pull> pull(Record& record) override;
  void turn(int wait_ms) override;
  void passed(const Mark& mark) override;
  std::string position_json() const override;
  Status resume(const value::Node& position) override;
  std::string name_of(const Mark& mark) const override { return paths_[mark.part]; }
  std::optional<double> fraction() const override;

 private:
  Status open_next();
  // Reads on. False: nothing to read now.
  Result<bool> read_more();

  const std::vector<std::string> paths_;
  const FileOptions options_;
  std::vector<std::optional<uint64_t>> sizes_;

  size_t file_ = 0;      // the one being read
  uint64_t skip_ = 0;    // records of it that were passed before this process began
  uint64_t number_ = 0;  // records of it so far
  uint64_t stored_before_ = 0;
  std::unique_ptr<InputStream> stream_;
  std::unique_ptr<RecordParser> parser_;
  std::string chunk_;
  std::vector<ParsedRecord> ready_;
  size_t ready_at_ = 0;
  bool file_ended_ = false;
  std::optional<Error> failed_;  // told after the records before it

  Mark passed_;  // the file, and how many of its records
};

}  // namespace orrery::transfer
