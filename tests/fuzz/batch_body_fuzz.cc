// Bodies of batches: whatever is accepted has operations within the limits, each with what its kind
// needs; and each operation is either refused or becomes a write.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/items/item_write.h"
#include "api/cosmos/wire/batch_body.h"

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  using cosmos::ItemVerb;
  const Limits limits;
  auto batch =
      cosmos::parse_batch(std::string_view(reinterpret_cast<const char*>(data), size), limits);
  if (!batch) return 0;
  check(!batch->operations.empty() && batch->operations.size() <= limits.batch_operations);

  static const cluster::RoutingPtr routing = [] {
    auto container = std::make_shared<catalog::Container>();
    container->spec.key.paths.push_back(value::Path{.steps = {{.name = "pk"}}});
    auto made = std::make_shared<cluster::Routing>();
    made->container = std::move(container);
    made->schema = std::make_shared<partition::Schema>();
    return made;
  }();
  std::vector<cosmos::BatchResult> results;
  for (const cosmos::BatchOperation& operation : batch->operations) {
    const ItemVerb verb = operation.request.verb;
    check(verb == ItemVerb::create || verb == ItemVerb::upsert || !operation.request.id.empty());
    auto write = cosmos::make_write(operation.request, *routing, limits);
    if (!write) {
      results.push_back(cosmos::failed_result(write.error().error, 0, write.error().substatus));
      continue;
    }
    check(!write->row.empty() && !write->placement.empty());
    check((write->editor != nullptr) == (verb == ItemVerb::patch));
    results.push_back(cosmos::skipped_result());
  }
  check(value::JsonDocument::parse(cosmos::batch_json(results)).has_value());
  return 0;
}
