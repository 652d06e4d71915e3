// Running stored procedures, and writes with triggers around them. Each is one transaction; it runs
// on a thread of the scripts' own, since it waits for a worker and for its partition.
#include <fmt/format.h>

#include <algorithm>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/items/item_patch.h"
#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/script/script_answer.h"
#include "api/cosmos/script/script_transaction.h"
#include "api/cosmos/service.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

void answer_stop(Call& call, const ScriptStop& stop) {
  if (const auto* refusal = std::get_if<Refusal>(&stop)) {
    return call.fail(refusal->error, refusal->substatus);
  }
  const auto& [script, failed] = std::get<ScriptFailure>(stop);
  ErrorReply reply = script_error(failed, script, call.activity_id);
  if (reply.retry_after_ms != 0) {
    call.response.add("x-ms-retry-after-ms", std::to_string(reply.retry_after_ms));
  }
  call.fail_with(reply.status, reply.substatus, std::move(reply.body));
}

void add_log(Call& call, const std::string& log) {
  if (is_true(call.headers.script_logging) && !log.empty()) {
    call.response.add("x-ms-documentdb-script-log-results", log_header(log));
  }
}

// The arguments of a procedure: the body, which is a JSON array, or nothing.
Result<std::string> arguments_of(std::string_view body) {
  if (body.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::string("[]");
  auto document = value::JsonDocument::parse(body);
  if (!document) {
    return fail(Code::invalid,
                "the procedure's arguments are not JSON: " + document.error().message);
  }
  if (document->root().type != value::Type::array) {
    return fail(Code::invalid,
                "the procedure's arguments are to be a JSON array, such as [\"a\",1]");
  }
  return std::string(document->text());
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

struct Trigger {
  std::string name;
  std::string source;
  std::string operation;  // All, Create, …
};

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

// The triggers that a header lists, which must be of that type.
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

}  // namespace

void Service::execute_procedure(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const ResourceKind& kind = *kind_of(kProcedureKind);
  std::optional<ResourceOwner> owner = resource_owner(call, kind);
  if (!owner) return;
  catalog::ResourcePtr procedure = find_resource(kind, *owner, call->address.child());
  if (!procedure) {
    return call->fail({.code = Code::not_found,
                       .message = fmt::format("there is no {} '{}' in {}", kind.noun,
                                              call->address.child(), owner->names)});
  }
  auto arguments = arguments_of(call->body);
  if (!arguments) return call->fail(arguments.error());
  ScriptScope scope;
  scope.routing = routing;
  scope.query_rules = options_.query_rules;
  scope.is_wanted = [&asked = *call] { return !asked.client_is_gone(); };
  scope.key = call->headers.partition_key;
  auto placement = place_key(scope.key, routing->container->spec.key, engine_.limits());
  if (!placement) return call->fail(placement.error());
  scope.placement = std::move(*placement);
  auto demand = demand_of(call->headers.session_token);
  if (!demand) return call->fail(demand.error());
  auto factor = consistency_factor(call->headers.consistency, options_.consistency);
  if (!factor) return call->fail(factor.error());
  scope.charge_factor = *factor;

  script::Execution run;
  run.kind = script::Kind::procedure;
  run.name = procedure->name;
  run.source = script_source(procedure->body);
  run.arguments = std::move(*arguments);
  run.logging = is_true(call->headers.script_logging);
  ScriptTransaction transaction(engine_, clock_, scripts_, continuations_, scope, *demand);
  std::string body;
  auto ran = transaction.run([&](ScriptTransaction& within) -> std::expected<void, ScriptStop> {
    auto done = within.execute(run);
    if (!done) return std::unexpected(std::move(done.error()));
    body = std::move(done->response_body);
    return {};
  });
  if (transaction.has_begun()) call->receipt(transaction.receipt(), *routing);
  add_log(*call, transaction.log());
  if (!ran) return answer_stop(*call, ran.error());
  call->reply(200, transaction.translate(body));
}

void Service::write_with_triggers(CallPtr call, ItemVerb verb) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  const uint32_t container = routing->container->number;
  auto before = find_triggers(engine_.catalog(), container, call->headers.pre_trigger, "Pre");
  if (!before) return call->fail(before.error());
  auto after = find_triggers(engine_.catalog(), container, call->headers.post_trigger, "Post");
  if (!after) return call->fail(after.error());
  ItemRequest request;
  request.verb = verb;
  request.body = call->body;
  request.key = call->headers.partition_key;
  request.if_match = call->headers.if_match;
  request.if_none_match = call->headers.if_none_match;
  ScriptScope scope;
  scope.routing = routing;
  scope.query_rules = options_.query_rules;
  scope.is_wanted = [&asked = *call] { return !asked.client_is_gone(); };
  scope.key = call->headers.partition_key;
  std::string id;
  if (verb != ItemVerb::create && verb != ItemVerb::upsert) {
    auto address = item_address(call, routing);
    if (!address) return;
    scope.placement = std::move(address->placement);
    id = std::move(address->row);
    request.id = id;
    if (verb == ItemVerb::remove) request.placement = scope.placement;
  } else if (!request.key.empty()) {
    auto placement = place_key(request.key, routing->container->spec.key, engine_.limits());
    if (!placement) return call->fail(placement.error());
    scope.placement = std::move(*placement);
  } else {
    auto write = make_write(request, *routing, engine_.limits());
    if (!write) return call->fail(write.error());
    scope.placement = std::move(write->placement);
    scope.key = std::move(write->key_text);
  }
  // A patch is the replace that it comes to: triggers see the item as it makes it.
  std::shared_ptr<const partition::Editor> editor;
  if (verb == ItemVerb::patch) {
    auto made = make_patch(call->body, routing->container->spec.key, engine_.limits());
    if (!made) return call->fail(made.error());
    editor = std::move(*made);
    request.verb = ItemVerb::replace;
  } else if (verb != ItemVerb::remove) {
    // Triggers see it parsed.
    if (auto item = value::JsonDocument::parse(call->body); !item) {
      return call->fail({.code = Code::invalid,
                         .message = "the body is not a JSON item: " + item.error().message});
    } else if (const value::Node* own = item->root().find("id");
               id.empty() && own != nullptr && own->type == value::Type::string) {
      id = own->text;
    }
  }

  cluster::LsnDemand no_demand;
  ScriptTransaction transaction(engine_, clock_, scripts_, continuations_, scope, no_demand);
  size_t main_write = 0;
  bool replaced = false;
  std::optional<std::string> response;
  auto ran = transaction.run([&](ScriptTransaction& within) -> std::expected<void, ScriptStop> {
    auto exists = within.operations().has(id);
    if (!exists) return std::unexpected(Refusal{exists.error()});
    for (const auto* triggers : {&*before, &*after}) {
      if (auto matching = check_matches(*triggers, verb, *exists); !matching) {
        return std::unexpected(Refusal{matching.error()});
      }
    }
    script::Execution run;
    run.operation = operation_name(verb);
    run.logging = is_true(call->headers.script_logging);
    std::string body(call->body);
    if (editor) {
      auto edited = within.operations().edited(id, *editor);
      if (!edited) return std::unexpected(Refusal{edited.error()});
      body = std::move(*edited);
    }
    run.kind = script::Kind::pre_trigger;
    for (const Trigger& trigger : *before) {
      run.name = trigger.name;
      run.source = trigger.source;
      run.request_body = body;
      auto done = within.execute(run);
      if (!done) return std::unexpected(std::move(done.error()));
      if (!done->request_body.empty()) body = std::move(done->request_body);
    }
    request.body = body;
    main_write = within.operations().staged();
    auto staged = within.operations().stage(request);
    if (!staged) return std::unexpected(std::move(staged.error()));
    replaced = staged->replaced;
    response.reset();
    run.kind = script::Kind::post_trigger;
    run.request_body = body;
    run.response_body = std::move(staged->body);
    for (const Trigger& trigger : *after) {
      run.name = trigger.name;
      run.source = trigger.source;
      auto done = within.execute(run);
      if (!done) return std::unexpected(std::move(done.error()));
      if (!done->response_body.empty()) response = run.response_body = done->response_body;
    }
    return {};
  });
  if (transaction.has_begun()) call->receipt(transaction.receipt(), *routing);
  add_log(*call, transaction.log());
  if (!ran) return answer_stop(*call, ran.error());
  partition::Written& written = transaction.written()[main_write];
  const int status = success_status(verb, replaced);
  if (verb == ItemVerb::remove) return call->reply_empty(status);
  call->etag(written.version);
  if (wants_minimal(call->headers)) return call->reply_empty(status);
  call->reply(status, response ? transaction.translate(*response) : std::move(written.item.body));
}

}  // namespace orrery::cosmos
