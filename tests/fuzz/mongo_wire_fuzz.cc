// Messages from outside: whatever the bytes, a message or an error. What is accepted can be
// answered.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::mongo;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A session gives the memory before it decodes; here nobody does.
  if (decoded_bytes(bytes) > (size_t{1} << 20)) return 0;
  auto message = parse_message(bytes);
  if (!message) return 0;
  (void)from_bson(message->body);
  for (const DocumentSequence& sequence : message->sequences) {
    for (const std::string_view document : sequence.documents) (void)from_bson(document);
  }
  const std::string reply = make_reply(message->form, 1, message->body);
  if (!message->form.is_query && !parse_message(reply)) std::abort();
  return 0;
}
