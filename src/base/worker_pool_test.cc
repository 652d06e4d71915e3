// See worker_pool.h and survive.h: jobs that throw, threads that cannot be made.
#include "base/worker_pool.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#include "base/await.h"
#include "base/fault.h"
#include "base/survive.h"

namespace orrery {
namespace {

class WorkerPoolTest : public testing::Test {
 protected:
  void TearDown() override { fault::disarm_all(); }
};

TEST_F(WorkerPoolTest, AJobThatThrowsEndsAloneAndIsCounted) {
  WorkerPool pool("test", 1);
  pool.post([] { throw std::bad_alloc(); });
  pool.post([] { throw 1; });  // NOLINT: anything at all
  std::promise<void> ran;
  pool.post([&] { ran.set_value(); });
  ran.get_future().wait();
  EXPECT_EQ(pool.failed(), 2U);
}

TEST_F(WorkerPoolTest, AJobThatIsNotRunIsDestroyedSoThatItsCallerHears) {
  fault::arm("pool.test", fault::Action::memory);
  WorkerPool pool("test", 1);
  auto lost =
      await<int>([&](auto done) { pool.post([done = std::move(done)]() mutable { done(1); }); });
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code, Code::overloaded);
  EXPECT_EQ(pool.failed(), 1U);
  auto answered =
      await<int>([&](auto done) { pool.post([done = std::move(done)]() mutable { done(2); }); });
  EXPECT_EQ(answered.value_or(0), 2);
}

TEST_F(WorkerPoolTest, AfterItsEndJobsRunInTheCallerAndMayThrowThereToo) {
  WorkerPool pool("test", 1);
  pool.stop();
  pool.post([] { throw std::runtime_error("on purpose"); });
  bool ran = false;
  pool.post([&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_EQ(pool.failed(), 1U);
}

TEST_F(WorkerPoolTest, AJobThatPostsTheNextAsItEndsIsFollowedByItOnTheSameThread) {
  WorkerPool pool("test", 4);
  std::vector<std::thread::id> ran_on;
  std::promise<void> ended;
  std::function<void()> next = [&] {
    ran_on.push_back(std::this_thread::get_id());
    if (ran_on.size() == 100) return ended.set_value();
    pool.post_at_end([&] { next(); });
  };
  pool.post([&] { next(); });
  ended.get_future().wait();
  EXPECT_EQ(std::ranges::count(ran_on, ran_on.front()), 100);
}

TEST_F(WorkerPoolTest, JobsThatWaitComeBeforeTheOneThatIsPostedAtAnEnd) {
  WorkerPool pool("test", 1);
  std::vector<int> order;
  std::promise<void> all_posted;
  std::promise<void> ended;
  pool.post([&] {
    all_posted.get_future().wait();
    order.push_back(1);
    pool.post_at_end([&] {
      order.push_back(3);
      ended.set_value();
    });
  });
  pool.post([&] { order.push_back(2); });
  all_posted.set_value();
  ended.get_future().wait();
  EXPECT_THAT(order, testing::ElementsAre(1, 2, 3));
}

TEST_F(WorkerPoolTest, AThreadThatCannotBeMadeIsAnErrorThatNamesThePool) {
  fault::arm("thread", fault::Action::error, 3);
  try {
    const WorkerPool pool("writer", 4);
    FAIL() << "it has only two threads";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no thread for 'writer', which needs 4"));
  }
}

TEST(SurviveTest, WorkThatMustBeDoneIsTriedAgain) {
  int tries = 0;
  persist("a test", [&] {
    if (++tries < 3) throw std::bad_alloc();
  });
  EXPECT_EQ(tries, 3);
}

TEST(SurviveTest, OnEndActsOnceUnlessItWasReleased) {
  int ended = 0;
  {
    OnEnd first([&] { ++ended; });
    const OnEnd moved(std::move(first));
    OnEnd released([&] { ended += 10; });
    released.release();
  }
  EXPECT_EQ(ended, 1);
}

}  // namespace
}  // namespace orrery
