// Writes items into a container: in bulk requests of one partition key range each, many at once.
//
// Each operation is on its own. What the server asks to repeat is repeated: throttled operations
// after the wait that it names, those of a range that was split after the ranges were read again.
// Each range is sent what it takes: after a throttled request it is left alone for that long, has
// half as many requests under way, and as many operations in one as were done; after others it has
// more again. Of a range, the oldest operations are sent first. Writes of one item are done in the
// order in which they were put, one after the other.
//
// Memory: kBytesMax of operations, and one more.
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
#include <vector>

#include "base/clock.h"
#include "client/client.h"
#include "client/resources.h"
#include "transfer/item.h"
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

class BulkWriter {
 public:
  // For each operation once, from turn(). `item` is what was to be written; empty for removals.
  using Done = std::function<void(uint64_t ticket, Outcome outcome, std::string_view item,
                                  std::string reason)>;

  static Result<std::unique_ptr<BulkWriter>> open(client::Client& client,
                                                  client::ContainerInfo container, WriteMode mode,
                                                  size_t requests_max, Done done);
  ~BulkWriter();

  bool has_room() const;
  void put(PreparedItem item, uint64_t ticket);
  void remove(std::string id, std::string key_json, std::string key_hex, uint64_t ticket);
  // Sends what is gathered, though more would fit.
  void flush();
  // Moves everything on. An error means that no write can succeed.
  Status turn(int wait_ms);
  bool is_idle() const { return operations_ == 0; }

  const client::ContainerInfo& container() const { return container_; }
  const WriteCounts& counts() const { return counts_; }
  client::Client& client() { return client_; }

 private:
  struct Operation {
    std::string id;
    std::string key_json;
    std::string key_hex;
    std::string json;    // as it is sent
    size_t body_at = 0;  // where in it the item begins, which is followed by one brace; 0: removal
    uint64_t ticket = 0;
    uint32_t repeats = 0;
    bool alone = false;  // in a request of its own
    bool is_removal() const { return body_at == 0; }
    std::string_view body() const {
      if (is_removal()) return {};
      return std::string_view(json).substr(body_at, json.size() - body_at - 1);
    }
    std::string identity() const { return key_json + "/" + id; }
    size_t bytes() const { return json.size() + 2 * (id.size() + key_json.size()) + 240; }
  };
  struct Group {
    std::string range;
    std::vector<Operation> operations;
  };
  // What waits to be sent to a range, and how it is sent.
  struct Lane {
    std::map<uint64_t, Operation> waiting;     // by ticket
    size_t bytes = 0;                          // of those, as they are sent
    size_t sending = 0;                        // requests
    double allowed = kFirstRequests;           // of those
    size_t operations_max = kGroupOperations;  // in one request
    int64_t not_before_ms = 0;
  };
  static constexpr double kFirstRequests = 16;
  static constexpr size_t kGroupOperations = 100;  // the protocol's limit

  BulkWriter(client::Client& client, client::ContainerInfo container,
             std::vector<client::KeyRange> ranges, WriteMode mode, size_t requests_max, Done done);
  void add(Operation operation);
  void route(Operation operation);
  // As many of the oldest as fit into a request.
  Group next_group(Lane& lane, const std::string& range);
  void send(Group group);
  void send_all();
  // How long nothing can be sent, at most `wait_ms`.
  int wait_until_due(int wait_ms) const;
  void answer(Group group, Result<client::Response> response);
  void results(Group group, const client::Response& response);
  void result(Operation operation, int status, int substatus, std::string message);
  void compare(Operation operation);
  void finish(const Operation& operation, Outcome outcome, std::string reason);
  void repeat_later(Operation operation, int64_t wait_ms);
  void take_due();
  void read_ranges_again(std::vector<Operation> unrouted);
  void stop(Error error);
  void slow_down(Lane& lane, size_t done, int64_t wait_ms);
  int64_t now_ms() const { return clock_.steady_us() / 1000; }

  client::Client& client_;
  const client::ContainerInfo container_;
  const WriteMode mode_;
  const size_t requests_max_;
  const Done done_;
  RealClock clock_;
  std::shared_ptr<BulkWriter*> alive_;  // null inside once the writer is gone

  std::vector<client::KeyRange> ranges_;
  bool ranges_are_old_ = false;
  bool is_asking_ranges_ = false;
  int64_t ask_ranges_ms_ = 0;
  // The items that are being written, and the writes of each that wait for the one under way.
  std::unordered_map<std::string, std::deque<Operation>> items_;
  std::vector<Operation> unrouted_;          // while the ranges are read
  std::map<std::string, Lane> lanes_;        // by range
  std::multimap<int64_t, Operation> later_;  // by when they are due
  size_t operations_ = 0;                    // all that are not done
  size_t bytes_ = 0;                         // of those
  size_t sending_ = 0;                       // requests
  bool flushes_ = false;                     // requests need not be full
  WriteCounts counts_;
  std::optional<Error> failed_;
};

}  // namespace orrery::transfer
