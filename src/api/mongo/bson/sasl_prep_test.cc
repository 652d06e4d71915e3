// SASLprep: the examples of RFC 4013.
#include "api/mongo/bson/sasl_prep.h"

#include <gtest/gtest.h>

namespace orrery::mongo {
namespace {

TEST(SaslPrep, HasOneFormOfAText) {
  EXPECT_EQ(sasl_prep("user"), "user");
  EXPECT_EQ(sasl_prep("I\xC2\xADX"), "IX") << "a soft hyphen";
  EXPECT_EQ(sasl_prep("\xC2\xAA"), "a");
  EXPECT_EQ(sasl_prep("\xE2\x85\xA8"), "IX") << "the Roman number nine";
  EXPECT_EQ(sasl_prep("p\xC3\xA4\xC3\x9F"), "p\xC3\xA4\xC3\x9F");
}

TEST(SaslPrep, RefusesWhatIsProhibited) {
  EXPECT_EQ(sasl_prep("\x07"), std::nullopt);
  EXPECT_EQ(sasl_prep("\xD8\xA7\x31"), std::nullopt) << "directions are mixed";
}

}  // namespace
}  // namespace orrery::mongo
