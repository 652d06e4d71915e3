// See entity_write.h.
#include "api/table/entities/entity_write.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/table/call.h"
#include "api/table/entities/entity.h"
#include "api/table/entities/entity_json.h"
#include "api/table/query/key_ranges.h"

namespace orrery::table {
namespace {

using partition::Verb;

class MergeEditor final : public partition::Editor {
 public:
  explicit MergeEditor(std::string changes) : changes_(std::move(changes)) {}
  Result<Edited> edit(const partition::Item& current) const override {
    auto merged = merge_entities(current.body, changes_);
    if (!merged) {
      const ErrorCode code = merged.error().code;
      return orrery::fail(code == ErrorCode::entity_too_large      ? Code::too_large
                          : code == ErrorCode::too_many_properties ? Code::invalid
                                                                   : Code::corrupt,
                          merged.error().message);
    }
    return Edited{.body = std::move(*merged), .lifetime = {}};
  }

 private:
  const std::string changes_;
};

Verb verb_of(Change change, bool is_there) {
  switch (change) {
    case Change::insert:
      return Verb::create;
    case Change::insert_or_replace:
      return Verb::upsert;
    case Change::replace:
    case Change::merge:
      return Verb::replace;
    case Change::insert_or_merge:
      return is_there ? Verb::replace : Verb::create;
    case Change::remove:
      return Verb::remove;
  }
  return Verb::create;
}

// If-Match: without one, an update is an upsert.
TableStatus take_condition(std::string_view if_match, EntityChange& change) {
  const auto condition = parse_if_match(if_match);
  if (!condition) {
    return refuse(ErrorCode::invalid_input,
                  fmt::format("If-Match is '{}': it must be * or an etag as the service gave it, "
                              "W/\"…\".",
                              if_match.substr(0, 100)));
  }
  change.condition = *condition;
  return {};
}

}  // namespace

std::string Timestamps::finish(std::string_view body, const partition::Version& /*version*/,
                               const partition::Origin& /*origin*/) const {
  std::string stored(body);
  set_timestamp(stored, next());
  return stored;
}

Ticks Timestamps::next() const {
  const Ticks now = clock_.now_ms() * value::kTicksInMs;
  Ticks last = last_.load(std::memory_order_relaxed);
  for (;;) {
    const Ticks mine = std::max(now, last + 1);
    if (last_.compare_exchange_weak(last, mine, std::memory_order_relaxed)) return mine;
  }
}

Operation EntityChange::operation() const {
  switch (change) {
    case Change::insert:
      return Operation::insert_entity;
    case Change::replace:
    case Change::merge:
      return Operation::update_entity;
    case Change::insert_or_replace:
    case Change::insert_or_merge:
      return Operation::upsert_entity;
    case Change::remove:
      return Operation::delete_entity;
  }
  return Operation::insert_entity;
}

TableResult<EntityChange> parse_change(std::string_view method, const Address& address,
                                       std::string_view if_match, std::string_view body) {
  EntityChange change;
  const bool is_insert = method == "POST" && address.resource == Resource::entities;
  if (!is_insert && address.resource != Resource::entity) {
    return refuse(ErrorCode::method_not_allowed,
                  fmt::format("{} needs an address with both keys: table(PartitionKey='…',"
                              "RowKey='…').",
                              method.substr(0, 20)));
  }
  if (is_insert) {
    auto entity = parse_entity(body, nullptr);
    if (!entity) return pass(entity.error());
    change.partition_key = std::move(entity->partition_key);
    change.row_key = std::move(entity->row_key);
    change.stored = std::move(entity->stored);
    return change;
  }
  change.partition_key = address.partition_key;
  change.row_key = address.row_key;
  const bool is_conditional = !if_match.empty();
  if (method == "DELETE") {
    change.change = Change::remove;
    if (!is_conditional) {
      return refuse(ErrorCode::missing_required_header,
                    "A delete needs If-Match: an etag, or * for whatever is there.");
    }
  } else if (method == "PUT") {
    change.change = is_conditional ? Change::replace : Change::insert_or_replace;
  } else if (method == "PATCH" || method == "MERGE" || method == "POST") {
    change.change = is_conditional ? Change::merge : Change::insert_or_merge;
  } else {
    return refuse(ErrorCode::method_not_allowed);
  }
  if (is_conditional) {
    if (auto taken = take_condition(if_match, change); !taken) return pass(taken.error());
  }
  if (change.change == Change::remove) return change;
  const NamedKeys named{change.partition_key, change.row_key};
  auto entity = parse_entity(body, &named);
  if (!entity) return pass(entity.error());
  change.stored = std::move(entity->stored);
  return change;
}

TableResult<partition::Write> make_write(const EntityChange& change, std::string stored,
                                         const cluster::Routing& routing,
                                         const std::shared_ptr<const Timestamps>& timestamps,
                                         const partition::Item* current) {
  const bool asks_for_etag = change.has_condition() && !change.condition.any;
  if (asks_for_etag && current == nullptr) return refuse(ErrorCode::resource_not_found);
  if (asks_for_etag && change.condition.ticks != timestamp_of(current->body)) {
    return refuse(ErrorCode::update_condition_not_satisfied);
  }
  partition::Write write;
  write.verb = verb_of(change.change, current != nullptr);
  write.placement = place_partition(routing.container->spec.key, change.partition_key);
  write.row = change.row_key;
  write.key_text = value::to_json({value::KeyPart{
      .type = value::Type::string, .boolean = false, .number = 0, .text = change.partition_key}});
  write.schema = routing.schema;
  if (asks_for_etag) write.if_version = current->version;
  if (write.verb == Verb::remove) return write;
  write.finisher = timestamps;
  const bool is_merge = change.change == Change::merge || change.change == Change::insert_or_merge;
  if (is_merge && write.verb == Verb::replace) {
    write.editor = std::make_shared<const MergeEditor>(std::move(stored));
  } else {
    write.body = std::move(stored);
  }
  return write;
}

TableError change_error(const EntityChange& change, const Error& error, Call& call) {
  switch (error.code) {
    case Code::conflict:
      return table_error(ErrorCode::entity_already_exists);
    case Code::not_found:
      return table_error(ErrorCode::resource_not_found);
    case Code::precondition_failed:
      return table_error(ErrorCode::update_condition_not_satisfied);
    case Code::too_large:
      return table_error(ErrorCode::entity_too_large, error.message);
    case Code::invalid:
      if (change.change == Change::merge || change.change == Change::insert_or_merge) {
        return table_error(ErrorCode::too_many_properties, error.message);
      }
      break;
    default:
      break;
  }
  return call.engine_error(error);
}

bool lost_race(const EntityChange& change, const Error& error) {
  return change.change == Change::insert_or_merge &&
         (error.code == Code::conflict || error.code == Code::not_found);
}

}  // namespace orrery::table
