// Writes records in requests of many operations each, many requests at once: what writers into
// containers and into tables share.
//
// What the server asks to repeat is repeated. Each lane is sent what it takes: after a throttled
// request it is left alone for that long, has half as many requests under way, and as many
// operations in one as were done; after others it has more again. Writes of one item are done in
// the order in which they were put, one after the other.
//
// Memory: kBytesMax of operations, and one more.
// Threading: one thread, that of the client.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "client/client.h"
#include "transfer/ledger.h"

namespace orrery::transfer {

enum class WriteMode : uint8_t {
  upsert,  // replaces what is there
  create,  // rejects an item whose id is taken, unless what is there says the same
  skip,    // leaves what is there
};
Result<WriteMode> parse_write_mode(std::string_view text);

struct WriteCounts {
  uint64_t throttled = 0;  // operations, each time
  uint64_t requests = 0;
};

class GroupWriter {
 public:
  // For each operation once, from turn(). `item` is what was to be written; empty for removals.
  using Done = std::function<void(uint64_t ticket, Outcome outcome, std::string_view item,
                                  std::string reason)>;
  virtual ~GroupWriter();
  GroupWriter(const GroupWriter&) = delete;
  GroupWriter& operator=(const GroupWriter&) = delete;

  bool has_room() const;
  // Takes over a record: JSON. An error says why it is rejected. With a seed, an id that it lacks
  // is made from that.
  virtual Status take(std::string_view record, std::string_view id_seed, uint64_t ticket) = 0;
  // Sends what is gathered, though more would fit.
  void flush() { flushes_ = true; }
  // Moves everything on. An error means that no write can succeed.
  Status turn(int wait_ms);
  bool is_idle() const { return operations_ == 0; }

  const WriteCounts& counts() const { return counts_; }
  client::Client& client() { return client_; }

 protected:
  struct PendingWrite {
    std::string id;
    std::string key;
    std::string placement;  // what the lane is found by
    std::string text;       // as it is sent
    size_t body_at = 0;     // where in it the item is; 0: removal
    size_t body_size = 0;
    uint64_t ticket = 0;
    uint32_t repeats = 0;
    bool alone = false;  // in a request of its own
    bool is_removal() const { return body_at == 0; }
    std::string_view body() const { return std::string_view(text).substr(body_at, body_size); }
    std::string identity() const { return key + "/" + id; }
    size_t bytes() const {
      return text.size() + 2 * (id.size() + key.size()) + placement.size() + 240;
    }
  };
  struct Group {
    std::string lane;
    std::vector<PendingWrite> operations;
  };
  static constexpr size_t kGroupOperations = 100;  // the limit of both protocols

  GroupWriter(client::Client& client, WriteMode mode, size_t requests_max, Done done);

  void add(PendingWrite operation);
  // Sends it in this lane, together with others that have the same `partition`. Of these the
  // oldest are sent first; partitions take turns.
  void wait_in(const std::string& lane, std::string partition, PendingWrite operation);
  // All that waits, in no lane any more.
  std::vector<PendingWrite> take_waiting();
  void finish(const PendingWrite& operation, Outcome outcome, std::string reason);
  // Sends each in a request of its own, which tells which of them is refused.
  void each_alone(Group group);
  // After an answer to one operation: it is done, sent again later, or rejected.
  void result(PendingWrite operation, int status, int substatus, std::string message);
  void stop(Error error);
  // After a request of this lane that was throttled, of which so many operations were `done`; and
  // after one that was not.
  void slow_down(const std::string& lane, size_t done, int64_t wait_ms);
  void speed_up(const std::string& lane);
  void count_throttled(size_t operations) { counts_.throttled += operations; }
  int64_t now_ms() const { return clock_.steady_us() / 1000; }
  // Calls `then` with this writer, unless it is gone by then.
  template <class Self, class Then>
  void submit(client::Request request, Then then) {
    client_.submit(std::move(request), [alive = alive_, then = std::move(then)](
                                           Result<client::Response> response) mutable {
      if (*alive != nullptr) then(static_cast<Self&>(**alive), std::move(response));
    });
  }

  WriteMode mode() const { return mode_; }

 private:
  // What waits to be sent, and how it is sent.
  struct Lane {
    using Place = std::pair<std::string, uint64_t>;  // the partition and the ticket
    std::map<Place, PendingWrite> waiting;
    std::string last_partition;                // that was sent something
    size_t bytes = 0;                          // of those that wait
    size_t sending = 0;                        // requests
    double allowed = kFirstRequests;           // of those
    size_t operations_max = kGroupOperations;  // in one request
    int64_t not_before_ms = 0;
  };
  static constexpr double kFirstRequests = 16;

  // Into its lane, by wait_in().
  virtual void route(PendingWrite operation) = 0;
  virtual client::Request request_of(const Group& group) const = 0;
  virtual void answer(Group group, client::Response response) = 0;
  // Reads the item that is there in the place of one, and whether it says the same.
  virtual client::Request read_request(const PendingWrite& operation) const = 0;
  virtual bool says_the_same(std::string_view theirs, std::string_view ours) const = 0;
  // After an answer about one operation: whether it was in the wrong place, and is taken over to be
  // sent to another.
  virtual bool moves_on(PendingWrite& operation, int status) = 0;
  virtual void before_turn() {}

  // As many as fit into a request.
  Group next_group(Lane& lane, const std::string& name);
  void send(Group group);
  void send_all();
  // How long nothing can be sent, at most `wait_ms`.
  int wait_until_due(int wait_ms) const;
  void compare(PendingWrite operation);
  void repeat_later(PendingWrite operation, int status, std::string_view message);
  void take_due();

  client::Client& client_;
  const WriteMode mode_;
  const size_t requests_max_;
  const Done done_;
  RealClock clock_;
  std::shared_ptr<GroupWriter*> alive_;  // null inside once the writer is gone

  // The items that are being written, and the writes of each that wait for the one under way.
  std::unordered_map<std::string, std::deque<PendingWrite>> items_;
  std::map<std::string, Lane> lanes_;
  std::multimap<int64_t, PendingWrite> later_;  // by when they are due
  size_t operations_ = 0;                       // all that are not done
  size_t bytes_ = 0;                            // of those
  size_t sending_ = 0;                          // requests
  bool flushes_ = false;                        // requests need not be full
  WriteCounts counts_;
  std::optional<Error> failed_;
};

// Makes the writer of a transfer, which tells `done`.
using MakeWriter = std::function<Result<std::unique_ptr<GroupWriter>>(GroupWriter::Done done)>;

}  // namespace orrery::transfer
