// See recording.h.
#include "api/cosmos/recording.h"

#include <optional>

#include "api/cosmos/foreign/foreign_database.h"
#include "base/survive.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

// A larger body is not parsed a second time for this.
constexpr size_t kMostBodyBytes = 64 * 1024;
// As clients send them: one in many requests is recorded.
constexpr size_t kMostBulkBytes = 1024 * 1024;

std::optional<advise::RequestKind> recorded_as(Operation operation) {
  switch (operation) {
    case Operation::item_create:
      return advise::RequestKind::create;
    case Operation::item_upsert:
      return advise::RequestKind::upsert;
    case Operation::item_read:
      return advise::RequestKind::read;
    case Operation::item_replace:
      return advise::RequestKind::replace;
    case Operation::item_delete:
      return advise::RequestKind::remove;
    case Operation::item_patch:
      return advise::RequestKind::patch;
    case Operation::item_batch:
      return advise::RequestKind::batch;
    case Operation::item_query:
      return advise::RequestKind::query;
    default:
      return std::nullopt;
  }
}

// The id and the key of a point operation. `id` and `key` are JSON.
void describe_point(std::string_view id, std::string_view key_json, const cluster::Routing& routing,
                    advise::Details& details) {
  if (const auto document = JsonDocument::parse(id)) {
    details.add_known({.steps = {{.name = "id"}}}, document->root());
  }
  const auto key = JsonDocument::parse(key_json);
  if (!key || key->root().type != Type::array) return;
  const auto& paths = routing.container->spec.key.paths;
  const Node* value = key->root().first;
  for (size_t i = 0; i < paths.size() && value != nullptr; ++i, value = value->next) {
    details.add_known(paths[i], *value);
  }
}

advise::UpdatedProperties updated_by(const ItemUpdate& update) {
  if (update.before.empty() || update.before.size() > kMostBodyBytes) return {};
  if (update.after.empty() || update.after.size() > kMostBodyBytes) return {};
  const auto before = JsonDocument::parse(update.before);
  const auto after = JsonDocument::parse(update.after);
  if (!before || !after) return {};
  return advise::updated_properties(before->root(), after->root());
}

const Node* body_of(const Node& operation) {
  const Node* item = operation.type == Type::object ? operation.find("resourceBody") : nullptr;
  return item != nullptr && item->type == Type::object ? item : nullptr;
}

void describe_batch(const Node& body, advise::Details& details) {
  for (const Node* one = body.first; one != nullptr; one = one->next) {
    if (const Node* item = body_of(*one)) details.add_batch_item(*item);
  }
}

void describe(const Call& call, const cluster::Routing& routing, advise::RequestKind operation,
              advise::Details& details) {
  if (!advise::has_body(operation)) {
    std::string id;
    value::append_json_string(id, call.address.child());
    return describe_point(id, call.headers.partition_key, routing, details);
  }
  if (call.body.size() > kMostBodyBytes) return;
  const auto document = JsonDocument::parse(call.body);
  if (!document) return;
  if (document->root().type == Type::array) {
    describe_batch(document->root(), details);
  } else {
    details.add_item(document->root());
  }
}

void record(advise::Recorder& recorder, const Call& call, const cluster::Routing& routing,
            const Charged& charged, advise::RequestKind operation) {
  advise::Observed observed{.container = routing.container->number,
                            .operation = operation,
                            .ru = charged.ru,
                            .asked = static_cast<double>(charged.ranges),
                            .weight = static_cast<double>(charged.stands_for),
                            .query = {},
                            .parameters = nullptr,
                            .updated = updated_by(charged.update)};
  std::optional<JsonDocument> body;
  if (operation == advise::RequestKind::query) {
    if (call.body.size() > kMostBodyBytes) return;
    auto parsed = JsonDocument::parse(call.body);
    if (!parsed) return;
    body.emplace(std::move(*parsed));
    const Node* text = body->root().find("query");
    if (text == nullptr || text->type != Type::string) return;
    observed.query = text->text;
    observed.parameters = body->root().find("parameters");
    // A client that asks each range by itself makes one query of all of them.
    if (!call.headers.partition_key_range.empty()) {
      const auto ranges = static_cast<double>(routing.slots.size());
      observed.weight /= ranges;
      observed.ru *= ranges;
      observed.asked = ranges;
    }
  }
  recorder.record(observed,
                  [&](advise::Details& details) { describe(call, routing, operation, details); });
}

std::optional<advise::RequestKind> operation_of_bulk(const Node& one) {
  struct Named {
    std::string_view name;
    advise::RequestKind operation;
  };
  static constexpr Named kNamed[] = {
      {"Create", advise::RequestKind::create}, {"Upsert", advise::RequestKind::upsert},
      {"Read", advise::RequestKind::read},     {"Replace", advise::RequestKind::replace},
      {"Delete", advise::RequestKind::remove}, {"Patch", advise::RequestKind::patch},
  };
  const Node* type = one.type == Type::object ? one.find("operationType") : nullptr;
  if (type == nullptr || type->type != Type::string) return std::nullopt;
  for (const Named& named : kNamed) {
    if (named.name == type->text) return named.operation;
  }
  return std::nullopt;
}

void describe_bulk(const Node& one, const cluster::Routing& routing, advise::RequestKind operation,
                   advise::Details& details) {
  if (advise::has_body(operation)) {
    if (const Node* item = body_of(one)) details.add_item(*item);
    return;
  }
  const Node* id = one.find("id");
  const Node* key = one.find("partitionKey");
  // A key may be the text of an array, or the array.
  const std::string_view key_json = key == nullptr              ? std::string_view()
                                    : key->type == Type::string ? key->text
                                                                : key->raw;
  describe_point(id == nullptr ? std::string_view() : id->raw, key_json, routing, details);
}

// The operations of a bulk request have nothing to do with one another: each is recorded by itself,
// with its share of the charge.
void record_bulk(advise::Recorder& recorder, const Call& call, const cluster::Routing& routing,
                 const Charged& charged) {
  if (call.body.size() > kMostBulkBytes) return;
  const auto document = JsonDocument::parse(call.body);
  if (!document || document->root().type != Type::array || document->root().count == 0) return;
  const auto count = static_cast<double>(document->root().count);
  for (const Node* one = document->root().first; one != nullptr; one = one->next) {
    const auto operation = operation_of_bulk(*one);
    if (!operation) continue;
    recorder.record(
        {.container = routing.container->number,
         .operation = *operation,
         .ru = charged.ru / count,
         .asked = 1,
         .weight = static_cast<double>(charged.stands_for),
         .query = {},
         .parameters = nullptr},
        [&](advise::Details& details) { describe_bulk(*one, routing, *operation, details); });
  }
}

}  // namespace

void record_call(advise::Recorder& recorder, const Call& call, const cluster::Routing& routing,
                 const Charged& charged) {
  if (call.operation == Operation::item_bulk && is_own(*routing.database)) {
    survive("recording a bulk request for the advisor",
            [&] { record_bulk(recorder, call, routing, charged); });
    return;
  }
  const auto operation = recorded_as(call.operation);
  if (!operation || !is_own(*routing.database)) return;
  // What is missing from a recording must not be missing from an answer.
  survive("recording a request for the advisor",
          [&] { record(recorder, call, routing, charged, *operation); });
}

}  // namespace orrery::cosmos
