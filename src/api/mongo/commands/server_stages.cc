// See server_stages.h.
#include "api/mongo/commands/server_stages.h"
#include "api/mongo/bson/types.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/current_op.h"

namespace orrery::mongo {
namespace {

using value::Value;
using Documents = std::vector<Value>;

Answer<Documents> tell_operations(const HandlerContext& context, const Call& call,
                                  const PipelineQuery& query) {
  if (call.database != "admin" || !query.collection.empty()) {
    return refuse(kInvalidNamespace, "$currentOp must be run against the 'admin' database");
  }
  if (auto may = check_may(context, call, Action::monitor, call.database); !may) {
    return pass(std::move(may.error()));
  }
  return index_builds(context);
}

// Sessions are known by what they do: the one of this command is there.
Answer<Documents> tell_sessions(const HandlerContext& /*context*/, const Call& call,
                                const PipelineQuery& query) {
  if (!query.collection.empty()) {
    return refuse(kInvalidNamespace,
                  "$listLocalSessions must be run against the database with {aggregate: 1}");
  }
  Documents sessions;
  if (const Value id = call["lsid"].find("id"); !id.is_undefined()) {
    sessions.push_back(
        Value::make_object({{text_value("_id"), Value::make_object({{text_value("id"), id}})},
                            {text_value("lastUse"), Value::make_date({call.now_ms(), 0})}}));
  }
  return sessions;
}

Answer<Documents> tell_collection(const HandlerContext& context, const Call& call,
                                  const PipelineQuery& query) {
  const Value asked = query.stages.at(0).find("$collStats");
  if (!asked.is_object()) return refuse(40166, "$collStats must take a nested object");
  const std::string ns = fmt::format("{}.{}", call.database, query.collection);
  if (!find_collection(context, call.database, query.collection)) {
    return refuse(kNamespaceNotFound, fmt::format("Collection [{}] not found.", ns));
  }
  for (const Value::Member& member : asked.members()) {
    if (member.name == "storageStats" || member.name == "count") continue;
    return refuse(kNotImplemented,
                  fmt::format("$collStats with '{}' is not implemented", member.name));
  }
  BsonWriter told;
  told.string("ns", ns).date("localTime", call.now_ms());
  if (const Value storage = asked.find("storageStats"); storage.is_object()) {
    const Value scale = storage.find("scale");
    const double by = scale.is_number() && scale.number() >= 1 ? scale.number() : 1;
    told.begin_document("storageStats");
    auto done = append_collection_stats(context, call.database, query.collection, by, told);
    if (!done) return pass(std::move(done.error()));
    told.end();
  }
  auto document = from_bson(told.take());
  if (!document) return pass(std::move(document.error()));
  if (asked.find("count").is_undefined()) return Documents{document->to_owned()};
  BsonWriter counted;
  if (auto done = append_collection_stats(context, call.database, query.collection, 1, counted);
      !done) {
    return pass(std::move(done.error()));
  }
  auto stats = from_bson(counted.take());
  if (!stats) return pass(std::move(stats.error()));
  return Documents{with_member(*document, "count", stats->find("count")).to_owned()};
}

}  // namespace

Answer<void> answer_server_stage(const HandlerContext& context, const Call& call,
                                 PipelineQuery& query) {
  if (query.stages.size() == 0) return {};
  std::string_view name;
  const Value first = query.stages.at(0);
  for (const Value::Member& member : first.members()) name = member.name;
  const auto tell = name == "$currentOp"           ? tell_operations
                    : name == "$listLocalSessions" ? tell_sessions
                    : name == "$collStats"         ? tell_collection
                                                   : nullptr;
  if (tell == nullptr) return {};
  auto told = tell(context, call, query);
  if (!told) return pass(std::move(told.error()));
  const Value literal =
      Value::make_object({{text_value("$literal"), Value::make_array(std::move(*told))}});
  std::vector<Value> stages = {Value::make_object({{text_value("$documents"), literal}})};
  for (size_t i = 1; i < query.stages.size(); ++i) stages.push_back(query.stages.at(i));
  query.stages = Value::make_array(std::move(stages)).to_owned();
  query.collection.clear();
  return {};
}

}  // namespace orrery::mongo
