// The parsers of NDJSON and of arrays. They find where records begin and end; whether what is
// between is JSON is found out later, record by record.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "transfer/record_parser.h"

namespace orrery::transfer {

ParsedRecord RecordText::take(uint64_t line) {
  ParsedRecord record;
  record.line = line;
  if (is_too_long()) {
    record.reason =
        fmt::format("the record has {} bytes, which is more than {}", size_, kRecordBytesMax);
  }
  record.text = std::move(text_);
  text_.clear();
  size_ = 0;
  return record;
}

namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr std::string_view kMark = "\xef\xbb\xbf";  // of UTF-8, at the beginning of some files

bool is_space(char c) {
  return kSpace.find(c) != std::string_view::npos;
}

// Passes over a mark at the very beginning, which may come in pieces.
class MarkSkipper {
 public:
  std::string_view rest(std::string_view bytes) {
    while (at_ < kMark.size() && !bytes.empty() && bytes.front() == kMark[at_]) {
      bytes.remove_prefix(1);
      ++at_;
    }
    if (!bytes.empty()) at_ = kMark.size();
    return bytes;
  }

 private:
  size_t at_ = 0;
};

class NdjsonParser final : public RecordParser {
 public:
  Status feed(std::string_view bytes, std::vector<ParsedRecord>& out) override {
    bytes = mark_.rest(bytes);
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      text_.add(bytes.substr(0, end));
      if (end == std::string_view::npos) break;
      take(out);
      bytes.remove_prefix(end + 1);
    }
    return {};
  }

  Status finish(std::vector<ParsedRecord>& out) override {
    take(out);
    return {};
  }

 private:
  void take(std::vector<ParsedRecord>& out) {
    ParsedRecord record = text_.take(line_++);
    const bool blank = record.text.find_first_not_of(kSpace) == std::string::npos;
    if (!blank || !record.reason.empty()) out.push_back(std::move(record));
  }

  MarkSkipper mark_;
  RecordText text_;
  uint64_t line_ = 1;
};

class ArrayParser final : public RecordParser {
 public:
  Status feed(std::string_view bytes, std::vector<ParsedRecord>& out) override {
    bytes = mark_.rest(bytes);
    size_t from = 0;  // of what is not yet in text_, inside of an element
    for (size_t at = 0; at < bytes.size(); ++at) {
      const char c = bytes[at];
      if (c == '\n') ++line_;
      switch (state_) {
        case State::before:
          if (is_space(c)) break;
          if (c != '[') {
            return fail(Code::invalid,
                        fmt::format("line {}: the file is not a JSON array: it begins with {}",
                                    line_, c == '{' ? "'{' (is it ndjson?)" : "something else"));
          }
          state_ = State::first;
          break;
        case State::first:
        case State::next:
          if (is_space(c)) break;
          if (c == ']' && state_ == State::first) {
            state_ = State::after;
            break;
          }
          begin_line_ = line_;
          from = at;
          depth_ = 0;
          state_ = State::element;
          [[fallthrough]];
        case State::element:
          if (!ends_element(bytes, at)) break;
          text_.add(bytes.substr(from, at - from));
          out.push_back(text_.take(begin_line_));
          state_ = bytes[at] == ',' ? State::next : State::after;
          break;
        case State::text:
          if (c == '"') state_ = State::element;
          if (c == '\\') state_ = State::escape;
          break;
        case State::escape:
          state_ = State::text;
          break;
        case State::after:
          if (is_space(c)) break;
          return fail(Code::invalid,
                      fmt::format("line {}: there is more after the end of the array", line_));
      }
    }
    if (in_element()) text_.add(bytes.substr(from));
    return {};
  }

  Status finish(std::vector<ParsedRecord>& out) override {
    if (state_ == State::after) return {};
    if (in_element()) {
      ParsedRecord cut = text_.take(begin_line_);
      cut.reason = "the file ends in the middle of this record";
      out.push_back(std::move(cut));
    }
    return fail(Code::invalid, state_ == State::before
                                   ? std::string("the file is empty: there is no JSON array in it")
                                   : fmt::format("the file ends at line {} before the array does: "
                                                 "it is cut off",
                                                 line_));
  }

 private:
  enum class State : uint8_t {
    before,   // the array begins
    first,    // after '[': an element or ']'
    next,     // after ',': an element
    element,  // inside of one, outside of texts
    text,
    escape,  // after a backslash in a text
    after,   // the array is complete
  };

  bool in_element() const {
    return state_ == State::element || state_ == State::text || state_ == State::escape;
  }

  // Whether the element ends before this byte, which is then ',' or ']'.
  bool ends_element(std::string_view bytes, size_t at) {
    switch (bytes[at]) {
      case '"':
        state_ = State::text;
        return false;
      case '{':
      case '[':
        ++depth_;
        return false;
      case '}':
        if (depth_ > 0) --depth_;
        return false;
      case ']':
        if (depth_ == 0) return true;
        --depth_;
        return false;
      case ',':
        return depth_ == 0;
      default:
        return false;
    }
  }

  MarkSkipper mark_;
  RecordText text_;
  State state_ = State::before;
  uint64_t depth_ = 0;
  uint64_t line_ = 1;
  uint64_t begin_line_ = 1;
};

}  // namespace

std::unique_ptr<RecordParser> make_ndjson_parser() {
  return std::make_unique<NdjsonParser>();
}

std::unique_ptr<RecordParser> make_array_parser() {
  return std::make_unique<ArrayParser>();
}

std::unique_ptr<RecordParser> make_parser(Format format, const CsvOptions& csv) {
  switch (format) {
    case Format::array:
      return make_array_parser();
    case Format::ndjson:
      return make_ndjson_parser();
    case Format::csv:
      break;
  }
  return make_csv_parser(csv);
}

}  // namespace orrery::transfer
