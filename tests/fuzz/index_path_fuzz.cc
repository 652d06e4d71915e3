// Property and index paths from outside: whatever parses prints as a path that parses to the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "value/path.h"
#include "value/terms.h"

namespace {

using orrery::value::parse_index_path;
using orrery::value::parse_property_path;
using orrery::value::Tail;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto path = parse_property_path(text)) {
    require(!path->steps.empty());
    const auto again = parse_property_path(to_string(*path));
    require(again && *again == *path);
  }
  if (const auto rule = parse_index_path(text)) {
    const char* tail = rule->tail == Tail::value ? "/?" : "/*";
    const auto again = parse_index_path(to_string(rule->path) + tail);
    require(again && *again == *rule);
    const orrery::value::IndexPolicy policy(
        {.rules = {{.path = *rule, .include = true}}, .always = {rule->path}, .spatial = {*rule}});
    const auto item = orrery::value::JsonDocument::parse(R"({"a":{"b":[1,{"c":2}]}})").value();
    policy.each_term(item.root(), [](std::string_view term) { require(!term.empty()); });
  } else {
    require(!rule.error().message.empty());
  }
  return 0;
}
