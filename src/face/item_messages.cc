// See item_messages.h. The members of each message are listed once, for both directions.
#include "face/item_messages.h"

#include <bit>
#include <memory>
#include <utility>

#include "base/message_fields.h"

namespace orrery::face {
namespace {

using partition::Verb;
using partition::Write;

// A number of another type, as 8 bytes.
template <class T>
void number(MessageWriter& way, T& value) {
  way(static_cast<uint64_t>(value));
}
template <class T>
void number(MessageReader& way, T& value) {
  uint64_t read = 0;
  way(read);
  value = static_cast<T>(read);
}
void real(MessageWriter& way, double& value) {
  way(std::bit_cast<uint64_t>(value));
}
void real(MessageReader& way, double& value) {
  uint64_t read = 0;
  way(read);
  value = std::bit_cast<double>(read);
}
// One that may not be there.
template <class T, class Members>
void maybe(MessageWriter& way, std::optional<T>& value, const Members& members) {
  way(value.has_value());
  if (value) members(*value);
}
template <class T, class Members>
void maybe(MessageReader& way, std::optional<T>& value, const Members& members) {
  bool has = false;
  way(has);
  if (has) members(value.emplace());
}
template <class T, class Members>
void list(MessageWriter& way, std::vector<T>& values, const Members& members) {
  way(static_cast<uint64_t>(values.size()));
  for (T& value : values) members(value);
}
// Its elements are added one by one, and end where the bytes do.
template <class T, class Members>
void list(MessageReader& way, std::vector<T>& values, const Members& members) {
  uint64_t count = 0;
  way(count);
  for (uint64_t i = 0; i < count && way.is_good(); ++i) members(values.emplace_back());
}

template <class Way>
void members(partition::Version& m, Way& way) {
  way(m.lsn), number(way, m.time_s), number(way, m.range), number(way, m.step);
}

template <class Way>
void members(Error& m, Way& way) {
  number(way, m.code), way(m.message), number(way, m.retry_after_ms);
}

template <class Way>
void members(cluster::Receipt& m, Way& way) {
  number(way, m.range), way(m.lsn), real(way, m.charge), number(way, m.would_throttle_ms);
}

template <class Way>
void members(partition::Item& m, Way& way) {
  members(m.version, way);
  number(way, m.origin.range), way(m.origin.number);
  number(way, m.expiry.kind), number(way, m.expiry.time_ms);
  number(way, m.index_version), way(m.body);
}

template <class Way>
void members(partition::Note& m, Way& way) {
  way(m.owner), way(m.number), number(way, m.part), way(m.body), number(way, m.life_s);
}

template <class Way>
void members(Write& m, Way& way) {
  number(way, m.verb), way(m.placement), way(m.row), way(m.body), way(m.key_text);
  number(way, m.lifetime.ms);
  maybe(way, m.lifetime.from_ms, [&](int64_t& ms) { number(way, ms); });
  maybe(way, m.if_version, [&](partition::Version& version) { members(version, way); });
  way(m.if_absent), way(m.needs_room), way(m.is_edit);
  std::optional<partition::Note> note;
  if (m.note) note = *m.note;
  maybe(way, note, [&](partition::Note& one) { members(one, way); });
  if (note && !m.note) m.note = std::make_shared<const partition::Note>(std::move(*note));
}

template <class Way>
void members(WriteQuestion& m, Way& way) {
  number(way, m.container);
  list(way, m.writes, [&](Write& write) { members(write, way); });
  way(m.wants_items);
}

template <class Way>
void members(cluster::WriteReply& m, Way& way) {
  maybe(way, m.error, [&](Error& error) { members(error, way); });
  maybe(way, m.failed_write, [&](size_t& at) { number(way, at); });
  list(way, m.written, [&](partition::Written& one) {
    members(one.version, way);
    members(one.item, way);
  });
  list(way, m.charges, [&](double& charge) { real(way, charge); });
  members(m.receipt, way);
}

template <class Way>
void members(PartitionQuestion& m, Way& way) {
  number(way, m.container), way(m.placement), way(m.row), way(m.min), way(m.max);
  way(m.owner), way(m.number), way(m.from.position);
  maybe(way, m.from.since_s, [&](int64_t& s) { number(way, s); });
  way(m.from.now), way(m.most);
}

template <class Way>
void members(cluster::ReadReply& m, Way& way) {
  maybe(way, m.item, [&](partition::Item& item) { members(item, way); });
  members(m.receipt, way);
}

template <class Way>
void members(std::vector<partition::KeptNote>& m, Way& way) {
  list(way, m, [&](partition::KeptNote& note) {
    way(note.placement), number(way, note.part), way(note.body);
  });
}

template <class Way>
void members(cluster::HistoryReply& m, Way& way) {
  list(way, m.page.events, [&](partition::Event& event) {
    way(event.lsn), number(way, event.time_s), number(way, event.operation);
    way(event.key.placement), way(event.key.row), way(event.body);
    way(event.previous_lsn), way(event.previous_body);
  });
  way(m.page.more), way(m.page.lsn);
  members(m.receipt, way);
}

template <class Way>
void members(PartitionUsage& m, Way& way) {
  way(m.items), way(m.bytes), way(m.index_bytes), way(m.is_indexed);
}

template <class Message>
std::string encode(const Message& message) {
  MessageWriter writer;
  // The writer changes nothing.
  members(const_cast<Message&>(message), writer);
  return writer.take();
}

template <class Message>
Result<Message> decode(std::string_view bytes) {
  Message message;
  MessageReader reader(bytes);
  members(message, reader);
  if (!reader.is_whole()) return fail(Code::invalid, "a message about items cannot be decoded");
  return message;
}

bool is_known(Verb verb) {
  return verb == Verb::create || verb == Verb::upsert || verb == Verb::replace ||
         verb == Verb::remove;
}

}  // namespace

bool can_travel(const Write& write) {
  return is_known(write.verb) && write.from.empty() && !write.editor && !write.seen_lsn &&
         !write.wants_before;
}

std::string encode_write_question(const WriteQuestion& question) {
  return encode(question);
}
Result<WriteQuestion> decode_write_question(std::string_view bytes) {
  auto question = decode<WriteQuestion>(bytes);
  if (!question) return question;
  bool is_one = !question->writes.empty();
  for (const Write& write : question->writes) {
    is_one = is_one && is_known(write.verb) && write.placement == question->writes[0].placement;
  }
  if (!is_one) return fail(Code::invalid, "these are no writes of one placement key");
  return question;
}

std::string encode_write_reply(const cluster::WriteReply& reply, bool wants_items) {
  if (wants_items) return encode(reply);
  cluster::WriteReply without;
  without.error = reply.error;
  without.failed_write = reply.failed_write;
  without.charges = reply.charges;
  without.receipt = reply.receipt;
  return encode(without);
}
Result<cluster::WriteReply> decode_write_reply(std::string_view bytes) {
  return decode<cluster::WriteReply>(bytes);
}

std::string encode_question(const PartitionQuestion& question) {
  return encode(question);
}
Result<PartitionQuestion> decode_question(std::string_view bytes) {
  return decode<PartitionQuestion>(bytes);
}

std::string encode_read(const cluster::ReadReply& reply) {
  return encode(reply);
}
Result<cluster::ReadReply> decode_read(std::string_view bytes) {
  return decode<cluster::ReadReply>(bytes);
}

std::string encode_notes(const std::vector<partition::KeptNote>& notes) {
  return encode(notes);
}
Result<std::vector<partition::KeptNote>> decode_notes(std::string_view bytes) {
  return decode<std::vector<partition::KeptNote>>(bytes);
}

std::string encode_history(const cluster::HistoryReply& reply) {
  return encode(reply);
}
Result<cluster::HistoryReply> decode_history(std::string_view bytes) {
  return decode<cluster::HistoryReply>(bytes);
}

std::string encode_usage(const PartitionUsage& usage) {
  return encode(usage);
}
Result<PartitionUsage> decode_usage(std::string_view bytes) {
  return decode<PartitionUsage>(bytes);
}

std::string encode_error(const Error& error) {
  return encode(error);
}
Error decode_error(std::string_view bytes) {
  auto error = decode<Error>(bytes);
  if (!error || error->code > Code::internal) {
    return {.code = Code::internal, .message = "another node failed without saying why"};
  }
  return std::move(*error);
}

}  // namespace orrery::face
