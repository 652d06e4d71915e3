// See matching_documents.h.
#include "api/mongo/documents/matching_documents.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/select_members.h"
#include "api/mongo/call.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/documents/index_choice.h"
#include "api/mongo/match/bounds.h"
#include "api/mongo/match/filter_fields.h"
#include "partition/format.h"

namespace orrery::mongo {
namespace {

using value::Type;
using value::Value;

// More values of $in than this are looked for by a scan.
constexpr size_t kPointsMax = 1'000;
// As many as the first batch of a cursor has.
constexpr size_t kFewDocuments = 101;
// Keys that are read before the first document; a collection of more is scanned instead.
constexpr size_t kKeysFirstMax = 200'000;
// Of an index that leaves no more, no better one is looked for.
constexpr uint64_t kFewIndexed = 1'000;
constexpr int32_t kNoQueryExecutionPlans = 291;

bool routing_has_index(const cluster::Routing& routing) {
  return routing.container->spec.indexed;
}

// The first part of a sort decides: an _id is there once.
bool is_by_id(const Sort& sort) {
  return !sort.parts().empty() && sort.parts()[0].path == "_id";
}

bool wants_descending_ids(const Sort& sort) {
  return sort.is_reverse_natural() || (is_by_id(sort) && sort.parts()[0].descending);
}

// The index that has the places of a field; null: there is none.
const IndexSpec* index_of_places(const Definition& definition, std::string_view field) {
  for (const IndexSpec& index : definition.indexes) {
    const auto places = places_of(index);
    if (std::ranges::find(places, field) != places.end()) return &index;
  }
  return nullptr;
}

// The rows in bounds of _id, as a range of stored keys.
void narrow(ScanRange& range, const std::string& placement, const Bounds& bounds) {
  if (bounds.is_everything || bounds.intervals.empty()) return;
  const Interval& first = bounds.intervals.front();
  const Interval& last = bounds.intervals.back();
  if (first.low) range.from = partition::item_key(placement, row_of(*first.low));
  if (last.high) {
    // Rows of equal values are equal, and none is a prefix of another.
    range.to = partition::item_key(placement, row_of(*last.high)) + '\0';
  }
}

}  // namespace

void want_order(FindQuery& query, const Sort& sort, std::optional<uint64_t> most) {
  const bool is_collated = query.collation != nullptr;
  query.is_descending = wants_descending_ids(sort);
  query.is_natural = !is_by_id(sort) || is_collated;
  query.needs_keys_first = is_by_id(sort) && !query.is_descending;
  if (!sort.is_natural() && !is_by_id(sort)) query.sort = &sort;
  query.most = most;
}

bool MatchingDocuments::gives(const Sort& sort) const {
  if (gives_sort_) return true;
  const auto is_by_ids = [this](bool is_descending) {
    return is_in_id_order_ && is_descending == is_descending_;
  };
  if (sort.is_natural()) return !sort.is_reverse_natural() || few_ || is_by_ids(true);
  return is_by_id(sort) && evaluation_.collation == nullptr &&
         is_by_ids(sort.parts()[0].descending);
}

Answer<std::unique_ptr<MatchingDocuments>> MatchingDocuments::open(const HandlerContext& context,
                                                                   cluster::RoutingPtr routing,
                                                                   const FindQuery& query,
                                                                   Budget& budget, int64_t now_ms) {
  std::unique_ptr<MatchingDocuments> made(
      new MatchingDocuments(context, std::move(routing), budget));
  made->evaluation_.now = Value::make_date({now_ms, 0});
  made->evaluation_.cluster_time = Value::make_timestamp(cluster_time(now_ms));
  made->evaluation_.collation = query.collation.get();
  if (query.let.is_object()) {
    auto defined = define_variables(query.let, made->parse_context_, made->evaluation_);
    if (!defined) return pass(std::move(defined.error()));
  }
  Hint hint;
  if (made->routing_) {
    auto resolved = resolve_hint(*made->routing_, query.hint);
    if (!resolved) return pass(std::move(resolved.error()));
    hint = *resolved;
  }
  auto matcher = Matcher::parse(
      query.filter,
      {.collation = query.collation, .context = made->parse_context_, .sorts_by_distance = true});
  if (!matcher) return pass(std::move(matcher.error()));
  made->matcher_ = std::move(*matcher);
  const Value indexed = hint.index != nullptr ? condition_of(*hint.index) : Value();
  if (indexed.is_object()) {
    auto is_indexed = Matcher::parse(indexed);
    if (!is_indexed) return pass(std::move(is_indexed.error()));
    made->is_indexed_ = std::move(*is_indexed);
  }
  made->matches_all_ = query.filter.size() == 0 && !made->is_indexed_;
  if (auto fields = query.fields; fields && add_filter_fields(query.filter, *fields) &&
                                  (!indexed.is_object() || add_filter_fields(indexed, *fields))) {
    made->selector_.emplace(std::move(*fields));
  }
  if (!made->routing_) return made;  // no collection: nothing matches
  if (const Matcher::Near* const near = made->matcher_.near()) {
    made->near_index_ = index_of_places(definition_of(*made->routing_), near->path);
    if (made->near_index_ == nullptr) {
      return refuse(
          kNoQueryExecutionPlans,
          fmt::format("error processing query: ns={}.{}: planner returned error :: "
                      "caused by :: unable to find index for $geoNear query",
                      made->routing_->database->name, made->routing_->container->spec.name));
    }
  }
  made->pinned_ = query.pinned;
  if (auto planned = query.pinned ? made->plan_pinned(query) : made->plan_reads(query, hint);
      !planned) {
    return pass(std::move(planned.error()));
  }
  if (made->near_index_ != nullptr) {
    made->is_in_id_order_ = false;
    made->gives_sort_ = false;
    if (!made->near_) {
      made->queue_ = std::make_unique<NearQueue>(*made->matcher_.near(), made->evaluation_);
    }
  }
  return made;
}

bool MatchingDocuments::plan_points(const FindQuery& query, const std::string& placement) {
  const auto ids = choices_of(query.filter, "_id");
  if (!ids || ids->size() > kPointsMax) return false;
  std::vector<std::string> rows;
  for (const Value& id : *ids) {
    if (can_be_row(id)) rows.push_back(row_of(id));
  }
  std::ranges::sort(rows);
  const auto repeated = std::ranges::unique(rows);
  rows.erase(repeated.begin(), repeated.end());
  for (std::string& row : rows) points_.push_back({placement, std::move(row)});
  return true;
}

bool MatchingDocuments::plan_natural() {
  // Views of other nodes do not tell the order.
  if (context_.items.is_elsewhere(*routing_, value::placement_min())) return false;
  auto read = context_.engine.feed(routing_, value::placement_min(), value::placement_max(),
                                   nullptr, kFewDocuments + 1, cluster::LsnDemand());
  // What it may be told of, the scan in its place tells.
  if (!read) return false;
  point_charge_ += read->receipt.charge;
  auto& items = read->page.items;
  if (read->page.more || items.size() > kFewDocuments) return false;
  // A collection without a shard key is never split: one partition has made all of them.
  std::ranges::sort(items, {}, [](const auto& one) { return one.second.origin.number; });
  few_.emplace();
  for (auto& [key, item] : items) {
    points_.push_back(std::move(key));
    few_->push_back(std::move(item.body));
  }
  return true;
}

Answer<void> MatchingDocuments::plan_reads(const FindQuery& query, const Hint& hint) {
  const auto placement = placement_of_filter(*routing_, query.filter);
  const bool is_sharded = definition_of(*routing_).is_sharded();
  is_in_id_order_ = placement.has_value();
  ScanRange range = placement && is_sharded ? one_placement(*placement) : whole_collection();
  first_placement_ = placement ? *placement : range.min;
  const bool uses_id = hint.kind == Hint::Kind::none || hint.kind == Hint::Kind::id;
  const bool is_descending =
      placement && (query.is_descending || hint.kind == Hint::Kind::reverse_natural);
  if (placement && !query.collation && uses_id) {
    if (plan_points(query, *placement)) {
      if (is_descending) std::ranges::reverse(points_);
      is_descending_ = is_descending;
      return {};
    }
    narrow(range, *placement, bounds_of(query.filter, "_id", false));
    is_range_ = !range.from.empty() || !range.to.empty() || hint.kind == Hint::Kind::id;
  }
  if (near_index_ != nullptr && !is_range_) {
    auto planned = plan_near(*near_index_, range);
    if (!planned) return pass(std::move(planned.error()));
    if (*planned) return {};
  }
  const bool uses_index =
      near_index_ == nullptr && (hint.kind == Hint::Kind::none || hint.kind == Hint::Kind::index);
  if (!is_range_ && !query.collation && uses_index && routing_has_index(*routing_)) {
    auto planned = plan_index(query, hint, range);
    if (!planned) return pass(std::move(planned.error()));
    if (*planned) return {};
  }
  if (query.is_natural && !is_sharded && !is_range_ && plan_natural()) {
    if (is_descending) {
      std::ranges::reverse(points_);
      std::ranges::reverse(*few_);
    }
    is_in_id_order_ = false;
    return {};
  }
  if (is_descending) {
    // Of one placement key: a collection without a shard key has no other.
    range.min = *placement;
    range.max = *placement + '\0';
  }
  is_descending_ = is_descending;
  scan_ = std::make_unique<Scan>(context_, routing_, std::move(range),
                                 is_descending ? ScanOrder::descending : ScanOrder::ascending);
  return {};
}

Answer<bool> MatchingDocuments::plan_near(const IndexSpec& index, const ScanRange& range) {
  auto near = NearScan::open(context_, routing_, range, *matcher_.near(), index, evaluation_);
  if (!near) return pass(std::move(near.error()));
  near_ = std::move(*near);
  return near_ != nullptr;
}

Answer<bool> MatchingDocuments::plan_index(const FindQuery& query, const Hint& hint,
                                           const ScanRange& range) {
  auto chosen = choose_index(context_, routing_, range,
                             {.filter = query.filter,
                              .sort = query.sort,
                              .ties_by_id = is_in_id_order_,
                              .most = query.most,
                              .only = hint.index});
  if (!chosen) return pass(std::move(chosen.error()));
  const bool has_few = *chosen && (hint.index != nullptr || (*chosen)->documents <= kFewIndexed);
  if (!has_few) {
    auto index = IndexScan::open(context_, routing_, range, query.filter, hint.index,
                                 *chosen ? (*chosen)->documents / 2 : UINT64_MAX);
    if (!index) return pass(std::move(index.error()));
    index_ = std::move(*index);
    if (index_) return true;
  }
  if (!*chosen) return false;
  IndexChoice& choice = **chosen;
  auto walk = std::make_unique<IndexWalk>(context_, routing_, range, std::move(choice.plan),
                                          choice.is_backwards, std::move(choice.lanes),
                                          query.most.value_or(UINT64_MAX));
  if (query.needs_keys_first) {
    auto keys = walk->take_keys(kKeysFirstMax);
    if (!keys) return pass(std::move(keys.error()));
    if (!*keys) return false;
    index_ = IndexScan::of_keys(context_, routing_, range, *walk->plan().index, std::move(**keys),
                                walk->keys_read());
    return true;
  }
  walk_ = std::move(walk);
  gives_sort_ = choice.gives_sort;
  is_in_id_order_ = false;
  return true;
}

Answer<void> MatchingDocuments::plan_pinned(const FindQuery& query) {
  const auto placement = placement_of_filter(*routing_, query.filter);
  if (!placement) {
    return refuse(kOperationNotSupportedInTransaction,
                  fmt::format("in a transaction, a filter over the sharded collection {}.{} has to "
                              "name one value of its shard key",
                              routing_->database->name, routing_->container->spec.name));
  }
  first_placement_ = *placement;
  // The snapshot is taken now, also when the documents are read later.
  if (auto begun = query.pinned->reads(routing_, *placement); !begun) {
    return pass(std::move(begun.error()));
  }
  ScanRange range = one_placement(*placement);
  if (!query.collation) {
    if (plan_points(query, *placement)) {
      is_in_id_order_ = true;
      return {};
    }
    narrow(range, *placement, bounds_of(query.filter, "_id", false));
  }
  is_range_ = !range.from.empty() || !range.to.empty();
  is_in_id_order_ = !query.is_natural;
  staged_ = std::make_unique<TransactionScan>(query.pinned, routing_, *placement, range,
                                              query.is_natural);
  return {};
}

ReadPlan MatchingDocuments::reads() const {
  if (!routing_) return {};
  if (near_) return {"GEO_NEAR_2DSPHERE", near_->index().name, near_->index().key};
  if (few_ || (scan_ && !is_range_)) return {.stage = "COLLSCAN"};
  if (index_) return {"IXSCAN", index_->index_name(), index_->index_key()};
  if (walk_) {
    const IndexSpec& index = *walk_->plan().index;
    return {"IXSCAN", index.name, index.key, walk_->is_backwards()};
  }
  const IndexSpec id = id_index();
  return {scan_ ? "IXSCAN" : "IDHACK", id.name, id.key};
}

Answer<std::optional<std::string_view>> MatchingDocuments::next_bytes() {
  if (near_) return near_->next();
  return queue_ ? next_of_queue() : next_found();
}

Answer<std::optional<std::string_view>> MatchingDocuments::next_of_queue() {
  while (!is_queue_filled_) {
    auto bytes = next_found();
    if (!bytes) return bytes;
    if (!*bytes) {
      is_queue_filled_ = true;
      break;
    }
    auto key = found_key();
    if (!key) return pass(std::move(key.error()));
    auto added = queue_->add(partition::item_key(key->placement, key->row), **bytes);
    if (!added) return pass(std::move(added.error()));
  }
  if (queue_->empty()) return std::optional<std::string_view>();
  nearest_ = queue_->take();
  return std::optional<std::string_view>(nearest_.body);
}

Answer<std::optional<std::string_view>> MatchingDocuments::next_found() {
  if (scan_) return scan_->next();
  if (index_) return index_->next();
  if (walk_) return walk_->next();
  if (staged_) return staged_->next();
  if (few_ && next_point_ < points_.size()) {
    ++points_read_;
    return std::optional<std::string_view>((*few_)[next_point_++]);
  }
  while (next_point_ < points_.size()) {
    const partition::ItemKey& key = points_[next_point_++];
    if (pinned_) {
      auto item = pinned_->read(routing_, key);
      if (!item) return pass(std::move(item.error()));
      if (!*item) continue;
      point_body_ = std::move((*item)->body);
      ++points_read_;
      staged_bytes_ += point_body_.size();
      return std::optional<std::string_view>(point_body_);
    }
    auto read = context_.items.read(routing_, key.placement, key.row);
    if (!read) return pass(engine_error(read.error()));
    point_charge_ += read->receipt.charge;
    if (!read->item) continue;
    point_body_ = std::move(read->item->body);
    ++points_read_;
    return std::optional<std::string_view>(point_body_);
  }
  return std::optional<std::string_view>();
}

Answer<Value> MatchingDocuments::decode(std::string_view bytes) {
  if (selector_) {
    if (auto selected = selector_->select(bytes)) return std::move(*selected);
  }
  return from_bson(bytes);
}

Answer<Matcher::Match> MatchingDocuments::match(const Value& document) {
  auto match = matcher_.match(document, evaluation_);
  if (!match || !match->is_match || !is_indexed_) return match;
  auto is_indexed = is_indexed_->matches(document, evaluation_);
  if (!is_indexed) return pass(std::move(is_indexed.error()));
  match->is_match = *is_indexed;
  return match;
}

Answer<std::optional<MatchingDocuments::Found>> MatchingDocuments::next() {
  for (;;) {
    auto bytes = next_bytes();
    if (!bytes) return pass(std::move(bytes.error()));
    if (!*bytes) return std::optional<Found>();
    if (auto spent = evaluation_.spend(64 + (*bytes)->size() / 64); !spent) {
      return pass(std::move(spent.error()));
    }
    auto document = decode(**bytes);
    if (!document) return pass(std::move(document.error()));
    if (matches_all_) return Found{**bytes, std::move(*document), std::nullopt};
    auto match = this->match(*document);
    if (!match) return pass(std::move(match.error()));
    if (match->is_match) return Found{**bytes, std::move(*document), match->position};
  }
}

Answer<std::optional<Value>> MatchingDocuments::next_document() {
  auto found = next();
  if (!found) return pass(std::move(found.error()));
  if (!*found) return std::optional<Value>();
  return std::move((*found)->document);
}

std::vector<ScanRange> MatchingDocuments::part_ranges(size_t most) const {
  if (!scan_ || queue_ || is_descending_ || is_range_ || scan_->has_begun()) return {};
  const ScanRange& all = scan_->range();
  const auto [first, end] = routing_->slots_of(all.min, all.max);
  const size_t count = std::min(most, end - first);
  if (count < 2) return {};
  std::vector<ScanRange> ranges;
  for (size_t i = 0; i < count; ++i) {
    // The slots of the part: as many in each, or one more.
    const size_t from = first + (end - first) * i / count;
    const size_t to = first + (end - first) * (i + 1) / count;
    ranges.push_back({.min = std::max(all.min, routing_->slots[from]->range.min),
                      .max = std::min(all.max, routing_->slots[to - 1]->range.max),
                      .from = {},
                      .to = {}});
  }
  return ranges;
}

std::unique_ptr<MatchingDocuments> MatchingDocuments::part(const ScanRange& range,
                                                           Budget& budget) const {
  std::unique_ptr<MatchingDocuments> made(new MatchingDocuments(context_, routing_, budget));
  made->evaluation_.now = evaluation_.now;
  made->evaluation_.cluster_time = evaluation_.cluster_time;
  made->evaluation_.variables = evaluation_.variables;
  made->evaluation_.collation = evaluation_.collation;
  made->matcher_ = matcher_;
  made->is_indexed_ = is_indexed_;
  made->matches_all_ = matches_all_;
  if (selector_) made->selector_.emplace(selector_->names());
  made->first_placement_ = range.min;
  made->scan_ = std::make_unique<Scan>(context_, routing_, range);
  return made;
}

void MatchingDocuments::count_part(const MatchingDocuments& part) {
  part_items_ += part.scan_->items_read();
  part_bytes_ += part.scan_->bytes_read();
}

Answer<partition::ItemKey> MatchingDocuments::key() const {
  if (!near_ && !queue_) return found_key();
  auto key = partition::parse_item_key(near_ ? near_->key() : std::string_view(nearest_.key));
  if (!key) return pass(engine_error(key.error()));
  return *key;
}

Answer<partition::ItemKey> MatchingDocuments::found_key() const {
  if (staged_) return staged_->key();
  if (!reads_by_scan()) return points_[next_point_ - 1];
  auto key = partition::parse_item_key(scan_    ? scan_->key()
                                       : index_ ? index_->key()
                                                : walk_->key());
  if (!key) return pass(engine_error(key.error()));
  return *key;
}

Answer<void> MatchingDocuments::begin_batch() {
  if (pinned_ && routing_) return admit(context_, routing_, first_placement_);
  if (!reads_by_scan()) return {};  // points are admitted one by one
  return admit(context_, routing_, first_placement_);
}

double MatchingDocuments::end_batch(size_t bytes_returned) {
  pause();
  if (pinned_ && routing_) {
    const uint64_t all_items = documents_read();
    const uint64_t all_bytes = staged_bytes_ + (staged_ ? staged_->bytes_read() : 0);
    return pay(context_, routing_, first_placement_,
               all_items - std::exchange(paid_items_, all_items),
               all_bytes - std::exchange(paid_bytes_, all_bytes), bytes_returned);
  }
  if (!reads_by_scan()) return std::exchange(point_charge_, 0);
  const auto settle = [&](const auto& reader) {
    const uint64_t all_items = reader.items_read() + part_items_;
    const uint64_t all_bytes = reader.bytes_read() + part_bytes_;
    const uint64_t items = all_items - std::exchange(paid_items_, all_items);
    const uint64_t bytes = all_bytes - std::exchange(paid_bytes_, all_bytes);
    return pay(context_, reader.routing(), first_placement_, items, bytes, bytes_returned);
  };
  if (near_) return settle(*near_);
  return scan_ ? settle(*scan_) : index_ ? settle(*index_) : settle(*walk_);
}

}  // namespace orrery::mongo
