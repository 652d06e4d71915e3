// WebSocket over a stream, after HTTP has handed it over: frames to messages, control frames, the
// closing handshake, and a bounded queue of what the peer has not taken.
//
// A message's memory is reserved as that of an HTTP body is: beyond the 16 KB that are free, its
// whole size if that is known, and otherwise the most that it may have. While the peer does not
// take what it was sent nothing is read from it, so answers to pings cannot pile up.
//
// Whatever the peer does wrong is answered with a Close that says what, and the stream ends. A
// Close of ours waits for the peer's; messages that come meanwhile are dropped.
//
// Threading: the loop's thread, but for what WebSocket promises.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/session.h"
#include "net/websocket.h"
#include "net/websocket_frames.h"

namespace orrery::net {

class WebSocketSession final : public Session, public WebSocket {
 public:
  WebSocketSession(Stream& stream, const WebSocketLimits& limits,
                   std::unique_ptr<WebSocketHandler> handler);

  Next on_input(InputBuffer& input) override;
  void on_slow() override;
  void on_written() override;
  size_t queued_bytes() const override { return queue_.size(); }
  void on_deadline(Waiting what) override;
  void on_no_memory() override;
  void on_stopping() override;
  void on_notified() noexcept override;
  void on_closed() noexcept override;

  bool send(MessageKind kind, std::string message) noexcept override;
  size_t unsent_bytes() const override;
  void pause() override { paused_ = true; }
  void resume() noexcept override;
  void close(uint16_t code, std::string reason) noexcept override;
  bool is_gone() const override;
  std::shared_ptr<WebSocket> share() override;

 private:
  // What came of a frame's piece.
  enum class Step : uint8_t { go_on, message_done };

  Next need_more();
  Step take_piece(const FramePiece& piece);
  bool begin_frame(const FramePiece& piece);  // false: the stream ends
  Step end_frame(bool last_of_message);
  void deliver();
  void on_control();
  void on_close_frame();

  void append(Opcode opcode, std::string_view payload);
  void begin_close(uint16_t code, std::string_view reason);
  void fail(uint16_t code, std::string_view reason);  // says why, and ends

  const WebSocketLimits limits_;
  const std::unique_ptr<WebSocketHandler> handler_;
  WebSocketFrames frames_;

  // The frame that is under way.
  Opcode opcode_ = Opcode::text;
  bool in_frame_ = false;
  uint64_t frame_bytes_left_ = 0;
  std::string control_;  // of a control frame
  // The message that is under way; control frames may come between its fragments.
  bool in_message_ = false;
  MessageKind kind_ = MessageKind::text;
  std::string message_;

  std::string queue_;  // frames for when the peer has taken what is before them
  SteadyTime heard_at_;
  SteadyTime deadline_;     // of the ping, or of our Close
  bool ping_sent_ = false;  // and nothing was heard since
  bool close_sent_ = false;
  bool failed_ = false;  // nothing is read any more
  bool paused_ = false;
  bool in_handler_ = false;
  uint16_t close_code_;  // what the peer said

  std::atomic<size_t> posted_bytes_{0};  // of messages that are on their way to the loop's thread
  std::atomic<size_t> unsent_bytes_{0};  // of those that came there, while the peer is slow
  std::atomic<bool> closing_{false};     // nothing more can be sent
  std::atomic<bool> cut_off_{false};
};

}  // namespace orrery::net
