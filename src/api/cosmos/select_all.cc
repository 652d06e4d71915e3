// See select_all.h.
#include "api/cosmos/select_all.h"

#include "base/bytes.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Takes the next word, or single other character, off the front; empty at the end.
std::string_view take_token(std::string_view& text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  size_t size = 0;
  while (size < text.size() && is_name(text[size])) ++size;
  if (size == 0 && !text.empty()) size = 1;
  const std::string_view token = text.substr(0, size);
  text.remove_prefix(size);
  return token;
}

bool matches(std::string_view query) {
  if (!equals_ignore_case(take_token(query), "select")) return false;
  if (take_token(query) != "*") return false;
  if (!equals_ignore_case(take_token(query), "from")) return false;
  const std::string_view name = take_token(query);
  if (name.empty() || !is_name(name.front()) || (name.front() >= '0' && name.front() <= '9')) {
    return false;
  }
  return take_token(query).empty();
}

}  // namespace

Result<bool> is_select_all(std::string_view body) {
  // What is not JSON is the text of a query, as very old clients send it.
  auto document = value::JsonDocument::parse(body);
  if (!document) return matches(body);
  const value::Node& root = document->root();
  const value::Node* query = root.type == value::Type::object ? root.find("query") : &root;
  if (query == nullptr || query->type != value::Type::string) {
    return fail(Code::invalid,
                "the body has no query: send {\"query\":\"SELECT * FROM c\"}, with "
                "\"parameters\":[…] if it names some");
  }
  return matches(query->text);
}

}  // namespace orrery::cosmos
