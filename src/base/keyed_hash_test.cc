// Texts that were chosen to fall into one bucket, and what the hash is of.
#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace orrery {
namespace {

constexpr size_t kTexts = 1'000;

template <class Set>
size_t fullest_bucket(const Set& set) {
  size_t most = 0;
  for (size_t i = 0; i < set.bucket_count(); ++i) most = std::max(most, set.bucket_size(i));
  return most;
}

TEST(KeyedHash, SpreadsWhatWasChosenForOneBucketOfTheStandardHash) {
  std::unordered_set<std::string> chosen;
  chosen.reserve(kTexts);
  KeyedSet<std::string> keyed;
  keyed.reserve(kTexts);
  const size_t buckets = chosen.bucket_count();
  for (uint64_t i = 0; chosen.size() < kTexts; ++i) {
    std::string text = std::to_string(i);
    if (chosen.hash_function()(text) % buckets != 0) continue;
    chosen.insert(text);
    keyed.insert(std::move(text));
  }
  ASSERT_EQ(fullest_bucket(chosen), kTexts);
  EXPECT_LT(fullest_bucket(keyed), 20U);
}

TEST(KeyedHash, IsOfAllBytesAndOfThemOnly) {
  const std::string text = "some\0bytes";
  EXPECT_EQ(keyed_hash(text), keyed_hash(std::string(text)));
  EXPECT_NE(keyed_hash(std::string_view("a\0b", 3)), keyed_hash(std::string_view("a\0c", 3)));
  EXPECT_NE(keyed_hash(""), keyed_hash(std::string_view("\0", 1)));
}

}  // namespace
}  // namespace orrery
