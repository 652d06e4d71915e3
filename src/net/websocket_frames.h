// WebSocket's frames, by libwslay: bytes in, pieces of frames out, and the other way round. Pure:
// no I/O, no clock, one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct wslay_frame_context;

namespace orrery::net {

class InputBuffer;

enum class Opcode : uint8_t {
  continuation = 0,
  text = 1,
  binary = 2,
  close = 8,
  ping = 9,
  pong = 10,
};

// Some of a frame's payload, unmasked. Empty frames have one piece.
struct FramePiece {
  Opcode opcode = Opcode::text;  // may be none of those above
  bool last_of_message = false;
  bool reserved_bits = false;
  bool masked = false;
  uint64_t payload_bytes = 0;  // of the whole frame
  std::string_view data;       // good until the next call
};

// Both directions of one WebSocket.
class WebSocketFrames {
 public:
  enum class Outcome : uint8_t { piece, need_more, malformed };

  WebSocketFrames();
  WebSocketFrames(const WebSocketFrames&) = delete;
  WebSocketFrames& operator=(const WebSocketFrames&) = delete;

  // Takes from `input` what it needs for the next piece; it may take more and keep it. Malformed is
  // a length with needless bytes, and a control frame that is long or a fragment: nothing can be
  // read after it.
  Outcome next(InputBuffer& input, FramePiece& piece);
  // After need_more: some of a frame has come.
  bool in_frame() const { return kept_bytes_ > 0; }

  // As a server sends it: one frame, without a mask. Of a control frame 125 bytes at most.
  void append(std::string& out, Opcode opcode, std::string_view payload);

 private:
  struct Callbacks;
  struct FreeContext {
    void operator()(wslay_frame_context* context) const;
  };

  std::unique_ptr<wslay_frame_context, FreeContext> context_;
  InputBuffer* input_ = nullptr;    // during next()
  std::string* output_ = nullptr;   // during append()
  uint64_t kept_bytes_ = 0;         // taken from inputs, of frames that are not done
  uint64_t frame_bytes_given_ = 0;  // of the payload of the frame that is under way
};

}  // namespace orrery::net
