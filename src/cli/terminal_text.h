// What commands print: tables, sizes, complaints. Whatever clients wrote is escaped, so that it
// cannot control the terminal of who looks at it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/json.h"

namespace orrery::cli {

// In one line, with control characters escaped.
std::string printable(std::string_view text);
std::string size_text(double bytes);     // 1.5 MB
std::string number_text(double number);  // 1,234,567
// On standard error; returns 1, the exit code of what could not be done.
int complain(std::string_view command, const Error& error);

// Members of an object of a server's answer; 0 or empty when they are not there.
double number_in(const value::Node& object, std::string_view name);
std::string text_in(const value::Node& object, std::string_view name);

class Table {
 public:
  enum class Align : uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Cells are made printable here, and cut at `cell_max` characters, with a mark that they were.
  void add(std::vector<std::string> cells, size_t cell_max = 200);
  bool empty() const { return rows_.empty(); }
  // Lines of at most `width` characters; 0: as long as they are.
  std::string text(size_t width = 0) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Columns of the terminal that standard output is; 0 when it is none.
size_t terminal_width();
size_t terminal_height();

}  // namespace orrery::cli
