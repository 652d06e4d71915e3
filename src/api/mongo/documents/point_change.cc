// See point_change.h.
#include "api/mongo/documents/point_change.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/documents/document_key.h"
#include "api/mongo/match/bounds.h"

namespace orrery::mongo {
namespace {

using partition::Verb;
using partition::Write;
using value::Type;
using value::Value;

// A larger document takes the writer longer than a commit does.
constexpr size_t kDocumentBytesMax = 64 * 1024;
// About a millisecond.
constexpr uint64_t kStepsMax = 100'000;
constexpr std::array<std::string_view, 9> kQuickOperators = {"$eq",  "$ne", "$gt",  "$gte",   "$lt",
                                                             "$lte", "$in", "$nin", "$exists"};

// Whether a filter compares members, and does nothing else.
bool is_quick(const Value& filter) {
  for (const Value::Member& member : filter.members()) {
    if (member.name.starts_with('$') || member.value.type() == Type::regex) return false;
    for (const Value::Member& operation : member.value.members()) {
      if (!operation.name.starts_with('$')) break;  // a document that is compared with
      if (std::ranges::find(kQuickOperators, operation.name) == kQuickOperators.end()) return false;
      for (const Value& element : operation.value.elements()) {
        if (element.type() == Type::regex) return false;
      }
    }
  }
  return true;
}

// Whether something in it is no comparison: a regular expression, or another condition. As deep as
// documents nest.
bool has_condition(const Value& value) {
  if (value.type() == Type::regex) return true;
  for (const Value& element : value.elements()) {
    if (has_condition(element)) return true;
  }
  for (const Value::Member& member : value.members()) {
    if (member.name.starts_with('$') &&
        std::ranges::find(kQuickOperators, member.name) == kQuickOperators.end()) {
      return true;
    }
    if (has_condition(member.value)) return true;
  }
  return false;
}

std::optional<partition::ItemKey> key_of(const cluster::Routing& routing, const Value& filter) {
  const auto id = equality_of(filter, "_id");
  if (!id || !can_be_row(*id)) return std::nullopt;
  auto placement = placement_of_filter(routing, filter);
  if (!placement) return std::nullopt;
  return partition::ItemKey{std::move(*placement), row_of(*id)};
}

bool is_plain(const Modification& modification) {
  const FindQuery& query = modification.query;
  return !modification.is_multi && !modification.update.is_array() &&
         modification.constants.is_undefined() && query.hint.is_undefined() &&
         query.let.is_undefined() && !query.collation && !query.pinned && is_quick(query.filter) &&
         !has_condition(modification.array_filters) &&
         !has_condition(modification.update.find("$pull"));
}

}  // namespace

std::shared_ptr<const PointChange> PointChange::plan(cluster::RoutingPtr routing,
                                                     const Modification& modification,
                                                     int64_t now_ms) {
  if (!routing || !is_plain(modification)) return nullptr;
  auto key = key_of(*routing, modification.query.filter);
  if (!key) return nullptr;
  auto matcher = Matcher::parse(modification.query.filter);
  if (!matcher) return nullptr;
  std::optional<Update> update;
  if (!modification.update.is_undefined()) {
    auto parsed = Update::parse(modification.update, {.array_filters = modification.array_filters});
    if (!parsed) return nullptr;
    update = std::move(*parsed);
  }
  return std::shared_ptr<const PointChange>(new PointChange(std::move(routing), std::move(*key),
                                                            modification, std::move(*matcher),
                                                            std::move(update), now_ms));
}

Write PointChange::write_of(const std::shared_ptr<const PointChange>& change) {
  Write write;
  write.verb = change->update_ ? Verb::replace : Verb::remove;
  write.placement = change->key_.placement;
  write.row = change->key_.row;
  write.schema = change->routing_->schema;
  write.is_edit = change->update_ && change->update_->kind() != Update::Kind::replacement;
  write.wants_item = false;
  write.editor = change;
  return write;
}

// Nothing else is refused with this code: the write names no version.
std::unexpected<orrery::Error> PointChange::refuse_edit(Refusal why) const {
  refusal_ = why;
  return fail(Code::precondition_failed, "the document stays as it is");
}

std::unexpected<orrery::Error> PointChange::refuse_edit(Error error, const Budget& budget) const {
  if (budget.is_over()) return refuse_edit(Refusal::takes_long);
  error_ = std::move(error);
  return refuse_edit(Refusal::invalid);
}

Result<partition::Editor::Edited> PointChange::edit(const partition::Item& current) const {
  refusal_ = Refusal::none;
  modified_ = {};
  if (current.body.size() > kDocumentBytesMax) return refuse_edit(Refusal::takes_long);
  Budget budget;
  budget.start({.steps = kStepsMax});
  Evaluation evaluation(budget);
  evaluation.now = Value::make_date({now_ms_, 0});
  evaluation.cluster_time = Value::make_timestamp(cluster_time(now_ms_));
  auto document = from_bson(current.body);
  if (!document) return refuse_edit(std::move(document.error()), budget);
  auto match = matcher_.match(*document, evaluation);
  if (!match) return refuse_edit(std::move(match.error()), budget);
  if (!match->is_match) return refuse_edit(Refusal::no_match);
  modified_ = {.matched = 1, .changed = 1, .before = *document};
  Edited edited;
  if (update_) {
    auto updated = update_->apply({.document = *document, .position = match->position}, evaluation);
    if (!updated) return refuse_edit(std::move(updated.error()), budget);
    if (!updated->is_changed) {
      modified_.changed = 0;
      modified_.after = *document;
      return refuse_edit(Refusal::unchanged);
    }
    auto made = prepare_next(*routing_, key_, *document, updated->document);
    if (!made) return refuse_edit(std::move(made.error()), budget);
    modified_.after = std::move(made->document);
    edited.body = std::move(made->bytes);
    edited.lifetime = lifetime_of(*routing_, edited.body);
  }
  if (note_) edited.note = note_(modified_);
  return edited;
}

std::optional<std::expected<Modified, WriteFailure>> PointChange::outcome(
    const cluster::WriteReply& reply) const {
  if (!reply.error) return modified_;
  const Code code = reply.error->code;
  // Where it may wait.
  if (code == Code::throttled || code == Code::elsewhere) return std::nullopt;
  const Refusal refusal = code == Code::precondition_failed ? refusal_ : Refusal::none;
  if (code == Code::not_found || refusal == Refusal::no_match) {
    if (upserts_) return std::nullopt;
    return Modified{};
  }
  switch (refusal) {
    case Refusal::unchanged:
      return modified_;
    case Refusal::takes_long:
      return std::nullopt;
    case Refusal::invalid:
      return std::unexpected(WriteFailure{.error = error_});
    default:
      return std::unexpected(failure_of(*routing_, modified_.after, *reply.error));
  }
}

}  // namespace orrery::mongo
