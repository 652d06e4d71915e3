// explain: how a command finds its documents, and what that takes.
//
// A plan is a chain of stages, named as MongoDB names them, the last of which reads: IDHACK (by
// _id), FETCH over IXSCAN (by an index), GEO_NEAR_2DSPHERE (by how far they are, from an index),
// COLLSCAN (all documents), EOF (there is no collection).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "api/mongo/bson/types.h"
#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/aggregate_command.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/batches.h"
#include "api/mongo/commands/command.h"
#include "api/mongo/commands/find_command.h"
#include "api/mongo/documents/find_stream.h"
#include "api/mongo/documents/pipeline_stream.h"

namespace orrery::mongo {
namespace {

using value::Value;

// A stage above the one that reads.
struct PlanStage {
  std::string_view name;
  std::string_view member = {};  // what it has to say of itself
  Value value = {};
};

struct Explanation {
  std::vector<PlanStage> stages;  // the outermost first
  ReadPlan reads;
  Value filter = Value::make_object({});
  bool is_executed = false;
  uint64_t returned = 0;
  uint64_t keys = 0;
  uint64_t documents = 0;
};

Value number_of(int64_t number) {
  return Value::make_integer(number, value::NumberKind::int64);
}

// What is asked of the command within: its name, its collection, whether it is run.
struct Asked {
  Value command;
  std::string_view name;
  std::string collection;
  cluster::RoutingPtr routing;
  bool executes = false;
};

Answer<void> explain_find(const HandlerContext& context, Call& call, const Asked& asked,
                          Explanation& told) {
  auto find = parse_find(asked.command);
  if (!find) return pass(std::move(find.error()));
  told.filter = find->query.filter;
  auto rows = FindStream::open(context, asked.routing, find->query, find->options, call.now_ms());
  if (!rows) return pass(std::move(rows.error()));
  told.reads = (*rows)->documents().reads();
  const FindOptions& options = find->options;
  if (options.projection.is_object()) {
    told.stages.push_back({"PROJECTION_DEFAULT", "transformBy", options.projection});
  }
  const bool sorts = (*rows)->sorts_in_memory();
  if (options.limit > 0 && !sorts) {
    told.stages.push_back({"LIMIT", "limitAmount", number_of(options.limit)});
  }
  if (options.skip > 0) told.stages.push_back({"SKIP", "skipAmount", number_of(options.skip)});
  if (sorts) told.stages.push_back({"SORT", "sortPattern", options.sort});
  if (!asked.executes) return {};
  start_budget(call, **rows);
  if (auto begun = (*rows)->begin_batch(); !begun) return begun;
  std::string row;
  for (;;) {
    auto more = (*rows)->next(row);
    if (!more) return pass(std::move(more.error()));
    if (!*more) break;
    ++told.returned;
  }
  told.keys = (*rows)->documents().keys_read();
  told.documents = (*rows)->documents().documents_read();
  call.charge += (*rows)->end_batch(0);
  return {};
}

Answer<void> explain_aggregate(const HandlerContext& context, Call& call, const Asked& asked,
                               Explanation& told) {
  if (!asked.command.find("writeConcern").is_undefined()) {
    return refuse(kFailedToParse, "Aggregation explain does not support the 'writeConcern' option");
  }
  auto query = parse_aggregate(call, asked.command);
  if (!query) return pass(std::move(query.error()));
  auto rows = PipelineStream::open(context, *query, call.now_ms());
  if (!rows) return pass(std::move(rows.error()));
  told.reads = (*rows)->reads();
  told.filter = (*rows)->filter();
  if (!asked.executes || (*rows)->pipeline().output()) return {};
  start_budget(call, **rows);
  if (auto begun = (*rows)->begin_batch(); !begun) return begun;
  for (;;) {
    auto document = (*rows)->next_document();
    if (!document) return pass(std::move(document.error()));
    if (!*document) break;
    ++told.returned;
  }
  told.keys = (*rows)->keys_read();
  told.documents = (*rows)->documents_read();
  call.charge += (*rows)->end_batch(0);
  return {};
}

// What a command does to the documents that its filter finds. Nothing is changed.
struct FilterCommand {
  std::string_view name;
  std::string_view list;    // of its statements, the first of which is explained; empty: none
  std::string_view filter;  // the member that has it
  std::string_view stage;   // above what reads; empty: none
};
constexpr FilterCommand kFilterCommands[] = {
    {"count", "", "query", "COUNT"},          {"distinct", "", "query", ""},
    {"update", "updates", "q", "UPDATE"},     {"delete", "deletes", "q", "DELETE"},
    {"findAndModify", "", "query", "UPDATE"},
};

Answer<void> explain_filter(const HandlerContext& context, Call& call, const Asked& asked,
                            const FilterCommand& kind, Explanation& told) {
  const Value statement = kind.list.empty() ? asked.command : asked.command.find(kind.list).at(0);
  if (const Value filter = statement.find(kind.filter); filter.is_object()) told.filter = filter;
  auto query = parse_query(told.filter, statement);
  if (!query) return pass(std::move(query.error()));
  Budget budget;
  start_budget(call, budget);
  auto documents = MatchingDocuments::open(context, asked.routing, *query, budget, call.now_ms());
  if (!documents) return pass(std::move(documents.error()));
  told.reads = (*documents)->reads();
  if (!kind.stage.empty()) told.stages.push_back({kind.stage});
  if (!asked.executes) return {};
  if (auto begun = (*documents)->begin_batch(); !begun) return begun;
  const bool takes_one = (kind.name == "update" && !flag_argument(statement, "multi", false)) ||
                         (kind.name == "delete" && is_true(statement.find("limit"))) ||
                         (kind.name == "findAndModify" && statement.find("sort").size() == 0);
  do {
    auto found = (*documents)->next();
    if (!found) return pass(std::move(found.error()));
    if (!*found) break;
    ++told.returned;
  } while (!takes_one);
  told.keys = (*documents)->keys_read();
  told.documents = (*documents)->documents_read();
  call.charge += (*documents)->end_batch(0);
  return {};
}

// The members of the stage from `at` on, and within it those below.
void append_plan(BsonWriter& answer, const Explanation& told, bool counts, size_t at = 0) {
  if (at < told.stages.size()) {
    const PlanStage& stage = told.stages[at];
    answer.string("stage", stage.name);
    if (counts && at == 0) answer.int64("nReturned", static_cast<int64_t>(told.returned));
    if (!stage.member.empty()) answer.value(stage.member, stage.value, SIZE_MAX);
    answer.begin_document("inputStage");
    append_plan(answer, told, counts, at + 1);
    answer.end();
    return;
  }
  const bool is_index = told.reads.stage == "IXSCAN";
  answer.string("stage", is_index ? "FETCH" : told.reads.stage);
  if (counts && at == 0) answer.int64("nReturned", static_cast<int64_t>(told.returned));
  if (counts) answer.int64("docsExamined", static_cast<int64_t>(told.documents));
  if (is_index) answer.begin_document("inputStage").string("stage", "IXSCAN");
  if (is_index || !told.reads.index_name.empty()) {
    answer.value("keyPattern", told.reads.index_key, SIZE_MAX);
    answer.string("indexName", told.reads.index_name);
    if (is_index) answer.string("direction", told.reads.is_backwards ? "backward" : "forward");
    if (counts) answer.int64("keysExamined", static_cast<int64_t>(told.keys));
  }
  if (is_index) answer.end();
}

void append_planner(BsonWriter& answer, std::string_view ns, const Explanation& told) {
  answer.begin_document("queryPlanner").string("namespace", ns).boolean("indexFilterSet", false);
  answer.value("parsedQuery", told.filter, SIZE_MAX);
  answer.begin_document("winningPlan");
  append_plan(answer, told, false);
  answer.end().begin_array("rejectedPlans").end().end();
}

void append_explanation(Call& call, const Asked& asked, const Explanation& told) {
  BsonWriter& answer = call.answer;
  const std::string ns = fmt::format("{}.{}", call.database, asked.collection);
  answer.string("explainVersion", "1");
  append_planner(answer, ns, told);
  // Of a pipeline also as its stages, the first of which reads.
  if (const Value stages = asked.command.find("pipeline"); stages.size() > 0) {
    BsonWriter::Index index;
    answer.begin_array("stages").begin_document(index.next()).begin_document("$cursor");
    append_planner(answer, ns, told);
    answer.end().end();
    for (const Value& stage : stages.elements()) answer.value(index.next(), stage, SIZE_MAX);
    answer.end();
  }
  if (asked.executes) {
    answer.begin_document("executionStats")
        .boolean("executionSuccess", true)
        .int64("nReturned", static_cast<int64_t>(told.returned))
        .int64("executionTimeMillis", (call.steady_us() - call.started_us()) / 1000)
        .int64("totalKeysExamined", static_cast<int64_t>(told.keys))
        .int64("totalDocsExamined", static_cast<int64_t>(told.documents))
        .begin_document("executionStages");
    append_plan(answer, told, true);
    answer.end().end();
  }
  answer.begin_document("serverInfo").string("version", kVersion).end();
}

}  // namespace

Answer<void> run_explain(const HandlerContext& context, Call& call) {
  // Also aggregate with `explain: true`, which is not wrapped, and not run.
  const bool is_wrapped = call.name != "aggregate";
  Asked asked;
  asked.command = is_wrapped ? call[call.name] : call.command;
  if (!asked.command.is_object()) return refuse(kTypeMismatch, "explain needs a command");
  if (is_wrapped && !call["writeConcern"].is_undefined()) {
    return refuse(kInvalidOptions, "Command explain does not support writeConcern");
  }
  for (const Value::Member& member : asked.command.members()) {
    asked.name = member.name;
    if (member.value.is_string()) asked.collection = member.value.text();
    break;
  }
  const Value verbosity = call["verbosity"];
  constexpr std::array<std::string_view, 3> kVerbosities = {"queryPlanner", "executionStats",
                                                            "allPlansExecution"};
  if (is_wrapped && !verbosity.is_undefined() &&
      (!verbosity.is_string() ||
       std::ranges::find(kVerbosities, verbosity.text()) == kVerbosities.end())) {
    return refuse(kBadValue, fmt::format("Enumeration value '{}' for field 'explain.verbosity' is "
                                         "not a valid value.",
                                         verbosity.is_string() ? std::string(verbosity.text())
                                                               : shown(verbosity)));
  }
  asked.executes = is_wrapped && !(verbosity.is_string() && verbosity.text() == "queryPlanner");
  asked.routing = find_collection(context, call.database, asked.collection);
  Explanation told;
  Answer<void> outcome =
      refuse(kNotImplemented, fmt::format("explain of '{}' is not implemented", asked.name));
  if (asked.name == "find") outcome = explain_find(context, call, asked, told);
  if (asked.name == "aggregate") outcome = explain_aggregate(context, call, asked, told);
  for (const FilterCommand& kind : kFilterCommands) {
    if (kind.name == asked.name) outcome = explain_filter(context, call, asked, kind, told);
  }
  if (!outcome) return outcome;
  append_explanation(call, asked, told);
  return {};
}

}  // namespace orrery::mongo
