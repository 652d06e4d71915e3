// See path.h. A step is everything up to the next /, or a name in double or single quotes in which
// a backslash stands before a quote or a backslash that belongs to the name.
#include "value/path.h"

#include <algorithm>

namespace orrery::value {

namespace {

constexpr size_t kMaxPathBytes = 4096;
constexpr size_t kMaxPathSteps = kMaxDepth;

constexpr std::string_view kAnyElement = "[]";
constexpr std::string_view kValueTail = "?";
constexpr std::string_view kSubtreeTail = "*";

struct Token {
  std::string name;
  bool quoted = false;

  bool is(std::string_view mark) const { return !quoted && name == mark; }
};

std::unexpected<Error> fail_at(std::string_view text, size_t offset, std::string_view what) {
  return fail(Code::invalid, "the path '" + std::string(text) + "' is wrong at offset " +
                                 std::to_string(offset) + ": " + std::string(what));
}

std::unexpected<Error> too_long(size_t bytes) {
  return fail(Code::invalid, "a path of " + std::to_string(bytes) + " bytes is over the limit of " +
                                 std::to_string(kMaxPathBytes));
}

// The name in quotes that starts at `offset`; leaves `offset` after the closing quote.
Result<std::string> take_quoted(std::string_view text, size_t& offset) {
  const size_t start = offset;
  const char quote = text[offset++];
  std::string name;
  while (offset < text.size()) {
    const char c = text[offset];
    if (c == quote) {
      ++offset;
      return name;
    }
    if (c == '\\') {
      ++offset;
      if (offset == text.size() ||
          std::string_view("\"'\\").find(text[offset]) == std::string_view::npos) {
        return fail_at(text, offset - 1, "a backslash must be followed by a quote or a backslash");
      }
    }
    name.push_back(text[offset++]);
  }
  return fail_at(text, start, "the quote is not closed");
}

Result<std::vector<Token>> split(std::string_view text) {
  if (text.size() > kMaxPathBytes) return too_long(text.size());
  if (text.empty() || text.front() != '/') {
    return fail(Code::invalid, "the path '" + std::string(text) + "' must start with /");
  }
  std::vector<Token> tokens;
  size_t offset = 0;
  while (offset < text.size()) {
    if (text[offset] != '/') return fail_at(text, offset, "expected / after a quoted name");
    ++offset;
    if (tokens.size() == kMaxPathSteps) {
      return fail_at(text, offset,
                     "more than " + std::to_string(kMaxPathSteps) + " steps are not allowed");
    }
    Token token;
    if (offset < text.size() && (text[offset] == '"' || text[offset] == '\'')) {
      auto name = take_quoted(text, offset);
      if (!name) return pass(std::move(name.error()));
      token = {.name = std::move(*name), .quoted = true};
    } else {
      const size_t end = std::min(text.find('/', offset), text.size());
      if (end == offset) return fail_at(text, offset, "expected a property name");
      token.name = text.substr(offset, end - offset);
      offset = end;
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

bool is_plain(std::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-' || c == '$';
    if (!plain) return false;
  }
  return true;
}

}  // namespace

Result<Path> parse_property_path(std::string_view text) {
  auto tokens = split(text);
  if (!tokens) return pass(std::move(tokens.error()));
  Path path;
  for (Token& token : *tokens) {
    if (token.is(kAnyElement) || token.is(kValueTail) || token.is(kSubtreeTail)) {
      return fail(Code::invalid, "the path '" + std::string(text) +
                                     "' must name one property: put " + token.name +
                                     " in double quotes if it is part of a name");
    }
    path.steps.push_back({.name = std::move(token.name)});
  }
  // Paths are kept as they are printed, with quotes and escapes: that must be read again.
  if (const size_t bytes = to_string(path).size(); bytes > kMaxPathBytes) return too_long(bytes);
  return path;
}

Result<IndexPath> parse_index_path(std::string_view text) {
  auto tokens = split(text);
  if (!tokens) return pass(std::move(tokens.error()));
  IndexPath index;
  if (tokens->back().is(kValueTail)) {
    index.tail = Tail::value;
  } else if (tokens->back().is(kSubtreeTail)) {
    index.tail = Tail::subtree;
  } else {
    return fail(Code::invalid, "the index path '" + std::string(text) +
                                   "' must end with /? (this value) or /* (everything below)");
  }
  tokens->pop_back();
  for (Token& token : *tokens) {
    if (token.is(kValueTail) || token.is(kSubtreeTail)) {
      return fail(Code::invalid, "the index path '" + std::string(text) + "' may have " +
                                     token.name + " only at its end");
    }
    if (token.is(kAnyElement)) {
      index.path.steps.push_back({.name = {}, .array = true});
    } else {
      index.path.steps.push_back({.name = std::move(token.name)});
    }
  }
  if (const size_t bytes = to_string(index).size(); bytes > kMaxPathBytes) return too_long(bytes);
  return index;
}

std::string to_string(const Path& path) {
  std::string out;
  for (const Path::Step& step : path.steps) {
    out.push_back('/');
    if (step.array) {
      out.append(kAnyElement);
    } else if (is_plain(step.name)) {
      out.append(step.name);
    } else {
      out.push_back('"');
      for (const char c : step.name) {
        if (c == '"' || c == '\\') out.push_back('\\');
        out.push_back(c);
      }
      out.push_back('"');
    }
  }
  return out;
}

std::string to_string(const IndexPath& index) {
  return to_string(index.path) + (index.tail == Tail::value ? "/?" : "/*");
}

const Node* find(const Node& root, const Path& path) {
  const Node* node = &root;
  for (const Path::Step& step : path.steps) {
    if (step.array) return nullptr;
    node = node->find(step.name);
    if (node == nullptr) return nullptr;
  }
  return node;
}

}  // namespace orrery::value
