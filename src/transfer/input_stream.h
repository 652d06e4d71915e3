// The bytes of a file or of standard input, decompressed.
//
// Memory: a fixed buffer for each side, and the decompressor's window (128 MB at most for zstd, by
// that library's own limit). What a file expands to has no limit: it is never held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "transfer/format.h"

namespace orrery::transfer {

class Decompressor;

class InputStream {
 public:
  // "-" is standard input. Without a compression, the first bytes tell.
  static Result<std::unique_ptr<InputStream>> open(const std::string& path,
                                                   std::optional<Compression> compression);
  ~InputStream();

  enum class State : uint8_t { data, wait, end };
  // Replaces `out` with the next bytes. `wait`: a pipe has nothing to read now.
  Result<State> read(std::string& out);
  // Until a pipe has something, or its end, or the time is over.
  void wait(int wait_ms) const;

  // As stored: how many were read, and how many there are (nothing for a pipe).
  uint64_t stored_bytes_read() const { return stored_read_; }
  std::optional<uint64_t> stored_bytes() const { return stored_; }

 private:
  InputStream(std::string path, FileDescriptor file);
  Result<State> fill();

  std::string path_;
  FileDescriptor file_;  // none: standard input
  int fd_;
  std::optional<uint64_t> stored_;
  uint64_t stored_read_ = 0;
  std::optional<Compression> compression_;
  std::unique_ptr<Decompressor> decompressor_;
  std::string input_;    // as stored
  size_t input_at_ = 0;  // up to where it is used up
  bool input_ended_ = false;
};

}  // namespace orrery::transfer
