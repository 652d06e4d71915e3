// See remote_view_messages.h. The members of each message are listed once, for both directions.
#include "cluster/query/remote_view_messages.h"

#include "base/message_fields.h"

namespace orrery::cluster {
namespace {

template <class Way>
void members(OpenView& m, Way& way) {
  way(m.container), way(m.placement), way(m.min), way(m.max), way(m.identity_at);
  way(m.levels), way(m.lsn);
}
template <class Way>
void members(ViewOpened& m, Way& way) {
  way(m.view), way(m.max), way(m.range), way(m.lsn), way(m.is_indexed);
  way(m.entries_are_items), way(m.items_at_most);
}
template <class Way>
void members(Estimate& m, Way& way) {
  way(m.view), way(m.from), way(m.to);
}
template <class Way>
void members(Estimated& m, Way& way) {
  way(m.entries);
}
template <class Way>
void members(FindShapes& m, Way& way) {
  way(m.view), way(m.term_path);
}
template <class Way>
void members(ShapesFound& m, Way& way) {
  way(m.lacking), way(m.others);
}
template <class Way>
void members(ReadEntries& m, Way& way) {
  way(m.view), way(m.from), way(m.to), way(m.descending), way(m.after), way(m.seek), way(m.most);
}
template <class Way>
void members(EntriesRead& m, Way& way) {
  way(m.entries), way(m.more);
}
template <class Way>
void members(ReadItems& m, Way& way) {
  way(m.view), way(m.after), way(m.inclusive), way(m.most);
}
template <class Way>
void members(ReadItemsDown& m, Way& way) {
  way(m.view), way(m.before), way(m.most);
}
template <class Way>
void members(ItemsRead& m, Way& way) {
  way(m.items), way(m.more);
}
template <class Way>
void members(FetchItems& m, Way& way) {
  way(m.view), way(m.keys);
}
template <class Way>
void members(ItemsFetched& m, Way& way) {
  way(m.bodies);
}
template <class Way>
void members(CloseView& m, Way& way) {
  way(m.view);
}

}  // namespace

template <class Message>
std::string encode_message(const Message& message) {
  MessageWriter writer;
  // The writer changes nothing.
  members(const_cast<Message&>(message), writer);
  return writer.take();
}

template <class Message>
Result<Message> decode_message(std::string_view bytes) {
  Message message;
  MessageReader reader(bytes);
  members(message, reader);
  if (!reader.is_whole()) return fail(Code::invalid, "a message about a view cannot be decoded");
  return message;
}

#define ORRERY_MESSAGE(Name)                        \
  template std::string encode_message(const Name&); \
  template Result<Name> decode_message(std::string_view);
ORRERY_MESSAGE(OpenView)
ORRERY_MESSAGE(ViewOpened)
ORRERY_MESSAGE(Estimate)
ORRERY_MESSAGE(Estimated)
ORRERY_MESSAGE(FindShapes)
ORRERY_MESSAGE(ShapesFound)
ORRERY_MESSAGE(ReadEntries)
ORRERY_MESSAGE(EntriesRead)
ORRERY_MESSAGE(ReadItems)
ORRERY_MESSAGE(ReadItemsDown)
ORRERY_MESSAGE(ItemsRead)
ORRERY_MESSAGE(FetchItems)
ORRERY_MESSAGE(ItemsFetched)
ORRERY_MESSAGE(CloseView)
#undef ORRERY_MESSAGE

}  // namespace orrery::cluster
