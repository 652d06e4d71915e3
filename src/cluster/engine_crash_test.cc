// A process that dies at each named point of a split: what the next one finds is the old map or the
// new one, every item, and no files that nobody owns.
//
// The split runs in a death test, which starts this program again; the folder is handed to it in
// the environment.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::IsSubsetOf;

constexpr const char* kFolder = "ORRERY_CRASH_TEST_FOLDER";
constexpr int kItems = 60;

class CrashTest : public EngineTest, public testing::WithParamInterface<const char*> {
 protected:
  CrashTest() { options_.sync_commits = true; }

  std::string folder() override {
    const char* given = std::getenv(kFolder);  // NOLINT(concurrency-mt-unsafe): one thread yet
    return given == nullptr ? directory_.path() : given;
  }

  [[noreturn]] void split_and_die() {
    open();
    load(make("c"), 0, kItems);
    fault::arm(GetParam(), fault::Action::kill);
    static_cast<void>(engine_->split(find("c")->container->number, 0));
    // Trimming follows the split by itself.
    std::this_thread::sleep_for(std::chrono::seconds(30));
    ::_exit(7);
  }
};

TEST_P(CrashTest, LeavesTheOldMapOrTheNewOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv(kFolder, folder().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread yet
  EXPECT_EXIT(split_and_die(), testing::KilledBySignal(SIGKILL), "") << "the fault did not fire";

  open();
  auto routing = find("c");
  ASSERT_TRUE(routing);
  EXPECT_TRUE(catalog::covers_everything(*routing->container->map));
  const std::string_view point = GetParam();
  const bool published = point == "split.published" || point == "split.trimmed";
  EXPECT_EQ(routing->slots.size(), published ? 2 : 1);
  EXPECT_THAT(files(), IsSubsetOf(named_files()));
  expect_all(routing, kItems);
  EXPECT_EQ(items_by_usage(routing->container->number), kItems);

  // It goes on as if nothing had been.
  load(routing, kItems, kItems + 10);
  auto report = engine_->split(routing->container->number, {});
  ASSERT_TRUE(report) << report.error().message;
  expect_all(routing, kItems + 10);
  EXPECT_EQ(items_by_usage(routing->container->number), kItems + 10);
  open();
  expect_all(find("c"), kItems + 10);
  EXPECT_THAT(files(), IsSubsetOf(named_files()));
  engine_.reset();
  ::unsetenv(kFolder);  // NOLINT(concurrency-mt-unsafe): one thread again
}

INSTANTIATE_TEST_SUITE_P(EachPoint, CrashTest,
                         testing::Values("split.begin", "split.cloned_left", "split.cloned_right",
                                         "split.opened", "split.published", "split.trimmed"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace orrery::cluster
