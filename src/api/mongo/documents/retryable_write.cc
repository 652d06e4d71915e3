// See retryable_write.h.
#include "api/mongo/documents/retryable_write.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/call.h"
#include "api/mongo/forward/hop.h"
#include "value/placement.h"

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Value;

// As long as a session that is not used: hello says it to drivers.
constexpr uint32_t kKeptS = 30 * 60;

Value id_value(int64_t id) {
  return Value::make_integer(id, NumberKind::int32);
}

std::string command_name(const Value& command) {
  for (const Value::Member& member : command.members()) return std::string(member.name);
  return {};
}

bool is_statement_id(const Value& id) {
  return id.is_number() && id.number_kind() == NumberKind::int32 && id.integer() >= 0;
}

}  // namespace

Answer<void> check_statement_ids(const Value& command) {
  const Value one = command.find("stmtId");
  const Value all = command.find("stmtIds");
  bool are_right =
      (one.is_undefined() || is_statement_id(one)) && (all.is_undefined() || all.is_array());
  for (const Value& id : all.elements()) are_right = are_right && is_statement_id(id);
  if (are_right) return {};
  return refuse(kTypeMismatch, "stmtId and the elements of stmtIds must be ints from 0 on");
}

RetryableWrite::RetryableWrite(std::string session, int64_t number, const Value& command,
                               bool may_be_done)
    : session_(std::move(session)),
      number_(number),
      command_(command_name(command)),
      may_be_done_(may_be_done) {
  for (const Value& id : command.find("stmtIds").elements()) {
    ids_.push_back(static_cast<int32_t>(id.integer()));
  }
  if (const Value id = command.find("stmtId"); !id.is_undefined()) {
    first_id_ = static_cast<int32_t>(id.integer());
  }
}

int32_t RetryableWrite::id_of(size_t statement) const {
  if (statement < ids_.size()) return ids_[statement];
  return static_cast<int32_t>(first_id_ + static_cast<int64_t>(statement));
}

Answer<void> RetryableWrite::load(const HandlerContext& context, const cluster::RoutingPtr& routing,
                                  const Call& call) {
  if (!may_be_done_ || !routing) return {};
  const bool is_told = call.hop && call.hop->range;
  auto notes = context.items.notes(
      routing, is_told ? std::string_view(call.hop->range->first) : value::placement_min(),
      is_told ? std::string_view(call.hop->range->second) : value::placement_max(), session_,
      static_cast<uint64_t>(number_));
  if (!notes) return pass(engine_error(notes.error()));
  for (const partition::KeptNote& note : *notes) {
    auto body = from_bson(note.body);
    if (!body) return pass(std::move(body.error()));
    const Value ids = body->find(command_);
    if (ids.is_undefined()) {
      return refuse(217, "this session has used the txnNumber for another command");
    }
    if (ids.is_number()) {
      results_.emplace(ids.integer(), std::move(*body));
      continue;
    }
    for (size_t i = 0; i + 1 < ids.size(); i += 2) {
      inserted_.emplace_back(ids.at(i).integer(), ids.at(i + 1).integer());
    }
  }
  return {};
}

bool RetryableWrite::is_inserted(size_t statement) const {
  const int32_t id = id_of(statement);
  return std::ranges::any_of(
      inserted_, [id](const auto& range) { return range.first <= id && id <= range.second; });
}

Value RetryableWrite::result_of(size_t statement) const {
  const auto found = results_.find(id_of(statement));
  return found == results_.end() ? Value() : found->second;
}

NotePtr RetryableWrite::make_note(size_t first_statement, Value body) const {
  auto bytes = to_bson(body, kMaxMessageDocumentBytes);
  if (!bytes) return nullptr;  // too large to be kept: the write may be done twice
  return std::make_shared<const partition::Note>(
      partition::Note{.owner = session_,
                      .number = static_cast<uint64_t>(number_),
                      .part = static_cast<uint32_t>(id_of(first_statement)),
                      .body = std::move(*bytes),
                      .life_s = kKeptS});
}

NotePtr RetryableWrite::note_of_inserts(const std::vector<size_t>& statements) const {
  std::vector<Value> ends;
  int64_t last = -2;
  for (const size_t statement : statements) {
    const int64_t id = id_of(statement);
    if (id == last + 1) {
      ends.back() = id_value(id);
    } else {
      ends.push_back(id_value(id));
      ends.push_back(id_value(id));
    }
    last = id;
  }
  return make_note(
      statements.front(),
      Value::make_object({{text_value(command_), Value::make_array(std::move(ends))}}));
}

NotePtr RetryableWrite::note_of(size_t statement, std::vector<Value::Field> members) const {
  members.insert(members.begin(), {text_value(command_), id_value(id_of(statement))});
  return make_note(statement, Value::make_object(std::move(members)));
}

}  // namespace orrery::mongo
