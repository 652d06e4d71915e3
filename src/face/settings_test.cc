// What operators give for the options of faces.
#include "face/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace orrery::face {
namespace {

using testing::HasSubstr;

constexpr std::array kOptions = {Option{"shop-kind", "plain|fancy", "What it is like", "plain"},
                                 Option{"shop-loops", "N", "How often", "32"},
                                 Option{"shop-owner", "NAME", "Whose it is"}};

std::string refusal_of(const GivenOptions& given) {
  auto values = OptionValues::create(kOptions, given);
  return values ? "taken" : values.error().message;
}

TEST(FaceSettings, HaveDefaults) {
  auto values = OptionValues::create(kOptions, {{"of-another-face", "x"}});
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(values->text("shop-kind"), "plain");
  EXPECT_EQ(values->number("shop-loops"), 32U);
  EXPECT_EQ(values->text("shop-owner"), "");
}

TEST(FaceSettings, TakeWhatIsGiven) {
  auto values = OptionValues::create(
      kOptions, {{"shop-kind", "fancy"}, {"shop-loops", "4294967295"}, {"shop-owner", "a|b"}});
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(values->text("shop-kind"), "fancy");
  EXPECT_EQ(values->number("shop-loops"), 4'294'967'295U);
  EXPECT_EQ(values->text("shop-owner"), "a|b");
}

TEST(FaceSettings, RefuseOtherValuesByNameAndSayWhatThereIs) {
  for (const char* text : {"", "fancier", "plain|fancy", "Plain"}) {
    EXPECT_EQ(refusal_of({{"shop-kind", text}}),
              std::string("--shop-kind '") + text + "' is not one of plain, fancy");
  }
  for (const char* text : {"", "-1", "1.5", "4294967296", " 1", "1 ", "x"}) {
    EXPECT_THAT(refusal_of({{"shop-loops", text}}),
                HasSubstr(std::string("--shop-loops '") + text + "' is not a whole number"));
  }
}

}  // namespace
}  // namespace orrery::face
