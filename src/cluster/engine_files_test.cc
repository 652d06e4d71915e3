// Partitions' files that are lost: the catalog knows which there were, so that a loss is told and
// never looks like a container that is empty.
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "cluster/engine_fixture.h"
#include "partition/faulty_volume.h"

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
    return engine_->catalog().has_files(routing->slots[slot]->range);
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

// --- a catalog that is older than its partitions -------------------------------------------------

class OldCatalogTest : public FilesTest {
 protected:
  std::string catalog_place() { return folder() + "/partitions/catalog"; }
  // With the engine closed.
  void keep_catalog() {
    engine_.reset();
    fs::remove_all(folder() + "/kept");
    fs::copy(catalog_place(), folder() + "/kept", fs::copy_options::recursive);
  }
  // The newer one goes where the kept one was.
  void swap_catalogs() {
    engine_.reset();
    fs::rename(catalog_place(), folder() + "/newer");
    fs::rename(folder() + "/kept", catalog_place());
    fs::rename(folder() + "/newer", folder() + "/kept");
  }
  // Everything below partitions/ but the catalog, with sizes.
  std::vector<std::string> inventory() {
    std::vector<std::string> all;
    for (const auto& entry : fs::recursive_directory_iterator(folder() + "/partitions")) {
      const std::string path = entry.path().string();
      if (path.starts_with(catalog_place()) || !entry.is_regular_file()) continue;
      all.push_back(path + " " + std::to_string(entry.file_size()));
    }
    std::ranges::sort(all);
    return all;
  }
  Error refused() {
    volume_ = open_volume();
    auto opened = Engine::open(*volume_, clock_, options_);
    EXPECT_FALSE(opened) << "started";
    return opened ? Error{} : opened.error();
  }
};

TEST_F(OldCatalogTest, NothingIsRemovedBecauseTheCatalogDoesNotKnowIt) {
  open();
  load(make("old"), 0, 5);
  keep_catalog();
  open();
  auto routing = make("new");
  load(routing, 0, 20);
  const std::string unknown = place(routing);
  engine_.reset();
  const auto before = inventory();
  swap_catalogs();
  for (int start = 0; start < 2; ++start) {
    const Error error = refused();
    EXPECT_EQ(error.code, Code::corrupt);
    EXPECT_THAT(error.message, HasSubstr(unknown));
    EXPECT_THAT(error.message, HasSubstr(catalog_place()));
    EXPECT_THAT(error.message, testing::Not(HasSubstr(place(routing) + ", ")));
  }
  EXPECT_EQ(inventory(), before);
  EXPECT_THAT(removed_files(), IsEmpty());

  swap_catalogs();  // the advice: the newer one comes back
  open();
  expect_all(find("old"), 5);
  expect_all(find("new"), 20);

  swap_catalogs();  // the other advice
  fs::rename(unknown, folder() + "/elsewhere");
  open();
  expect_all(find("old"), 5);
  EXPECT_FALSE(find("new"));
}

TEST_F(OldCatalogTest, ASplitThatItDoesNotKnowIsNotUndone) {
  open();
  auto before = make("c");
  load(before, 0, 40);
  keep_catalog();
  open();
  ASSERT_TRUE(engine_->split(before->container->number, 0));
  load(find("c"), 40, 60);
  swap_catalogs();
  const Error error = refused();
  EXPECT_EQ(error.code, Code::corrupt);
  EXPECT_THAT(error.message, HasSubstr("-p1-e"));
  EXPECT_THAT(error.message, HasSubstr("-p2-e"));
  swap_catalogs();
  open();
  expect_all(find("c"), 60);
}

// A catalog of the moment between the intent and the new map, restored after more was written.
class OldIntentTest : public OldCatalogTest {
 protected:
  void split_and_restore(int items_after) {
    open();
    auto before = make("c");
    load(before, 0, 40);
    parent_ = before->slots[0]->range;
    keep_catalog();
    open();
    ASSERT_TRUE(engine_->split(before->container->number, 0));
    load(find("c"), 40, 40 + items_after);
    // cN-pN-eEPOCH-ATTEMPT
    const std::string clone = find("c")->slots[0]->range.volume_name;
    const uint64_t epoch = std::stoull(clone.substr(clone.find("-e") + 2));
    swap_catalogs();
    partition::Shared shared(options_.limits, clock_);
    auto catalog = catalog::Catalog::open(shared, *volume_);
    ASSERT_TRUE(catalog) << catalog.error().message;
    auto intended = (*catalog)->intend_split(before->container->number, parent_.id, epoch, 1);
    ASSERT_TRUE(intended) << intended.error().message;
    ASSERT_EQ(intended->left_name, clone);
  }
  void bring_the_parent_back() {
    for (const std::string& name : removed_files()) {
      if (!name.starts_with(parent_.volume_name + ".")) continue;
      fs::rename(folder() + "/removed/" + name, folder() + "/partitions/" + parent_.volume_name);
    }
  }
  catalog::PartitionRange parent_;
};

TEST_F(OldIntentTest, ClonesWithoutTheirParentAreNotRemoved) {
  split_and_restore(20);
  const auto before = inventory();
  const Error error = refused();
  EXPECT_EQ(error.code, Code::corrupt);
  EXPECT_THAT(error.message, HasSubstr("not there any more"));
  EXPECT_EQ(inventory(), before);
  swap_catalogs();
  open();
  expect_all(find("c"), 60);
}

