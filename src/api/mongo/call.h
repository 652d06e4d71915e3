// One command on its way through the face: what was asked, and the means to answer it once.
//
// Threading: one thread at a time. The answer may be given on any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/bson_writer.h"
#include "api/mongo/bson/error.h"
#include "api/mongo/connection.h"
#include "api/mongo/wire/message.h"
#include "base/clock.h"
#include "base/result.h"
#include "face/request_metrics.h"
#include "value/value.h"

namespace orrery::mongo {

// Where answers go. Any thread may call; one of send, abandon and hang_up is called, once.
class ReplySink {
 public:
  virtual ~ReplySink() = default;
  virtual void send(std::string message) noexcept = 0;
  virtual void abandon() noexcept = 0;  // no answer is to be had
  virtual void hang_up() noexcept = 0;  // the connection is closed in its place
  virtual bool is_gone() const = 0;     // nobody is there any more
};

class RetryableWrite;   // documents/retryable_write.h
class OpenTransaction;  // transactions/open_transaction.h
class PinnedReads;      // transactions/pinned_reads.h
class Snapshot;         // transactions/snapshot_store.h
struct Hop;             // forward/hop.h

class Call {
 public:
  Call(Message message_in, value::Value command_in, Connection& connection_in,
       std::shared_ptr<ReplySink> sink, const Clock& clock, face::RequestMetrics& metrics);
  // Answers with an error if nobody has: an exception must have ended its owner.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const Message message;
  const value::Value command;  // owns what it is of
  Connection& connection;
  std::string_view name;      // of the command: its first member
  std::string_view database;  // $db
  size_t metric = 0;

  // The answer, filled in on the way; reply() completes and sends it.
  BsonWriter answer;
  double charge = 0;
  std::vector<std::string> error_labels;  // of the error, if it comes to one
  value::Value error_members;             // told beside it: an object, or undefined
  // The transaction that it is a statement of; null: none.
  std::shared_ptr<OpenTransaction> transaction;
  // What it reads with the read concern snapshot outside a transaction; null: it does not.
  std::shared_ptr<Snapshot> snapshot;
  // One of the two, or null.
  std::shared_ptr<PinnedReads> pinned() const;
  bool has_write_errors = false;  // the answer tells of some
  // Told beside what was done (commands/fail_point.h); undefined: nothing.
  value::Value write_concern_error;
  bool hangs_up = false;  // the connection is closed in the place of an answer (the same)
  // Of a write that may be retried; null: it is none.
  std::shared_ptr<RetryableWrite> retry;
  // The same: is given the answer, or nothing if it failed.
  std::function<void(std::optional<std::string>)> remember;
  bool has_written = false;  // something of it is done
  // Nothing was to be told yet: the command is to be run again, in a while.
  bool is_waiting = false;
  int64_t cursor_id = 0;     // of the cursor that the answer leaves open
  std::unique_ptr<Hop> hop;  // its way between nodes; null in a server alone

  // The value of the command's first member, when it is a name: the collection.
  std::string_view collection() const { return collection_; }
  // database.collection
  std::string ns() const;
  value::Value operator[](std::string_view member) const { return command.find(member); }
  // An array of documents of the command, in its own section or in its document. Views of documents
  // within the message, or into `kept`.
  Answer<std::vector<std::string_view>> documents(std::string_view member,
                                                  std::vector<std::string>& kept) const;
  bool has_transaction_number() const;
  // Whether it is a statement of a transaction, or ends one.
  bool is_in_transaction() const;
  bool is_statement() const;  // the first of the two
  // Who the session of the command belongs to, and its id: sessions of two users are two, whatever
  // their ids. Empty: it has none.
  std::string session() const;

  int64_t now_ms() const { return clock_.now_ms(); }
  int64_t steady_us() const { return clock_.steady_us(); }
  int64_t started_us() const { return started_us_; }
  // maxTimeMS, or 0.
  int64_t max_time_ms() const;

  bool client_is_gone() const { return sink_->is_gone(); }
  void reply();
  void reply_again(std::string_view document);  // as it was answered before
  // As another node has answered it.
  void reply_forwarded(std::string_view document, int32_t code, double charged);
  // To the node that sent it: what it concerns is not here, and nothing was done.
  void reply_moved();
  // Closes the connection, without an answer.
  void hang_up();
  void fail(const Error& error);
  void fail(const orrery::Error& error);  // of the engine, or of the lanes
  void finish(const Answer<void>& outcome) { return outcome ? reply() : fail(outcome.error()); }

 private:
  void send(BsonWriter& document, int32_t code);
  void append_labels(BsonWriter& document) const;
  void send_bytes(std::string_view document, int32_t code);
  void note_done(int32_t code);

  const std::shared_ptr<ReplySink> sink_;
  const Clock& clock_;
  face::RequestMetrics& metrics_;
  const int64_t started_us_;
  std::string_view collection_;
  bool is_answered_ = false;
};
using CallPtr = std::unique_ptr<Call>;

std::string session_name(std::string_view user, std::string_view id);

// The cluster's time as clients are told it: seconds, and a counter within each, from 1 on.
inline uint64_t cluster_time(int64_t now_ms) {
  return static_cast<uint64_t>(now_ms / 1000) << 32 | static_cast<uint64_t>(now_ms % 1000 + 1);
}

// Whether a command that fails with this code may succeed when it is sent again as it is.
bool is_retryable(int32_t code);
// What an engine's error is called here.
Error engine_error(const orrery::Error& error);

}  // namespace orrery::mongo
