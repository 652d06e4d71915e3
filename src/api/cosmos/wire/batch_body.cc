// See batch_body.h.
#include "api/cosmos/wire/batch_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/cosmos/wire/binary_json.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/hybrid_batch.h"
#include "face/http_error.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

constexpr size_t kShownBodyBytes = 100;

constexpr std::array<std::pair<std::string_view, ItemVerb>, 6> kVerbs = {
    {{"Create", ItemVerb::create},
     {"Upsert", ItemVerb::upsert},
     {"Replace", ItemVerb::replace},
     {"Read", ItemVerb::read},
     {"Delete", ItemVerb::remove},
     {"Patch", ItemVerb::patch}}};

// A member that is a text; empty when it is not there.
Result<std::string_view> member_text(const Node& operation, std::string_view name) {
  const Node* found = operation.find(name);
  if (found == nullptr || found->type == Type::null) return std::string_view();
  if (found->type != Type::string) {
    return fail(Code::invalid, fmt::format("\"{}\" of the operation {} is not a text", name,
                                           operation.raw.substr(0, kShownBodyBytes)));
  }
  return found->text;
}

Result<BatchOperation> parse_operation(const Node& node) {
  auto refuse = [&node](std::string_view why) {
    return fail(Code::invalid,
                fmt::format("the operation {} {}", node.raw.substr(0, kShownBodyBytes), why));
  };
  if (node.type != Type::object) return refuse("is not an object");
  auto type = member_text(node, "operationType");
  if (!type) return pass(type.error());
  const auto* verb =
      std::ranges::find(kVerbs, *type, &std::pair<std::string_view, ItemVerb>::first);
  if (verb == kVerbs.end()) {
    return refuse(
        "has no operationType that is one of Create, Upsert, Replace, Read, Delete and "
        "Patch");
  }
  BatchOperation operation;
  operation.request.verb = verb->second;
  const bool names_item = verb->second != ItemVerb::create && verb->second != ItemVerb::upsert;
  if (names_item) {
    auto id = member_text(node, "id");
    if (!id) return pass(id.error());
    if (id->empty()) return refuse("has no id");
    operation.request.id = *id;
  }
  if (verb->second != ItemVerb::read && verb->second != ItemVerb::remove) {
    const Node* body = node.find("resourceBody");
    if (body == nullptr) return refuse("has no resourceBody");
    operation.request.body = body->raw;
  }
  // A text with the JSON of the key's array in it, or the array itself.
  if (const Node* key = node.find("partitionKey"); key != nullptr && key->type != Type::null) {
    operation.request.key = key->type == Type::string ? key->text : key->raw;
  }
  for (auto [name, field] : {std::pair("ifMatch", &ItemRequest::if_match),
                             std::pair("ifNoneMatch", &ItemRequest::if_none_match)}) {
    auto condition = member_text(node, name);
    if (!condition) return pass(condition.error());
    operation.request.*field = *condition;
  }
  const Node* minimal = node.find("minimalReturnPreference");
  operation.minimal = minimal != nullptr && minimal->type == Type::boolean && minimal->boolean;
  return operation;
}

}  // namespace

Result<BatchRequest> parse_batch(std::string_view body, const Limits& limits) {
  if (body.size() > limits.batch_bytes) {
    return fail(Code::too_large,
                fmt::format("the batch has {} bytes and the most is {}: send several", body.size(),
                            limits.batch_bytes));
  }
  if (is_hybrid_batch(body)) {
    auto operations = parse_hybrid_batch(body, limits);
    if (!operations) return pass(operations.error());
    BatchRequest request{.form = BatchForm::hybrid_row,
                         .document = std::nullopt,
                         .texts = {},
                         .operations = std::move(*operations)};
    // All of them together are no longer than a batch may be: a short body can stand for a long
    // text.
    size_t left = limits.batch_bytes;
    for (BatchOperation& operation : request.operations) {
      if (!is_binary_json(operation.request.body)) continue;
      auto text = text_of_binary_json(operation.request.body, left);
      if (!text) return pass(text.error());
      left -= std::min(left, text->size());
      request.texts.push_back(std::move(*text));
      operation.request.body = request.texts.back();
    }
    return request;
  }
  auto document = value::JsonDocument::parse(body);
  if (!document) return fail(Code::invalid, "the batch is not JSON: " + document.error().message);
  const Node& root = document->root();
  if (root.type != Type::array || root.count == 0) {
    return fail(Code::invalid,
                "Batch request has no operations. Its body is to be an array such as "
                "[{\"operationType\":\"Create\",\"resourceBody\":{\"id\":\"1\"}}]");
  }
  if (root.count > limits.batch_operations) {
    return fail(Code::invalid,
                fmt::format("the batch has {} operations and the most is {}: send several",
                            root.count, limits.batch_operations));
  }
  BatchRequest request{
      .form = BatchForm::json, .document = std::move(*document), .texts = {}, .operations = {}};
  request.operations.reserve(root.count);
  for (const Node* node = request.document->root().first; node != nullptr; node = node->next) {
    auto operation = parse_operation(*node);
    if (!operation) return pass(operation.error());
    request.operations.push_back(std::move(*operation));
  }
  return request;
}

BatchResult failed_result(const Error& error, double charge, uint32_t substatus) {
  ErrorReply reply = error_reply(error, {}, substatus);
  BatchResult result;
  result.status = reply.status;
  result.substatus = reply.substatus;
  result.retry_after_ms = reply.retry_after_ms;
  result.charge = charge;
  result.message = error.message;
  return result;
}

BatchResult skipped_result() {
  BatchResult result;
  result.status = kStatusFailedDependency;
  result.message = "not done, since another operation of the batch failed";
  return result;
}

std::string batch_json(const std::vector<BatchResult>& results) {
  size_t bytes = 2;
  for (const BatchResult& result : results) bytes += result.body.size() + 160;
  std::string out;
  out.reserve(bytes);
  out += '[';
  for (const BatchResult& result : results) {
    if (out.size() > 1) out += ',';
    fmt::format_to(std::back_inserter(out),
                   "{{\"statusCode\":{},\"requestCharge\":", result.status);
    value::append_json_number(out, result.charge);
    if (result.substatus != 0) {
      fmt::format_to(std::back_inserter(out), ",\"subStatusCode\":{}", result.substatus);
    }
    if (result.retry_after_ms != 0) {
      fmt::format_to(std::back_inserter(out), ",\"retryAfterMilliseconds\":{}",
                     result.retry_after_ms);
    }
    if (result.version) {
      out += ",\"eTag\":\"\\\"";
      append_etag(out, *result.version);
      out += "\\\"\"";
    }
    if (!result.body.empty()) {
      out += ",\"resourceBody\":";
      out += result.body;
    }
    if (!result.message.empty()) {
      out += ",\"message\":";
      face::append_message(out, result.message);
    }
    out += '}';
  }
  out += ']';
  return out;
}

int batch_status(const std::vector<BatchResult>& results) {
  return std::ranges::all_of(results, &BatchResult::succeeded) ? 200 : 207;
}

}  // namespace orrery::cosmos