TEST_F(OldIntentTest, ClonesThatHaveMoreThanTheirParentAreNotRemoved) {
  split_and_restore(20);
  bring_the_parent_back();
  const Error error = refused();
  EXPECT_EQ(error.code, Code::corrupt);
  EXPECT_THAT(error.message, HasSubstr("writes up to 40"));
  EXPECT_THAT(files(), testing::SizeIs(4));
  fs::rename(folder() + "/partitions/" + parent_.volume_name, folder() + "/elsewhere");
  swap_catalogs();
  open();
  expect_all(find("c"), 60);
}

TEST_F(OldIntentTest, ClonesThatHaveNothingOfTheirOwnAre) {
  split_and_restore(0);
  bring_the_parent_back();
  open();
  EXPECT_THAT(files(), testing::SizeIs(2));
  expect_all(find("c"), 40);
}

TEST_F(OldCatalogTest, IndexRulesThatItDoesNotKnowAreAnError) {
  open();
  auto routing = make("c");
  load(routing, 0, 5);
  keep_catalog();
  open();
  catalog::ContainerSpec spec = find("c")->container->spec;
  spec.index_rules.push_back({.path = value::parse_index_path("/pad/?").value(), .include = false});
  ASSERT_TRUE(engine_->replace_container(routing->container->number, spec));
  load(find("c"), 5, 6);
  swap_catalogs();
  open();
  auto reply = read(find("c"), "k1", "1");
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::corrupt);
  EXPECT_THAT(reply.error().message, HasSubstr("older than they are"));
  swap_catalogs();
  open();
  expect_all(find("c"), 6);
}

TEST_F(OldCatalogTest, AnEmptyFolderIsNobodysLoss) {
  open();
  load(make("c"), 0, 5);
  engine_.reset();
  fs::create_directories(folder() + "/partitions/c9-p0/db");
  open();
  expect_all(find("c"), 5);
  EXPECT_TRUE(fs::exists(folder() + "/partitions/c9-p0"));
}

// --- owners elsewhere ----------------------------------------------------------------------------

TEST_F(FilesTest, ASecondEngineIsRefusedAndTheFirstGoesOn) {
  open();
  load(make("c"), 0, 5);
  auto elsewhere = open_volume();
  auto second = Engine::open(*elsewhere, clock_, options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::moved);
  load(find("c"), 5, 10);
  EXPECT_TRUE(engine_->create_database({kFace, "more"}, std::nullopt));
  expect_all(find("c"), 10);
}

TEST_F(FilesTest, APartitionThatIsServedElsewhereIsNotTakenByARequest) {
  open();
  auto routing = make("c");
  load(routing, 0, 5);
  open();
  routing = find("c");
  auto elsewhere = open_volume();
  auto owner = elsewhere->claim(routing->slots[0]->range.volume_name);
  ASSERT_TRUE(owner);
  EXPECT_EQ(read(routing, "k1", "1").error().code, Code::overloaded);
  EXPECT_EQ(upsert(routing, "k1", "1").error->code, Code::overloaded);
  EXPECT_EQ(engine_->feed(routing, "", "\xFF", nullptr, 10, {}).error().code, Code::overloaded);
  std::unique_ptr<rocksdb::FSWritableFile> file;
  EXPECT_TRUE((*owner)
                  ->file_system()
                  ->NewWritableFile((*owner)->directory() + "/mine", {}, &file, nullptr)
                  .ok())
      << "it was deposed";
  file.reset();
  owner->reset();
  clock_.advance_ms(1'100);
  expect_all(routing, 5);
}

// --- what was removed is kept for a while --------------------------------------------------------

class RemovedFilesTest : public FilesTest {
 protected:
  std::unique_ptr<volume::Volume> open_volume() override {
    return std::make_unique<partition::FaultyVolume>(FilesTest::open_volume(), disk_);
  }
  void drop(std::string_view name) {
    load(make(name), 0, 5);
    ASSERT_TRUE(engine_->remove_container(find(name)->container->number));
    EXPECT_TRUE(eventually([&] { return testing::Value(files(), testing::SizeIs(1)); }));
  }
  std::shared_ptr<partition::DiskFault> disk_ = std::make_shared<partition::DiskFault>();
};

TEST_F(RemovedFilesTest, AreDeletedWhenTheyAreOldEnough) {
  disk_->free_share = 0.5;
  open();
  drop("first");
  clock_.advance_ms(1'800'000);
  drop("second");
  EXPECT_THAT(removed_files(), testing::SizeIs(2));
  open();
  EXPECT_THAT(removed_files(), testing::SizeIs(2)) << "a start deletes nothing";
  clock_.advance_ms(1'800'000);
  EXPECT_TRUE(eventually([&] { return removed_files().size() == 1; }));
  clock_.advance_ms(1'799'000);
  EXPECT_THAT(removed_files(), testing::SizeIs(1));
  clock_.advance_ms(1'000);
  EXPECT_TRUE(eventually([&] { return removed_files().empty(); }));
}

TEST_F(RemovedFilesTest, GiveWayWhenTheDiskIsNearlyFull) {
  disk_->free_share = 0.5;
  open();
  drop("c");
  EXPECT_THAT(removed_files(), testing::SizeIs(1));
  disk_->free_share = 0.09;
  EXPECT_TRUE(eventually([&] { return removed_files().empty(); }));
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
