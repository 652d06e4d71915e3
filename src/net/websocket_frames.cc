// The one place that calls libwslay, and only its frames: see websocket_frames.h and
// docs/decisions/0016-frames-by-wslay.md.
#include "net/websocket_frames.h"

#include <wslay/wslay.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "net/input_buffer.h"

namespace orrery::net {
namespace {

constexpr uint64_t kMaskBytes = 4;
constexpr size_t kHeaderBytesMax = 14;

uint64_t header_bytes(uint64_t payload_bytes, bool masked) {
  const uint64_t length_bytes = payload_bytes < 126 ? 0 : payload_bytes < 65'536 ? 2 : 8;
  return 2 + length_bytes + (masked ? kMaskBytes : 0);
}

}  // namespace

// Called by C: must not throw.
struct WebSocketFrames::Callbacks {
  static ssize_t receive(uint8_t* room, size_t size, int /*flags*/, void* frames) {
    auto& self = *static_cast<WebSocketFrames*>(frames);
    const size_t taken = std::min(size, self.input_->size());
    if (taken == 0) return -1;
    std::memcpy(room, self.input_->data(), taken);
    self.input_->consume(taken);
    self.kept_bytes_ += taken;
    return static_cast<ssize_t>(taken);
  }

  // append() has made room.
  static ssize_t send(const uint8_t* data, size_t size, int /*flags*/, void* frames) {
    static_cast<WebSocketFrames*>(frames)->output_->append(reinterpret_cast<const char*>(data),
                                                           size);
    return static_cast<ssize_t>(size);
  }

  // Only clients mask.
  static int make_mask(uint8_t* /*room*/, size_t /*size*/, void* /*frames*/) { return -1; }
};

void WebSocketFrames::FreeContext::operator()(wslay_frame_context* context) const {
  wslay_frame_context_free(context);
}

WebSocketFrames::WebSocketFrames() {
  const wslay_frame_callbacks callbacks{&Callbacks::send, &Callbacks::receive,
                                        &Callbacks::make_mask};
  wslay_frame_context* context = nullptr;
  if (wslay_frame_context_init(&context, &callbacks, this) != 0) throw std::bad_alloc();
  context_.reset(context);
}

WebSocketFrames::Outcome WebSocketFrames::next(InputBuffer& input, FramePiece& piece) {
  input_ = &input;
  wslay_frame_iocb frame{};
  const ssize_t got = wslay_frame_recv(context_.get(), &frame);
  if (got == WSLAY_ERR_WANT_READ) return Outcome::need_more;
  if (got < 0) return Outcome::malformed;
  piece.opcode = static_cast<Opcode>(frame.opcode);
  piece.last_of_message = frame.fin != 0;
  piece.reserved_bits = frame.rsv != 0;
  piece.masked = frame.mask != 0;
  piece.payload_bytes = frame.payload_length;
  piece.data = {reinterpret_cast<const char*>(frame.data), frame.data_length};
  frame_bytes_given_ += frame.data_length;
  if (frame_bytes_given_ == frame.payload_length) {
    kept_bytes_ -= header_bytes(frame.payload_length, piece.masked) + frame.payload_length;
    frame_bytes_given_ = 0;
  }
  return Outcome::piece;
}

void WebSocketFrames::append(std::string& out, Opcode opcode, std::string_view payload) {
  const size_t wanted = out.size() + kHeaderBytesMax + payload.size();
  if (wanted > out.capacity()) out.reserve(std::max(wanted, 2 * out.capacity()));
  output_ = &out;
  wslay_frame_iocb frame{};
  frame.fin = 1;
  frame.opcode = static_cast<uint8_t>(opcode);
  frame.payload_length = payload.size();
  frame.data = reinterpret_cast<const uint8_t*>(payload.data());
  frame.data_length = payload.size();
  wslay_frame_send(context_.get(), &frame);
}

}  // namespace orrery::net
