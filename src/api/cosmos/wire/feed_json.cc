// See feed_json.h.
#include "api/cosmos/wire/feed_json.h"

namespace orrery::cosmos {

std::string feed_head(std::string_view rid, std::string_view name) {
  std::string json = "{\"_rid\":\"";
  json += rid;
  json += "\",\"";
  json += name;
  json += "\":[";
  return json;
}

void append_feed_element(std::string& json, std::string_view element) {
  if (json.back() != '[') json += ',';
  json += element;
}

void append_feed_elements(std::string& json, const StringList& elements) {
  constexpr size_t kEnd = 32;  // what finish_feed() adds
  json.reserve(json.size() + elements.bytes() + elements.size() + kEnd);
  for (std::string_view element : elements) append_feed_element(json, element);
}

void finish_feed(std::string& json, size_t count) {
  json += "],\"_count\":";
  json += std::to_string(count);
  json += '}';
}

}  // namespace orrery::cosmos
