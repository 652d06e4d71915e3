// The store on RADOS against the contract of all stores, and the volume on it against the contract
// of all volumes. They need a Ceph cluster: ORRERY_TEST_CEPH names its ceph.conf, with a pool
// "orrery" (tools/ceph.sh makes one). Without it they are skipped, and say so.
#include "volume/rados/rados_store.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "volume/objects/object_store_contract.h"
#include "volume/objects/object_volume.h"
#include "volume/volume_contract.h"

namespace orrery::volume {
namespace {

const char* ceph_conf() {
  return std::getenv("ORRERY_TEST_CEPH");
}

// A name space that no other test has.
std::string fresh_name_space() {
  static std::atomic<int> count = 0;
  return "test-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
}

RadosOptions options_in(std::string name_space) {
  return {.conf_file = ceph_conf(), .name_space = std::move(name_space)};
}

class RadosPlace final : public VolumePlace {
 public:
  std::unique_ptr<Volume> open() override {
    auto store = open_rados_store(options_in(name_space_)).value();
    return open_object_volume(store, {.node_name = std::to_string(::getpid())}).value();
  }
  void bury_the_dead() override {
    auto objects = open_rados_store(options_in(name_space_)).value();
    for (const std::string& name : objects->list("lease.").value()) {
      const std::string incarnation = name.substr(6);
      const auto row = read_lease(*objects, incarnation).value();
      if (row && ::kill(std::stoi(row->name), 0) != 0) {
        EXPECT_TRUE(end_lease(*objects, incarnation).value());
      }
    }
  }

 private:
  const std::string name_space_ = fresh_name_space();
};

#define ORRERY_NEEDS_CEPH() \
  if (ceph_conf() == nullptr) GTEST_SKIP() << "no Ceph cluster: set ORRERY_TEST_CEPH"

TEST(RadosStore, SaysWhatItCannotReach) {
  RadosOptions options{.conf_file = "/nowhere/ceph.conf", .connect_timeout_s = 1};
  auto store = open_rados_store(options);
  ASSERT_FALSE(store);
  EXPECT_TRUE(store.error().code == Code::invalid || store.error().code == Code::unsupported);
  if (store.error().code == Code::invalid) {
    EXPECT_NE(store.error().message.find("/nowhere/ceph.conf"), std::string::npos);
  }
}

TEST(RadosStore, SaysWhichPoolIsNotThere) {
  ORRERY_NEEDS_CEPH();
  RadosOptions options = options_in("");
  options.pool = "none";
  auto store = open_rados_store(options);
  ASSERT_FALSE(store);
  EXPECT_EQ(store.error().code, Code::invalid);
  EXPECT_NE(store.error().message.find("'none'"), std::string::npos);
}

}  // namespace

// Only where there is a cluster: an empty list of parameters makes no tests.
std::vector<StoreFactory> rados_stores() {
  if (ceph_conf() == nullptr) return {};
  return {[] { return open_rados_store(options_in(fresh_name_space())).value(); }};
}
std::vector<VolumeFactory> rados_volumes() {
  if (ceph_conf() == nullptr) return {};
  return {[] { return std::make_unique<RadosPlace>(); }};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ObjectStoreContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VolumeContract);
INSTANTIATE_TEST_SUITE_P(Rados, ObjectStoreContract, testing::ValuesIn(rados_stores()));
INSTANTIATE_TEST_SUITE_P(Rados, VolumeContract, testing::ValuesIn(rados_volumes()));

}  // namespace orrery::volume
