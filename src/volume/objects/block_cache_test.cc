// The cache of pieces on the local disk: bounded, the same after a restart, and never wrong.
#include "volume/objects/block_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

namespace orrery::volume {
namespace {

class BlockCacheTest : public testing::Test {
 protected:
  BlockCacheTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    file_ = folder_ + "/cache";
  }
  ~BlockCacheTest() override { std::filesystem::remove_all(folder_); }

  std::shared_ptr<BlockCache> open(uint64_t slots) {
    return BlockCache::open(file_, slots * BlockCache::kPieceBytes).value();
  }
  static std::string piece(int number, size_t bytes = 1000) {
    std::string text(bytes, '\0');
    std::mt19937 random(static_cast<unsigned>(number));
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }
  static std::string found(BlockCache& cache, const std::string& name, size_t bytes = 1000) {
    std::string into(bytes, '\0');
    return cache.find(name, 0, into) ? into : "(missed)";
  }

  std::string folder_;
  std::string file_;
};

TEST_F(BlockCacheTest, FindsWhatWasPutAndNothingElse) {
  auto cache = open(4);
  EXPECT_EQ(found(*cache, "a"), "(missed)");
  cache->put("a", piece(1));
  cache->put("b", piece(2, BlockCache::kPieceBytes));
  EXPECT_EQ(found(*cache, "a"), piece(1));
  EXPECT_EQ(found(*cache, "b", BlockCache::kPieceBytes), piece(2, BlockCache::kPieceBytes));
  std::string middle(10, '\0');
  ASSERT_TRUE(cache->find("a", 500, middle));
  EXPECT_EQ(middle, piece(1).substr(500, 10));
  EXPECT_EQ(found(*cache, "a", 1001), "(missed)") << "it has only so much of it";
  cache->put("a", piece(1, 2000));
  EXPECT_EQ(found(*cache, "a", 2000), piece(1, 2000)) << "the object has grown";
  EXPECT_EQ(cache->found(), 4U);
  EXPECT_EQ(cache->missed(), 2U);
}

TEST_F(BlockCacheTest, KeepsWhatIsFoundAgainAndLetsTheRestGo) {
  auto cache = open(8);
  for (int i = 0; i < 8; ++i) cache->put("old" + std::to_string(i), piece(i));
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(found(*cache, "old3"), piece(3));
    cache->put("new" + std::to_string(round), piece(100 + round));
  }
  EXPECT_EQ(found(*cache, "old4"), "(missed)");
  EXPECT_EQ(found(*cache, "new19"), piece(119));
  EXPECT_EQ(std::filesystem::file_size(file_), 8 * BlockCache::kPieceBytes);
}

TEST_F(BlockCacheTest, IsThereAfterARestart) {
  for (int i = 0; i < 6; ++i) open(8)->put("n" + std::to_string(i), piece(i));
  auto cache = open(8);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(found(*cache, "n" + std::to_string(i)), piece(i));
  cache = open(4);
  EXPECT_EQ(found(*cache, "n1"), "(missed)") << "of another size it begins anew";
}

TEST_F(BlockCacheTest, DamageIsAMiss) {
  open(8)->put("a", piece(1));
  const auto damage = [&](const std::string& path, std::streamoff at) {
    std::fstream out(path, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(at);
    out.put('!');
  };
  damage(file_, 17);
  EXPECT_EQ(found(*open(8), "a"), "(missed)");
  open(8)->put("a", piece(1));
  EXPECT_EQ(found(*open(8), "a"), piece(1));
  for (std::streamoff at = 0; at < 128; ++at) {
    damage(file_ + ".index", at);
    const std::string got = found(*open(8), "a");
    EXPECT_TRUE(got == piece(1) || got == "(missed)") << at;
  }
}

TEST_F(BlockCacheTest, ThreadsThatReuseSlotsReadNoOneElsesBytes) {
  auto cache = open(4);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      for (int i = 0; i < 2'000; ++i) {
        const int number = static_cast<int>(random() % 12);
        const std::string name = "n" + std::to_string(number);
        const std::string got = found(*cache, name, 64);
        if (got == "(missed)") {
          cache->put(name, piece(number, 64));
        } else {
          EXPECT_EQ(got, piece(number, 64));
        }
      }
    });
  }
}

}  // namespace
}  // namespace orrery::volume
