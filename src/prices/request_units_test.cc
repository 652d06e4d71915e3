// The published charges, and that charges only ever grow with what is done.
#include "prices/request_units.h"

#include <gtest/gtest.h>

#include <cmath>

namespace orrery::prices {
namespace {

TEST(Charge, IsThePublishedOneAtThePublishedSizes) {
  struct Published {
    uint64_t kilobytes;
    double read;
    double write;
  };
  for (const Published& row :
       {Published{1, 1.00, 4.95}, Published{2, 1.04, 6.29}, Published{4, 1.14, 6.67},
        Published{8, 1.33, 7.04}, Published{16, 1.67, 9.52}, Published{32, 2.19, 11.23},
        Published{64, 4.76, 22.67}, Published{128, 9.95, 48.19}, Published{256, 20.28, 98.29},
        Published{512, 40.95, 184.57}, Published{1024, 145.90, 625},
        Published{2048, 291.80, 1250}}) {
    EXPECT_DOUBLE_EQ(read_charge(row.kilobytes * 1024), row.read) << row.kilobytes;
    EXPECT_DOUBLE_EQ(create_charge(row.kilobytes * 1024, 0), row.write) << row.kilobytes;
  }
}

TEST(Charge, NeverFallsAsSizesAndTermsGrow) {
  for (uint64_t bytes = 0; bytes < 3'000'000; bytes += 997) {
    EXPECT_LE(read_charge(bytes), read_charge(bytes + 997));
    EXPECT_LE(create_charge(bytes, 3), create_charge(bytes + 997, 3));
    EXPECT_LT(create_charge(bytes, 3), create_charge(bytes, 4));
    EXPECT_LE(replace_charge(bytes, 1, 1), replace_charge(bytes + 997, 1, 1));
    EXPECT_LT(replace_charge(bytes, 1, 1), replace_charge(bytes, 1, 2));
    EXPECT_LE(remove_charge(bytes, 3), remove_charge(bytes + 997, 3));
    EXPECT_LE(feed_charge(bytes, 5), feed_charge(bytes + 997, 5));
    EXPECT_LT(feed_charge(bytes, 5), feed_charge(bytes, 6));
  }
}

TEST(Charge, IsAtLeastOneForAnyRead) {
  EXPECT_GE(read_charge(0), 1);
  EXPECT_GE(miss_charge(), 1);
  EXPECT_GE(feed_charge(0, 0), 1);
}

TEST(Charge, LeavesOutWhatTheSystemAdds) {
  EXPECT_EQ(charged_bytes(0), 0U);
  EXPECT_EQ(charged_bytes(200), 0U);
  EXPECT_EQ(charged_bytes(1024 + 256), 1024U);
}

TEST(Charge, HasTwoDecimals) {
  for (uint64_t bytes = 0; bytes < 100'000; bytes += 61) {
    const double hundredths = create_charge(bytes, 7) * 100;
    EXPECT_NEAR(hundredths, std::round(hundredths), 1e-6);
  }
}

TEST(Charge, OfAQueryGrowsWithItsTextOnceThatIsLong) {
  const double usual = query_charge({.items = 1, .bytes_asked = 100});
  EXPECT_EQ(query_charge({.items = 1, .bytes_asked = 4'096}), usual);
  EXPECT_EQ(query_charge({.items = 1, .bytes_asked = 4'096 + (100 << 10)}), usual + 50);
}

TEST(Charge, OfWorkIsThatOfItsKind) {
  using partition::Work;
  using partition::WorkKind;
  auto charge = [](const Work& work) { return kRequestUnits.charge(work); };
  EXPECT_EQ(charge({.kind = WorkKind::read, .bytes = 5'000}), read_charge(5'000));
  EXPECT_EQ(charge({.kind = WorkKind::miss}), miss_charge());
  EXPECT_EQ(charge({.kind = WorkKind::create, .bytes = 5'000, .terms_added = 3}),
            create_charge(5'000, 3));
  EXPECT_EQ(
      charge({.kind = WorkKind::replace, .bytes = 5'000, .terms_added = 3, .terms_removed = 2}),
      replace_charge(5'000, 2, 3));
  EXPECT_EQ(charge({.kind = WorkKind::remove, .bytes = 5'000, .terms_removed = 2}),
            remove_charge(5'000, 2));
  EXPECT_EQ(charge({.kind = WorkKind::page, .items = 4, .bytes = 5'000}), feed_charge(5'000, 4));
  const Work query{.kind = WorkKind::query, .items = 4, .bytes = 5'000, .entries_read = 9};
  EXPECT_EQ(charge(query), query_charge(query));
}

}  // namespace
}  // namespace orrery::prices
