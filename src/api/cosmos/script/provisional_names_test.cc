// Names that scripts see before the commit, and what becomes of them.
#include "api/cosmos/script/provisional_names.h"

#include <gtest/gtest.h>

#include "api/cosmos/wire/rid.h"

namespace orrery::cosmos {
namespace {

constexpr partition::Version kVersion{.lsn = 7, .time_s = 1'000, .range = 3};
constexpr partition::Origin kOrigin{.range = 3, .number = 7};

TEST(ProvisionalNames, TakeTheirRealNamesWhenTheseAreKnown) {
  auto names = std::make_shared<ProvisionalNames>(1, 2);
  const ItemFinisher finisher(1, 2);
  const auto origin = names->next_origin();
  const auto version = names->next_version(1'000);
  EXPECT_TRUE(ProvisionalNames::is_provisional(origin));
  EXPECT_FALSE(ProvisionalNames::is_provisional(kOrigin));
  const std::string seen = finisher.finish(R"({"id":"a"})", version, origin);
  EXPECT_NE(seen, finisher.finish(R"({"id":"a"})", kVersion, kOrigin));
  EXPECT_EQ(names->translate(seen), seen);

  const ScriptFinisher finish(names, finisher, version, origin);
  const std::string stored = finish.finish(R"({"id":"a"})", kVersion, kOrigin);
  EXPECT_EQ(stored, finisher.finish(R"({"id":"a"})", kVersion, kOrigin));
  EXPECT_EQ(names->translate(seen), stored);
  EXPECT_EQ(names->translate("[" + seen + "," + seen + "]"), "[" + stored + "," + stored + "]");
}

TEST(ProvisionalNames, AreFoundInTheBodiesOfLaterItems) {
  auto names = std::make_shared<ProvisionalNames>(1, 2);
  const auto origin = names->next_origin();
  const auto version = names->next_version(1'000);
  const ScriptFinisher first(names, ItemFinisher(1, 2), version, origin);
  const ScriptFinisher second(names, ItemFinisher(1, 2), names->next_version(1'000),
                              names->next_origin());
  first.finish(R"({"id":"a"})", kVersion, kOrigin);
  const std::string stored =
      second.finish(R"({"other":")" + names->rid(origin) + R"("})",
                    {.lsn = 8, .time_s = 1'000, .range = 3}, {.range = 3, .number = 8});
  EXPECT_TRUE(stored.starts_with(R"({"other":")" + item_rid(1, 2, 3, 7))) << stored;
}

TEST(ProvisionalNames, LeaveOtherTextAlone) {
  ProvisionalNames names(1, 2);
  names.resolve(names.next_version(1), kVersion);
  for (const std::string text : {"", "-ffff-ffff", "x-ffff-ffff-ffff-ffff-ffff",
                                 "00000000-0000-0001-ffff-ffff", "no names"}) {
    EXPECT_EQ(names.translate(text), text);
  }
}

}  // namespace
}  // namespace orrery::cosmos
