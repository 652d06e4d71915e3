// Finding resources by every way in, and that nothing is left of what is taken out.
#include "catalog/resource_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::catalog {
namespace {

using testing::ElementsAre;

ResourcePtr made(uint32_t number, uint32_t parent, uint8_t kind, std::string name,
                 std::string body = "") {
  auto resource = std::make_shared<Resource>();
  resource->number = number;
  resource->parent = parent;
  resource->kind = kind;
  resource->name = std::move(name);
  resource->body = std::move(body);
  return resource;
}

std::vector<uint32_t> numbers(const std::vector<ResourcePtr>& resources) {
  std::vector<uint32_t> out;
  for (const ResourcePtr& one : resources) out.push_back(one->number);
  return out;
}

TEST(ResourceIndex, FindsByNumberAndByName) {
  ResourceIndex index;
  index.put(made(7, 1, 0, "b"));
  index.put(made(8, 1, 0, "a"));
  index.put(made(9, 1, 1, "a"));
  index.put(made(10, 2, 0, "a"));
  EXPECT_EQ(index.find(8)->name, "a");
  EXPECT_EQ(index.find(0, 1, "a")->number, 8U);
  EXPECT_EQ(index.find(1, 1, "a")->number, 9U);
  EXPECT_EQ(index.find(0, 2, "a")->number, 10U);
  EXPECT_EQ(index.find(2, 1, "a"), nullptr);
  EXPECT_EQ(index.find(0, 3, "a"), nullptr);
  EXPECT_EQ(index.find(99), nullptr);
  EXPECT_THAT(numbers(index.list(0, 1)), ElementsAre(8, 7));
  EXPECT_EQ(index.all().size(), 4U);
}

TEST(ResourceIndex, ReplacesUnderANewName) {
  ResourceIndex index;
  index.put(made(7, 1, 0, "old", "12345"));
  index.put(made(7, 1, 0, "new", "1"));
  EXPECT_EQ(index.find(0, 1, "old"), nullptr);
  EXPECT_EQ(index.find(0, 1, "new")->number, 7U);
  EXPECT_EQ(index.totals().count, 1U);
  EXPECT_EQ(index.totals().bytes, 4U);
  index.erase(7);
  index.erase(7);
  EXPECT_EQ(index.totals().count, 0U);
  EXPECT_EQ(index.totals().bytes, 0U);
  EXPECT_TRUE(index.list(0, 1).empty());
}

TEST(ResourceIndex, KnowsWhatBelongsToWhat) {
  ResourceIndex index;
  index.put(made(2, 1, 0, "user"));
  index.put(made(3, 2, 1, "permission"));
  index.put(made(4, 3, 1, "deeper"));
  index.put(made(6, 5, 0, "elsewhere"));
  EXPECT_THAT(numbers(index.owned_by(1)), ElementsAre(2, 3, 4));
  EXPECT_THAT(numbers(index.owned_by(3)), ElementsAre(4));
  EXPECT_TRUE(index.owned_by(9).empty());
}

}  // namespace
}  // namespace orrery::catalog
