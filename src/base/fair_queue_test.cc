// See fair_queue.h: whose turn it is, what is refused, dropped or lost, and how it ends.
#include "base/fair_queue.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <thread>

#include "base/fault.h"

namespace orrery {
namespace {

using testing::ElementsAre;

// What became of tasks, in order; and a gate that holds those that run.
class Journal {
 public:
  void note(const std::string& what) {
    MutexLock lock(mutex_);
    notes_.push_back(what);
    changed_.notify_all();
  }
  void pass_gate() {
    MutexLock lock(mutex_);
    ++inside_;
    changed_.notify_all();
    while (!open_) changed_.wait(mutex_);
    --inside_;
  }
  void open_gate() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_inside(int count) {
    MutexLock lock(mutex_);
    while (inside_ < count) changed_.wait(mutex_);
  }
  std::vector<std::string> wait_notes(size_t count) {
    MutexLock lock(mutex_);
    while (notes_.size() < count) changed_.wait(mutex_);
    return notes_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<std::string> notes_ ORRERY_GUARDED_BY(mutex_);
  int inside_ ORRERY_GUARDED_BY(mutex_) = 0;
  bool open_ ORRERY_GUARDED_BY(mutex_) = false;
};

class NotedTask final : public FairQueue::Task {
 public:
  NotedTask(Journal& journal, std::string name, const std::atomic<bool>* gone = nullptr)
      : journal_(journal), name_(std::move(name)), gone_(gone) {}
  ~NotedTask() override {
    if (!answered_) journal_.note("lost " + name_);
  }
  void run() override {
    if (name_.starts_with("held")) journal_.pass_gate();
    answered_ = true;
    journal_.note(name_);
  }
  void refuse(FairQueue::Refusal why) override {
    constexpr std::array kNames = {"full", "late", "unwanted", "stopping"};
    answered_ = true;
    journal_.note(kNames[static_cast<size_t>(why)] + (" " + name_));
  }
  bool is_wanted() const override { return gone_ == nullptr || !*gone_; }

 private:
  Journal& journal_;
  const std::string name_;
  const std::atomic<bool>* gone_;
  bool answered_ = false;
};

class FairQueueTest : public testing::Test {
 protected:
  void make(size_t threads, size_t waiting_max, bool spare_thread = false) {
    queue_ = std::make_unique<FairQueue>(FairQueue::Options{.name = "test",
                                                            .threads = threads,
                                                            .waiting_max = waiting_max,
                                                            .wait_us_max = 1'000'000,
                                                            .spare_thread = spare_thread},
                                         clock_);
  }
  void submit(uint64_t share, const std::string& name, const std::atomic<bool>* gone = nullptr) {
    queue_->submit(share, std::make_unique<NotedTask>(journal_, name, gone));
  }
  void TearDown() override {
    fault::disarm_all();
    journal_.open_gate();
  }

  ManualClock clock_;
  Journal journal_;
  std::unique_ptr<FairQueue> queue_;
};

TEST_F(FairQueueTest, SharesTakeTurns) {
  make(1, 100);
  submit(1, "held");
  journal_.wait_inside(1);
  for (const char* name : {"a1", "a2", "a3"}) submit(1, name);
  for (const char* name : {"b1", "b2"}) submit(2, name);
  submit(3, "c1");
  journal_.open_gate();
  EXPECT_THAT(journal_.wait_notes(7), ElementsAre("held", "b1", "c1", "a1", "b2", "a2", "a3"));
}

TEST_F(FairQueueTest, AFullQueueTakesFromTheShareThatHasMost) {
  make(1, 3);
  submit(1, "held");
  journal_.wait_inside(1);
  for (const char* name : {"a1", "a2", "a3"}) submit(1, name);
  submit(1, "a4");
  EXPECT_THAT(journal_.wait_notes(1), ElementsAre("full a4"));
  submit(2, "b1");
  EXPECT_THAT(journal_.wait_notes(2), ElementsAre("full a4", "full a3"));
  submit(2, "b2");
  EXPECT_EQ(queue_->counts().refused, 3U)
      << "b2 itself: two of one are not more than two of another";
  EXPECT_EQ(queue_->counts().waiting, 3U);
  EXPECT_EQ(queue_->counts().running, 1U);
}

TEST_F(FairQueueTest, OneShareLeavesAThreadToTheOthers) {
  make(3, 100, true);
  for (int i = 0; i < 5; ++i) submit(1, "held" + std::to_string(i));
  journal_.wait_inside(2);
  submit(2, "other");
  EXPECT_THAT(journal_.wait_notes(1), ElementsAre("other"));
  // The other one has ended once it is no longer counted, a moment after its note.
  while (queue_->counts().running > 2U) std::this_thread::yield();
  EXPECT_EQ(queue_->counts().running, 2U);
  journal_.open_gate();
  EXPECT_EQ(journal_.wait_notes(6).size(), 6U);
}

TEST_F(FairQueueTest, WhatWaitsTooLongIsRefusedAndWhatNobodyWantsIsDropped) {
  make(1, 100);
  std::atomic<bool> gone{false};
  submit(1, "held");
  journal_.wait_inside(1);
  submit(1, "early");
  clock_.advance_ms(900);
  submit(1, "left", &gone);
  submit(2, "patient");
  queue_->sweep();
  EXPECT_EQ(queue_->counts().waiting, 3U);
  gone = true;
  queue_->sweep();
  EXPECT_THAT(journal_.wait_notes(1), ElementsAre("unwanted left"));
  clock_.advance_ms(100);
  queue_->sweep();
  EXPECT_THAT(journal_.wait_notes(2), ElementsAre("unwanted left", "late early"));
  EXPECT_EQ(queue_->counts().dropped, 1U);
  EXPECT_EQ(queue_->counts().refused, 1U);
  journal_.open_gate();
  EXPECT_EQ(journal_.wait_notes(4).back(), "patient");
}

TEST_F(FairQueueTest, WhatNobodyWantsIsNotRunEitherWhenItsTurnComes) {
  make(1, 100);
  std::atomic<bool> gone{true};
  submit(1, "left", &gone);
  EXPECT_THAT(journal_.wait_notes(1), ElementsAre("unwanted left"));
}

TEST_F(FairQueueTest, ATaskThatThrowsIsLostAloneAndIsCounted) {
  make(1, 100);
  fault::arm("task.test", fault::Action::memory);
  submit(1, "a");
  submit(1, "b");
  EXPECT_THAT(journal_.wait_notes(2), ElementsAre("lost a", "b"));
  EXPECT_EQ(queue_->counts().failed, 1U);
}

TEST_F(FairQueueTest, AJobThatIsLostIsMadeUpFor) {
  make(1, 100);
  fault::arm("pool.test", fault::Action::memory);
  submit(1, "a");
  while (fault::passes("pool.test") == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // The job's own end comes a moment after its fault.
  while (queue_->counts().waiting > 0) {
    queue_->sweep();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_THAT(journal_.wait_notes(1), ElementsAre("a"));
}

TEST_F(FairQueueTest, StoppingRefusesWhatWaitsAndWaitsForWhatRuns) {
  make(1, 100);
  submit(1, "held");
  journal_.wait_inside(1);
  submit(1, "a");
  std::thread stopping([&] { queue_->stop(); });
  EXPECT_THAT(journal_.wait_notes(1), ElementsAre("stopping a"));
  submit(1, "b");
  journal_.open_gate();
  stopping.join();
  EXPECT_THAT(journal_.wait_notes(3), ElementsAre("stopping a", "stopping b", "held"));
}

}  // namespace
}  // namespace orrery
