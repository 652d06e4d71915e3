// Patches of items: the input is an item on its first line and a patch after it. Whatever is
// accepted gives an item with the same id and key, of the system's properties none, that is JSON.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/items/item_patch.h"
#include "value/json.h"
#include "value/patch.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  if (line == std::string_view::npos) return 0;

  if (auto pointer = value::parse_pointer(input.substr(0, line))) {
    check(value::to_string(*pointer) == input.substr(0, line));
  }
  value::KeyDefinition definition;
  definition.paths.push_back(value::Path{.steps = {{.name = "key"}, {.name = "city"}}});
  const Limits limits;
  auto item = cosmos::parse_item(input.substr(0, line), definition, limits);
  auto editor = cosmos::make_patch(input.substr(line + 1), definition, limits);
  if (!item || !editor) return 0;

  partition::Item stored;
  stored.body = cosmos::ItemFinisher(1, 2).finish(
      item->body, {.lsn = 9, .time_s = 1, .range = 3, .step = 0}, {.range = 3, .number = 4});
  auto edited = (*editor)->edit(stored);
  if (!edited) return 0;
  auto parsed = value::JsonDocument::parse(edited->body);
  check(parsed.has_value());
  for (const value::Node* member = parsed->root().first; member != nullptr; member = member->next) {
    check(!cosmos::is_system_property(member->name));
  }
  auto again = cosmos::check_item(*parsed, definition, limits);
  check(again && again->id == item->id && again->key == item->key &&
        cosmos::lifetime_of(again->ttl_s) == edited->lifetime);
  return 0;
}
