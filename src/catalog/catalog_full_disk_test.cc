// The catalog on a disk that is nearly full: nothing new is made, everything else goes on.
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "partition/faulty_volume.h"
#include "partition/partition_fixture.h"

namespace orrery::catalog {
namespace {

constexpr std::string_view kAnyFace = "face";

class CatalogFullDiskTest : public testing::Test {
 protected:
  partition::TemporaryDirectory directory_;
  ManualClock clock_;
  std::shared_ptr<partition::DiskFault> disk_ = std::make_shared<partition::DiskFault>();
  partition::FaultyVolume volume_{volume::open_local_volume(directory_.path()).value(), disk_};
  partition::Shared shared_{Limits(), clock_};
};

TEST_F(CatalogFullDiskTest, OnlyCreationsAreRefused) {
  auto catalog = Catalog::open(shared_, volume_).value();
  const uint32_t database =
      catalog->create_database({kAnyFace, "db"}, std::nullopt).value()->number;
  ContainerSpec spec;
  spec.name = "c";
  const ContainerPtr container =
      catalog->create_container(database, spec, Throughput{}, {}).value();
  const ResourcePtr resource = catalog->create_resource(1, database, "r", "{}").value();
  const PartitionRange parent = container->map->ranges[0];
  ASSERT_TRUE(catalog->note_opened(container->number, parent, 1));
  const IntendedClones clones = catalog->intend_split(container->number, parent.id, 1, 1).value();
  disk_->low = true;
  spec.name = "new";
  EXPECT_EQ(catalog->create_database({kAnyFace, "new"}, std::nullopt).error().code,
            Code::read_only);
  EXPECT_EQ(catalog->create_container(database, spec, Throughput{}, {}).error().code,
            Code::read_only);
  EXPECT_EQ(catalog->create_resource(1, database, "new", "{}").error().code, Code::read_only);
  // A split that began while there was room must be able to end: writes wait for it.
  auto published = catalog->publish_split(container->number, parent.id, "m", clones);
  ASSERT_TRUE(published) << published.error().message;
  EXPECT_TRUE(catalog->note_opened(container->number, (*published)->map->ranges[0], 1));
  EXPECT_TRUE(catalog->note_indexed(container->number, 1));
  EXPECT_TRUE(catalog->remove_resource(resource->number, {}));
  EXPECT_TRUE(catalog->remove_container(container->number));
  EXPECT_TRUE(catalog->remove_database(database));
  disk_->low = false;
  EXPECT_TRUE(catalog->create_database({kAnyFace, "new"}, std::nullopt));
}

}  // namespace
}  // namespace orrery::catalog
