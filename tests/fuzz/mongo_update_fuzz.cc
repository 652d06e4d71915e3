// Updates of MongoDB's language from outside, in Extended JSON: {update, filters, position,
// document}. What an update makes keeps its _id, and is said to have changed only if it has.
#include <cstdint>
#include <cstdlib>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/update/identity.h"
#include "api/mongo/update/update.h"
#include "value/json.h"

namespace {

constexpr uint64_t kSteps = 1 << 20;
constexpr uint64_t kBytes = 64 << 20;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::mongo;
  auto json = orrery::value::JsonDocument::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const Value input = from_ejson(Value::from(json->root()));
  const Value document = input.find("document");
  if (!document.is_object()) return 0;
  const Answer<Update> update = Update::parse(
      input.find("update"), {.match = {}, .array_filters = input.find("filters"), .constants = {}});
  if (!update) {
    require(!update.error().message.empty());
    return 0;
  }
  orrery::Budget budget;
  budget.start({.bytes = kBytes, .steps = kSteps});
  Evaluation evaluation(budget);
  evaluation.now = make_date(1);
  Update::Target target{.document = document};
  if (const auto position = exact_integer(input.find("position")); position.has_value()) {
    target.position = static_cast<size_t>(*position);
  }
  const Answer<Update::Outcome> outcome = update->apply(target, evaluation);
  if (!outcome) return 0;
  require(outcome->is_changed != identical(document, outcome->document));
  if (!document.find("_id").is_undefined()) {
    require(identical(document.find("_id"), outcome->document.find("_id")));
  }
  const UpdateDescription description = describe_update(document, outcome->document);
  if (!outcome->is_changed) require(description.updated.empty() && description.removed.empty());
  return 0;
}
