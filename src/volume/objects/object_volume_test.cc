// The object volume, over a shared directory, against the contract of all volumes, and what is
// particular to it.
#include "volume/objects/object_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "volume/objects/directory_store.h"
#include "volume/volume_contract.h"

namespace orrery::volume {
namespace {

namespace fs = std::filesystem;

constexpr LeaseTimes kShortLease{
    .lease_us = 200'000, .revoke_wait_us = 210'000, .renew_every_us = 20'000};

class DirectoryPlace final : public VolumePlace {
 public:
  DirectoryPlace() {
    std::string pattern = (fs::temp_directory_path() / "orrery-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~DirectoryPlace() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  std::shared_ptr<ObjectStore> store() { return open_directory_store(root_).value(); }
  std::unique_ptr<Volume> open() override {
    return open_object_volume(store(),
                              {.node_name = std::to_string(::getpid()), .lease_times = kShortLease})
        .value();
  }
  // Only of processes that are gone: on a busy machine others may look as if they were.
  void bury_the_dead() override {
    auto objects = store();
    for (const std::string& name : objects->list("lease.").value()) {
      const std::string incarnation = name.substr(6);
      const auto row = read_lease(*objects, incarnation).value();
      if (row && ::kill(std::stoi(row->name), 0) != 0) {
        EXPECT_TRUE(end_lease(*objects, incarnation, kShortLease).value());
      }
    }
  }

 private:
  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(Objects, VolumeContract, testing::Values(VolumeFactory([] {
                           return std::make_unique<DirectoryPlace>();
                         })));

}  // namespace
}  // namespace orrery::volume
