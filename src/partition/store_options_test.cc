// What RocksDB takes from this program.
#include "partition/store_options.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string_view>

#include "base/crc32c.h"

namespace rocksdb::crc32c {
uint32_t Extend(uint32_t crc, const char* data, size_t size);
}

namespace orrery::partition {
namespace {

// What the dynamic linker gives RocksDB for the name.
TEST(StoreOptionsTest, RocksDbTakesItsChecksumsFromThisProgram) {
  void* const used = dlsym(RTLD_DEFAULT, "_ZN7rocksdb6crc32c6ExtendEjPKcm");
  ASSERT_NE(used, nullptr);
  void* const its_own = dlsym(RTLD_NEXT, "_ZN7rocksdb6crc32c6ExtendEjPKcm");
  ASSERT_NE(its_own, nullptr) << "RocksDB has another name for it now: see store_options.cc";
  EXPECT_NE(used, its_own);
  using Extend = uint32_t (*)(uint32_t, const char*, size_t);
  const std::string_view bytes = "bytes of which a checksum is taken";
  for (size_t size = 0; size <= bytes.size(); ++size) {
    const uint32_t expected = reinterpret_cast<Extend>(its_own)(7, bytes.data(), size);
    EXPECT_EQ(reinterpret_cast<Extend>(used)(7, bytes.data(), size), expected);
    EXPECT_EQ(extend_crc32c(7, bytes.substr(0, size)), expected);
  }
}

}  // namespace
}  // namespace orrery::partition
