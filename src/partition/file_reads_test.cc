// What a thread that must not wait for files gets, and that it does not wait; reads that come
// together.
#include "partition/file_reads.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>

#include "partition/partition_fixture.h"
#include "partition/store.h"
#include "partition/view.h"

namespace orrery::partition {
namespace {

class FileReadsTest : public PartitionTest {
 protected:
  // Two items in files, of which nothing is cached.
  std::shared_ptr<Partition> open_cold() {
    {
      auto partition = open();
      // More than a megabyte: closing writes it into files.
      for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(commit(*partition, create("k", std::to_string(i),
                                               "\"pad\":\"" + std::string(100'000, 'x') + '"'))
                         .error);
      }
    }
    shared_.reset();
    shared_ = std::make_unique<Shared>(limits_, clock_);
    auto partition = open();
    shared_->caches->blocks->EraseUnRefEntries();
    return partition;
  }
};

TEST_F(FileReadsTest, AnItemThatIsNotInMemoryIsNotWaitedFor) {
  auto partition = open_cold();
  const uint64_t before = file_reads_of_thread();
  auto cold = partition->read("k", "7", Reach::memory);
  ASSERT_FALSE(cold);
  EXPECT_EQ(cold.error().code, Code::would_wait);
  EXPECT_EQ(file_reads_of_thread(), before);
  auto waited = partition->read("k", "7");
  ASSERT_TRUE(waited) << waited.error().message;
  EXPECT_TRUE(*waited);
  EXPECT_GT(file_reads_of_thread(), before);
  const uint64_t after = file_reads_of_thread();
  auto warm = partition->read("k", "7", Reach::memory);
  ASSERT_TRUE(warm);
  EXPECT_TRUE(*warm);
  EXPECT_EQ(file_reads_of_thread(), after);
}

TEST_F(FileReadsTest, WhatWasJustWrittenIsInMemory) {
  auto partition = open();
  ASSERT_FALSE(commit(*partition, create("k", "a")).error);
  const uint64_t before = file_reads_of_thread();
  auto found = partition->read("k", "a", Reach::memory);
  ASSERT_TRUE(found);
  EXPECT_TRUE(*found);
  auto missing = partition->read("k", "b", Reach::memory);
  ASSERT_TRUE(missing);
  EXPECT_FALSE(*missing);
  EXPECT_EQ(file_reads_of_thread(), before);
}

TEST_F(FileReadsTest, AViewOfMemoryReadsNoFileWhateverIsAskedOfIt) {
  auto partition = open_cold();
  const uint64_t before = file_reads_of_thread();
  auto view = View::open(partition, "", "\xFF", *schema_, Reach::memory);
  if (view) {
    static_cast<void>((*view)->estimate("", "\xFF"));
    auto items = (*view)->items(nullptr, false);
    ASSERT_FALSE(items && (*items)->next());
  } else {
    EXPECT_EQ(view.error().code, Code::would_wait);
  }
  EXPECT_EQ(file_reads_of_thread(), before);
}

TEST_F(FileReadsTest, WhateverRocksDbTriesAThreadThatMayNotWaitIsKeptFromFiles) {
  auto partition = open_cold();
  const uint64_t before = file_reads_of_thread();
  {
    const MemoryOnly memory_only;
    EXPECT_FALSE(partition->read("k", "7"));
    EXPECT_TRUE(memory_only.has_missed());
  }
  EXPECT_EQ(file_reads_of_thread(), before);
  auto waited = partition->read("k", "7");
  ASSERT_TRUE(waited) << "nothing of it stays behind: " << waited.error().message;
  EXPECT_TRUE(*waited);
}

TEST_F(FileReadsTest, AViewOfMemoryDoesNotPassOverExpiredItemsForLong) {
  schema_->default_life_ms = 1'000;
  auto partition = open();
  std::vector<Write> writes;
  for (int i = 0; i < 200; ++i) writes.push_back(create("k", std::to_string(1000 + i)));
  ASSERT_FALSE(commit(*partition, std::move(writes)).error);
  clock_.advance_ms(10'000);
  auto memory = View::open(partition, "", "\xFF", *schema_, Reach::memory).value();
  auto few = memory->items(nullptr, false).value();
  EXPECT_EQ(few->next().error().code, Code::would_wait);
  auto files = View::open(partition, "", "\xFF", *schema_).value();
  auto all = files->items(nullptr, false).value();
  EXPECT_EQ(all->next(), true);
  EXPECT_EQ(all->body(), "") << "a place to stop";
  EXPECT_EQ(all->next(), false);
}

TEST_F(FileReadsTest, AViewStopsAtAnExpiredItemNowAndThen) {
  schema_->default_life_ms = 1'000;
  auto partition = open();
  std::vector<Write> writes;
  for (int i = 0; i < 300; ++i) writes.push_back(create("k", std::to_string(1'000 + i)));
  ASSERT_FALSE(commit(*partition, std::move(writes)).error);
  clock_.advance_ms(10'000);
  ASSERT_FALSE(commit(*partition, create("z", "alive")).error);
  auto view = View::open(partition, "", "\xFF", *schema_).value();
  auto items = view->items(nullptr, false).value();
  std::vector<std::string> stops;
  for (;;) {
    ASSERT_EQ(items->next(), true);
    if (!items->body().empty()) break;
    stops.emplace_back(items->key());
    ASSERT_LT(stops.size(), 10U);
  }
  EXPECT_EQ(items->key(), item_key("z", "alive"));
  EXPECT_THAT(stops, testing::ElementsAre(item_key("k", "1127"), item_key("k", "1255")));
  EXPECT_EQ(items->next(), false);
  // And goes on after such a place.
  auto rest = view->items(&stops.back(), false).value();
  ASSERT_EQ(rest->next(), true);
  EXPECT_EQ(rest->key(), item_key("z", "alive"));
}

TEST_F(FileReadsTest, APageOfAFeedPassesOverSoManyExpiredItemsAndThenSaysWhereItIs) {
  schema_->default_life_ms = 100'000;
  auto partition = open();
  const size_t expired = kExpiredPassedMax + 10;
  for (size_t i = 0; i < expired;) {
    std::vector<Write> writes;
    for (size_t end = std::min(i + 500, expired); i < end; ++i) {
      writes.push_back(create("k", std::to_string(100'000 + i)));
    }
    ASSERT_FALSE(commit(*partition, std::move(writes)).error);
  }
  clock_.advance_ms(200'000);
  ASSERT_FALSE(commit(*partition, create("z", "alive")).error);
  auto first = partition->scan("", "\xFF", nullptr, 10, SIZE_MAX, *schema_);
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->items.empty());
  EXPECT_TRUE(first->more);
  ASSERT_TRUE(first->last);
  auto second = partition->scan("", "\xFF", &*first->last, 10, SIZE_MAX, *schema_);
  ASSERT_TRUE(second);
  ASSERT_EQ(second->items.size(), 1U);
  EXPECT_EQ(second->items[0].first.row, "alive");
  EXPECT_FALSE(second->more);
}

// A partition that was trimmed has a file that says so, with the ranges that were deleted. That one
// is open, and an older one is not.
TEST_F(FileReadsTest, AFileThatIsNotOpenDoesNoHarmWhereRangesWereDeleted) {
  limits_.partition_files = 20;  // so few that a start opens next to none
  const auto reopen = [&](std::string_view name) {
    shared_.reset();
    shared_ = std::make_unique<Shared>(limits_, clock_);
    return open(name);
  };
  {
    auto parent = reopen("p1");
    for (const char* key : {"a", "b", "y", "z"}) {
      ASSERT_FALSE(commit(*parent, create(key, "r")).error);
    }
    auto cut = parent->begin_split(kPlainKeys, "m", CutBy::middle);
    ASSERT_TRUE(cut) << cut.error().message;
    std::shared_ptr<Partition> child;
    auto done = parent->finish_split(*cut, {8, "p8"}, {9, "p9"},
                                     [&](const Partition::Children& children) -> Status {
                                       child = children.first;
                                       return {};
                                     });
    ASSERT_TRUE(done) << done.error().message;
    ASSERT_TRUE(child->trim());
    // More than a megabyte: closing writes it, and what was deleted, into one file.
    for (int i = 0; i < 20; ++i) {
      ASSERT_FALSE(commit(*child, create("c", std::to_string(i),
                                         "\"pad\":\"" + std::string(100'000, 'x') + '"'))
                       .error);
    }
  }
  identity_ = {.range = 8, .min = "", .max = "m"};
  auto child = reopen("p8");
  ASSERT_FALSE(commit(*child, replace("c", "7")).error) << "which is found in the newer file";
  const uint64_t before = file_reads_of_thread();
  {
    auto view = View::open(child, "", "m", *schema_, Reach::memory);
    ASSERT_TRUE(view) << view.error().message;
    auto items = (*view)->items(nullptr, false);
    ASSERT_TRUE(items) << items.error().message;
    EXPECT_EQ((*items)->next().error().code, Code::would_wait);
  }
  EXPECT_EQ(file_reads_of_thread(), before);
  auto all = View::open(child, "", "m", *schema_).value();
  auto items = all->items(nullptr, false).value();
  std::set<std::string> keys;
  while (items->next().value()) keys.emplace(items->key());
  EXPECT_EQ(keys.size(), 22U);
}

// Notes what is asked of a file.
class NotedFile final : public rocksdb::FSRandomAccessFileOwnerWrapper {
 public:
  NotedFile(std::unique_ptr<rocksdb::FSRandomAccessFile> file, std::vector<std::string>& asked)
      : FSRandomAccessFileOwnerWrapper(std::move(file)), asked_(asked) {}
  rocksdb::IOStatus MultiRead(rocksdb::FSReadRequest* requests, size_t count,
                              const rocksdb::IOOptions& options,
                              rocksdb::IODebugContext* debug) override {
    asked_.push_back("read " + std::to_string(count));
    return target()->MultiRead(requests, count, options, debug);
  }
  rocksdb::IOStatus Prefetch(uint64_t offset, size_t size, const rocksdb::IOOptions&,
                             rocksdb::IODebugContext*) override {
    asked_.push_back("hint " + std::to_string(offset) + "+" + std::to_string(size));
    return rocksdb::IOStatus::OK();
  }

 private:
  std::vector<std::string>& asked_;
};

class NotedFiles final : public rocksdb::FileSystemWrapper {
 public:
  NotedFiles() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "noted"; }
  rocksdb::IOStatus NewRandomAccessFile(const std::string& name,
                                        const rocksdb::FileOptions& options,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                                        rocksdb::IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSRandomAccessFile> file;
    rocksdb::IOStatus opened = target()->NewRandomAccessFile(name, options, &file, debug);
    if (opened.ok()) *result = std::make_unique<NotedFile>(std::move(file), asked);
    return opened;
  }
  std::vector<std::string> asked;
};

TEST(SeveralFileReads, AreToldToTheSystemBeforeTheFirst) {
  const std::string name = testing::TempDir() + "several-" + std::to_string(::getpid());
  const auto noted = std::make_shared<NotedFiles>();
  const auto files = watch_reads(noted);
  ASSERT_TRUE(rocksdb::WriteStringToFile(files.get(), "0123456789", name).ok());
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  ASSERT_TRUE(files->NewRandomAccessFile(name, {}, &file, nullptr).ok());
  std::array<char, 4> room = {};
  const auto read = [&](std::vector<uint64_t> offsets) {
    std::vector<rocksdb::FSReadRequest> requests(offsets.size());
    for (size_t i = 0; i < offsets.size(); ++i) {
      requests[i].offset = offsets[i];
      requests[i].len = 2;
      requests[i].scratch = room.data() + 2 * i;
    }
    EXPECT_TRUE(file->MultiRead(requests.data(), requests.size(), {}, nullptr).ok());
    std::string found;
    for (const auto& request : requests) found += request.result.ToString() + " ";
    return found;
  };
  EXPECT_EQ(read({1, 6}), "12 67 ");
  EXPECT_THAT(noted->asked, testing::ElementsAre("hint 1+2", "hint 6+2", "read 2"));
  noted->asked.clear();
  EXPECT_EQ(read({4}), "45 ");  // nothing to wait for together
  EXPECT_THAT(noted->asked, testing::ElementsAre("read 1"));
  file.reset();
  EXPECT_TRUE(files->DeleteFile(name, {}, nullptr).ok());
}

}  // namespace
}  // namespace orrery::partition
