// Copies of the catalog: that they have what the owner has, whatever order news come in, and that
// what a copy asks for is done by the owner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "catalog/catalog.h"
#include "partition/partition_fixture.h"
#include "volume/local/local_volume.h"

namespace orrery::catalog {
namespace {

constexpr std::string_view kNewsFace = "face";

class CatalogNewsTest : public testing::Test, public ChangeLink {
 protected:
  CatalogNewsTest() {
    owner_ = Catalog::copy(clock_, *this);
    auto owned = owner_->own(shared_, *volume_);
    EXPECT_TRUE(owned) << owned.error().message;
    copy_ = Catalog::copy(clock_, *this);
  }

  Result<std::string> change(std::string request) override {
    ++asked_;
    if (meanwhile_) meanwhile_();
    auto answer = owner_->perform(request);
    if (lose_answer_) return fail(Code::internal, "no answer");
    return answer;
  }

  void follow() {
    auto news = owner_->news(copy_->lsn());
    ASSERT_TRUE(news) << news.error().message;
    auto applied = copy_->apply(*news);
    ASSERT_TRUE(applied) << applied.error().message;
    EXPECT_EQ(copy_->lsn(), owner_->lsn());
  }
  ContainerPtr make_container(const std::string& name) {
    auto database = owner_->database({kNewsFace, "d"});
    if (!database) database = owner_->create_database({kNewsFace, "d"}, std::nullopt).value();
    ContainerSpec spec;
    spec.name = name;
    return owner_->create_container(database->number, spec, Throughput{}, {}).value();
  }

