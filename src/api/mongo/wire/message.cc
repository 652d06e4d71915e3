// See message.h.
#include "api/mongo/wire/message.h"

#include <fmt/format.h>

#include <utility>

#include "base/bytes.h"
#include "base/crc32c.h"

namespace orrery::mongo {
namespace {

constexpr uint32_t kChecksumPresent = 1U << 0;
constexpr uint32_t kMoreToCome = 1U << 1;
constexpr uint32_t kExhaustAllowed = 1U << 16;
constexpr uint32_t kRequiredBits = 0xFFFF;  // a receiver must know each of these
constexpr size_t kChecksumBytes = 4;
constexpr size_t kMinDocumentBytes = 5;
constexpr size_t kMaxSections = 16;
// Answers that are smaller are not worth it.
constexpr size_t kMinCompressedBytes = 512;

std::unexpected<Error> broken(std::string_view what) {
  return refuse(kProtocolError, fmt::format("the message is not valid: {}", what));
}

// Takes one document off the front; nothing when there is none.
std::string_view take_document(std::string_view& rest) {
  if (rest.size() < kMinDocumentBytes) return {};
  const uint32_t size = load_u32_le(rest.data());
  if (size < kMinDocumentBytes || size > rest.size()) return {};
  const std::string_view document = rest.substr(0, size);
  rest.remove_prefix(size);
  return document;
}

Answer<void> parse_sequence(std::string_view& rest, Message& message) {
  if (rest.size() < 4) return broken("a section has no size");
  const uint32_t size = load_u32_le(rest.data());
  if (size < 5 || size > rest.size()) {
    return broken(fmt::format("a section has the size {} of {} bytes", size, rest.size()));
  }
  std::string_view section = rest.substr(4, size - 4);
  rest.remove_prefix(size);
  const size_t end = section.find('\0');
  if (end == std::string_view::npos) return broken("a section has no name");
  DocumentSequence sequence;
  sequence.name = section.substr(0, end);
  section.remove_prefix(end + 1);
  while (!section.empty()) {
    const std::string_view document = take_document(section);
    if (document.empty()) {
      return broken(fmt::format("a document of the section '{}' has a wrong length",
                                sequence.name.substr(0, 100)));
    }
    sequence.documents.push_back(document);
  }
  for (const DocumentSequence& other : message.sequences) {
    if (other.name == sequence.name) {
      return broken(fmt::format("there are two sections '{}'", sequence.name.substr(0, 100)));
    }
  }
  message.sequences.push_back(std::move(sequence));
  return {};
}

// `whole`: with the header, for the checksum. Empty when it was compressed.
Answer<void> parse_msg(std::string_view rest, std::string_view whole, Message& message) {
  if (rest.size() < 4) return broken("it has no flags");
  const uint32_t flags = load_u32_le(rest.data());
  rest.remove_prefix(4);
  if ((flags & kRequiredBits & ~(kChecksumPresent | kMoreToCome)) != 0) {
    return broken(fmt::format("flag bits {:#x} are not known", flags & kRequiredBits));
  }
  message.more_to_come = (flags & kMoreToCome) != 0;
  message.exhaust_allowed = (flags & kExhaustAllowed) != 0;
  if ((flags & kChecksumPresent) != 0) {
    if (rest.size() < kChecksumBytes) return broken("it has no checksum");
    const uint32_t expected = load_u32_le(rest.data() + rest.size() - kChecksumBytes);
    rest.remove_suffix(kChecksumBytes);
    if (!whole.empty()) {
      message.form.has_checksum = true;
      if (crc32c(whole.substr(0, whole.size() - kChecksumBytes)) != expected) {
        return broken("its checksum is not that of its bytes");
      }
    }
  }
  size_t sections = 0;
  while (!rest.empty()) {
    if (++sections > kMaxSections) return broken("it has too many sections");
    const char kind = rest[0];
    rest.remove_prefix(1);
    if (kind == 1) {
      if (auto parsed = parse_sequence(rest, message); !parsed) return parsed;
    } else if (kind == 0) {
      if (!message.body.empty()) return broken("it has two commands");
      message.body = take_document(rest);
      if (message.body.empty()) return broken("its command's document has a wrong length");
    } else {
      return broken(fmt::format("there is no section of kind {}", static_cast<uint8_t>(kind)));
    }
  }
  if (message.body.empty()) return broken("it has no command");
  return {};
}

Answer<void> parse_query(std::string_view rest, Message& message) {
  message.form.is_query = true;
  if (rest.size() < 4) return broken("it has no flags");
  rest.remove_prefix(4);
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return broken("the collection's name has no end");
  message.collection = rest.substr(0, end);
  rest.remove_prefix(end + 1);
  if (rest.size() < 8) return broken("it ends early");
  rest.remove_prefix(8);
  message.body = take_document(rest);
  if (message.body.empty()) return broken("its document has a wrong length");
  return {};
}

Answer<void> parse_inside(int32_t opcode, std::string_view rest, std::string_view whole,
                          Message& message) {
  switch (static_cast<Opcode>(opcode)) {
    case Opcode::msg:
      return parse_msg(rest, whole, message);
    case Opcode::query:
      return parse_query(rest, message);
    default:
      return broken(fmt::format("opcode {} is not supported", opcode));
  }
}

void put_u32(std::string& out, uint32_t value) {
  char bytes[4];
  store_u32_le(bytes, value);
  out.append(bytes, sizeof(bytes));
}

void put_header(std::string& out, size_t length, int32_t request_id, int32_t response_to,
                Opcode opcode) {
  put_u32(out, static_cast<uint32_t>(length));
  put_u32(out, static_cast<uint32_t>(request_id));
  put_u32(out, static_cast<uint32_t>(response_to));
  put_u32(out, static_cast<uint32_t>(opcode));
}

}  // namespace

Header Header::read(const char* bytes) {
  Header header;
  header.length = static_cast<int32_t>(load_u32_le(bytes));
  header.request_id = static_cast<int32_t>(load_u32_le(bytes + 4));
  header.response_to = static_cast<int32_t>(load_u32_le(bytes + 8));
  header.opcode = static_cast<int32_t>(load_u32_le(bytes + 12));
  return header;
}

size_t decoded_bytes(std::string_view bytes) {
  if (bytes.size() < kCompressedHeadBytes) return 0;
  if (Header::read(bytes.data()).opcode != static_cast<int32_t>(Opcode::compressed)) return 0;
  return load_u32_le(bytes.data() + kHeaderBytes + 4);
}

Answer<Message> parse_message(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes) return broken("it has no header");
  const Header header = Header::read(bytes.data());
  Message message;
  message.form.request_id = header.request_id;
  std::string_view rest = bytes.substr(kHeaderBytes);
  if (header.opcode != static_cast<int32_t>(Opcode::compressed)) {
    auto parsed = parse_inside(header.opcode, rest, bytes, message);
    if (!parsed) return pass(std::move(parsed.error()));
    return message;
  }
  if (bytes.size() < kCompressedHeadBytes) return broken("it ends early");
  const auto opcode = static_cast<int32_t>(load_u32_le(rest.data()));
  const uint32_t size = load_u32_le(rest.data() + 4);
  const auto compressor = static_cast<uint8_t>(rest[8]);
  rest.remove_prefix(9);
  if (size > kMaxMessageBytes) {
    return broken(fmt::format("it has {} bytes, and {} are the most", size, kMaxMessageBytes));
  }
  if (compressor > static_cast<uint8_t>(Compressor::zstd)) {
    return broken(fmt::format("there is no compressor {}", compressor));
  }
  message.form.compressor = static_cast<Compressor>(compressor);
  auto inside = decompress(message.form.compressor, rest, size);
  if (!inside) return pass(std::move(inside.error()));
  message.decompressed = std::make_unique<const std::string>(std::move(*inside));
  auto parsed = parse_inside(opcode, *message.decompressed, {}, message);
  if (!parsed) return pass(std::move(parsed.error()));
  return message;
}

