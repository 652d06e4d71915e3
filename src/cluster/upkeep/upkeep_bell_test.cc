// See upkeep_bell.h. Were a ring lost, these would wait for an hour.
#include "cluster/upkeep/upkeep_bell.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace orrery::cluster {
namespace {

TEST(UpkeepBell, ARingBeforeTheWaitIsKept) {
  UpkeepBell bell;
  bell.ring();
  bell.wait(std::chrono::hours(1));
}

TEST(UpkeepBell, ARingIsHeardOnce) {
  UpkeepBell bell;
  bell.ring();
  bell.ring();
  bell.wait(std::chrono::hours(1));
  bell.wait(std::chrono::milliseconds(1));  // nobody rings: the time ends it
}

TEST(UpkeepBell, AnotherThreadRings) {
  UpkeepBell bell;
  std::atomic<bool> done{false};
  std::thread waiting([&] {
    while (!done) bell.wait(std::chrono::hours(1));
  });
  done = true;
  bell.ring();
  waiting.join();
}

}  // namespace
}  // namespace orrery::cluster
