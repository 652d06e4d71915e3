// An open transaction of a session: what its statements read and write, before it is committed.
//
// It is over logical partitions (a collection without a shard key is one, each value of a shard key
// is one of others), and has a transaction of the engine (partition/transaction.h) over each that
// it has touched: that reads the partition as it was at the first touch, with what was written here
// meanwhile. It may read some, and write one. commit() writes everything at once, and fails if
// another has changed one of the documents since: the first committer wins.
//
// Bounded in the bytes that it is about to write, and in the partitions that it reads.
// docs/decisions/0034-transactions-of-a-session.md says why it is as it is.
//
// Threading: one thread at a time. What blocks says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/transactions/pinned_reads.h"
#include "cluster/engine.h"
#include "partition/note.h"
#include "partition/transaction.h"

namespace orrery::mongo {

// What all open transactions are about to write.
struct TransactionMemory {
  static constexpr size_t kBytesMax = size_t{256} << 20;
  std::atomic<size_t> bytes = 0;
};

class OpenTransaction final : public PinnedReads {
 public:
  static constexpr size_t kBytesMax = size_t{16} << 20;
  static constexpr size_t kPartsMax = 16;

  // `is_snapshot`: all that it reads is to be of one moment.
  OpenTransaction(cluster::Engine& engine, TransactionMemory& memory, bool is_snapshot)
      : engine_(engine), memory_(memory), is_snapshot_(is_snapshot) {}
  ~OpenTransaction() override { end(); }
  OpenTransaction(const OpenTransaction&) = delete;
  OpenTransaction& operator=(const OpenTransaction&) = delete;

  Answer<std::shared_ptr<const partition::Transaction>> reads(
      const cluster::RoutingPtr& routing, const std::string& placement) override;
  Answer<std::optional<partition::Item>> read(const cluster::RoutingPtr& routing,
                                              const partition::ItemKey& key) override;
  // Names stand for what they stand for at the first touch.
  Answer<void> check_name(std::string_view /*database*/, std::string_view /*collection*/,
                          const cluster::RoutingPtr& /*routing*/) const override {
    return {};
  }
  std::unexpected<Error> read_error(const orrery::Error& error) const override;
  std::optional<Error> ended() const override;
  // Writes when it is committed. The answer is an error when a transaction cannot have the write;
  // the status in it, when the write is refused as one alone would be. Blocks.
  Answer<Status> stage(const cluster::RoutingPtr& routing, partition::Write write);

  // The collection that it writes to, as database.collection; empty: none yet.
  std::string written_namespace() const;
  size_t staged() const;

  struct Outcome {
    enum class Kind : uint8_t {
      committed,
      refused,  // nothing of it is done
      unknown,  // it may be done: commit() may be tried again
    };
    Kind kind = Kind::committed;
    std::optional<orrery::Error> error = {};
    double charge = 0;
    // The write that was refused, and where it was to go.
    const partition::Write* refused = nullptr;
    cluster::RoutingPtr routing = nullptr;
  };
  // Writes everything with `note`, or nothing. `may_be_done`: it was tried before, with an unknown
  // outcome. Blocks.
  Outcome commit(const std::shared_ptr<const partition::Note>& note, bool may_be_done);
  // Lets go of everything. Reads and writes fail from then on.
  void end();

 private:
  struct Part {
    cluster::RoutingPtr routing;
    std::string placement;
    std::shared_ptr<partition::Transaction> transaction;
  };
  Answer<Part*> part(const cluster::RoutingPtr& routing, const std::string& placement);
  Answer<void> check_room(size_t bytes) const;
  Answer<bool> is_noted(const partition::Note& note) const;

  cluster::Engine& engine_;
  TransactionMemory& memory_;
  const bool is_snapshot_;
  bool is_ended_ = false;
  std::vector<std::unique_ptr<Part>> parts_;
  Part* written_ = nullptr;               // of parts_
  std::vector<partition::Write> writes_;  // of written_, once it is being committed
  size_t bytes_ = 0;
};

// Errors after which all of a transaction may succeed when it is run again.
bool is_transient(int32_t code);
// Errors of a write that are about the transaction, and not about the document.
bool ends_transaction(int32_t code);

}  // namespace orrery::mongo
