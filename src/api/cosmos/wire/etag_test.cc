// Versions as etags, and back.
#include "api/cosmos/wire/etag.h"

#include <gtest/gtest.h>

#include <random>

namespace orrery::cosmos {
namespace {

using partition::Version;

TEST(Etag, TextHasTheFormOfAUuidAndReadsBack) {
  const Version version{
      .lsn = 0x456789ABCDEF, .time_s = 0x65432100, .range = 0xFEDCBA98, .step = 0x0123};
  EXPECT_EQ(etag_text(version), "01234567-89ab-cdef-fedc-ba9865432100");
  EXPECT_EQ(parse_etag(etag_text(version)), version);
}

TEST(Etag, EveryVersionReadsBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000; ++i) {
    const Version version{.lsn = random() >> (16 + random() % 48),
                          .time_s = static_cast<uint32_t>(random()),
                          .range = static_cast<uint32_t>(random() >> (random() % 64)),
                          .step = static_cast<uint16_t>(random())};
    EXPECT_EQ(parse_etag(etag_text(version)), version) << etag_text(version);
  }
}

TEST(Etag, AnythingElseIsRefused) {
  for (std::string_view text :
       {"", "\"", "01234567-89ab-cdef-fedc-ba986543210", "01234567-89ab-cdef-fedc-ba98654321000",
        "01234567+89ab-cdef-fedc-ba9865432100", "0123456g-89ab-cdef-fedc-ba9865432100",
        "-1234567-89ab-cdef-fedc-ba9865432100", " 1234567-89ab-cdef-fedc-ba9865432100",
        "01234567-89ab-cdef-fedc-0x9865432100"}) {
    EXPECT_EQ(parse_etag(text), std::nullopt) << text;
  }
}

TEST(Etag, OfAResourceIsThatOfItsRevision) {
  EXPECT_EQ(etag_text(7, 0x65432100), etag_text(Version{.lsn = 7, .time_s = 0x65432100}));
}

}  // namespace
}  // namespace orrery::cosmos
