// See concern.h.
#include "api/mongo/forward/concern.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/documents/document_key.h"

namespace orrery::mongo {
namespace {

using value::Value;

// More than this is not looked through for its keys: it is divided where it was asked for.
constexpr size_t kStatementsMax = 100;
constexpr size_t kStatementBytesMax = 64 * 1024;

std::string_view first_name(const Value& object) {
  for (const Value::Member& member : object.members()) return member.name;
  return {};
}

// Whether a pipeline makes or changes collections, or watches them. Streams are where collections
// are made, which must know whether one is watched.
Concern about_stages(const Value& pipeline) {
  Concern concern;
  for (const Value& stage : pipeline.elements()) {
    const std::string_view name = first_name(stage);
    concern.changes = concern.changes || name == "$out" || name == "$merge";
    concern.catalog = concern.catalog || concern.changes || name == "$changeStream";
  }
  return concern;
}

// The partition that has all that the filters can match.
class OnePartition {
 public:
  explicit OnePartition(const cluster::Routing& routing) : routing_(routing) {}

  // False: there is no such partition.
  bool add(const std::optional<std::string>& placement) {
    const auto slot = placement ? routing_.slot_of(*placement) : nullptr;
    is_one_ = is_one_ && slot && (!slot_ || slot == slot_);
    slot_ = slot;
    return is_one_;
  }
  bool add_filter(const Value& filter) {
    return add(filter.is_object() ? placement_of_filter(routing_, filter) : std::nullopt);
  }
  Concern concern() const { return {.slot = is_one_ ? slot_ : nullptr}; }

 private:
  const cluster::Routing& routing_;
  std::shared_ptr<cluster::Slot> slot_;
  bool is_one_ = true;
};

// The documents of an insert, or the statements of an update or a delete.
Concern about_statements(const Call& call, const cluster::Routing& routing,
                         std::string_view member) {
  std::vector<std::string> kept;
  auto statements = call.documents(member, kept);
  if (!statements || statements->empty() || statements->size() > kStatementsMax) return {};
  size_t bytes = 0;
  OnePartition one(routing);
  for (const std::string_view statement : *statements) {
    bytes += statement.size();
    if (bytes > kStatementBytesMax) return {};
    auto document = from_bson(statement);
    if (!document) return {};
    if (member != "documents") {
      if (!one.add_filter(document->find("q"))) return {};
      continue;
    }
    auto placement = placement_of(routing, *document);
    if (!placement || !one.add(*placement)) return {};
  }
  return one.concern();
}

// Of a sharded collection.
Concern about_sharded(const Call& call, const Value& command, std::string_view name,
                      const cluster::Routing& routing) {
  if (name == "insert") return about_statements(call, routing, "documents");
  if (name == "update") return about_statements(call, routing, "updates");
  if (name == "delete") return about_statements(call, routing, "deletes");
  Value filter;
  if (name == "find") {
    filter = command.find("filter");
  } else if (name == "aggregate") {
    const Value pipeline = command.find("pipeline");
    if (pipeline.size() > 0) filter = pipeline.at(0).find("$match");
  } else {
    filter = command.find("query");
  }
  OnePartition one(routing);
  one.add_filter(filter);
  return one.concern();
}

Concern about_cursor(const Call& call) {
  const Value id = call[call.name];
  return {.cursor = id.number_kind() == value::NumberKind::int64 ? id.integer() : 0};
}

}  // namespace

Concern concern_of(const HandlerContext& context, const Call& call, const Command& command) {
  if (command.run == run_get_more) return about_cursor(call);
  if (command.runs == Runs::at_once || command.run == run_sasl_continue) return {};
  if (command.runs == Runs::management) return {.catalog = true};
  Value asked = call.command;
  std::string_view name = command.name;
  std::string_view collection = call.collection();
  if (command.run == run_explain) {
    asked = call["explain"];
    name = first_name(asked);
    collection = asked.find(name).is_string() ? asked.find(name).text() : std::string_view();
  }
  if (name == "aggregate") {
    const Concern stages = about_stages(asked.find("pipeline"));
    if (stages.catalog) return stages;
  }
  if (collection.empty()) return {};
  const auto routing = find_collection(context, call.database, collection);
  // It may be there, and not known here yet; or it is to be made.
  if (!routing) return {.catalog = true};
  const Definition& definition = definition_of(*routing);
  if (!definition.is_sharded()) return {.slot = routing->slot_of(definition.placement)};
  return about_sharded(call, asked, name, *routing);
}

}  // namespace orrery::mongo
