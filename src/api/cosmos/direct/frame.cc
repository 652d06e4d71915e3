// See frame.h.
#include "api/cosmos/direct/frame.h"

#include <algorithm>
#include <bit>

#include "api/cosmos/direct/token_ids.h"
#include "base/bytes.h"

namespace orrery::cosmos::direct {
namespace {

constexpr size_t kTokenHeadBytes = 3;

// Of a value with a fixed size; 0 for the others.
size_t fixed_size(TokenType type) {
  switch (type) {
    case TokenType::byte:
      return 1;
    case TokenType::u16:
      return 2;
    case TokenType::u32:
    case TokenType::i32:
    case TokenType::float32:
      return 4;
    case TokenType::u64:
    case TokenType::i64:
    case TokenType::float64:
      return 8;
    case TokenType::guid:
      return kActivityIdBytes;
    default:
      return 0;
  }
}

size_t length_size(TokenType type) {
  switch (type) {
    case TokenType::text8:
    case TokenType::bytes8:
      return 1;
    case TokenType::text16:
    case TokenType::bytes16:
      return 2;
    case TokenType::text32:
    case TokenType::bytes32:
      return 4;
    default:
      return 0;
  }
}

uint64_t load_number(const char* from, TokenType type) {
  switch (type) {
    case TokenType::byte:
      return static_cast<uint8_t>(*from);
    case TokenType::u16:
      return load_u16_le(from);
    case TokenType::u32:
      return load_u32_le(from);
    case TokenType::i32:
      return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(load_u32_le(from))));
    default:
      return load_u64_le(from);
  }
}

size_t load_length(const char* from, size_t size) {
  if (size == 1) return static_cast<uint8_t>(*from);
  return size == 2 ? load_u16_le(from) : load_u32_le(from);
}

// Whether a payload follows the tokens.
enum class Payload : uint8_t { no, yes, malformed };
Payload payload_after(const RequestFrame& frame) {
  if (frame.is_connection_context()) return Payload::no;
  TokenReader reader(frame.tokens);
  Token token;
  for (;;) {
    switch (reader.next(token)) {
      case TokenReader::Outcome::end:
        return Payload::no;
      case TokenReader::Outcome::malformed:
        return Payload::malformed;
      case TokenReader::Outcome::token:
        break;
    }
    if (token.id != request_token::kPayloadPresent) continue;
    if (!token.is_number()) return Payload::malformed;
    return token.number == 1 ? Payload::yes : Payload::no;
  }
}

FrameProgress malformed(const char* error) {
  return {.outcome = FrameProgress::Outcome::malformed, .error = error};
}

}  // namespace

TokenReader::Outcome TokenReader::next(Token& token) {
  if (rest_.empty()) return Outcome::end;
  if (rest_.size() < kTokenHeadBytes) return Outcome::malformed;
  token.id = load_u16_le(rest_.data());
  token.type = static_cast<TokenType>(rest_[2]);
  token.number = 0;
  token.bytes = {};
  rest_.remove_prefix(kTokenHeadBytes);
  if (const size_t fixed = fixed_size(token.type); fixed > 0) {
    if (rest_.size() < fixed) return Outcome::malformed;
    if (token.is_number()) {
      token.number = load_number(rest_.data(), token.type);
    } else {
      token.bytes = rest_.substr(0, fixed);
    }
    rest_.remove_prefix(fixed);
    return Outcome::token;
  }
  const size_t prefix = length_size(token.type);
  if (prefix == 0 || rest_.size() < prefix) return Outcome::malformed;
  const size_t length = load_length(rest_.data(), prefix);
  rest_.remove_prefix(prefix);
  if (rest_.size() < length) return Outcome::malformed;
  token.bytes = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return Outcome::token;
}

