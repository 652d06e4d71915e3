// Partitions' files that are lost: the catalog knows which there were, so that a loss is told and
// never looks like a container that is empty.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class FilesTest : public EngineTest {
 protected:
  std::string place(const RoutingPtr& routing, size_t slot = 0) {
    return folder() + "/partitions/" + routing->slots[slot]->range.volume_name;
  }
  bool noted(const RoutingPtr& routing, size_t slot = 0) {
    return engine_->catalog().has_files(routing->slots[slot]->range).value();
  }
  // As a catalog is that an earlier version of the program wrote.
  void forget_notes() {
    engine_.reset();
    partition::Shared shared(options_.limits, clock_);
    auto catalog = partition::Partition::open(
        shared, *volume_, catalog::kCatalogVolumeName,
        {0, std::string(value::placement_min()), std::string(value::placement_max())});
    ASSERT_TRUE(catalog) << catalog.error().message;
    auto schema = std::make_shared<partition::Schema>();
    schema->indexed = false;
    auto notes = (*catalog)->scan("files", "files\xFF", nullptr, 1000, SIZE_MAX, *schema);
    ASSERT_TRUE(notes);
    for (const auto& [key, item] : notes->items) {
      partition::Write write;
      write.verb = partition::Verb::remove;
      write.placement = key.placement;
      write.row = key.row;
      write.schema = schema;
      (*catalog)->submit(partition::one(std::move(write)),
                         [](const partition::Outcome& outcome) { EXPECT_FALSE(outcome.error); });
    }
    (*catalog)->drain();
  }
};

