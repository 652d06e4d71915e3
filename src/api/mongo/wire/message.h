// Messages of MongoDB's protocol. All numbers are little-endian.
//
//   header      length (of all), request id, id that it answers, opcode: int32 each
//   OP_MSG      2013: flags (uint32), sections, then CRC-32C of all before it if flag 0 is set
//     section   00, one document: the command; or
//               01, size (int32, with itself), a name and 00, documents: an array of the command
//   OP_QUERY    2004: flags, a collection and 00, two numbers, a document. Only for handshakes
//   OP_REPLY    1: what answers it
//   OP_COMPRESSED 2012: the opcode inside, its size, the compressor (1 byte), its compressed bytes
//
// Decoding looks at bytes from outside: whatever they are, it gives a message or an error, in time
// and memory in proportion to them and to the size that a compressed message says it has.
//
// Pure; any thread may call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/wire/compression.h"

namespace orrery::mongo {

inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kMaxMessageBytes = 48'000'000;

enum class Opcode : int32_t { reply = 1, query = 2004, compressed = 2012, msg = 2013 };

struct Header {
  static Header read(const char* bytes);  // kHeaderBytes of them

  int32_t length = 0;
  int32_t request_id = 0;
  int32_t response_to = 0;
  int32_t opcode = 0;
};

// An array of the command's, beside its document.
struct DocumentSequence {
  std::string_view name;
  std::vector<std::string_view> documents;
};

// How an answer has to look.
struct ReplyForm {
  int32_t request_id = 0;
  bool is_query = false;  // OP_REPLY
  bool has_checksum = false;
  Compressor compressor = Compressor::none;
};

struct Message {
  ReplyForm form;
  bool more_to_come = false;  // the client wants no answer
  bool exhaust_allowed = false;
  std::string_view collection;  // of OP_QUERY
  std::string_view body;        // the command's document
  std::vector<DocumentSequence> sequences;
  std::unique_ptr<const std::string> decompressed;  // what the views are of, if it was compressed
};

// What decoding a message of this start will take beside its bytes: of a compressed one, the size
// inside. `bytes` has at least the header.
size_t decoded_bytes(std::string_view bytes);
inline constexpr size_t kCompressedHeadBytes = kHeaderBytes + 9;

// `bytes` is one whole message, which outlives the result.
Answer<Message> parse_message(std::string_view bytes);

// The bytes of an answer with this document.
std::string make_reply(const ReplyForm& form, int32_t request_id, std::string_view document);

}  // namespace orrery::mongo