  partition::TemporaryDirectory folder_;
  ManualClock clock_;
  Limits limits_;
  partition::Shared shared_{limits_, clock_};
  std::unique_ptr<volume::Volume> volume_ = volume::open_local_volume(folder_.path()).value();
  std::unique_ptr<Catalog> owner_;
  std::unique_ptr<Catalog> copy_;
  bool lose_answer_ = false;
  int asked_ = 0;
  std::function<void()> meanwhile_;  // before each question is answered
};

TEST_F(CatalogNewsTest, ACopyHasWhatTheOwnerHas) {
  const ContainerPtr first = make_container("first");
  follow();
  ASSERT_TRUE(copy_->container(first->number));
  EXPECT_EQ(copy_->container(first->number)->revision, first->revision);
  EXPECT_THAT(copy_->take_touched().containers, testing::ElementsAre(first->number));
  const ContainerPtr second = make_container("second");
  ASSERT_TRUE(owner_->create_resource(1, second->number, "r", "{}"));
  ASSERT_TRUE(owner_->remove_container(first->number));
  follow();
  EXPECT_FALSE(copy_->container(first->number));
  EXPECT_TRUE(copy_->resource(1, second->number, "r"));
  EXPECT_EQ(copy_->removals().size(), 1U);
  EXPECT_THAT(copy_->take_touched().containers,
              testing::ElementsAre(first->number, second->number));
  EXPECT_TRUE(copy_->take_touched().containers.empty());
}

TEST_F(CatalogNewsTest, ReadReplicasAreSetAtAnyNodeAndKept) {
  auto other = Catalog::copy(clock_, *this);
  ASSERT_TRUE(copy_->set_read_replicas(2));
  EXPECT_EQ(copy_->read_replicas(), 2U) << "whoever asked has it at once";
  EXPECT_EQ(owner_->read_replicas(), 2U);
  EXPECT_EQ(other->read_replicas(), 0U);
  ASSERT_TRUE(other->apply(owner_->news(other->lsn()).value()));
  EXPECT_EQ(other->read_replicas(), 2U);
  EXPECT_EQ(copy_->set_read_replicas(kReadReplicasMax + 1).error().code, Code::invalid);
  EXPECT_EQ(owner_->set_read_replicas(kReadReplicasMax + 1).error().code, Code::invalid);
  owner_->disown();
  auto next = Catalog::copy(clock_, *this);
  auto owned = partition::once_free([&] { return next->own(shared_, *volume_); });
  ASSERT_TRUE(owned) << owned.error().message;
  EXPECT_EQ(next->read_replicas(), 2U);
  ASSERT_TRUE(next->set_read_replicas(0));
  EXPECT_EQ(next->read_replicas(), 0U);
}

TEST_F(CatalogNewsTest, ACopyThatIsFarBehindIsToldEverything) {
  const ContainerPtr first = make_container("first");
  follow();
  for (int i = 0; i < 1'200; ++i) {
    ASSERT_TRUE(owner_->set_throughput(first->database, Throughput{.units = 400U + 100U * i}));
  }
  ASSERT_TRUE(owner_->remove_container(first->number));
  follow();
  EXPECT_FALSE(copy_->container(first->number)) << "what is gone goes by a whole copy too";
  EXPECT_THAT(copy_->take_touched().containers, testing::Contains(first->number));
}

TEST_F(CatalogNewsTest, ALargeCatalogIsCopiedPageByPageWhileItsOwnerGoesOn) {
  const ContainerPtr container = make_container("c");
  const std::string script(400'000, 'x');
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(owner_->create_resource(1, container->number, std::to_string(i), script));
  }
  int changes = 0;
  meanwhile_ = [&] {
    // One goes and one comes between any two pages, on either side of where they are read.
    const int n = changes++;
    if (n >= 20) return;
    ASSERT_TRUE(owner_->remove_resource(
        owner_->resource(1, container->number, std::to_string(n))->number, {}));
    ASSERT_TRUE(owner_->create_resource(1, container->number, "new" + std::to_string(n), "{}"));
  };
  auto applied = copy_->apply(owner_->news(copy_->lsn()).value());
  ASSERT_TRUE(applied) << applied.error().message;
  EXPECT_GT(asked_, 9) << "40 MB are more than one message";
  meanwhile_ = nullptr;
  EXPECT_EQ(copy_->lsn(), owner_->lsn());
  auto names = [&](const Catalog& catalog) {
    std::vector<std::string> all;
    for (const ResourcePtr& one : catalog.resources(1, container->number)) all.push_back(one->name);
    return all;
  };
  EXPECT_EQ(names(*copy_), names(*owner_));
  EXPECT_EQ(copy_->resource_totals().bytes, owner_->resource_totals().bytes);
}

TEST_F(CatalogNewsTest, NewsAreGivenSoManyBytesAtATime) {
  const ContainerPtr container = make_container("c");
  follow();
  for (int i = 0; i < 30; ++i) {
    ASSERT_TRUE(owner_->create_resource(1, container->number, std::to_string(i),
                                        std::string(400'000, 'x')));
  }
  ASSERT_LT(owner_->news(copy_->lsn())->size(), 6U << 20);
  ASSERT_TRUE(copy_->apply(owner_->news(copy_->lsn()).value()));
  EXPECT_LT(copy_->lsn(), owner_->lsn());
  // A change that a copy asks for brings all that was before it, however much that is.
  ASSERT_TRUE(copy_->note_opened(container->number, container->map->ranges[0], 2));
  EXPECT_EQ(copy_->lsn(), owner_->lsn());
  EXPECT_EQ(copy_->resources(1, container->number).size(), 30U);
}

TEST_F(CatalogNewsTest, LateAndRepeatedNewsChangeNothing) {
  const ContainerPtr first = make_container("first");
  const std::string early = owner_->news(0).value();
  follow();
  ASSERT_TRUE(owner_->remove_container(first->number));
  const std::string later = owner_->news(copy_->lsn()).value();
  ASSERT_TRUE(copy_->apply(later));
  ASSERT_TRUE(copy_->apply(early));
  ASSERT_TRUE(copy_->apply(later));
  EXPECT_FALSE(copy_->container(first->number));
  // News that begin beyond what a copy has are of no use to it.
  auto fresh = Catalog::copy(clock_, *this);
  ASSERT_TRUE(fresh->apply(later));
  EXPECT_EQ(fresh->lsn(), 0U);
}

TEST_F(CatalogNewsTest, BytesThatAreNoNewsAreRefused) {
  make_container("c");
  const std::string news = owner_->news(0).value();
  for (size_t length = 0; length < news.size(); ++length) {
    EXPECT_FALSE(copy_->apply(std::string_view(news).substr(0, length)));
    EXPECT_FALSE(owner_->perform(std::string_view(news).substr(0, length)));
  }
  EXPECT_EQ(copy_->lsn(), 0U);
}

TEST_F(CatalogNewsTest, WhatACopyAsksForIsDoneByTheOwnerAndKnownToTheCopy) {
  const ContainerPtr container = make_container("c");
  follow();
  const PartitionRange parent = container->map->ranges[0];
  ASSERT_TRUE(copy_->note_opened(container->number, parent, 2));
  EXPECT_TRUE(owner_->has_files(parent));
  EXPECT_TRUE(copy_->has_files(parent));
  const IntendedClones clones = copy_->intend_split(container->number, parent.id, 2, 1).value();
  EXPECT_EQ(copy_->removals().size(), 2U);
  // The answer to the first is lost: nobody knows what came of it, and asking again tells.
  lose_answer_ = true;
  const SplitReason why{.at_s = 1'790'000'000, .cause = SplitCause::load};
  EXPECT_EQ(copy_->publish_split(container->number, parent.id, "m", clones, why).error().code,
            Code::internal);
  lose_answer_ = false;
  auto published = copy_->publish_split(container->number, parent.id, "m", clones, why);
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_EQ((*published)->map->ranges.size(), 2U);
  EXPECT_EQ(owner_->container(container->number)->map->ranges.size(), 2U);
  ASSERT_EQ((*published)->map->splits.size(), 1U);
  EXPECT_EQ((*published)->map->splits[0].why.at_s, why.at_s);
  EXPECT_EQ((*published)->map->splits[0].why.cause, why.cause);
  EXPECT_EQ(copy_->note_opened(container->number, parent, 3).error().code, Code::moved);
  ASSERT_TRUE(copy_->forget_removals({parent.volume_name}));
  EXPECT_TRUE(owner_->removals().empty());
  ASSERT_TRUE(copy_->note_indexed(container->number, 1));
}

TEST_F(CatalogNewsTest, ACopyMakesNoChangesOfItsOwn) {
  EXPECT_EQ(copy_->create_database({kNewsFace, "x"}, std::nullopt).error().code, Code::elsewhere);
  EXPECT_EQ(copy_->news(0).error().code, Code::elsewhere);
  EXPECT_FALSE(copy_->is_owner());
}

TEST_F(CatalogNewsTest, ACopyTakesTheCatalogOver) {
  const ContainerPtr container = make_container("c");
  EXPECT_EQ(copy_->own(shared_, *volume_).error().code, Code::moved) << "its owner lives";
  owner_->disown();
  auto owned = partition::once_free([&] { return copy_->own(shared_, *volume_); });
  ASSERT_TRUE(owned) << owned.error().message;
  EXPECT_TRUE(copy_->container(container->number));
  EXPECT_THAT(copy_->take_touched().containers, testing::ElementsAre(container->number));
  std::swap(owner_, copy_);
  make_container("more");
  follow();
  EXPECT_EQ(copy_->all_containers().size(), 2U);
}

}  // namespace
}  // namespace orrery::catalog
