// See triggered_write.h.
#include "api/cosmos/script/triggered_write.h"

#include <memory>
#include <optional>
#include <utility>

#include "api/cosmos/items/item_address.h"
#include "api/cosmos/items/item_patch.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/script/answer_transaction.h"
#include "api/cosmos/script/script_transaction.h"
#include "api/cosmos/script/triggers.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

class TriggeredWrite {
 public:
  TriggeredWrite(const HandlerContext& context, Call& call, cluster::RoutingPtr routing,
                 ItemVerb verb);

  // All that is done once, before the transaction.
  std::expected<void, Refusal> prepare();
  void run_and_answer();

 private:
  const Limits& limits() const { return context_.engine.limits(); }
  const value::KeyDefinition& key() const { return scope_.routing->container->spec.key; }

  Status find_triggers_named();
  // Finds the partition key that the transaction is about.
  std::expected<void, Refusal> find_place();
  // Checks the body that was sent, and takes what it says of the item.
  Status read_body();

  // One attempt of the transaction.
  std::expected<void, ScriptStop> attempt(ScriptTransaction& within);
  std::expected<void, Refusal> check_triggers(ScriptTransaction& within) const;
  script::Execution execution(script::Kind kind) const;
  // What triggers make of the body before the write.
  std::expected<std::string, ScriptStop> run_before(ScriptTransaction& within);
  std::expected<void, ScriptStop> run_after(ScriptTransaction& within, std::string request_body,
                                            std::string response_body);

  const HandlerContext& context_;
  Call& call_;
  const ItemVerb verb_;
  std::vector<Trigger> before_;
  std::vector<Trigger> after_;
  ItemRequest request_;
  ScriptScope scope_;
  std::string id_;                                   // of the item; empty: not known yet
  std::shared_ptr<const partition::Editor> editor_;  // of a patch

  // Of the last attempt.
  size_t main_write_ = 0;  // which of the staged writes is the request's own
  bool replaced_ = false;
  std::optional<std::string> response_;  // the body, if a trigger has set it
};

TriggeredWrite::TriggeredWrite(const HandlerContext& context, Call& call,
                               cluster::RoutingPtr routing, ItemVerb verb)
    : context_(context), call_(call), verb_(verb) {
  request_.verb = verb;
  request_.body = call.body;
  request_.key = call.headers.partition_key;
  request_.if_match = call.headers.if_match;
  request_.if_none_match = call.headers.if_none_match;
  scope_.routing = std::move(routing);
  scope_.query_rules = context.options.query_rules;
  scope_.is_wanted = [&call] { return !call.client_is_gone(); };
  scope_.key = call.headers.partition_key;
}

std::expected<void, Refusal> TriggeredWrite::prepare() {
  if (auto found = find_triggers_named(); !found) return std::unexpected(Refusal{found.error()});
  if (auto found = find_place(); !found) return found;
  if (auto read = read_body(); !read) return std::unexpected(Refusal{read.error()});
  return {};
}

Status TriggeredWrite::find_triggers_named() {
  const catalog::Catalog& catalog = context_.engine.catalog();
  const uint32_t container = scope_.routing->container->number;
  auto before = find_triggers(catalog, container, call_.headers.pre_trigger, "Pre");
  if (!before) return pass(before.error());
  auto after = find_triggers(catalog, container, call_.headers.post_trigger, "Post");
  if (!after) return pass(after.error());
  before_ = std::move(*before);
  after_ = std::move(*after);
  return {};
}

std::expected<void, Refusal> TriggeredWrite::find_place() {
  if (verb_ != ItemVerb::create && verb_ != ItemVerb::upsert) {
    auto address = find_item(context_, call_, scope_.routing);
    if (!address) return std::unexpected(Refusal{address.error()});
    scope_.placement = std::move(address->placement);
    id_ = std::move(address->row);
    request_.id = id_;
    if (verb_ == ItemVerb::remove) request_.placement = scope_.placement;
  } else if (!request_.key.empty()) {
    auto placement = place_key(request_.key, key(), limits());
    if (!placement) return std::unexpected(Refusal{placement.error()});
    scope_.placement = std::move(*placement);
  } else {
    auto write = make_write(request_, *scope_.routing, limits());
    if (!write) return std::unexpected(std::move(write.error()));
    scope_.placement = std::move(write->placement);
    scope_.key = std::move(write->key_text);
  }
  return {};
}

