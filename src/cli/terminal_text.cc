// See terminal_text.h.
#include "cli/terminal_text.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"

namespace orrery::cli {
namespace {

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
}

// In characters; wide ones count as one.
size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, starts_character));
}

std::string cut(std::string_view text, size_t characters) {
  if (width_of(text) <= characters) return std::string(text);
  size_t at = 0;
  for (size_t seen = 0; at < text.size(); ++at) {
    if (starts_character(text[at]) && ++seen >= characters) break;
  }
  return std::string(text.substr(0, at)) + "…";
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

std::string size_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string number_text(double number) {
  std::string digits = fmt::format("{:.0f}", std::abs(number));
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return (number < 0 ? "-" : "") + digits;
}

int complain(std::string_view command, const Error& error) {
  fmt::print(stderr, "orrery {}: {}\n", command, printable(error.message));
  return 1;
}

double number_in(const value::Node& object, std::string_view name) {
  const value::Node* member = object.find(name);
  return member == nullptr || member->type != value::Type::number ? 0 : member->number;
}

std::string text_in(const value::Node& object, std::string_view name) {
  const value::Node* member = object.find(name);
  return member == nullptr || member->type != value::Type::string ? "" : std::string(member->text);
}

void Table::add(std::vector<std::string> cells, size_t cell_max) {
  cells.resize(columns_.size());
  for (std::string& cell : cells) cell = cut(printable(cell), cell_max);
  rows_.push_back(std::move(cells));
}

std::string Table::text(size_t width) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = width_of(columns_[i].title);
    for (const auto& row : rows_) widest = std::max(widest, width_of(row[i]));
    widths.push_back(widest);
  }
  std::string out;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string padding(widths[i] - width_of(cell), ' ');
      if (i > 0) line += "  ";
      line += columns_[i].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += (width > 0 ? cut(line, width) : line) + "\n";
  };
  add_line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](size_t i) -> const std::string& { return row[i]; });
  return out;
}

size_t terminal_width() {
  winsize size{};
  return ::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
             ? size.ws_col
             : 0;
}

size_t terminal_height() {
  winsize size{};
  return ::isatty(STDOUT_FILENO) != 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0
             ? size.ws_row
             : 0;
}

}  // namespace orrery::cli
