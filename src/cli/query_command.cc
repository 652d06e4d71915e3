// See query_command.h. Rows are written page by page as they come: memory is that of one page. The
// columns of a table and of CSV are those of the first page; a row that has others later is an
// error of the command, told at its end, and never a silent loss.
#include "cli/query_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>

#include "cli/account_client.h"
#include "cli/terminal_text.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

using value::Node;
using value::Type;

constexpr size_t kMaxQueryBytes = 1U << 20;
constexpr size_t kMaxColumns = 200;

// JSON if it is some, else a text: --key Berlin and --key 42 both mean what they seem to.
std::string json_or_text(const std::string& text) {
  auto document = value::JsonDocument::parse(text);
  return document ? std::string(document->root().raw) : value::quoted(text);
}

Result<std::string> parameters_json(const std::vector<std::string>& parameters) {
  std::string json = "[";
  for (const std::string& one : parameters) {
    const size_t equals = one.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return fail(
          Code::invalid,
          fmt::format("--param '{}' is not of the form NAME=VALUE, such as city=Berlin", one));
    }
    const std::string name = (one[0] == '@' ? "" : "@") + one.substr(0, equals);
    json += fmt::format(R"({}{{"name":{},"value":{}}})", json.size() > 1 ? "," : "",
                        value::quoted(name), json_or_text(one.substr(equals + 1)));
  }
  return json + "]";
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of("\",\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

class Writer {
 public:
  Writer(std::string format, uint64_t rows_max) : format_(std::move(format)), rows_max_(rows_max) {}

  bool is_full() const { return rows_ >= rows_max_; }
  // False: not all of them, since that would be too many.
  bool add_page(const Node* first) {
    if (format_ == "json") return add_json(first);
    if (columns_.empty()) find_columns(first);
    if (columns_.empty()) return true;
    std::vector<Table::Column> heads;
    for (const std::string& name : columns_) heads.push_back({printable(name)});
    Table table(std::move(heads));
    std::string csv;
    if (rows_ == 0) csv += line_of(columns_);
    const Node* row = first;
    for (; row != nullptr && !is_full(); row = row->next, ++rows_) {
      std::vector<std::string> cells = cells_of(*row);
      if (format_ == "csv") {
        csv += line_of(cells);
      } else {
        table.add(std::move(cells), kCellMax);
      }
    }
    fmt::print("{}", format_ == "csv" ? csv : table.text(terminal_width()));
    return row == nullptr;
  }

  void finish() {
    if (format_ == "json") fmt::print("{}]\n", rows_ == 0 ? "[" : "\n");
  }
  uint64_t rows() const { return rows_; }
  const std::set<std::string>& columns_left_out() const { return left_out_; }

 private:
  static constexpr size_t kCellMax = 60;
  static constexpr const char* kOnly = "value";  // the column of rows that are no objects

  bool add_json(const Node* first) {
    std::string out;
    const Node* row = first;
    for (; row != nullptr && !is_full(); row = row->next, ++rows_) {
      out += fmt::format("{}{}", rows_ == 0 ? "[\n" : ",\n", row->raw);
    }
    fmt::print("{}", out);
    return row == nullptr;
  }

  void find_columns(const Node* first) {
    for (const Node* row = first; row != nullptr; row = row->next) {
      if (row->type != Type::object) {
        note_column(kOnly);
        continue;
      }
      for (const Node* member = row->first; member != nullptr; member = member->next) {
        note_column(std::string(member->name));
      }
    }
  }

  void note_column(std::string name) {
    if (std::ranges::find(columns_, name) != columns_.end()) return;
    if (columns_.size() < kMaxColumns) {
      columns_.push_back(std::move(name));
    } else {
      left_out_.insert(std::move(name));
    }
  }

  std::vector<std::string> cells_of(const Node& row) {
    std::vector<std::string> cells(columns_.size());
    const auto put = [&](std::string_view name, const Node& value) {
      const auto column = std::ranges::find(columns_, name);
      if (column == columns_.end()) {
        if (left_out_.size() < kMaxColumns) left_out_.emplace(name);
        return;
      }
      cells[static_cast<size_t>(column - columns_.begin())] =
          value.type == Type::string ? std::string(value.text) : std::string(value.raw);
    };
    if (row.type != Type::object) {
      put(kOnly, row);
    } else {
      for (const Node* member = row.first; member != nullptr; member = member->next)
        put(member->name, *member);
    }
    return cells;
  }

  static std::string line_of(const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) line += (i > 0 ? "," : "") + csv_cell(cells[i]);
    return line + "\r\n";
  }

  const std::string format_;
  const uint64_t rows_max_;
  std::vector<std::string> columns_;
  std::set<std::string> left_out_;
  uint64_t rows_ = 0;
};

}  // namespace

int query(const ServerAddress& server, const QueryOptions& options) {
  auto name = client::parse_container_name(options.container);
  if (!name) return complain("query", name.error());
  const std::string format = !options.format.empty()        ? options.format
                             : ::isatty(STDOUT_FILENO) != 0 ? "table"
                                                            : "json";
  if (format != "table" && format != "json" && format != "csv") {
    return complain("query", {Code::invalid,
                              fmt::format("--format '{}' is not one of table, json, csv", format)});
  }
  auto parameters = parameters_json(options.parameters);
  if (!parameters) return complain("query", parameters.error());
  std::string text = options.text;
  if (text == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    if (text.size() > kMaxQueryBytes)
      return complain("query", {Code::too_large, "the query is longer than 1 MB"});
  }
  auto client = open_account(server);
  if (!client) return complain("query", client.error());
  QueryPages::Query asked{
      .name = *name, .text = std::move(text), .parameters_json = *parameters, .key_json = {}};
  if (!options.key.empty()) {
    const std::string key = json_or_text(options.key);
    asked.key_json = key.starts_with('[') ? key : "[" + key + "]";
  }
  QueryPages pages(**client, std::move(asked));
  Writer writer(format, options.count == 0 ? UINT64_MAX : options.count);
  bool more = false;
  while (!pages.at_end() && !more) {
    auto page = pages.next();
    if (!page) {
      writer.finish();
      return complain("query", page.error());
    }
    more = !writer.add_page(rows_of(*page)->first) || (writer.is_full() && !pages.at_end());
  }
  writer.finish();
  if (std::fflush(stdout) != 0)
    return complain("query", {Code::internal, "the output could not be written"});
  if (format == "table") {
    fmt::print(stderr, "{} row{}, {:.2f} RU{}\n", number_text(static_cast<double>(writer.rows())),
               writer.rows() == 1 ? "" : "s", pages.charge(), more ? "; there are more" : "");
  }
  if (!writer.columns_left_out().empty()) {
    return complain(
        "query",
        {Code::invalid, fmt::format("rows after the first thousand have more columns, which were "
                                    "left out: {}. Use --format json",
                                    fmt::join(writer.columns_left_out(), ", "))});
  }
  return 0;
}

}  // namespace orrery::cli
