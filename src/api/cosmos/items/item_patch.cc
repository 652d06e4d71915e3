// See item_patch.h.
#include "api/cosmos/items/item_patch.h"

#include <fmt/format.h>

#include <array>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/query/query_request.h"
#include "api/cosmos/wire/query_error.h"
#include "query/bind/bind.h"
#include "query/evaluate/evaluate.h"
#include "query/parse/parser.h"
#include "value/json.h"
#include "value/patch.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::PatchOperation;
using value::Type;
using Kind = PatchOperation::Kind;

constexpr size_t kShownBytes = 100;
// The writer waits for it. A filter over one item needs microseconds; so many steps are some tens
// of milliseconds. Steps, and not time: a condition is refused for what it says, not for a busy
// machine.
constexpr uint64_t kConditionSteps = 5'000'000;

constexpr std::array<std::pair<std::string_view, Kind>, 6> kOperationKinds = {
    {{"add", Kind::add},
     {"set", Kind::set},
     {"replace", Kind::replace},
     {"remove", Kind::remove},
     {"incr", Kind::increment},
     {"move", Kind::move}}};

// The text and its tree stay: what is bound points into them.
struct Condition {
  std::string text;
  query::Query parsed;
  std::shared_ptr<const query::BoundQuery> bound;
};

class PatchEditor final : public partition::Editor {
 public:
  PatchEditor(std::vector<PatchOperation> operations, std::unique_ptr<const Condition> condition,
              value::KeyDefinition definition, const Limits& limits)
      : operations_(std::move(operations)),
        condition_(std::move(condition)),
        definition_(std::move(definition)),
        limits_(limits) {}

  Result<Edited> edit(const partition::Item& current) const override {
    auto document = value::JsonDocument::parse(current.body);
    if (!document) {
      return fail(Code::corrupt, "the stored item is not JSON: " + document.error().message);
    }
    if (condition_) {
      if (auto met = check_condition(document->root()); !met) return pass(met.error());
    }
    auto text = value::apply_patch(document->root(), operations_);
    if (!text) return pass(text.error());
    // Parsed again: operations that each are right can together nest too deep or change the key.
    auto patched = value::JsonDocument::parse(*text);
    if (!patched) {
      return fail(Code::invalid, "the patched item would not do: " + patched.error().message);
    }
    auto item = check_item(*patched, definition_, limits_);
    if (!item) return pass(item.error());
    if (item->body.size() > limits_.item_bytes) {
      return fail(Code::too_large, fmt::format("the patched item has {} bytes and the most is {}",
                                               item->body.size(), limits_.item_bytes));
    }
    auto key = value::extract_key(document->root(), definition_);
    if (!key) return pass(key.error());
    if (*key != item->key) {
      return fail(Code::invalid,
                  fmt::format("the patch would change the item's partition key from {} to {}, "
                              "which cannot change",
                              value::to_json(*key), value::to_json(item->key)));
    }
    return Edited{std::move(item->body), lifetime_of(item->ttl_s)};
  }

 private:
  Status check_condition(const Node& item) const {
    const query::BoundQuery& filter = *condition_->bound;
    query::Context context;
    prepare(context);
    query::Frame frame(filter.slots, context);
    context.budget.start({.bytes = query::kEvaluationBytesMax, .steps = kConditionSteps});
    if (filter.document_slot) frame.slots[*filter.document_slot] = value::Value::from(item);
    bool met = false;
    query::each_row(filter, frame, [&met] {
      met = true;
      return false;
    });
    if (frame.ended() != query::Frame::Ended::no) {
      return fail(Code::invalid,
                  fmt::format("the patch's condition takes more than {} steps, or too much memory, "
                              "on this item: make it simpler",
                              kConditionSteps));
    }
    if (met) return {};
    return fail(Code::precondition_failed,
                "the item does not meet the patch's condition: read it again and decide anew");
  }

  const std::vector<PatchOperation> operations_;
  const std::unique_ptr<const Condition> condition_;  // null: none
  const value::KeyDefinition definition_;
  const Limits limits_;
};

Result<std::unique_ptr<const Condition>> bind_condition(const Node& condition) {
  if (condition.type != Type::string) {
    return fail(Code::invalid, "a patch's \"condition\" is a text, such as from c where c.n > 1");
  }
  // The filter of a query for this one item.
  auto made = std::make_unique<Condition>();
  made->text = "SELECT VALUE 1 " + std::string(condition.text);
  auto parsed = query::parse_query(made->text);
  if (!parsed) return pass(query_error(parsed.error()));
  made->parsed = std::move(*parsed);
  query::Context folding;
  folding.budget.start({.bytes = query::kEvaluationBytesMax, .steps = kConditionSteps});
  auto bound = query::bind_query(made->parsed, {}, {}, nullptr, {}, &folding);
  if (!bound) return pass(query_error(bound.error()));
  made->bound = std::move(*bound);
  if (!made->bound->where || !made->bound->passes() || made->bound->derived() != nullptr) {
    return fail(Code::invalid, fmt::format("the patch's condition '{}' is not of the form from c "
                                           "where …, with nothing after the filter",
                                           condition.text.substr(0, kShownBytes)));
  }
  return made;
}

