// See transaction_store.h.
#include "api/mongo/transactions/transaction_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace orrery::mongo {
namespace {

constexpr std::chrono::milliseconds kSweepEvery{500};

}  // namespace

void TransactionStore::close(Kept& kept, End end, Dropped& dropped) {
  kept.end = end;
  kept.is_doomed = false;
  dropped.transactions.push_back(std::move(kept.transaction));
  kept.transaction.reset();
  --counts_.open;
  ++(end == End::committed ? counts_.committed : counts_.aborted);
}

void TransactionStore::abort(Kept& kept, Dropped& dropped) {
  if (!kept.transaction) return;
  if (kept.is_lent) {
    kept.is_doomed = true;
  } else {
    close(kept, End::aborted, dropped);
  }
}

void TransactionStore::sweep(Dropped& dropped) {
  const int64_t now_us = clock_.steady_us();
  if (now_us < sweep_at_us_) return;
  sweep_at_us_ = INT64_MAX;
  for (auto& [session, kept] : sessions_) {
    if (!kept.transaction) continue;
    if (kept.until_us <= now_us) {
      abort(kept, dropped);
    } else {
      sweep_at_us_ = std::min(sweep_at_us_, kept.until_us);
    }
  }
}

void TransactionStore::sweep() {
  Dropped dropped;
  MutexLock lock(mutex_);
  sweep(dropped);
}

void TransactionStore::make_room() {
  if (sessions_.size() < kSessionsMax) return;
  for (auto one = std::prev(by_use_.end());; --one) {
    const auto found = sessions_.find(*one);
    if (!found->second.transaction) {
      sessions_.erase(found);
      by_use_.erase(one);
      return;
    }
    if (one == by_use_.begin()) return;
  }
}

Answer<std::unique_ptr<TransactionStore::Lent>> TransactionStore::begin(const std::string& session,
                                                                        int64_t number,
                                                                        bool is_snapshot) {
  Dropped dropped;
  MutexLock lock(mutex_);
  if (is_stopped_) return refuse(kInterrupted, "the server is stopping");
  sweep(dropped);
  auto found = sessions_.find(session);
  if (found != sessions_.end() && number <= found->second.number) {
    const bool is_old = number < found->second.number;
    return refuse(is_old ? kTransactionTooOld : kConflictingOperationInProgress,
                  fmt::format("Cannot start transaction {}: this session has begun {}{}", number,
                              is_old ? "transaction " : "it already",
                              is_old ? std::to_string(found->second.number) : std::string()));
  }
  if (found != sessions_.end()) {
    if (found->second.is_lent) {
      return refuse(kConflictingOperationInProgress,
                    "a command of this session's last transaction is still being run");
    }
    abort(found->second, dropped);
  }
  if (counts_.open >= static_cast<int64_t>(kOpenMax)) {
    return refuse(kExceededMemoryLimit,
                  fmt::format("{} transactions are open, which is the limit: try again", kOpenMax));
  }
  if (found == sessions_.end()) {
    make_room();
    by_use_.emplace_front(session);
    found = sessions_.emplace(session, Kept{}).first;
    found->second.place = by_use_.begin();
  }
  Kept& kept = found->second;
  by_use_.splice(by_use_.begin(), by_use_, kept.place);
  kept.number = number;
  kept.end = End::none;
  kept.transaction = std::make_shared<OpenTransaction>(engine_, memory_, is_snapshot);
  kept.is_lent = true;
  kept.is_doomed = false;
  kept.until_us = clock_.steady_us() + lifetime_s() * 1'000'000;
  sweep_at_us_ = std::min(sweep_at_us_, kept.until_us);
  ++counts_.open;
  ++counts_.started;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
  return std::make_unique<Lent>(*this, session, number, kept.transaction, false);
}

TransactionStore::Lending TransactionStore::lend(const std::string& session, int64_t number) {
  Dropped dropped;
  MutexLock lock(mutex_);
  sweep(dropped);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || number > found->second.number) return {};
  Kept& kept = found->second;
  if (number < kept.number) return {Found::old};
  if (kept.is_lent) return {Found::busy};
  if (!kept.transaction) {
    return {kept.end == End::committed ? Found::committed : Found::aborted};
  }
  by_use_.splice(by_use_.begin(), by_use_, kept.place);
  kept.is_lent = true;
  return {Found::open, std::make_unique<Lent>(*this, session, number, kept.transaction,
                                              kept.end == End::unknown)};
}

void TransactionStore::give_back(const std::string& session, int64_t number, End end) {
  Dropped dropped;
  MutexLock lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || found->second.number != number) return;
  Kept& kept = found->second;
  kept.is_lent = false;
  if (kept.is_doomed && end != End::committed) end = End::aborted;
  if (end == End::committed || end == End::aborted) {
    close(kept, end, dropped);
  } else {
    kept.end = end;
  }
}

void TransactionStore::supersede(std::string_view session, int64_t number) {
  Dropped dropped;
  MutexLock lock(mutex_);
  if (counts_.open == 0) return;
  const auto found = sessions_.find(session);
  if (found != sessions_.end() && number > found->second.number) abort(found->second, dropped);
}

void TransactionStore::abort_if(const std::function<bool(std::string_view session)>& is_meant) {
  Dropped dropped;
  MutexLock lock(mutex_);
  if (counts_.open == 0) return;
  for (auto& [session, kept] : sessions_) {
    if (kept.transaction && is_meant(session)) abort(kept, dropped);
  }
}

TransactionStore::Counts TransactionStore::counts() const {
  MutexLock lock(mutex_);
  return counts_;
}

void TransactionStore::stop() {
  Dropped dropped;
  {
    MutexLock lock(mutex_);
    is_stopped_ = true;
    for (auto& [session, kept] : sessions_) abort(kept, dropped);
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TransactionStore::run() {
  for (;;) {
    Dropped dropped;
    MutexLock lock(mutex_);
    if (is_stopped_) return;
    if (counts_.open == 0) {
      wake_.wait(mutex_);
    } else {
      wake_.wait_for(mutex_, kSweepEvery);
    }
    sweep(dropped);
  }
}

}  // namespace orrery::mongo
