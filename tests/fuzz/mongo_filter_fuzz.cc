// Filters, projections and sorts of MongoDB's language from outside, in Extended JSON: {filter,
// projection, sort, document, collation}. Whatever parses can be asked of the document, and a
// document that matches has a value within the bounds that an index would be read by.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/bounds.h"
#include "api/mongo/match/match.h"
#include "api/mongo/match/path.h"
#include "api/mongo/match/projection.h"
#include "api/mongo/match/sort.h"
#include "value/json.h"

namespace {

using namespace orrery::mongo;

constexpr uint64_t kSteps = 1 << 20;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_in(const Interval& interval, const Value& value) {
  if (interval.type != value.type()) return false;
  if (interval.low.has_value()) {
    const auto order = compare(value, *interval.low, nullptr);
    if (order < 0 || (order == 0 && !interval.has_low)) return false;
  }
  if (!interval.high.has_value()) return true;
  const auto order = compare(value, *interval.high, nullptr);
  return order < 0 || (order == 0 && interval.has_high);
}

void check_bounds(const Value& filter, const Value& document, const Collation* collation) {
  for (const auto& [path, condition] : filter.members()) {
    if (path.starts_with('$')) continue;
    const Bounds bounds = bounds_of(filter, path, true, collation);
    if (bounds.is_everything) continue;
    bool is_indexed = false;
    const bool is_within = MatchPath(path).visit(
        document, MatchPath::Leaf::each_and_whole, [&](const Value& value, size_t) {
          is_indexed = true;
          const Value key = value.is_undefined() ? Value::make_null() : value;
          return std::ranges::any_of(
              bounds.intervals, [&](const Interval& interval) { return is_in(interval, key); });
        });
    require(is_within || !is_indexed);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto json = orrery::value::JsonDocument::parse({reinterpret_cast<const char*>(data), size});
  if (!json) return 0;
  const Value input = from_ejson(Value::from(json->root()));
  const Value document = input.find("document");
  if (!document.is_object()) return 0;
  orrery::Budget budget;
  budget.start({.steps = kSteps});
  Evaluation evaluation(budget);
  MatchOptions options;
  options.sorts_by_distance = true;
  if (!input.find("collation").is_undefined()) {
    auto collation = Collation::parse(input.find("collation"));
    if (collation) options.collation = *collation;
  }
  std::optional<size_t> position;
  if (const Answer<Matcher> matcher = Matcher::parse(input.find("filter"), options)) {
    const Answer<Matcher::Match> match = matcher->match(document, evaluation);
    if (match && match->is_match) {
      position = match->position;
      check_bounds(matcher->filter(), document, options.collation.get());
    }
  } else {
    require(!matcher.error().message.empty());
  }
  if (const Answer<Value> seed = upsert_seed(input.find("filter"))) require(seed->is_object());
  if (const auto projection = Projection::parse(input.find("projection"), options)) {
    if (const auto shown = projection->apply(document, position, evaluation))
      require(shown->is_object());
  }
  if (const Answer<Sort> sort = Sort::parse(input.find("sort"), options.collation)) {
    require(sort->compare_documents(document, document) == 0);
  }
  return 0;
}
