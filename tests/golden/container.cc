// See container.h.
#include "container.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "api/cosmos/wire/query_error.h"
#include "query/parse/parser.h"
#include "query/run/indexed_space.h"
#include "query/run/memory_space.h"
#include "value/json.h"
#include "value/placement.h"

namespace orrery::query {
namespace {

Result<std::vector<Value>> run_over(ItemSpace& space, const std::string& text,
                                    const Parameters& parameters, size_t page_rows) {
  auto parsed = parse_query(text);
  if (!parsed) return pass(cosmos::query_error(parsed.error()));
  auto bound = bind_query(*parsed, parameters);
  if (!bound) return pass(cosmos::query_error(bound.error()));
  std::vector<Value> rows;
  std::optional<Position> position;
  PageLimits limits;
  limits.rows = page_rows;
  do {
    Context context;
    auto page = run_page(**bound, space, position ? &*position : nullptr, limits, context);
    if (!page) return pass(page.error());
    EXPECT_LE(page->rows.size(), page_rows);
    for (std::string_view row : page->rows) rows.push_back(parse_value(std::string(row)));
    position = page->next;
  } while (position);
  return rows;
}

// Everything, and composites for some orders of the cases and of random queries.
value::IndexPolicy policy_of_tests(Index index) {
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  if (index == Index::partial) {
    for (const char* path : {"/n/?", "/o/?", "/l/[]/?", "/l/[]/k/*"}) {
      definition.rules.push_back({.path = value::parse_index_path(path).value(), .include = false});
    }
  }
  const auto part = [](const char* path, bool descending) {
    return value::CompositeIndex::Part{.path = value::parse_property_path(path).value(),
                                       .descending = descending};
  };
  definition.composites = {{{part("/a", false), part("/id", false)}},
                           {{part("/b", false), part("/id", true)}},
                           {{part("/n", true), part("/id", false)}},
                           {{part("/s", false), part("/a", false)}},
                           {{part("/o/n", true), part("/id", true)}},
                           {{part("/l", false), part("/id", false)}},
                           {{part("/a", false), part("/b", false)}},
                           {{part("/no", false), part("/id", true)}},
                           {{part("/a", true), part("/b", false), part("/id", false)}}};
  return value::IndexPolicy(definition);
}

std::unique_ptr<ItemSpace> space_of(const std::vector<std::string>& items, Index index) {
  if (index == Index::off) return std::make_unique<MemorySpace>(items);
  IndexedSpace::Options options;
  options.policy = policy_of_tests(index);
  using Estimate = IndexedSpace::Options::Estimate;
  options.estimate = index == Index::walked ? Estimate::everything : Estimate::one;
  return std::make_unique<IndexedSpace>(IndexedSpace::in_order(items), std::move(options));
}

}  // namespace

Value parse_value(const std::string& text) {
  auto document = value::JsonDocument::parse(text);
  EXPECT_TRUE(document) << text;
  return document ? Value::make_document(std::move(*document)) : Value();
}

cosmos::PlanContext TestContainer::plan_context() {
  cosmos::PlanContext context;
  context.key.paths.push_back({.steps = {{.name = "id", .array = false}}});
  return context;
}

TestContainer::TestContainer(const std::vector<std::string>& items, uint32_t partitions,
                             Index index) {
  std::vector<std::vector<std::string>> parts_of(partitions);
  const value::KeyDefinition key = plan_context().key;
  bounds_ = value::divide_evenly(key.placement, partitions);
  bounds_.insert(bounds_.begin(), std::string(value::placement_min()));
  bounds_.emplace_back(value::placement_max());
  for (const std::string& item : items) {
    auto json = value::JsonDocument::parse(item);
    EXPECT_TRUE(json) << item;
    if (!json) continue;
    auto parts = value::extract_key(json->root(), key);
    EXPECT_TRUE(parts) << item;
    const std::string placement = parts ? value::place(key, *parts) : "";
    size_t partition = 0;
    while (placement >= bounds_[partition + 1]) ++partition;
    parts_of[partition].push_back(item);
  }
  all_ = space_of(items, index);
  for (const auto& part : parts_of) partitions_.push_back(space_of(part, index));
}

Result<std::vector<Value>> TestContainer::run(const std::string& text, const Parameters& parameters,
                                              size_t page_rows) const {
  return run_over(*all_, text, parameters, page_rows);
}

Result<std::vector<Value>> TestContainer::run_on(size_t partition, const std::string& text,
                                                 const Parameters& parameters,
                                                 size_t page_rows) const {
  return run_over(*partitions_[partition], text, parameters, page_rows);
}

std::vector<size_t> TestContainer::partitions_of(const std::vector<PlacementRange>& ranges) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < partitions_.size(); ++i) {
    for (const PlacementRange& range : ranges) {
      if (range.min >= bounds_[i + 1] || range.max <= bounds_[i]) continue;
      found.push_back(i);
      break;
    }
  }
  if (found.empty()) found.push_back(0);
  return found;
}

}  // namespace orrery::query
