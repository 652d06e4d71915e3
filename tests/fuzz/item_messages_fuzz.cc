// What nodes say to one another of items, writes, notes and histories of a partition. Decoding
// gives a message or an error, and never more memory than the bytes account for.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "face/item_messages.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::face;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto question = decode_write_question(bytes)) (void)encode_write_question(*question);
  if (auto question = decode_question(bytes)) (void)encode_question(*question);
  if (auto reply = decode_write_reply(bytes)) (void)encode_write_reply(*reply, true);
  if (auto reply = decode_read(bytes)) (void)encode_read(*reply);
  if (auto notes = decode_notes(bytes)) (void)encode_notes(*notes);
  if (auto history = decode_history(bytes)) (void)encode_history(*history);
  if (auto usage = decode_usage(bytes)) (void)encode_usage(*usage);
  (void)decode_error(bytes);
  return 0;
}
