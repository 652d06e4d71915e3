// The parser of CSV (RFC 4180): cells between delimiters, quoted ones with "" for a quote and with
// line ends inside; lines end with LF or CRLF. The first record names the columns, unless they are
// given.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "transfer/csv.h"
#include "transfer/record_parser.h"

namespace orrery::transfer {
namespace {

class CsvParser final : public RecordParser {
 public:
  explicit CsvParser(CsvOptions options) : options_(std::move(options)) {
    if (!options_.columns.empty()) columns_ = options_.columns;
  }

  Status feed(std::string_view bytes, std::vector<ParsedRecord>& out) override {
    if (Status ready = check_columns(); !ready) return ready;
    for (const char c : bytes) {
      if (Status done = take(c, out); !done) return done;
    }
    return {};
  }

  Status finish(std::vector<ParsedRecord>& out) override {
    if (Status ready = check_columns(); !ready) return ready;
    if (state_ == State::quoted) {
      ParsedRecord cut = raw_.take(begin_line_);
      cut.reason = "the file ends inside of a quoted cell";
      out.push_back(std::move(cut));
      return fail(Code::invalid,
                  fmt::format("the file ends inside of a quoted cell that begins in line {}: it "
                              "is cut off, or a quote is missing",
                              begin_line_));
    }
    if (!raw_.is_empty()) {
      if (Status done = end_record(out); !done) return done;
    }
    if (columns_.empty()) {
      return fail(Code::invalid, "the file is empty: there is no header with names of columns");
    }
    return {};
  }

 private:
  enum class State : uint8_t { cell_begin, plain, quoted, quote_in_quoted, after_return };

  Status take(char c, std::vector<ParsedRecord>& out) {
    if (mark_at_ < 3) {
      if (c == "\xef\xbb\xbf"[mark_at_]) {
        ++mark_at_;
        return {};
      }
      mark_at_ = 3;
    }
    if (state_ == State::after_return) {
      state_ = State::cell_begin;
      if (c == '\n') {
        ++line_;
        begin_line_ = line_;
        return {};
      }
    }
    if (state_ == State::quoted) {
      if (c == '\n') ++line_;
      raw_.add({&c, 1});
      if (c == '"') {
        state_ = State::quote_in_quoted;
      } else {
        add_to_cell(c);
      }
      return {};
    }
    if (c == '\n' || c == '\r') {
      if (Status done = end_record(out); !done) return done;
      if (c == '\n') ++line_;
      begin_line_ = line_;
      state_ = c == '\r' ? State::after_return : State::cell_begin;
      return {};
    }
    raw_.add({&c, 1});
    if (c == options_.delimiter) {
      end_cell();
      state_ = State::cell_begin;
      return {};
    }
    if (c == '"' && state_ == State::cell_begin) {
      cell_.quoted = true;
      state_ = State::quoted;
      return {};
    }
    if (state_ == State::quote_in_quoted) {
      if (c == '"') {
        add_to_cell(c);
        state_ = State::quoted;
        return {};
      }
      problem_ = "there is text after a quoted cell, before the next delimiter";
    }
    add_to_cell(c);
    state_ = State::plain;
    return {};
  }

  void add_to_cell(char c) {
    if (!raw_.is_too_long()) {
      cell_.text += c;
    } else {
      cell_.text.clear();
      cells_.clear();
    }
  }

  void end_cell() {
    if (cells_.size() < kColumnsMax + 1 && !raw_.is_too_long()) cells_.push_back(std::move(cell_));
    cell_ = {};
  }

  Status end_record(std::vector<ParsedRecord>& out) {
    if (raw_.is_empty()) return {};  // an empty line
    end_cell();
    std::vector<Cell> cells = std::exchange(cells_, {});
    std::string problem = std::exchange(problem_, {});
    ParsedRecord record = raw_.take(begin_line_);
    if (columns_.empty()) return take_header(std::move(cells), record, problem);
    if (record.reason.empty()) record.reason = std::move(problem);
    if (record.reason.empty()) {
      auto object = object_of_cells(cells, columns_, types_, options_.nested);
      if (object) {
        record.text = std::move(*object);
      } else {
        record.reason = object.error().message;
      }
    }
    out.push_back(std::move(record));
    return {};
  }

  Status take_header(std::vector<Cell> cells, const ParsedRecord& record,
                     const std::string& problem) {
    if (!record.reason.empty() || !problem.empty()) {
      return fail(Code::invalid, fmt::format("the header with the names of columns is damaged: {}",
                                             problem.empty() ? record.reason : problem));
    }
    for (Cell& cell : cells) columns_.push_back(std::move(cell.text));
    return check_columns();
  }

  // Once there are columns: that they can be used, and the type of each.
  Status check_columns() {
    if (columns_.empty() || !types_.empty()) return {};
    std::set<std::string_view> seen;
    for (const std::string& column : columns_) {
      if (column.empty()) return fail(Code::invalid, "a column has no name");
      if (!seen.insert(column).second) {
        return fail(Code::invalid, fmt::format("there are two columns '{}'", column));
      }
      const auto type = options_.types.find(column);
      types_.push_back(type == options_.types.end() ? CellType::detect : type->second);
    }
    if (columns_.size() > kColumnsMax) {
      return fail(Code::invalid, fmt::format("there are more than {} columns", kColumnsMax));
    }
    for (const auto& [name, type] : options_.types) {
      if (!seen.contains(name)) {
        return fail(Code::invalid,
                    fmt::format("--types names the column '{}', which is not there", name));
      }
    }
    return {};
  }

  CsvOptions options_;
  std::vector<std::string> columns_;
  std::vector<CellType> types_;
  State state_ = State::cell_begin;
  size_t mark_at_ = 0;
  RecordText raw_;
  Cell cell_;
  std::vector<Cell> cells_;
  std::string problem_;
  uint64_t line_ = 1;
  uint64_t begin_line_ = 1;
};

}  // namespace

std::unique_ptr<RecordParser> make_csv_parser(CsvOptions options) {
  return std::make_unique<CsvParser>(std::move(options));
}

}  // namespace orrery::transfer
