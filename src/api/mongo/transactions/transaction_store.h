// The transactions of sessions: of each session the newest, open or ended.
//
// A transaction is lent to one command at a time. One that has been open for kLifetimeUs is
// aborted, as one is whose session begins another or is ended. Of the ended ones the store
// remembers how they ended, for those who ask again; a commit is also kept with what it wrote.
//
// Bounded in the number of sessions and of open transactions.
//
// Threading: any thread. It has a thread, from the first transaction on, which aborts those whose
// time is over even when nobody sends anything any more: their snapshots keep old data on the disk.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/transactions/open_transaction.h"
#include "base/clock.h"
#include "base/thread_annotations.h"

namespace orrery::mongo {

class TransactionStore {
 public:
  static constexpr size_t kSessionsMax = 10'000;
  static constexpr size_t kOpenMax = 1'000;
  static constexpr int64_t kLifetimeS = 60;  // unless set_lifetime_s() says otherwise
  // Of transactions that begin later.
  void set_lifetime_s(int64_t seconds) { lifetime_s_.store(seconds); }
  int64_t lifetime_s() const { return lifetime_s_.load(); }

  TransactionStore(cluster::Engine& engine, const Clock& clock) : engine_(engine), clock_(clock) {}
  ~TransactionStore() { stop(); }
  TransactionStore(const TransactionStore&) = delete;
  TransactionStore& operator=(const TransactionStore&) = delete;

  enum class End : uint8_t { none, committed, aborted, unknown };

  // A transaction that a command has in its hands. When it is let go of, the transaction goes on,
  // or has ended as `end` says. A command that does not get that far aborts it.
  class Lent {
   public:
    Lent(TransactionStore& store, std::string session, int64_t number,
         std::shared_ptr<OpenTransaction> transaction, bool may_be_done)
        : store_(store),
          session_(std::move(session)),
          number_(number),
          transaction_(std::move(transaction)),
          may_be_done_(may_be_done) {}
    ~Lent() { store_.give_back(session_, number_, end_); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    const std::shared_ptr<OpenTransaction>& transaction() const { return transaction_; }
    // Its commit was tried before, with an unknown outcome.
    bool may_be_done() const { return may_be_done_; }
    void set_end(End end) { end_ = end; }

   private:
    TransactionStore& store_;
    const std::string session_;
    const int64_t number_;
    const std::shared_ptr<OpenTransaction> transaction_;
    const bool may_be_done_;
    End end_ = End::aborted;
  };

  enum class Found : uint8_t {
    open,       // `lent` has it
    busy,       // another command has it: try again
    committed,  // it has ended
    aborted,
    none,  // nothing is known of it
    old,   // the session has a newer one
  };
  struct Lending {
    Found found = Found::none;
    std::unique_ptr<Lent> lent = nullptr;
  };
  // Begins one, and aborts the one before. Code 225 when the session has had a newer number, 117
  // when it has had this one.
  Answer<std::unique_ptr<Lent>> begin(const std::string& session, int64_t number, bool is_snapshot);
  Lending lend(const std::string& session, int64_t number);

  // The session goes on with this number: an open transaction with a lower one is aborted.
  void supersede(std::string_view session, int64_t number);
  // Aborts what is open of the sessions that `is_meant` says yes to.
  void abort_if(const std::function<bool(std::string_view session)>& is_meant);
  // Aborts those whose time is over.
  void sweep();
  void stop();

  struct Counts {
    int64_t open = 0;
    int64_t started = 0;
    int64_t committed = 0;
    int64_t aborted = 0;
  };
  Counts counts() const;

 private:
  struct Kept {
    int64_t number = -1;
    End end = End::none;
    std::shared_ptr<OpenTransaction> transaction = {};  // open, or with an unknown outcome
    bool is_lent = false;
    bool is_doomed = false;  // to be aborted when it is given back
    int64_t until_us = 0;    // of one that is open
    std::list<std::string>::iterator place = {};
  };
  // Ended when this goes, which is without the lock.
  struct Dropped {
    Dropped() = default;
    ~Dropped() {
      for (const auto& one : transactions) one->end();
    }
    Dropped(const Dropped&) = delete;
    Dropped& operator=(const Dropped&) = delete;
    std::vector<std::shared_ptr<OpenTransaction>> transactions = {};
  };

  void give_back(const std::string& session, int64_t number, End end);
  void abort(Kept& kept, Dropped& dropped) ORRERY_REQUIRES(mutex_);
  void close(Kept& kept, End end, Dropped& dropped) ORRERY_REQUIRES(mutex_);
  void sweep(Dropped& dropped) ORRERY_REQUIRES(mutex_);
  void make_room() ORRERY_REQUIRES(mutex_);
  void run();

  cluster::Engine& engine_;
  const Clock& clock_;
  TransactionMemory memory_;
  std::atomic<int64_t> lifetime_s_{kLifetimeS};
  mutable Mutex mutex_;
  CondVar wake_;
  std::map<std::string, Kept, std::less<>> sessions_ ORRERY_GUARDED_BY(mutex_);
  std::list<std::string> by_use_ ORRERY_GUARDED_BY(mutex_);  // the newest first
  Counts counts_ ORRERY_GUARDED_BY(mutex_);
  int64_t sweep_at_us_ ORRERY_GUARDED_BY(mutex_) = INT64_MAX;  // no time is over before
  bool is_stopped_ ORRERY_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // written under the lock, once
};

}  // namespace orrery::mongo
