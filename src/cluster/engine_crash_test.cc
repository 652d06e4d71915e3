// A process that dies at each named point of a split, of a merge, or of a deletion: what the next
// one finds is the old state or the new one, every item, and no files that nobody owns.
//
// What dies runs in a death test, which starts this program again; the folder is handed to it in
// the environment.
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::IsEmpty;
using testing::IsSubsetOf;

constexpr const char* kFolder = "ORRERY_CRASH_TEST_FOLDER";
constexpr int kItems = 60;

std::string name_of(const testing::TestParamInfo<const char*>& each) {
  std::string name = each.param;
  std::ranges::replace(name, '.', '_');
  return name;
}

class CrashTest : public EngineTest, public testing::WithParamInterface<const char*> {
 protected:
  CrashTest() {
    options_.sync_commits = true;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ::setenv(kFolder, folder().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread yet
  }
  ~CrashTest() override {
    engine_.reset();
    ::unsetenv(kFolder);  // NOLINT(concurrency-mt-unsafe): one thread again
  }

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
  EXPECT_THAT(engine_->catalog().removals(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EachPoint, CrashTest,
                         testing::Values("split.begin", "split.intended", "split.cloned_left",
                                         "split.cloned_right", "split.opened", "split.published",
                                         "split.trimmed"),
                         name_of);

class MergeCrashTest : public CrashTest {
 protected:
  [[noreturn]] void merge_and_die() {
    open();
    load(make("c"), 0, kItems);
    const uint32_t number = find("c")->container->number;
    static_cast<void>(engine_->split(number, 0));
    load(find("c"), kItems, kItems + 20);
    fault::arm(GetParam(), fault::Action::kill);
    static_cast<void>(engine_->merge(number, 1, 2));
    std::this_thread::sleep_for(std::chrono::seconds(30));
    ::_exit(7);
  }
};

TEST_P(MergeCrashTest, LeavesTheOldMapOrTheNewOne) {
  EXPECT_EXIT(merge_and_die(), testing::KilledBySignal(SIGKILL), "") << "the fault did not fire";

  open();
  auto routing = find("c");
  ASSERT_TRUE(routing);
  EXPECT_TRUE(catalog::covers_everything(*routing->container->map));
  const bool published = std::string_view(GetParam()) == "merge.published";
  EXPECT_EQ(routing->slots.size(), published ? 1 : 2);
  EXPECT_THAT(files(), IsSubsetOf(named_files()));
  expect_all(routing, kItems + 20);
  EXPECT_EQ(items_by_usage(routing->container->number), kItems + 20);

  // It goes on as if nothing had been.
  load(routing, kItems + 20, kItems + 30);
  const uint32_t number = routing->container->number;
  if (published) ASSERT_TRUE(engine_->split(number, {}));
  const auto& ranges = find("c")->container->map->ranges;
  auto report = engine_->merge(number, ranges[0].id, ranges[1].id);
  ASSERT_TRUE(report) << report.error().message;
  expect_all(routing, kItems + 30);
  open();
  EXPECT_EQ(find("c")->slots.size(), 1);
  expect_all(find("c"), kItems + 30);
  EXPECT_THAT(files(), IsSubsetOf(named_files()));
  EXPECT_THAT(engine_->catalog().removals(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EachPoint, MergeCrashTest,
                         testing::Values("merge.begin", "merge.intended", "merge.copied",
                                         "merge.opened", "merge.published"),
                         name_of);

// Dies while it deletes a container; and then, at the same point, while it starts.
class DeletionCrashTest : public CrashTest {
 protected:
  [[noreturn]] void remove_and_die() {
    open();
    load(make("kept"), 0, 10);
    auto gone = make("gone");
    load(gone, 0, 10);
    fault::arm(GetParam(), fault::Action::kill);
    static_cast<void>(engine_->remove_container(gone->container->number));
    engine_.reset();  // removes what upkeep has not yet
    ::_exit(7);
  }
  [[noreturn]] void start_and_die() {
    fault::arm("removal.moved", fault::Action::kill);
    open();
    ::_exit(7);
  }
};

TEST_P(DeletionCrashTest, IsFinishedByALaterStart) {
  EXPECT_EXIT(remove_and_die(), testing::KilledBySignal(SIGKILL), "") << "the fault did not fire";
  EXPECT_EXIT(start_and_die(), testing::KilledBySignal(SIGKILL), "") << "the fault did not fire";
  open();
  EXPECT_FALSE(find("gone"));
  EXPECT_THAT(files(), IsSubsetOf(named_files()));
  EXPECT_THAT(removed_files(), testing::SizeIs(1)) << "aside, once, and not deleted yet";
  EXPECT_THAT(engine_->catalog().removals(), IsEmpty());
  expect_all(find("kept"), 10);
}

INSTANTIATE_TEST_SUITE_P(EachPoint, DeletionCrashTest,
                         testing::Values("removal.recorded", "removal.moved"), name_of);

}  // namespace
}  // namespace orrery::cluster