Status TriggeredWrite::read_body() {
  if (verb_ == ItemVerb::remove) return {};
  if (verb_ == ItemVerb::patch) {
    // A patch is the replace that it comes to: triggers see the item as it makes it.
    auto editor = make_patch(call_.body, key(), limits());
    if (!editor) return pass(editor.error());
    editor_ = std::move(*editor);
    request_.verb = ItemVerb::replace;
    return {};
  }
  // Triggers see it parsed.
  auto item = value::JsonDocument::parse(call_.body);
  if (!item) {
    return fail(Code::invalid, "the body is not a JSON item: " + item.error().message);
  }
  if (id_.empty()) {
    const value::Node* own = item->root().find("id");
    if (own != nullptr && own->type == value::Type::string) id_ = own->text;
  }
  return {};
}

void TriggeredWrite::run_and_answer() {
  const cluster::LsnDemand no_demand;
  ScriptTransaction transaction(context_.engine, context_.clock, context_.scripts,
                                context_.continuations, scope_, no_demand);
  auto ran = transaction.run([this](ScriptTransaction& within) { return attempt(within); });
  if (!begin_answer(call_, *scope_.routing, transaction, ran)) return;
  partition::Written& written = transaction.written()[main_write_];
  const int status = success_status(verb_, replaced_);
  if (verb_ == ItemVerb::remove) return call_.reply_empty(status);
  call_.etag(written.version);
  if (wants_minimal(call_.headers)) return call_.reply_empty(status);
  call_.reply(status, response_ ? transaction.translate(*response_) : std::move(written.item.body));
}

std::expected<void, ScriptStop> TriggeredWrite::attempt(ScriptTransaction& within) {
  if (auto matching = check_triggers(within); !matching) {
    return std::unexpected(std::move(matching.error()));
  }
  auto body = run_before(within);
  if (!body) return std::unexpected(std::move(body.error()));
  request_.body = *body;
  main_write_ = within.operations().staged();
  auto staged = within.operations().stage(request_);
  if (!staged) return std::unexpected(std::move(staged.error()));
  replaced_ = staged->replaced;
  return run_after(within, std::move(*body), std::move(staged->body));
}

std::expected<void, Refusal> TriggeredWrite::check_triggers(ScriptTransaction& within) const {
  auto exists = within.operations().has(id_);
  if (!exists) return std::unexpected(Refusal{exists.error()});
  for (const auto* triggers : {&before_, &after_}) {
    if (auto matching = check_matches(*triggers, verb_, *exists); !matching) {
      return std::unexpected(Refusal{matching.error()});
    }
  }
  return {};
}

script::Execution TriggeredWrite::execution(script::Kind kind) const {
  script::Execution run;
  run.kind = kind;
  run.operation = operation_name(verb_);
  run.logging = is_true(call_.headers.script_logging);
  return run;
}

std::expected<std::string, ScriptStop> TriggeredWrite::run_before(ScriptTransaction& within) {
  std::string body(call_.body);
  if (editor_) {
    auto edited = within.operations().edited(id_, *editor_);
    if (!edited) return std::unexpected(Refusal{edited.error()});
    body = std::move(*edited);
  }
  script::Execution run = execution(script::Kind::pre_trigger);
  for (const Trigger& trigger : before_) {
    run.name = trigger.name;
    run.source = trigger.source;
    run.request_body = body;
    auto done = within.execute(run);
    if (!done) return std::unexpected(std::move(done.error()));
    if (!done->request_body.empty()) body = std::move(done->request_body);
  }
  return body;
}

std::expected<void, ScriptStop> TriggeredWrite::run_after(ScriptTransaction& within,
                                                          std::string request_body,
                                                          std::string response_body) {
  response_.reset();
  script::Execution run = execution(script::Kind::post_trigger);
  run.request_body = std::move(request_body);
  run.response_body = std::move(response_body);
  for (const Trigger& trigger : after_) {
    run.name = trigger.name;
    run.source = trigger.source;
    auto done = within.execute(run);
    if (!done) return std::unexpected(std::move(done.error()));
    if (!done->response_body.empty()) response_ = run.response_body = done->response_body;
  }
  return {};
}

}  // namespace

void write_with_triggers(const HandlerContext& context, CallPtr call, ItemVerb verb) {
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  TriggeredWrite write(context, *call, std::move(routing), verb);
  if (auto prepared = write.prepare(); !prepared) return call->fail(prepared.error());
  write.run_and_answer();
}

}  // namespace orrery::cosmos
