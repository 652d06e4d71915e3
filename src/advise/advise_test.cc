// What the advisor's report says besides the best key: figures, confidence, too few samples, marks,
// texts. known_answers_test.cc has the containers whose right key is known.
#include "advise/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "advise/test_answers.h"
#include "advise/test_owner_sets.h"
#include "advise/test_property_sets.h"
#include "advise/test_time_sets.h"

namespace orrery::advise {
namespace {

using test::Dice;
using test::Item;
using test::report_on;
using test::says;
using test::TestSet;
using ::testing::StartsWith;

const Scored& candidate(const Report& report, std::string_view name) {
  const Scored* found = test::find_key(report, name);
  if (found == nullptr) ADD_FAILURE() << name << " is no candidate";
  return found == nullptr ? report.candidates.front() : *found;
}

const std::string& best(const Report& report) {
  return report.candidates.front().name;
}

TEST(Advise, ManySamplesGiveHighConfidence) {
  EXPECT_EQ(report_on(test::profiles().set).confidence, Confidence::high);
}

TEST(Advise, TheReplayTellsWhatAHotKeyIsRefused) {
  const Report report = report_on(test::hot_stream().set);
  EXPECT_GT(candidate(report, "/stream").throttled, 0.2);
  EXPECT_LT(report.candidates.front().throttled, 0.05);
}

TEST(Advise, ListsAskSeveralPartitions) {
  EXPECT_GT(candidate(report_on(test::timelines().set), "/author").shapes[0].partitions, 2);
}

TEST(Advise, TenantsOfLikeSizeNeedNoContainersOfTheirOwn) {
  EXPECT_TRUE(report_on(test::even_tenants().set).own_container.empty());
}

TEST(Advise, AValueThatIsUsedInTurnIsHotByTime) {
  const Report report =
      report_on({.name = "batches",
                 .items = 9e7,
                 .gigabytes = 90,
                 .throughput = 40'000,
                 .partition_key = "[\"/batch\"]",
                 .ru_s = 18'000,
                 .make =
                     [](Dice& dice, double t, bool) {
                       const auto turn = static_cast<size_t>(t / 14'400);
                       return Item{{"/id", dice.quoted_id()},
                                   {"/user", test::named("u", dice.below(20'000))},
                                   {"/batch", test::named("b", turn * 7919 % 997)}};
                     },
                 .operations = {{.share = 0.6, .op = "create"},
                                {.share = 0.2, .op = "query", .equal = {"/batch"}},
                                {.share = 0.2, .op = "query", .equal = {"/user"}}}});
  EXPECT_EQ(best(report), "/user");
  EXPECT_EQ(report.verdict, Verdict::change);
  EXPECT_TRUE(candidate(report, "/batch").has("hot_by_time"));
}

TEST(Advise, WhereEveryQueryNamesAnotherPropertyNoKeyIsGood) {
  TestSet set{.name = "search",
              .items = 9e8,
              .gigabytes = 900,
              .throughput = 300'000,
              .days = 300,
              .ru_s = 100'000,
              .make = [](Dice& dice, double, bool) {
                Item item{{"/id", dice.quoted_id()}};
                for (const char* path : {"/a", "/b", "/c", "/d", "/e"}) {
                  item[path] = test::named("v", dice.below(9'000));
                }
                return item;
              }};
  for (const char* path : {"/a", "/b", "/c", "/d", "/e"}) {
    set.operations.push_back({.share = 0.2, .op = "query", .equal = {path}});
  }
  EXPECT_EQ(report_on(set).verdict, Verdict::none_good);
}

TEST(Advise, TooFewSamplesAreSaidAndNotHidden) {
  for (TestSet set : {test::profiles().set, test::readings().set, test::huge_tenants().set,
                      test::hot_stream().set}) {
    set.sampled_items = 300;
    set.sampled_requests = 150;
    const Report report = report_on(set);
    EXPECT_EQ(report.verdict, Verdict::insufficient) << set.name;
    EXPECT_EQ(report.confidence, Confidence::low) << set.name;
    EXPECT_TRUE(says(report.notes, "few_items")) << set.name;
    EXPECT_TRUE(says(report.notes, "few_requests")) << set.name;
  }
}

TEST(Advise, RefusedRequestsAreNoted) {
  TestSet throttled = test::profiles().set;
  EXPECT_FALSE(says(report_on(throttled).notes, "throttled"));
  throttled.refused = 0.25;
  const Report refusing = report_on(throttled);
  EXPECT_TRUE(says(refusing.notes, "throttled"));
  EXPECT_THAT(refusing.notes.front().text, StartsWith("20"));
  EXPECT_EQ(refusing.verdict, Verdict::choose);
}

TEST(Advise, MarksAndPlainValuesGiveTheSameBestAndTheSameInputTheSameBytes) {
  for (const TestSet& set : {test::huge_tenants().set, test::hot_stream().set}) {
    const Report hashed = report_on(set);
    EXPECT_EQ(best(hashed), best(report_on(set, true))) << set.name;
    const Report again = report_on(set);
    EXPECT_EQ(to_json(hashed), to_json(again)) << set.name;
    EXPECT_EQ(to_table(hashed), to_table(again)) << set.name;
    EXPECT_EQ(to_svg(hashed), to_svg(again)) << set.name;
  }
}

TEST(Advise, MarksWithoutTheirSecretGiveTheSameBestAndLessConfidence) {
  for (const TestSet& set : {test::long_histories().set, test::huge_tenants().set}) {
    const Report report = report_on(set, false, false);
    EXPECT_EQ(best(report), best(report_on(set))) << set.name;
    EXPECT_TRUE(says(report.notes, "marks_only"));
    EXPECT_LT(report.confidence, Confidence::high);
  }
}

TEST(Advise, TheJsonCanBeReadAndTheReasonsHaveNumbers) {
  const Report report = report_on(test::huge_tenants().set);
  const auto document = value::JsonDocument::parse(to_json(report));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().find("verdict")->text, "change");
  EXPECT_EQ(document->root().find("candidates")->count, report.candidates.size());
  ASSERT_GE(report.reasons.size(), 2U);
  std::string present;
  for (const auto& [key, because] : report.reasons) {
    EXPECT_FALSE(because.empty()) << key;
    if (key == "/tenant") present = because.back();
  }
  EXPECT_FALSE(present.empty());
  EXPECT_EQ(report.bars.size(), 2U);
  EXPECT_EQ(report.bars.front().bytes.size(), static_cast<size_t>(report.partitions));
}

}  // namespace
}  // namespace orrery::advise
