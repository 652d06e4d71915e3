// See current_op.h; and the command currentOp.
#include "api/mongo/commands/current_op.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Value;

Value::Field member(std::string_view name, Value value) {
  return {Value::make_string(std::string(name)), std::move(value)};
}
Value text(std::string_view of) {
  return Value::make_string(std::string(of));
}
Value number(uint64_t of) {
  return Value::make_integer(static_cast<int64_t>(of), NumberKind::int64);
}

// Of a collection whose documents do not have all entries of its indexes yet.
Value build_of(const HandlerContext& context, const catalog::Database& database,
               const catalog::Container& container) {
  uint64_t total = 0;
  double done = 0;
  if (const auto partitions = context.engine.status(container.number)) {
    for (const cluster::PartitionStatus& one : *partitions) {
      total += one.usage.items;
      done += static_cast<double>(one.usage.items) * one.indexed_percent / 100;
    }
  }
  const double percent = total == 0 ? 100 : done * 100 / static_cast<double>(total);
  std::vector<Value> indexes;
  for (const IndexSpec& index : read_definition(container.spec).indexes) {
    indexes.push_back(index.spec);
  }
  return Value::make_object(
      {member("type", text("op")),
       member("desc", text(fmt::format("IndexBuildsCoordinator-{}", container.number))),
       member("active", Value::make_bool(true)), member("op", text("command")),
       member("ns", text(fmt::format("{}.{}", database.name, container.spec.name))),
       member("command",
              Value::make_object({member("createIndexes", text(container.spec.name)),
                                  member("indexes", Value::make_array(std::move(indexes))),
                                  member("$db", text(database.name))})),
       member("msg", text(fmt::format("Index Build: scanning collection {:.0f}%", percent))),
       member("progress", Value::make_object({member("done", number(static_cast<uint64_t>(done))),
                                              member("total", number(total))}))});
}

}  // namespace

std::vector<Value> index_builds(const HandlerContext& context) {
  std::vector<Value> builds;
  for (const auto& database : context.engine.catalog().databases(kFaceName)) {
    for (const auto& container : context.engine.catalog().containers(database->number)) {
      if (container->indexed_version >= container->index_version) continue;
      builds.push_back(build_of(context, *database, *container));
    }
  }
  return builds;
}

Answer<void> run_current_op(const HandlerContext& context, Call& call) {
  call.answer.value("inprog", Value::make_array(index_builds(context)), SIZE_MAX);
  return {};
}

}  // namespace orrery::mongo
