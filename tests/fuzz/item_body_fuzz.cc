// Bodies of items: whatever is accepted is stored as JSON that keeps every property of the client's
// as it was written, has each of the system's exactly once, and is accepted again as the same item.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "api/cosmos/items/item_body.h"
#include "value/json.h"

namespace {

using orrery::value::JsonDocument;
using orrery::value::Node;

const std::set<std::string_view> kSystem = {"_rid", "_self", "_etag", "_ts", "_attachments"};

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  value::KeyDefinition definition;
  definition.paths.push_back(value::Path{.steps = {{.name = "pk"}}});
  auto item = cosmos::parse_item(body, definition, Limits{});
  if (!item) return 0;

  const cosmos::ItemFinisher finisher(1, 2);
  const std::string stored = finisher.finish(
      item->body, {.lsn = 9, .time_s = 1, .range = 3, .step = 0}, {.range = 3, .number = 4});
  auto kept = JsonDocument::parse(stored);
  auto sent = JsonDocument::parse(body);
  check(kept.has_value() && sent.has_value());
  check(kept->text() == stored);
  uint32_t own = 0;
  for (const Node* member = sent->root().first; member != nullptr; member = member->next) {
    if (kSystem.contains(member->name) || member->name == "_lsn") continue;
    ++own;
    const Node* found = kept->root().find(member->name);
    check(found != nullptr && found->raw == member->raw && found->raw_name == member->raw_name);
  }
  check(kept->root().count == own + kSystem.size());
  for (std::string_view name : kSystem) check(kept->root().find(name) != nullptr);

  auto again = cosmos::parse_item(stored, definition, Limits{});
  check(again.has_value() || stored.size() > Limits{}.item_bytes);
  if (again) {
    check(again->body == item->body && again->id == item->id && again->key == item->key &&
          again->ttl_s == item->ttl_s);
  }
  return 0;
}
