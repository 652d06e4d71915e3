// renameCollection, within a database.
#include <fmt/format.h>

#include <utility>

#include "api/mongo/collections/collections.h"
#include "api/mongo/commands/access.h"
#include "api/mongo/commands/arguments.h"
#include "api/mongo/commands/command.h"

namespace orrery::mongo {
namespace {

using value::Value;

struct Namespace {
  std::string database;
  std::string collection;
};

Answer<Namespace> namespace_of(const Value& given, std::string_view member) {
  const std::string_view text = given.is_string() ? given.text() : std::string_view();
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == text.size()) {
    return refuse(kInvalidNamespace,
                  fmt::format("renameCollection: '{}' must be database.collection", member));
  }
  Namespace found{std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
  if (auto checked = check_collection_name(found.database, found.collection); !checked) {
    return pass(std::move(checked.error()));
  }
  return found;
}

}  // namespace

Answer<void> run_rename(const HandlerContext& context, Call& call) {
  auto from = namespace_of(call[call.name], call.name);
  if (!from) return pass(std::move(from.error()));
  auto to = namespace_of(call["to"], "to");
  if (!to) return pass(std::move(to.error()));
  for (const std::string& database : {from->database, to->database}) {
    if (auto may = check_may(context, call, Action::collections, database); !may) return may;
  }
  if (from->database != to->database) {
    return refuse(kNotImplemented,
                  "renameCollection to another database is not implemented: copy the documents "
                  "with $out");
  }
  if (from->collection == to->collection) {
    return refuse(kIllegalOperation, "Can't rename a collection to itself");
  }
  const auto routing = find_collection(context, from->database, from->collection);
  if (!routing) {
    return refuse(kNamespaceNotFound, fmt::format("Source collection {}.{} does not exist",
                                                  from->database, from->collection));
  }
  if (const auto target = find_collection(context, to->database, to->collection)) {
    if (!flag_argument(call.command, "dropTarget", false)) {
      return refuse(kNamespaceExists, "target namespace exists");
    }
    auto removed = context.engine.remove_container(target->container->number);
    if (!removed) return pass(engine_error(removed.error()));
  }
  catalog::ContainerSpec spec = routing->container->spec;
  spec.name = to->collection;
  auto renamed = context.engine.replace_container(routing->container->number, std::move(spec));
  if (renamed) return {};
  if (renamed.error().code == Code::conflict) {
    return refuse(kNamespaceExists, "target namespace exists");
  }
  return pass(engine_error(renamed.error()));
}

}  // namespace orrery::mongo
