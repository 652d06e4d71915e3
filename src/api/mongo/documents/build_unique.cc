// See build_unique.h.
#include "api/mongo/documents/build_unique.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/collections/unique_index.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/documents/scan.h"
#include "api/mongo/documents/writing.h"
#include "base/hash.h"
#include "partition/format.h"
#include "partition/prepared_terms.h"

namespace orrery::mongo {
namespace {

using value::Value;

constexpr std::chrono::milliseconds kPollEvery{10};
// Of so many documents the values are remembered to find two that are the same: some 60 MB.
constexpr size_t kSeenMax = 1'000'000;

Answer<void> wait_a_little(Budget& budget, std::string_view name) {
  if (budget.spend(1)) {
    return refuse(kMaxTimeMsExpired,
                  fmt::format("operation exceeded time limit; the index '{}' is being built in the "
                              "background",
                              name));
  }
  std::this_thread::sleep_for(kPollEvery);
  return {};
}

// The first document whose values another has too, as an error. Nothing: none was found, of those
// that were looked at.
std::optional<Error> find_duplicate(const HandlerContext& context,
                                    const cluster::RoutingPtr& routing, const IndexSpec& index,
                                    Budget& budget) {
  partition::Schema schema = *routing->schema;
  schema.unique_keys = {unique_paths(index)};
  schema.unique_conditions = {};
  if (const std::string condition = unique_condition_of(index); !condition.empty()) {
    schema.unique_conditions.push_back(schema.codec->condition(condition));
  }
  std::unordered_set<std::string> seen;
  Scan scan(context, routing, whole_collection());
  while (seen.size() < kSeenMax && !budget.spend(1)) {
    auto bytes = scan.next();
    if (!bytes || !*bytes) break;
    const auto document = parse_bson_in_place(**bytes);
    const auto key = partition::parse_item_key(scan.key());
    if (!document || !key) continue;
    const auto values = partition::unique_values(document->root(), schema).front();
    if (!values) continue;
    const auto digest = sha256(key->placement + *values);
    if (!seen.emplace(reinterpret_cast<const char*>(digest.data()), digest.size()).second) {
      return duplicate_of(*routing, index, Value::from(document->root())).error;
    }
  }
  return std::nullopt;
}

// When documents are looked through by the node that builds an index itself, since the nodes that
// have them cannot say that they contradict it: seldom, as that reads all of them.
class OwnLook {
 public:
  OwnLook(const HandlerContext& context, const Call& call)
      : context_(context), call_(call), at_us_(call.steady_us() + wait_us_) {}

  std::optional<Error> find(const cluster::RoutingPtr& routing, const IndexSpec& index,
                            Budget& budget) {
    if (!context_.remote || call_.steady_us() < at_us_) return std::nullopt;
    const bool is_far = std::ranges::any_of(routing->slots, [&](const auto& slot) {
      return context_.items.is_elsewhere(*routing, slot->range.min);
    });
    if (!is_far) return std::nullopt;
    auto found = find_duplicate(context_, routing, index, budget);
    wait_us_ *= 2;
    at_us_ = call_.steady_us() + wait_us_;
    return found;
  }

 private:
  const HandlerContext& context_;
  const Call& call_;
  int64_t wait_us_ = 1'000'000;
  int64_t at_us_;
};

// The collection with the indexes that it had `before`, without the one that was asked for, which
// another command may have asked for earlier.
Answer<cluster::RoutingPtr> give_up(const HandlerContext& context,
                                    const cluster::RoutingPtr& routing, const IndexSpec& index,
                                    const Definition& before) {
  Definition without = before;
  std::erase_if(without.indexes, [&](const IndexSpec& other) { return other.name == index.name; });
  return replace_definition(context, routing, without);
}

}  // namespace

Answer<cluster::RoutingPtr> build_unique(const HandlerContext& context, Call& call,
                                         cluster::RoutingPtr routing, const IndexSpec& index,
                                         const Definition& before) {
  Budget budget;
  start_budget(call, budget);
  const std::string database = routing->database->name;
  const std::string name = routing->container->spec.name;
  const uint32_t number = routing->container->number;
  OwnLook look(context, call);
  bool is_asked_for = definition_of(*routing).index_of_name(index.name) != nullptr;
  for (;;) {
    if (!is_asked_for) {
      Definition definition = definition_of(*routing);
      definition.indexes.push_back(index);
      auto replaced = replace_definition(context, routing, definition);
      // A container that is behind its index rules gets no unique key.
      if (!replaced && replaced.error().code != kWriteConflict) return replaced;
      is_asked_for = replaced.has_value();
    }
    routing = find_collection(context, database, name);
    if (!routing || routing->container->number != number) {
      return refuse(kNamespaceNotFound,
                    fmt::format("{}.{} was dropped while its index was built", database, name));
    }
    const bool is_retired = is_asked_for && !unique_key_of(routing->container->spec, index);
    const bool is_behind = routing->container->indexed_version < routing->container->index_version;
    if (is_asked_for && !is_retired && !is_behind) return routing;
    std::optional<Error> found;
    if (is_asked_for && !is_retired) found = look.find(routing, index, budget);
    if (is_retired || found) {
      auto undone = give_up(context, routing, index, before);
      if (!undone) return undone;
      if (!found) found = find_duplicate(context, *undone, index, budget);
      return pass(found.value_or(
          Error{kDuplicateKey, fmt::format("E11000 duplicate key error collection: {}.{} index: {}",
                                           database, name, index.name)}));
    }
    if (auto waited = wait_a_little(budget, index.name); !waited) {
      return pass(std::move(waited.error()));
    }
  }
}

}  // namespace orrery::mongo
