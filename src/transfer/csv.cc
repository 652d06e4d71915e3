// See csv.h.
#include "transfer/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr size_t kMaxNumberBytes = 400;
constexpr size_t kMaxDigits = 17;  // a double keeps that many at most

// The digits of a number that count: without sign, point, exponent and zeros at either end.
std::string significant_digits(std::string_view number) {
  std::string digits;
  for (const char c : number) {
    if (c == 'e' || c == 'E') break;
    if (c >= '0' && c <= '9') digits += c;
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  while (!digits.empty() && digits.back() == '0') digits.pop_back();
  return digits;
}

// Whether the text is a number in JSON, all of whose digits a double keeps.
bool is_exact_number(std::string_view text) {
  if (text.empty() || text.size() > kMaxNumberBytes) return false;
  const char first = text.front();
  if (first != '-' && (first < '0' || first > '9')) return false;
  if (text.find_first_of(" \t\r\n") != std::string_view::npos) return false;
  auto parsed = JsonDocument::parse(text);
  if (!parsed || parsed->root().type != Type::number) return false;
  const std::string digits = significant_digits(text);
  if (digits.size() <= 15) return true;
  if (digits.size() > kMaxDigits) return false;
  std::string printed;
  value::append_json_number(printed, parsed->root().number);
  return significant_digits(printed) == digits;
}

// The text as minified JSON of any type; empty when it is none.
std::string whole_json(std::string_view text) {
  auto parsed = JsonDocument::parse(text);
  return parsed ? std::string(parsed->text()) : std::string();
}

bool may_be_json(std::string_view text) {
  return !text.empty() && (text.front() == '{' || text.front() == '[' || text.front() == '"');
}

Result<std::string> detected(const Cell& cell) {
  const std::string& text = cell.text;
  if (cell.quoted) {
    if (may_be_json(text)) {
      if (std::string json = whole_json(text); !json.empty()) return json;
    }
    return value::quoted(text);
  }
  if (text.empty() || text == "null" || text == "true" || text == "false") return text;
  if (is_exact_number(text)) return text;
  return value::quoted(text);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

// A tree of properties to be written as JSON; keeps the order in which they come.
struct Object {
  std::vector<std::string> names;
  std::map<std::string, std::pair<std::string, std::unique_ptr<Object>>> members;
};

Status put(Object& object, std::string_view path, std::string json, bool nested, int depth) {
  const size_t dot = nested ? path.find('.') : std::string_view::npos;
  const std::string name(path.substr(0, dot));
  auto [found, is_new] = object.members.try_emplace(name);
  auto& [text, inner] = found->second;
  if (is_new) object.names.push_back(name);
  if (dot == std::string_view::npos) {
    if (!is_new) return fail(Code::invalid, fmt::format("two columns give '{}'", name));
    text = std::move(json);
    return {};
  }
  if (!text.empty() || depth >= value::kMaxDepth) {
    return fail(Code::invalid,
                fmt::format("'{}' is a value, and cannot have properties as well", name));
  }
  if (!inner) inner = std::make_unique<Object>();
  return put(*inner, path.substr(dot + 1), std::move(json), nested, depth + 1);
}

void append(std::string& out, const Object& object) {
  out += '{';
  bool first = true;
  for (const std::string& name : object.names) {
    const auto& [text, inner] = object.members.at(name);
    if (!first) out += ',';
    first = false;
    value::append_json_string(out, name);
    out += ':';
    if (inner) {
      append(out, *inner);
    } else {
      out += text;
    }
  }
  out += '}';
}

Status collect(const Node& object, const std::string& prefix, bool nested,
               std::vector<Column>& found) {
  for (const Node* member = object.first; member != nullptr; member = member->next) {
    if (nested && member->name.find('.') != std::string_view::npos) {
      return fail(Code::invalid,
                  fmt::format("the property '{}{}' has a dot in its name, which would be read as "
                              "an object: export without --nested",
                              prefix, member->name));
    }
    std::string name = prefix + std::string(member->name);
    // An empty object has no columns: it is a cell of its own.
    if (nested && member->type == Type::object && member->count > 0) {
      if (auto inner = collect(*member, name + ".", nested, found); !inner) return inner;
    } else {
      found.push_back({.name = std::move(name), .node = member});
    }
  }
  return {};
}

}  // namespace

Result<std::string> cell_json(const Cell& cell, CellType type) {
  if (type == CellType::detect) return detected(cell);
  if (cell.text.empty() && !cell.quoted) return std::string();
  switch (type) {
    case CellType::string:
      return value::quoted(cell.text);
    case CellType::number: {
      auto parsed = JsonDocument::parse(cell.text);
      if (parsed && parsed->root().type == Type::number) return std::string(parsed->text());
      return fail(Code::invalid, "is not a number");
    }
    case CellType::boolean:
      if (cell.text == "true" || cell.text == "false") return cell.text;
      return fail(Code::invalid, "is neither true nor false");
    case CellType::json:
    case CellType::detect:
      break;
  }
  std::string json = whole_json(cell.text);
  if (json.empty()) return fail(Code::invalid, "is not JSON");
  return json;
}

void append_cell(std::string& out, const Node* node, char delimiter) {
  (void)delimiter;  // everything that may have one is quoted
  if (node == nullptr) return;
  switch (node->type) {
    case Type::string:
      // A string that would be read as JSON is written as the JSON string that it is.
      append_quoted(
          out, may_be_json(node->text) && !whole_json(node->text).empty() ? node->raw : node->text);
      return;
    case Type::object:
    case Type::array:
      append_quoted(out, node->raw);
      return;
    case Type::number:
      // Digits that a double does not keep are left out, or it would be read as a string.
      if (is_exact_number(node->raw)) break;
      value::append_json_number(out, node->number);
      return;
    default:
      break;
  }
  out += node->raw;
}

void append_name_cell(std::string& out, std::string_view name, char delimiter) {
  const std::string special = {delimiter, '"', '\r', '\n'};
  if (name.empty() || name.find_first_of(special) != std::string_view::npos ||
      name.front() == ' ' || name.back() == ' ') {
    append_quoted(out, name);
  } else {
    out += name;
  }
}

Result<std::string> object_of_cells(const std::vector<Cell>& cells,
                                    const std::vector<std::string>& columns,
                                    const std::vector<CellType>& types, bool nested) {
  if (cells.size() != columns.size()) {
    return fail(Code::invalid, fmt::format("the record has {} cells, and there are {} columns",
                                           cells.size(), columns.size()));
  }
  Object object;
  for (size_t i = 0; i < cells.size(); ++i) {
    auto json = cell_json(cells[i], types[i]);
    if (!json) {
      return fail(Code::invalid,
                  fmt::format("the cell of column '{}' {}", columns[i], json.error().message));
    }
    if (json->empty()) continue;
    if (auto done = put(object, columns[i], std::move(*json), nested, 1); !done) {
      return pass(done.error());
    }
  }
  std::string out;
  append(out, object);
  return out;
}

Result<std::vector<Column>> columns_of(const Node& object, bool nested) {
  std::vector<Column> found;
  if (auto done = collect(object, "", nested, found); !done) return pass(done.error());
  return found;
}

}  // namespace orrery::transfer
