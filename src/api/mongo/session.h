// MongoDB's protocol over a stream: takes messages off the input, one at a time, and writes their
// answers. While a command runs nothing is read: the message stays where it is, and commands of one
// connection are run one after the other, as the protocol has it.
//
// A message that cannot be decoded is answered with an error, and the connection goes on. Only
// where the length in a header cannot be right, so that nobody knows where the next message begins,
// does it end.
//
// Threading: the loop's thread, but for send(), abandon() and is_gone().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/mongo/call.h"
#include "api/mongo/connection.h"
#include "net/session.h"

namespace orrery::mongo {

// Takes each command. On the loop's thread; must not block.
class CommandReceiver {
 public:
  virtual ~CommandReceiver() = default;
  virtual void receive(Message message, Connection& connection,
                       std::shared_ptr<ReplySink> sink) = 0;
  virtual Connection connect(const net::Stream& stream) = 0;
  virtual void disconnected(const Connection& connection) noexcept = 0;
};

class WireSession final : public net::Session, public ReplySink {
 public:
  WireSession(net::Stream& stream, CommandReceiver& receiver);

  net::Next on_input(net::InputBuffer& input) override;
  void on_written() override;
  size_t queued_bytes() const override { return waiting_reply_ ? waiting_reply_->size() : 0; }
  void on_stopping() override;
  void on_notified() noexcept override;
  void on_closed() noexcept override;

  void send(std::string reply) noexcept override;  // any thread
  void abandon() noexcept override;                // any thread
  void hang_up() noexcept override;                // any thread
  bool is_gone() const override;                   // any thread

 private:
  net::Next dispatch(net::InputBuffer& input, size_t size);
  void refuse_message(const ReplyForm& form, const Error& error);
  void append_reply(std::string reply);
  void take_reply(std::string reply);
  void next_message();

  CommandReceiver& receiver_;
  Connection connection_;
  bool is_connected_ = false;
  bool is_admitted_ = false;  // the memory of the message that is coming is reserved
  size_t message_bytes_ = 0;  // of the one that is being answered
  bool in_receiver_ = false;
  bool is_waiting_ = false;                   // for an answer
  std::optional<std::string> waiting_reply_;  // came while an earlier one was still being written
  std::atomic<bool> is_abandoned_{false};
};

}  // namespace orrery::mongo
