// The store in a shared directory against the contract of all stores.
#include "volume/objects/directory_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "volume/objects/object_store_contract.h"

namespace orrery::volume {
namespace {

// With a folder that goes with it.
std::shared_ptr<ObjectStore> open_fresh(DirectorySync sync) {
  std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
  const std::string folder = ::mkdtemp(pattern.data());
  return {open_directory_store(folder, sync).value().release(), [folder](ObjectStore* store) {
            delete store;
            std::filesystem::remove_all(folder);
          }};
}

INSTANTIATE_TEST_SUITE_P(Directory, ObjectStoreContract,
                         testing::Values(StoreFactory([] { return open_fresh(DirectorySync::no); }),
                                         StoreFactory([] {
                                           return open_fresh(DirectorySync::yes);
                                         })));

}  // namespace
}  // namespace orrery::volume
