// Bytes of a file to records, piece by piece: the same records however the bytes are cut.
//
// Memory: at most one record is kept, and of that kRecordBytesMax. Longer ones are passed over and
// come out as rejected, with their beginning. Input from outside. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "transfer/format.h"

namespace orrery::transfer {

struct ParsedRecord {
  std::string text;    // JSON; of a rejected one what was there, or its beginning
  std::string reason;  // why it is rejected; empty: it is not
  uint64_t line = 0;   // where it begins, from 1
};

class RecordParser {
 public:
  virtual ~RecordParser() = default;
  // Appends the records that are complete. An error means that what follows cannot be read.
  virtual Status feed(std::string_view bytes, std::vector<ParsedRecord>& out) = 0;
  // After the last byte: what is left, or what is missing.
  virtual Status finish(std::vector<ParsedRecord>& out) = 0;
};

// One JSON value a line; empty lines are nothing.
std::unique_ptr<RecordParser> make_ndjson_parser();
// One array, whose elements are the records. White space may be anywhere.
std::unique_ptr<RecordParser> make_array_parser();
// See csv.h for what cells mean.
std::unique_ptr<RecordParser> make_csv_parser(CsvOptions options);

std::unique_ptr<RecordParser> make_parser(Format format, const CsvOptions& csv);

// The text of one record while it grows: no more than the limit is kept.
class RecordText {
 public:
  void add(std::string_view bytes) {
    size_ += bytes.size();
    if (size_ <= kRecordBytesMax) {
      text_ += bytes;
    } else if (text_.size() > kExcerptBytes) {
      text_.resize(kExcerptBytes);
      text_.shrink_to_fit();
    }
  }
  bool is_empty() const { return size_ == 0; }
  bool is_too_long() const { return size_ > kRecordBytesMax; }
  std::string_view view() const { return text_; }
  // As a record, and begins the next one.
  ParsedRecord take(uint64_t line);

 private:
  std::string text_;
  size_t size_ = 0;
};

}  // namespace orrery::transfer