FrameProgress read_frame(std::string_view input, const FrameLimits& limits, RequestFrame& frame) {
  using Outcome = FrameProgress::Outcome;
  if (input.size() < 4) return {};
  const size_t head = load_u32_le(input.data());
  if (head < kFrameHeadBytes) return malformed("a frame is shorter than its head");
  if (head > limits.head_bytes_max) {
    return malformed("the tokens of a frame are larger than this server accepts");
  }
  if (input.size() < head) return {.outcome = Outcome::need_head, .bytes = head};
  frame.resource = load_u16_le(input.data() + 4);
  frame.operation = load_u16_le(input.data() + 6);
  frame.activity_id = input.substr(8, kActivityIdBytes);
  frame.tokens = input.substr(kFrameHeadBytes, head - kFrameHeadBytes);
  frame.payload = {};
  frame.bytes = head;
  switch (payload_after(frame)) {
    case Payload::malformed:
      return malformed("a token of a frame is cut off or of an unknown type");
    case Payload::no:
      return {.outcome = Outcome::whole, .bytes = head};
    case Payload::yes:
      break;
  }
  if (input.size() < head + 4) return {.outcome = Outcome::need_head, .bytes = head + 4};
  const size_t payload = load_u32_le(input.data() + head);
  if (payload > limits.payload_bytes_max) {
    return malformed("the payload of a frame is larger than this server accepts");
  }
  frame.bytes = head + 4 + payload;
  if (input.size() < frame.bytes) {
    return {.outcome = Outcome::need_payload, .bytes = frame.bytes};
  }
  frame.payload = input.substr(head + 4, payload);
  return {.outcome = Outcome::whole, .bytes = frame.bytes};
}

std::array<char, 36> activity_text(std::string_view activity_id) {
  constexpr std::array<uint8_t, kActivityIdBytes> kOrder = {3, 2, 1,  0,  5,  4,  7,  6,
                                                            8, 9, 10, 11, 12, 13, 14, 15};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 36> text{};
  size_t at = 0;
  for (size_t i = 0; i < kActivityIdBytes; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[at++] = '-';
    const auto byte = static_cast<uint8_t>(activity_id[kOrder[i]]);
    text[at++] = kDigits[byte >> 4];
    text[at++] = kDigits[byte & 0xF];
  }
  return text;
}

FrameWriter::FrameWriter(std::string& out, uint32_t word, std::string_view activity_id)
    : out_(out), start_(out.size()) {
  char* head = grow(kFrameHeadBytes);
  store_u32_le(head + 4, word);
  activity_id = activity_id.substr(0, kActivityIdBytes);
  std::ranges::copy(activity_id, head + 8);
}

char* FrameWriter::grow(size_t bytes) {
  const size_t at = out_.size();
  out_.resize(at + bytes);
  return out_.data() + at;
}

namespace {

char* put_head(char* to, uint16_t id, TokenType type) {
  store_u16_le(to, id);
  to[2] = static_cast<char>(type);
  return to + kTokenHeadBytes;
}

}  // namespace

void FrameWriter::add_byte(uint16_t id, uint8_t value) {
  *put_head(grow(kTokenHeadBytes + 1), id, TokenType::byte) = static_cast<char>(value);
}

void FrameWriter::add_u32(uint16_t id, uint32_t value) {
  store_u32_le(put_head(grow(kTokenHeadBytes + 4), id, TokenType::u32), value);
}

void FrameWriter::add_i64(uint16_t id, int64_t value) {
  store_u64_le(put_head(grow(kTokenHeadBytes + 8), id, TokenType::i64),
               static_cast<uint64_t>(value));
}

void FrameWriter::add_double(uint16_t id, double value) {
  store_u64_le(put_head(grow(kTokenHeadBytes + 8), id, TokenType::float64),
               std::bit_cast<uint64_t>(value));
}

void FrameWriter::add_text8(uint16_t id, std::string_view text) {
  text = text.substr(0, 0xFF);
  char* to = put_head(grow(kTokenHeadBytes + 1 + text.size()), id, TokenType::text8);
  *to = static_cast<char>(text.size());
  std::ranges::copy(text, to + 1);
}

void FrameWriter::add_text(uint16_t id, std::string_view text) {
  text = text.substr(0, kTextBytesMax);
  char* to = put_head(grow(kTokenHeadBytes + 2 + text.size()), id, TokenType::text16);
  store_u16_le(to, static_cast<uint16_t>(text.size()));
  std::ranges::copy(text, to + 2);
}

void FrameWriter::add_bytes(uint16_t id, std::string_view bytes) {
  bytes = bytes.substr(0, kTextBytesMax);
  char* to = put_head(grow(kTokenHeadBytes + 2 + bytes.size()), id, TokenType::bytes16);
  store_u16_le(to, static_cast<uint16_t>(bytes.size()));
  std::ranges::copy(bytes, to + 2);
}

void FrameWriter::end() {
  store_u32_le(out_.data() + start_, static_cast<uint32_t>(out_.size() - start_));
}

void FrameWriter::add_payload(std::string_view payload) {
  store_u32_le(grow(4), static_cast<uint32_t>(payload.size()));
  out_.append(payload);
}

}  // namespace orrery::cosmos::direct
