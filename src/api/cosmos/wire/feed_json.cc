// See feed_json.h.
#include "api/cosmos/wire/feed_json.h"

#include <fmt/format.h>

#include <charconv>

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

Result<size_t> page_size(std::string_view header, size_t default_size, size_t most) {
  if (header.empty()) return default_size;
  int64_t count = 0;
  auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), count);
  if (error != std::errc() || end != header.data() + header.size() || count < -1 || count == 0) {
    return fail(Code::invalid,
                fmt::format("x-ms-max-item-count '{}' is not a positive number or -1", header));
  }
  if (count == -1) return default_size;
  return std::min(static_cast<size_t>(count), most);
}

}  // namespace orrery::cosmos
