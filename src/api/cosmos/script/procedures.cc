// See procedures.h.
#include "api/cosmos/script/procedures.h"

#include <fmt/format.h>

#include <utility>

#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/later.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/resources/resource_owner.h"
#include "api/cosmos/script/answer_transaction.h"
#include "api/cosmos/script/script_answer.h"
#include "api/cosmos/script/script_transaction.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

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

void execute_procedure(const HandlerContext& context, CallPtr call) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  const ResourceKind& kind = *kind_of(kProcedureKind);
  std::optional<ResourceOwner> owner = owner_of(context, call, kind);
  if (!owner) return;
  catalog::ResourcePtr procedure =
      find_resource(context.engine.catalog(), kind, *owner, call->address.child());
  if (!procedure) {
    return call->fail({.code = Code::not_found,
                       .message = fmt::format("there is no {} '{}' in {}", kind.noun,
                                              call->address.child(), owner->names)});
  }
  auto arguments = arguments_of(call->body);
  if (!arguments) return call->fail(arguments.error());
  ScriptScope scope;
  scope.routing = routing;
  scope.query_rules = context.options.query_rules;
  scope.is_wanted = [&asked = *call] { return !asked.client_is_gone(); };
  scope.key = call->headers.partition_key;
  auto placement = place_key(scope.key, routing->container->spec.key, context.engine.limits());
  if (!placement) return call->fail(placement.error());
  scope.placement = std::move(*placement);
  auto terms = read_terms_of(call->headers, context.options.consistency);
  if (!terms) return call->fail(terms.error());
  scope.charge_factor = terms->charge_factor;

  script::Execution run;
  run.kind = script::Kind::procedure;
  run.name = procedure->name;
  run.source = script_source(procedure->body);
  run.arguments = std::move(*arguments);
  run.logging = is_true(call->headers.script_logging);
  ScriptTransaction transaction(context.engine, context.clock, context.scripts,
                                context.continuations, scope, terms->demand);
  std::string body;
  auto ran = transaction.run([&](ScriptTransaction& within) -> std::expected<void, ScriptStop> {
    auto done = within.execute(run);
    if (!done) return std::unexpected(std::move(done.error()));
    body = std::move(done->response_body);
    return {};
  });
  if (!begin_answer(*call, *routing, transaction, ran)) return;
  call->reply(200, transaction.translate(body));
}

}  // namespace

void handle_procedure(const HandlerContext& context, CallPtr call) {
  call->operation = Operation::script_run;
  later_in_container(context, std::move(call), Lane::scripts, execute_procedure);
}

}  // namespace orrery::cosmos
