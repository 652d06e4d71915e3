// The volume that tests of partitions and of the engine run on: a local directory, or, with
// ORRERY_TEST_VOLUME=objects, an object volume over the same directory. Included by tests only.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "volume/local/local_volume.h"
#include "volume/objects/directory_store.h"
#include "volume/objects/object_volume.h"

namespace orrery::partition {

inline std::unique_ptr<volume::Volume> open_test_volume(const std::string& directory) {
  const char* kind = std::getenv("ORRERY_TEST_VOLUME");
  if (kind == nullptr || std::string_view(kind) != "objects") {
    return volume::open_local_volume(directory).value();
  }
  std::shared_ptr<volume::ObjectStore> store =
      volume::open_directory_store(directory + "/objects").value();
  return volume::open_object_volume(std::move(store),
                                    {.incarnation_file = directory + "/incarnation"})
      .value();
}

}  // namespace orrery::partition