Status check_target(const value::Pointer& path, const value::KeyDefinition& definition) {
  auto refuse = [&path](std::string_view what) {
    return fail(Code::invalid, fmt::format("the patch would change '{}', which is {}: it cannot be "
                                           "patched",
                                           value::to_string(path).substr(0, kShownBytes), what));
  };
  if (path.empty()) return {};  // refused when it is applied
  if (path.front() == "id") return refuse("the item's id");
  if (is_system_property(path.front())) return refuse("kept by the server");
  for (const value::Path& key_path : definition.paths) {
    value::Pointer key;
    for (const value::Path::Step& step : key_path.steps) key.push_back(step.name);
    if (value::is_within(path, key)) return refuse("a part of the partition key");
  }
  return {};
}

Result<PatchOperation> parse_operation(const Node& node, const value::KeyDefinition& definition) {
  auto refuse = [&node](std::string_view why) {
    return fail(Code::invalid,
                fmt::format("the patch operation {} {}", node.raw.substr(0, kShownBytes), why));
  };
  if (node.type != Type::object) {
    return refuse("is not an object such as {\"op\":\"set\",\"path\":\"/a\",\"value\":1}");
  }
  PatchOperation operation;
  const Node* op = node.find("op");
  const auto* kind =
      op == nullptr || op->type != Type::string
          ? kOperationKinds.end()
          : std::ranges::find(kOperationKinds, op->text, &std::pair<std::string_view, Kind>::first);
  if (kind == kOperationKinds.end()) {
    return refuse("has no \"op\" that is one of add, set, replace, remove, incr and move");
  }
  operation.kind = kind->second;
  auto pointer = [&](std::string_view name, value::Pointer& into) -> Status {
    const Node* text = node.find(name);
    if (text == nullptr || text->type != Type::string) {
      return refuse(fmt::format("has no \"{}\" that is a text such as /address/city", name));
    }
    auto parsed = value::parse_pointer(text->text);
    if (!parsed) return pass(parsed.error());
    into = std::move(*parsed);
    return check_target(into, definition);
  };
  if (auto path = pointer("path", operation.path); !path) return pass(path.error());
  if (operation.kind == Kind::move) {
    if (auto from = pointer("from", operation.from); !from) return pass(from.error());
  } else if (operation.kind != Kind::remove) {
    const Node* given = node.find("value");
    if (given == nullptr) return refuse("has no \"value\"");
    if (operation.kind == Kind::increment && given->type != Type::number) {
      return refuse("has a \"value\" that is not a number");
    }
    auto copy = value::JsonDocument::parse(given->raw);
    if (!copy) return pass(copy.error());
    operation.value = std::move(*copy);
  }
  return operation;
}

}  // namespace

Result<std::shared_ptr<const partition::Editor>> make_patch(std::string_view body,
                                                            const value::KeyDefinition& definition,
                                                            const Limits& limits) {
  auto document = value::JsonDocument::parse(body);
  if (!document) return fail(Code::invalid, "the patch is not JSON: " + document.error().message);
  const Node& root = document->root();
  const Node* list = root.type == Type::array ? &root : root.find("operations");
  if (list == nullptr || list->type != Type::array || list->count == 0) {
    return fail(Code::invalid,
                "the patch has no operations: it is to be "
                "{\"operations\":[{\"op\":\"set\",\"path\":\"/a\",\"value\":1},…]}");
  }
  if (list->count > limits.patch_operations) {
    return fail(Code::invalid,
                fmt::format("the patch has {} operations and the most is {}: use several patches",
                            list->count, limits.patch_operations));
  }
  std::vector<PatchOperation> operations;
  for (const Node* node = list->first; node != nullptr; node = node->next) {
    auto operation = parse_operation(*node, definition);
    if (!operation) return pass(operation.error());
    operations.push_back(std::move(*operation));
  }
  std::unique_ptr<const Condition> condition;
  const Node* given = root.find("condition");
  if (given != nullptr && given->type != Type::null) {
    auto bound = bind_condition(*given);
    if (!bound) return pass(bound.error());
    condition = std::move(*bound);
  }
  return std::make_shared<PatchEditor>(std::move(operations), std::move(condition), definition,
                                       limits);
}

}  // namespace orrery::cosmos
