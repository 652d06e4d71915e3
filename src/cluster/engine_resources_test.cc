// The quotas of users, scripts and the like.
#include <atomic>
#include <chrono>
#include <thread>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::HasSubstr;

class ResourcesTest : public EngineTest {
 protected:
  uint32_t owner() { return make("c", 400)->container->number; }
  Code create(uint32_t parent, std::string_view name, size_t bytes, uint64_t most = 1000) {
    auto made = engine_->create_resource(3, parent, name, std::string(bytes, 'x'), most);
    return made ? Code::internal : made.error().code;
  }
  static constexpr Code kMade = Code::internal;
};

TEST_F(ResourcesTest, OneHasALargestSize) {
  options_.limits.resource_bytes = 256;
  open();
  const uint32_t parent = owner();
  EXPECT_EQ(create(parent, "a", 255), kMade);
  EXPECT_EQ(create(parent, "b", 256), Code::too_large);
  auto made = engine_->catalog().resource(3, parent, "a");
  EXPECT_EQ(engine_->replace_resource(made->number, "a", std::string(256, 'x'), std::nullopt)
                .error()
                .code,
            Code::too_large);
}

TEST_F(ResourcesTest, AParentHasAMostOfEachKind) {
  open();
  const uint32_t parent = owner();
  EXPECT_EQ(create(parent, "a", 1, 2), kMade);
  EXPECT_EQ(create(parent, "b", 1, 2), kMade);
  EXPECT_EQ(create(parent, "b", 1, 2), Code::conflict) << "that it is there is what matters more";
  EXPECT_EQ(create(parent, "c", 1, 2), Code::quota_exceeded);
  EXPECT_TRUE(engine_->create_resource(4, parent, "c", "", 2)) << "another kind";
  ASSERT_TRUE(
      engine_->remove_resource(engine_->catalog().resource(3, parent, "a")->number, std::nullopt));
  EXPECT_EQ(create(parent, "c", 1, 2), kMade);
}

TEST_F(ResourcesTest, AnAccountHasAMostAndALargestSize) {
  options_.limits.account_resources = 3;
  options_.limits.account_resources_bytes = 1024;
  open();
  const uint32_t parent = owner();
  EXPECT_EQ(create(parent, "a", 999), kMade);
  EXPECT_EQ(create(parent, "b", 99), Code::quota_exceeded);
  EXPECT_EQ(create(parent, "b", 1), kMade);
  auto small = engine_->catalog().resource(3, parent, "b");
  auto grown = engine_->replace_resource(small->number, "b", std::string(99, 'x'), std::nullopt);
  ASSERT_FALSE(grown);
  EXPECT_THAT(grown.error().message, HasSubstr("account-resources-bytes"));
  EXPECT_TRUE(engine_->replace_resource(small->number, "b", "", std::nullopt));
  EXPECT_EQ(create(parent, "c", 1), kMade);
  auto fourth = engine_->create_resource(3, parent, "d", "", 1000);
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, Code::quota_exceeded);
  EXPECT_THAT(fourth.error().message, HasSubstr("account-resources"));
}

TEST_F(ResourcesTest, NothingHappensBetweenACheckAndWhatItAllows) {
  open();
  const uint32_t parent = database_;
  std::thread other;
  std::atomic<bool> begun{false};
  bool saw_first = false;
  // The second check is to see the first resource, though it was asked for while the first one was
  // being checked.
  auto first = engine_->create_resource(3, parent, "first", "", 10, [&]() -> Status {
    other = std::thread([&] {
      begun = true;
      static_cast<void>(engine_->create_resource(3, parent, "second", "", 10, [&]() -> Status {
        saw_first = engine_->catalog().resource(3, parent, "first") != nullptr;
        return fail(Code::conflict, "refused");
      }));
    });
    while (!begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for the second to go wrong in
    return {};
  });
  other.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(saw_first);
  EXPECT_FALSE(engine_->catalog().resource(3, parent, "second")) << "it was refused";
}

}  // namespace
}  // namespace orrery::cluster
