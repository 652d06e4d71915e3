// See triggers.h.
#include "api/cosmos/script/triggers.h"

#include <fmt/format.h>

#include "api/cosmos/resources/resource_kinds.h"
#include "base/bytes.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view name = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.push_back(name);
  }
  return names;
}

// An upsert is also the create or the replace that it turns out to be.
bool matches(const Trigger& trigger, ItemVerb verb, bool exists) {
  const auto is = [&](std::string_view name) {
    return equals_ignore_case(trigger.operation, name);
  };
  if (is("All") || is(operation_name(verb))) return true;
  if (verb == ItemVerb::replace || verb == ItemVerb::patch ||
      (verb == ItemVerb::upsert && exists)) {
    return is("Replace") || is("Update");
  }
  return verb == ItemVerb::upsert && is("Create");
}

}  // namespace

Result<std::vector<Trigger>> find_triggers(const catalog::Catalog& catalog, uint32_t container,
                                           std::string_view list, std::string_view type) {
  std::vector<Trigger> triggers;
  for (const std::string_view name : names_in(list)) {
    catalog::ResourcePtr found = catalog.resource(kTriggerKind, container, name);
    if (!found) {
      return fail(Code::invalid,
                  fmt::format("the request names the trigger '{}', and the container has none of "
                              "that name",
                              name));
    }
    auto definition = value::JsonDocument::parse(fmt::format("{{{}}}", found->body));
    if (!definition) return pass(definition.error());
    const value::Node& root = definition->root();
    if (!equals_ignore_case(root.find("triggerType")->text, type)) {
      return fail(Code::invalid, fmt::format("the trigger '{}' is not a {}-trigger: its "
                                             "triggerType is {}",
                                             name, type, root.find("triggerType")->text));
    }
    triggers.push_back({found->name, std::string(root.find("body")->text),
                        std::string(root.find("triggerOperation")->text)});
  }
  return triggers;
}

Status check_matches(const std::vector<Trigger>& triggers, ItemVerb verb, bool exists) {
  for (const Trigger& trigger : triggers) {
    if (matches(trigger, verb, exists)) continue;
    return fail(Code::invalid,
                fmt::format("the trigger '{}' is for {} operations, and this one is {}",
                            trigger.name, trigger.operation, operation_name(verb)));
  }
  return {};
}

std::string_view operation_name(ItemVerb verb) {
  switch (verb) {
    case ItemVerb::create:
      return "Create";
    case ItemVerb::upsert:
      return "Upsert";
    case ItemVerb::remove:
      return "Delete";
    default:
      return "Replace";
  }
}

}  // namespace orrery::cosmos
