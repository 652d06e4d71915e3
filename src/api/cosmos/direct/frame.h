// Frames of RNTBD, the binary protocol of direct mode. All integers are little-endian.
//
//   request   u32 length (of itself, what follows up to the last token) | u16 resource |
//             u16 operation | 16 bytes activity id | tokens | payload
//   response  u32 length | u32 status | 16 bytes activity id | tokens | payload
//   token     u16 id | u8 type | value, of the type's size; texts and bytes after their length
//   payload   u32 length | bytes; only if the token PayloadPresent is 1. Not in the first length.
// The activity id is a GUID in the byte order of .NET: three groups little-endian, then eight
// bytes.
//
// Pure; any thread may call. Input from outside is bounded by the limits that the caller gives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::cosmos::direct {

inline constexpr size_t kFrameHeadBytes = 24;
inline constexpr size_t kActivityIdBytes = 16;
// The longest text of a token: longer ones would need a type that Java's client skips wrongly.
inline constexpr size_t kTextBytesMax = 0xFFFF;

enum class TokenType : uint8_t {
  byte = 0x00,
  u16 = 0x01,
  u32 = 0x02,
  i32 = 0x03,
  u64 = 0x04,
  i64 = 0x05,
  guid = 0x06,
  text8 = 0x07,  // the number of bits of the length
  text16 = 0x08,
  text32 = 0x09,
  bytes8 = 0x0A,
  bytes16 = 0x0B,
  bytes32 = 0x0C,
  float32 = 0x0D,
  float64 = 0x0E,
};

struct Token {
  uint16_t id = 0;
  TokenType type = TokenType::byte;
  uint64_t number = 0;     // of byte … i64; signed ones are sign-extended
  std::string_view bytes;  // of guid, texts, bytes; of floats their bytes

  bool is_number() const { return type <= TokenType::i64; }
  bool has_text() const { return type >= TokenType::text8 && type <= TokenType::bytes32; }
};

// Reads tokens one after the other.
class TokenReader {
 public:
  enum class Outcome : uint8_t { token, end, malformed };

  explicit TokenReader(std::string_view tokens) : rest_(tokens) {}
  // malformed: an unknown type, or a value that ends beyond the last byte.
  Outcome next(Token& token);

 private:
  std::string_view rest_;
};

struct FrameLimits {
  size_t head_bytes_max = 0;  // of head and tokens
  size_t payload_bytes_max = 0;
};

// A request as views into the input.
struct RequestFrame {
  uint16_t resource = 0;
  uint16_t operation = 0;
  std::string_view activity_id;
  std::string_view tokens;
  std::string_view payload;
  size_t bytes = 0;  // of the whole frame

  bool is_connection_context() const { return resource == 0 && operation == 0; }
};

struct FrameProgress {
  enum class Outcome : uint8_t {
    need_head,     // `bytes` in all, or 0 if even that is not known
    need_payload,  // `bytes` in all; the frame's head and tokens are there
    whole,
    malformed,  // `error` says why
  };
  Outcome outcome = Outcome::need_head;
  size_t bytes = 0;
  const char* error = "";
};

// Looks at the frame that begins the input. `frame` is filled in but for its payload as soon as
// need_payload is the outcome.
FrameProgress read_frame(std::string_view input, const FrameLimits& limits, RequestFrame& frame);

// xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx of an activity id.
std::array<char, 36> activity_text(std::string_view activity_id);

// Writes one frame at the end of a string: tokens, then end().
class FrameWriter {
 public:
  // `word`: the status of a response; of a request its operation << 16 | resource.
  FrameWriter(std::string& out, uint32_t word, std::string_view activity_id);

  void add_byte(uint16_t id, uint8_t value);
  void add_u32(uint16_t id, uint32_t value);
  void add_i64(uint16_t id, int64_t value);
  void add_double(uint16_t id, double value);
  // At most 255 and kTextBytesMax bytes; what is beyond is cut off.
  void add_text8(uint16_t id, std::string_view text);
  void add_text(uint16_t id, std::string_view text);
  void add_bytes(uint16_t id, std::string_view bytes);

  void end();
  // After end(), if a token PayloadPresent said so.
  void add_payload(std::string_view payload);

 private:
  char* grow(size_t bytes);

  std::string& out_;
  const size_t start_;
};

}  // namespace orrery::cosmos::direct