std::string make_reply(const ReplyForm& form, int32_t request_id, std::string_view document) {
  std::string out;
  if (form.is_query) {
    const size_t length = kHeaderBytes + 20 + document.size();
    out.reserve(length);
    put_header(out, length, request_id, form.request_id, Opcode::reply);
    put_u32(out, 8);  // flag AwaitCapable, as every server since 1.6 has set it
    out.append(8, '\0');
    put_u32(out, 0);
    put_u32(out, 1);
    out.append(document);
    return out;
  }
  const bool is_compressed =
      form.compressor != Compressor::none && document.size() >= kMinCompressedBytes;
  if (is_compressed) {
    std::string inside;
    inside.reserve(5 + document.size());
    put_u32(inside, 0);
    inside.push_back('\0');
    inside.append(document);
    const std::string compressed = compress(form.compressor, inside);
    if (!compressed.empty()) {
      const size_t length = kCompressedHeadBytes + compressed.size();
      out.reserve(length);
      put_header(out, length, request_id, form.request_id, Opcode::compressed);
      put_u32(out, static_cast<uint32_t>(Opcode::msg));
      put_u32(out, static_cast<uint32_t>(inside.size()));
      out.push_back(static_cast<char>(form.compressor));
      out.append(compressed);
      return out;
    }
  }
  const bool has_checksum = form.has_checksum;
  const size_t length = kHeaderBytes + 5 + document.size() + (has_checksum ? kChecksumBytes : 0);
  out.reserve(length);
  put_header(out, length, request_id, form.request_id, Opcode::msg);
  put_u32(out, has_checksum ? kChecksumPresent : 0);
  out.push_back('\0');
  out.append(document);
  if (has_checksum) put_u32(out, crc32c(out));
  return out;
}

}  // namespace orrery::mongo
