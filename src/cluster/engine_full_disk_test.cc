// An engine on a disk that is nearly full: what is refused, what goes on, and what goes on again.
#include "cluster/engine_fixture.h"
#include "partition/faulty_volume.h"

namespace orrery::cluster {
namespace {

using partition::DiskFault;
using partition::FaultyVolume;
using partition::Verb;

class FullDiskEngineTest : public EngineTest {
 protected:
  FullDiskEngineTest() { options_.sync_commits = true; }

  std::unique_ptr<volume::Volume> open_volume() override {
    return std::make_unique<FaultyVolume>(EngineTest::open_volume(), disk_);
  }
  Result<RoutingPtr> try_make(std::string_view name) {
    catalog::ContainerSpec spec;
    spec.name = name;
    spec.key = key_of();
    return engine_->create_container(database_, spec, catalog::Throughput{.units = 400});
  }
  static std::optional<Code> code_of(const WriteReply& reply) {
    return reply.error ? std::optional(reply.error->code) : std::nullopt;
  }

  std::shared_ptr<DiskFault> disk_ = std::make_shared<DiskFault>();
};

TEST_F(FullDiskEngineTest, OnlyWhatNeedsSpaceIsRefused) {
  open();
  const RoutingPtr full = make("full");
  load(full, 0, 20);
  const RoutingPtr empty = make("empty");
  const RoutingPtr doomed = make("doomed");
  load(doomed, 0, 1);
  disk_->low = true;
  EXPECT_EQ(code_of(upsert(full, "k1", "1")), Code::read_only);
  EXPECT_EQ(code_of(upsert(empty, "k1", "1")), Code::read_only);
  EXPECT_FALSE(volume_->exists(empty->slots[0]->range.volume_name)) << "files were made";
  EXPECT_EQ(try_make("new").error().code, Code::read_only);
  EXPECT_EQ(engine_->create_database({kFace, "new"}, std::nullopt).error().code, Code::read_only);
  EXPECT_EQ(engine_->split(full->container->number, {}).error().code, Code::read_only);
  expect_all(full, 20);
  EXPECT_FALSE(write(full, write_of(*full, Verb::remove, "k19", "19")).error);
  EXPECT_TRUE(engine_->remove_container(doomed->container->number));
  EXPECT_TRUE(eventually([&] { return !volume_->exists(doomed->slots[0]->range.volume_name); }));
  expect_all(full, 19);
  disk_->low = false;
  clock_.advance_ms(1'001);  // a partition that could not be opened is tried again after a second
  EXPECT_FALSE(upsert(full, "k19", "19", pad(100)).error);
  EXPECT_FALSE(upsert(empty, "k1", "1").error);
  EXPECT_TRUE(try_make("new"));
  EXPECT_TRUE(engine_->split(full->container->number, {}));
  expect_all(full, 20);
}

// A start on a disk that takes nothing at all.
TEST_F(FullDiskEngineTest, ItStartsAndServesReadsWhereNothingCanBeWritten) {
  open();
  load(make("full"), 0, 20);
  engine_.reset();
  disk_->append = DiskFault::Error::no_space;
  open();
  const RoutingPtr full = find("full");
  ASSERT_TRUE(full);
  expect_all(full, 20);
  EXPECT_EQ(code_of(upsert(full, "k1", "1")), Code::read_only);
  EXPECT_EQ(code_of(write(full, write_of(*full, Verb::remove, "k1", "1"))), Code::read_only);
  EXPECT_EQ(try_make("new").error().code, Code::read_only);
  disk_->heal();
  clock_.advance_ms(1'001);
  EXPECT_FALSE(upsert(full, "k1", "1").error);
  EXPECT_TRUE(try_make("new"));
}

}  // namespace
}  // namespace orrery::cluster