TEST_F(FilesTest, LostFilesAreToldAndNotMadeAgain) {
  open();
  auto routing = make("lost");
  load(routing, 0, 5);
  load(make("fine"), 0, 5);
  const std::string lost = place(routing);
  engine_.reset();
  fs::rename(lost, folder() + "/elsewhere");

  open();
  routing = find("lost");
  auto read_one = read(routing, "k1", "1");
  ASSERT_FALSE(read_one);
  EXPECT_EQ(read_one.error().code, Code::corrupt);
  EXPECT_THAT(read_one.error().message, HasSubstr(lost));
  auto write_one = upsert(routing, "k1", "1");
  ASSERT_TRUE(write_one.error);
  EXPECT_EQ(write_one.error->code, Code::corrupt);
  EXPECT_EQ(engine_->feed(routing, "", "\xFF", nullptr, 10, {}).error().code, Code::corrupt);
  EXPECT_EQ(engine_->open_view(routing, "", "", "\xFF", {}).error().code, Code::corrupt);
  EXPECT_EQ(engine_->split(routing->container->number, 0).error().code, Code::corrupt);
  EXPECT_EQ(find("lost")->slots.size(), 1);
  EXPECT_THAT(engine_->status(routing->container->number).value()[0].read_only_reason,
              HasSubstr(lost));
  EXPECT_FALSE(fs::exists(lost)) << "nothing is put in the place of what was lost";
  expect_all(find("fine"), 5);

  fs::rename(folder() + "/elsewhere", lost);
  clock_.advance_ms(1'100);
  expect_all(routing, 5);
  EXPECT_FALSE(upsert(routing, "k1", "1").error);
}

TEST_F(FilesTest, AFolderThatWasEmptiedIsLostToo) {
  open();
  auto routing = make("c");
  load(routing, 0, 5);
  engine_.reset();
  fs::remove_all(place(routing) + "/db");
  open();
  EXPECT_EQ(read(find("c"), "k1", "1").error().code, Code::corrupt);
  EXPECT_EQ(upsert(find("c"), "k1", "1").error->code, Code::corrupt);
}

TEST_F(FilesTest, TheContainerOfLostFilesCanBeDeleted) {
  open();
  auto routing = make("c");
  load(routing, 0, 5);
  engine_.reset();
  fs::remove_all(place(routing));
  open();
  ASSERT_TRUE(engine_->remove_container(find("c")->container->number));
  load(make("c"), 0, 3);
  expect_all(find("c"), 3);
}

TEST_F(FilesTest, TheChildrenOfASplitAreKnownToHaveFiles) {
  open();
  auto before = make("c");
  load(before, 0, 40);
  EXPECT_TRUE(noted(before));
  ASSERT_TRUE(engine_->split(before->container->number, 0));
  auto after = find("c");
  EXPECT_FALSE(noted(before)) << "of a range that is no more";
  EXPECT_TRUE(noted(after, 0));
  EXPECT_TRUE(noted(after, 1));
  engine_.reset();
  fs::remove_all(place(after, 1));
  open();
  const std::string_view here = find("c")->slots[1]->range.min;
  EXPECT_EQ(engine_->open_view(find("c"), here, here, "\xFF", {}).error().code, Code::corrupt);
  EXPECT_TRUE(engine_->open_view(find("c"), "", "", here, {}));
}

TEST_F(FilesTest, OnlyWritesMakeFiles) {
  open();
  auto routing = make("c");
  EXPECT_THAT(rows(routing), IsEmpty());
  EXPECT_FALSE(read(routing, "k1", "1")->item);
  ASSERT_TRUE(engine_->split(routing->container->number, 0));
  routing = find("c");
  EXPECT_FALSE(noted(routing, 0));
  EXPECT_FALSE(noted(routing, 1));
  load(routing, 0, 1);
  EXPECT_NE(noted(routing, 0), noted(routing, 1)) << "the one that was written to";
}

TEST_F(FilesTest, NotesGoWithTheirContainers) {
  open();
  auto one = make("one");
  auto two = make("two");
  load(one, 0, 1);
  load(two, 0, 1);
  ASSERT_TRUE(engine_->remove_container(one->container->number));
  EXPECT_FALSE(noted(one));
  EXPECT_TRUE(noted(two));
  ASSERT_TRUE(engine_->remove_database(database_));
  EXPECT_FALSE(noted(two));
}

TEST_F(FilesTest, FilesOfBeforeThereWereNotesAreNotedWhenTheyAreOpened) {
  open();
  load(make("c"), 0, 5);
  forget_notes();
  open();
  EXPECT_FALSE(noted(find("c")));
  expect_all(find("c"), 5);
  EXPECT_TRUE(noted(find("c")));
}

TEST_F(FilesTest, NothingIsAcknowledgedBeforeItIsNoted) {
  open();
  auto routing = make("c");
  fault::arm("files.made", fault::Action::error);
  EXPECT_TRUE(upsert(routing, "k0", "0").error);
  EXPECT_GT(fault::passes("files.made"), 0);
  EXPECT_FALSE(noted(routing));
  clock_.advance_ms(1'100);
  load(routing, 0, 1);
  EXPECT_TRUE(noted(routing));
  expect_all(routing, 1);
}

TEST_F(FilesTest, ALostCatalogIsNotMadeAgain) {
  open();
  auto routing = make("c");
  load(routing, 0, 5);
  engine_.reset();
  const std::string lost = folder() + "/partitions/catalog";
  fs::rename(lost, folder() + "/elsewhere");
  auto refused = Engine::open(*volume_, clock_, options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::corrupt);
  EXPECT_THAT(refused.error().message, HasSubstr(lost));
  EXPECT_TRUE(fs::exists(place(routing))) << "not removed as nobody's";
  fs::rename(folder() + "/elsewhere", lost);
  open();
  expect_all(find("c"), 5);
}

// A process that dies between making files and noting them. The writing runs in a death test, which
// starts this program again; the folder is handed to it in the environment.
class FilesCrashTest : public FilesTest {
 protected:
  static constexpr const char* kFolder = "ORRERY_FILES_TEST_FOLDER";

  std::string folder() override {
    const char* given = std::getenv(kFolder);  // NOLINT(concurrency-mt-unsafe): one thread yet
    return given == nullptr ? directory_.path() : given;
  }
  [[noreturn]] void write_and_die() {
    open();
    auto routing = make("c");
    fault::arm("files.made", fault::Action::kill);
    static_cast<void>(upsert(routing, "k0", "0"));
    ::_exit(7);
  }
};

TEST_F(FilesCrashTest, FilesThatWereNotNotedHoldNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv(kFolder, folder().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): one thread yet
  EXPECT_EXIT(write_and_die(), testing::KilledBySignal(SIGKILL), "") << "the fault did not fire";
  open();
  EXPECT_FALSE(noted(find("c")));
  EXPECT_THAT(rows(find("c")), IsEmpty());
  load(find("c"), 0, 3);
  open();
  expect_all(find("c"), 3);
  engine_.reset();
  ::unsetenv(kFolder);  // NOLINT(concurrency-mt-unsafe): one thread again
}

}  // namespace
}  // namespace orrery::cluster
