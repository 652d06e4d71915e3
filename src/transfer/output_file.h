// The file, folder or standard output that an export writes, compressed.
//
// A file has the name NAME.partial until it is complete: whoever finds NAME has all of it. In a
// folder, parts of about part_bytes each (before compression) are made: part-00001.ndjson.gz, …
// A cut makes what was written so far durable and readable by itself; after a crash the file is cut
// back to the last one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "transfer/compression.h"
#include "transfer/format.h"
#include "value/document.h"

namespace orrery::transfer {

struct OutputOptions {
  std::string path;  // "-": standard output; one that ends in / or is a folder: parts in it
  Format format = Format::ndjson;
  Compression compression = Compression::none;
  uint64_t part_bytes = 256ULL << 20;
  bool overwrite = false;
};

class OutputFile {
 public:
  // Code::invalid when there is something already that may not be written over.
  static Result<OutputFile> open(OutputOptions options);
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  // Begins a file if none is begun; true: `write` is the first since.
  Result<bool> begin();
  Status write(std::string_view text);
  // Whether the file is as large as a part may be: then it should be finished.
  bool is_full() const;
  // Completes the file that was begun.
  Status finish_file();
  // Everything written so far is on the disk. Where that is: {"part":1,"bytes":123}.
  Result<std::string> cut();
  // Goes on from a cut.
  Status resume(const value::Node& position);
  // Removes the file that is not complete.
  void discard();

  bool is_standard_output() const { return options_.path == "-"; }
  uint64_t files() const { return files_; }

 private:
  explicit OutputFile(OutputOptions options);
  std::string name_of(uint64_t part) const;
  Status open_file(bool resumed);
  Status put(std::string_view bytes);

  OutputOptions options_;
  bool is_folder_ = false;
  uint64_t part_ = 1;
  uint64_t files_ = 0;  // that are complete
  bool is_begun_ = false;
  FileDescriptor file_;  // none: standard output
  std::unique_ptr<Compressor> compressor_;
  std::string buffer_;
  uint64_t plain_ = 0;   // bytes of this file before compression
  uint64_t stored_ = 0;  // bytes of this file that were written
};

}  // namespace orrery::transfer
