// See open_transaction.h.
#include "api/mongo/transactions/open_transaction.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/mongo/call.h"
#include "api/mongo/documents/scan.h"

namespace orrery::mongo {
namespace {

using partition::Write;

// What a write takes beside its body, about.
constexpr size_t kWriteBytes = 256;

std::string name_of(const cluster::Routing& routing) {
  return fmt::format("{}.{}", routing.database->name, routing.container->spec.name);
}

// Whether a commit that failed with this code may have been done all the same.
bool is_unknown(Code code) {
  switch (code) {
    case Code::internal:
    case Code::corrupt:
    case Code::read_only:
    case Code::overloaded:
    case Code::elsewhere:
    case Code::would_wait:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_transient(int32_t code) {
  return code == kWriteConflict || code == kNoSuchTransaction || code == kHostUnreachable ||
         code == kOverBudget || code == kSnapshotUnavailable || code == kExceededMemoryLimit;
}

bool ends_transaction(int32_t code) {
  return is_transient(code) || code == kOperationNotSupportedInTransaction ||
         code == kTransactionTooLarge;
}

std::unexpected<Error> OpenTransaction::read_error(const orrery::Error& error) const {
  if (error.code != Code::moved && error.code != Code::retry) return pass(engine_error(error));
  return refuse(kWriteConflict,
                "the partition was split, moved or opened again under the transaction: run it "
                "again");
}

std::optional<Error> OpenTransaction::ended() const {
  if (!is_ended_) return std::nullopt;
  return Error{kNoSuchTransaction, "the transaction has ended"};
}

Answer<OpenTransaction::Part*> OpenTransaction::part(const cluster::RoutingPtr& routing,
                                                     const std::string& placement) {
  if (const auto error = ended()) return pass(*error);
  const uint32_t container = routing->container->number;
  for (const auto& one : parts_) {
    if (one->routing->container->number == container && one->placement == placement) {
      return one.get();
    }
  }
  if (is_snapshot_ && !parts_.empty()) {
    return refuse(kOperationNotSupportedInTransaction,
                  fmt::format("a transaction with read concern snapshot reads one collection, and "
                              "of it one value of the shard key: {} is a second one. Use read "
                              "concern local",
                              name_of(*routing)));
  }
  if (parts_.size() >= kPartsMax) {
    return refuse(kOperationNotSupportedInTransaction,
                  fmt::format("a transaction reads {} collections, or values of their shard keys, "
                              "at most",
                              kPartsMax));
  }
  int64_t left_ms = kThrottledWaitMs;
  for (;;) {
    auto begun = engine_.begin_transaction(routing, placement, {}, kBytesMax);
    if (begun) {
      parts_.push_back(
          std::make_unique<Part>(Part{routing, placement, std::move(begun->transaction)}));
      return parts_.back().get();
    }
    if (!wait_for_throughput(begun.error(), left_ms)) return read_error(begun.error());
  }
}

Answer<std::shared_ptr<const partition::Transaction>> OpenTransaction::reads(
    const cluster::RoutingPtr& routing, const std::string& placement) {
  auto found = part(routing, placement);
  if (!found) return pass(std::move(found.error()));
  return (*found)->transaction;
}

Answer<std::optional<partition::Item>> OpenTransaction::read(const cluster::RoutingPtr& routing,
                                                             const partition::ItemKey& key) {
  auto found = part(routing, key.placement);
  if (!found) return pass(std::move(found.error()));
  auto item = (*found)->transaction->read(key.placement, key.row);
  if (!item) return read_error(item.error());
  return std::move(*item);
}

Answer<void> OpenTransaction::check_room(size_t bytes) const {
  if (bytes > kBytesMax - std::min(bytes_, kBytesMax)) {
    return refuse(kTransactionTooLarge,
                  fmt::format("Total size of all transaction operations must be less than {} "
                              "bytes: use several transactions",
                              kBytesMax));
  }
  if (memory_.bytes.load(std::memory_order_relaxed) + bytes > TransactionMemory::kBytesMax) {
    return refuse(kExceededMemoryLimit,
                  fmt::format("open transactions are about to write {} bytes together, which is "
                              "the limit: commit or abort some, and run this one again",
                              TransactionMemory::kBytesMax));
  }
  return {};
}

Answer<Status> OpenTransaction::stage(const cluster::RoutingPtr& routing, Write write) {
  auto found = part(routing, write.placement);
  if (!found) return pass(std::move(found.error()));
  if (written_ != nullptr && written_ != *found) {
    const bool is_same = written_->routing->container->number == routing->container->number;
    return refuse(
        kOperationNotSupportedInTransaction,
        is_same ? fmt::format("a transaction writes documents with one value of the shard key: "
                              "those of {} that it wrote before have another",
                              name_of(*routing))
                : fmt::format("a transaction writes documents of one collection: this one has "
                              "written to {}, and cannot write to {} too",
                              name_of(*written_->routing), name_of(*routing)));
  }
  const size_t bytes = write.body.size() + kWriteBytes;
  if (auto checked = check_room(bytes); !checked) return pass(std::move(checked.error()));
  if (auto staged = (*found)->transaction->stage(std::move(write)); !staged) {
    if (staged.error().code == Code::too_large) {
      return refuse(kTransactionTooLarge, staged.error().message);
    }
    if (staged.error().code == Code::moved || staged.error().code == Code::retry) {
      return read_error(staged.error());
    }
    return Status(orrery::pass(staged.error()));
  }
  written_ = *found;
  bytes_ += bytes;
  memory_.bytes.fetch_add(bytes, std::memory_order_relaxed);
  return Status();
}

std::string OpenTransaction::written_namespace() const {
  return written_ == nullptr ? std::string() : name_of(*written_->routing);
}

size_t OpenTransaction::staged() const {
  if (written_ == nullptr) return 0;
  return writes_.empty() ? written_->transaction->staged() : writes_.size();
}

Answer<bool> OpenTransaction::is_noted(const partition::Note& note) const {
  auto notes = engine_.notes(written_->routing, note.owner, note.number);
  if (!notes) return pass(engine_error(notes.error()));
  return !notes->empty();
}

OpenTransaction::Outcome OpenTransaction::commit(const std::shared_ptr<const partition::Note>& note,
                                                 bool may_be_done) {
  using Kind = Outcome::Kind;
  Outcome outcome;
  if (written_ == nullptr) return outcome;
  outcome.routing = written_->routing;
  if (writes_.empty()) {
    writes_ = written_->transaction->take();
    writes_.back().note = note;
  }
  if (may_be_done) {
    auto noted = is_noted(*note);
    if (!noted) {
      outcome.kind = Kind::unknown;
      outcome.error = {.code = Code::internal, .message = noted.error().message};
    }
    if (!noted || *noted) return outcome;
  }
  // Indexes, or a history for change streams, may have come since the writes were staged.
  if (auto now = engine_.find(outcome.routing->container->number)) outcome.routing = std::move(now);
  for (Write& write : writes_) write.schema = outcome.routing->schema;
  int64_t left_ms = kThrottledWaitMs;
  for (;;) {
    cluster::WriteReply reply = engine_.write_and_wait(outcome.routing, writes_);
    outcome.charge += reply.receipt.charge;
    if (!reply.error) return outcome;
    if (wait_for_throughput(*reply.error, left_ms)) continue;
    outcome.kind = is_unknown(reply.error->code) ? Kind::unknown : Kind::refused;
    outcome.error = std::move(reply.error);
    if (reply.failed_write && *reply.failed_write < writes_.size()) {
      outcome.refused = &writes_[*reply.failed_write];
    }
    return outcome;
  }
}

void OpenTransaction::end() {
  is_ended_ = true;
  written_ = nullptr;
  parts_.clear();
  writes_.clear();
  memory_.bytes.fetch_sub(std::exchange(bytes_, 0), std::memory_order_relaxed);
}

}  // namespace orrery::mongo
