// The advisor on containers whose right answer is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "advise/advise.h"
#include "advise/sequences.h"
#include "advise/test_sets.h"

namespace orrery::advise {
namespace {

using test::Dice;
using test::Item;
using test::TestOperation;
using test::TestSet;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::StartsWith;

Settings settings() {
  Settings settings;
  settings.logical_limit_bytes = 10.0 * (1 << 30);
  settings.physical_limit_bytes = 50.0 * (1 << 30);
  settings.partition_throughput = 10'000;
  settings.longest_key_bytes = 2'048;
  return settings;
}

Report report_on(const TestSet& set, bool plain = false, bool with_secret = true) {
  PathTable paths;
  test::SetMaker maker(set, plain, with_secret);
  WorkloadReader workload_reader(paths);
  const auto lines = maker.workload();
  for (const std::string& line : lines) {
    const auto status = workload_reader.add_line(line);
    EXPECT_TRUE(status) << line << (status ? "" : status.error().message);
  }
  auto workload = workload_reader.finish();
  ItemReader items(paths, wanted_paths(*workload, settings()));
  for (const std::string& line : maker.items()) {
    const auto document = value::JsonDocument::parse(line);
    EXPECT_TRUE(document) << line;
    items.add(document->root(), line.size());
  }
  return advise(
      make_facts(paths, settings(), items.finish(), std::move(*workload), !lines.empty()));
}

const Scored& candidate(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.candidates, name, &Scored::name);
  if (found == report.candidates.end()) ADD_FAILURE() << name << " is no candidate";
  return found == report.candidates.end() ? report.candidates.front() : *found;
}

bool refused(const Report& report, std::string_view key, std::string_view code) {
  return contains(candidate(report, key).hard, code, &Finding::code);
}

bool says(const std::vector<Finding>& findings, std::string_view code) {
  return contains(findings, code, &Finding::code);
}

const std::string& best(const Report& report) {
  return report.candidates.front().name;
}

TestSet user_profiles() {
  return {.name = "profiles",
          .items = 4e6,
          .gigabytes = 8,
          .throughput = 20'000,
          .ru_s = 9'000,
          .make =
              [](Dice& dice, double t, bool) {
                return Item{{"/id", test::named("u", dice.below(400'000))},
                            {"/email", "\"" + dice.unique() + "\""},
                            {"/country", test::one_of(dice, "IT", "US", "DE", "CN", "FR")},
                            {"/seen", test::instant(t)}};
              },
          .times = {"/seen"},
          .changes = {{"/seen", 0.9}, {"/email", 0.002}},
          .operations = {{.share = 0.8, .op = "read", .equal = {"/id"}},
                         {.share = 0.15, .op = "replace"},
                         {.share = 0.05, .op = "query", .equal = {"/email"}}}};
}

TEST(AdviseSets, ProfilesAreKeyedByTheirId) {
  const Report report = report_on(user_profiles());
  EXPECT_EQ(best(report), "/id");
  EXPECT_EQ(report.verdict, Verdict::choose);
  EXPECT_EQ(report.confidence, Confidence::high);
  EXPECT_TRUE(refused(report, "/country", "few_values"));
  EXPECT_TRUE(refused(report, "/seen", "changes"));
}

TestSet readings(size_t devices, double gigabytes, double days) {
  return {.name = "readings",
          .items = 4e8,
          .gigabytes = gigabytes,
          .throughput = gigabytes > 500 ? 100'000.0 : 30'000.0,
          .partition_key = "[\"/device\"]",
          .days = days,
          .ru_s = gigabytes > 500 ? 40'000.0 : 15'000.0,
          .make =
              [devices](Dice& dice, double t, bool) {
                return Item{{"/id", "\"" + dice.unique() + "\""},
                            {"/device", test::named("d", dice.below(devices))},
                            {"/ts", test::instant(t)},
                            {"/day", test::day(t)},
                            {"/site", test::one_of(dice, "north", "south", "east")}};
              },
          .times = {"/ts", "/day"},
          .operations = {{.share = 0.7, .op = "create"},
                         {.share = 0.25,
                          .op = "query",
                          .equal = {"/device"},
                          .range_s = {{"/ts", 43'200}},
                          .work_ru = 2,
                          .age_s = 43'200},
                         {.share = 0.03, .op = "query", .equal = {"/site", "/day"}}}};
}

TEST(AdviseSets, ReadingsAreKeyedByTheirSourceAndNotByTheDay) {
  const Report report = report_on(readings(5'000, 100, 60));
  EXPECT_EQ(best(report), "/device");
  EXPECT_EQ(report.verdict, Verdict::keep);
  EXPECT_TRUE(candidate(report, "/day").has("hot_by_time"));
  EXPECT_TRUE(refused(report, "/site", "few_values"));
  EXPECT_TRUE(says(report.advice, "container_per_period"));
}

TEST(AdviseSets, LongHistoriesPassTheLimit) {
  const Report report = report_on(readings(200, 1'500, 90));
  EXPECT_THAT(best(report), AnyOf(StartsWith("hier(/device,"), StartsWith("join(/device,")));
  EXPECT_EQ(report.verdict, Verdict::change);
  EXPECT_TRUE(refused(report, "/device", "limit"));
}

TestSet logs(double ru_s, double throughput, size_t hosts, double gigabytes) {
  return {.name = "logs",
          .items = 1e8,
          .gigabytes = gigabytes,
          .throughput = throughput,
          .partition_key = "[\"/day\"]",
          .ttl_s = gigabytes > 100 ? 90 * 86'400.0 : 0,
          .days = 200,
          .ru_s = ru_s,
          .make =
              [hosts](Dice& dice, double t, bool) {
                return Item{{"/id", "\"" + dice.unique() + "\""},
                            {"/host", test::named("web", dice.below(hosts))},
                            {"/ts", test::instant(t)},
                            {"/day", test::day(t)},
                            {"/level", test::one_of(dice, "info", "info", "info", "warn")}};
              },
          .times = {"/ts", "/day"},
          .operations = {}};
}

TEST(AdviseSets, ADateIsRightForFewLogsReadByDayAndItsWarningStays) {
  TestSet set = logs(14, 400, 40, 2);
  set.operations = {{.share = 0.45, .op = "create"},
                    {.share = 0.5, .op = "query", .equal = {"/day", "/level"}, .age_s = 200'000},
                    {.share = 0.05, .op = "query", .equal = {"/host"}}};
  const Report report = report_on(set);
  EXPECT_EQ(best(report), "/day");
  EXPECT_EQ(report.verdict, Verdict::keep);
  EXPECT_TRUE(candidate(report, "/day").has("hot_by_time"));
}

TEST(AdviseSets, ManyLogsAreKeyedByTheirSource) {
  TestSet set = logs(35'000, 60'000, 2'500, 900);
  set.operations = {{.share = 0.85, .op = "create"},
                    {.share = 0.13, .op = "query", .equal = {"/host"}, .range_s = {{"/ts", 3'600}}},
                    {.share = 0.02, .op = "query", .equal = {"/day", "/level"}}};
  const Report report = report_on(set);
  EXPECT_EQ(best(report), "/host");
  EXPECT_EQ(report.verdict, Verdict::change);
  EXPECT_TRUE(refused(report, "/day", "hot_key"));
}

TestSet tenants(std::vector<double> large, double gigabytes) {
  return {.name = "tenants",
          .items = 6e8,
          .gigabytes = gigabytes,
          .throughput = 50'000,
          .partition_key = "[\"/tenant\"]",
          .days = 180,
          .ru_s = 20'000,
          .make =
              [large](Dice& dice, double, bool) {
                const size_t tenant = dice.heads(800, large);
                return Item{{"/id", "\"" + dice.unique() + "\""},
                            {"/tenant", test::named("t", tenant)},
                            {"/user", test::named("u", tenant * 100'000 +
                                                           dice.below(tenant < 3 ? 9'000 : 60))},
                            {"/kind", test::one_of(dice, "mail", "event", "contact")}};
              },
          .operations = {{.share = 0.35, .op = "read", .equal = {"/id", "/tenant", "/user"}},
                         {.share = 0.3, .op = "query", .equal = {"/tenant", "/user"}},
                         {.share = 0.15, .op = "query", .equal = {"/tenant"}, .work_ru = 5},
                         {.share = 0.2, .op = "create"}}};
}

TEST(AdviseSets, HugeTenantsWantAHierarchyAndContainersOfTheirOwn) {
  const Report report = report_on(tenants({0.33, 0.12, 0.06}, 600));
  EXPECT_THAT(best(report), StartsWith("hier(/tenant,"));
  EXPECT_EQ(report.verdict, Verdict::change);
  EXPECT_TRUE(refused(report, "/tenant", "limit"));
  EXPECT_TRUE(says(report.advice, "hierarchy"));
  EXPECT_EQ(report.own_container_path, "/tenant");
  EXPECT_THAT(report.own_container, Contains("t00000"));
  EXPECT_THAT(report.own_container, Contains("t00001"));
}

TEST(AdviseSets, EvenTenantsAreTheKeyAndNoneNeedsAContainer) {
  TestSet set = tenants({}, 60);
  set.operations.push_back({.share = 0.1, .op = "batch", .batch = 3, .same = {"/tenant"}});
  const Report report = report_on(set);
  EXPECT_EQ(best(report), "/tenant");
  EXPECT_EQ(report.verdict, Verdict::keep);
  EXPECT_TRUE(refused(report, "/user", "breaks_transactions"));
  EXPECT_TRUE(refused(report, "/kind", "few_values"));
  EXPECT_TRUE(report.own_container.empty());
}

TEST(AdviseSets, OrdersAreKeyedByTheirCustomer) {
  const Report report = report_on(
      {.name = "orders",
       .items = 9e7,
       .gigabytes = 120,
       .throughput = 25'000,
       .days = 365,
       .ru_s = 12'000,
       .make =
           [](Dice& dice, double t, bool) {
             const size_t customer = dice.zipf(40'000, 0.3);
             return Item{{"/id", "\"" + dice.unique() + "\""},
                         {"/customer", test::named("c", customer)},
                         {"/order", test::named("o", customer * 10 + dice.below(10))},
                         {"/status", test::one_of(dice, "new", "paid", "sent")},
                         {"/date", test::day(t)}};
           },
       .times = {"/date"},
       .changes = {{"/status", 0.8}},
       .operations = {{.share = 0.45, .op = "query", .equal = {"/customer"}, .work_ru = 3},
                      {.share = 0.15, .op = "query", .equal = {"/customer", "/order"}},
                      {.share = 0.2, .op = "batch", .batch = 4, .same = {"/customer", "/order"}},
                      {.share = 0.15, .op = "replace"},
                      {.share = 0.03, .op = "query", .equal = {"/status"}, .work_ru = 8}}});
  EXPECT_EQ(best(report), "/customer");
  EXPECT_EQ(report.verdict, Verdict::choose);
  EXPECT_TRUE(refused(report, "/id", "breaks_transactions"));
  EXPECT_TRUE(candidate(report, "/order").has("fan_out"));
}

TestSet streams() {
  return {.name = "streams",
          .items = 2e8,
          .gigabytes = 60,
          .throughput = 120'000,
          .partition_key = "[\"/stream\"]",
          .ttl_s = 60 * 86'400,
          .days = 60,
          .ru_s = 60'000,
          .make =
              [](Dice& dice, double t, bool) {
                return Item{{"/id", "\"" + dice.unique() + "\""},
                            {"/stream", test::named("s", dice.heads(400, {0.4}))},
                            {"/day", test::day(t)}};
              },
          .times = {"/day"},
          .operations = {{.share = 0.88, .op = "create"},
                         {.share = 0.06, .op = "query", .equal = {"/stream", "/day"}},
                         {.share = 0.06, .op = "read", .equal = {"/id", "/stream"}}}};
}

// A hierarchy lifts the limit of size and not heat, and neither does a day.
TEST(AdviseSets, AHotStreamIsSpreadAndNotDividedIntoDays) {
  const Report report = report_on(streams());
  EXPECT_THAT(best(report), AnyOf("/id", StartsWith("suffix(/stream,"), "join(/stream,/id)"));
  EXPECT_EQ(report.verdict, Verdict::change);
  for (const char* key :
       {"/stream", "hier(/stream,/id)", "hier(/stream,/day)", "join(/stream,/day)"}) {
    EXPECT_TRUE(refused(report, key, "hot_key")) << key;
  }
  EXPECT_GT(candidate(report, "/stream").throttled, 0.2);
  EXPECT_LT(report.candidates.front().throttled, 0.05);
  EXPECT_THAT(report.own_container, Contains("s00000"));
}

TEST(AdviseSets, AValueThatIsUsedInTurnIsHotByTime) {
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
                       return Item{{"/id", "\"" + dice.unique() + "\""},
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

TEST(AdviseSets, ListsAskSeveralPartitionsAndMissingValuesAreOneKey) {
  const Report report =
      report_on({.name = "timelines",
                 .items = 3e8,
                 .gigabytes = 150,
                 .throughput = 50'000,
                 .ru_s = 25'000,
                 .make =
                     [](Dice& dice, double, bool) {
                       Item item{{"/id", "\"" + dice.unique() + "\""},
                                 {"/author", test::named("a", dice.zipf(40'000, 0.3))},
                                 {"/topic", test::named("t", dice.zipf(400, 1))}};
                       if (dice.share() < 0.5) item["/group"] = test::named("g", dice.below(9'000));
                       return item;
                     },
                 .operations = {{.share = 0.4, .op = "query", .lists = {{"/author", 3}}},
                                {.share = 0.25, .op = "query", .equal = {"/author"}},
                                {.share = 0.1, .op = "query", .equal = {"/group"}},
                                {.share = 0.2, .op = "create"}}});
  EXPECT_EQ(best(report), "/author");
  EXPECT_TRUE(candidate(report, "/group").has("missing_values"));
  EXPECT_TRUE(candidate(report, "/group").has("fan_out"));
  EXPECT_GT(candidate(report, "/author").shapes[0].partitions, 2);
}

TEST(AdviseSets, WhereEveryQueryNamesAnotherPropertyNoKeyIsGood) {
  TestSet set{.name = "search",
              .items = 9e8,
              .gigabytes = 900,
              .throughput = 300'000,
              .days = 300,
              .ru_s = 100'000,
              .make = [](Dice& dice, double, bool) {
                Item item{{"/id", "\"" + dice.unique() + "\""}};
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

TEST(AdviseSets, TooFewSamplesAreSaidAndNotHidden) {
  for (TestSet set :
       {user_profiles(), readings(5'000, 100, 60), tenants({0.33, 0.12}, 600), streams()}) {
    set.sampled_items = 300;
    set.sampled_requests = 150;
    const Report report = report_on(set);
    EXPECT_EQ(report.verdict, Verdict::insufficient) << set.name;
    EXPECT_EQ(report.confidence, Confidence::low) << set.name;
    EXPECT_TRUE(says(report.notes, "few_items")) << set.name;
    EXPECT_TRUE(says(report.notes, "few_requests")) << set.name;
  }
  TestSet throttled = user_profiles();
  EXPECT_FALSE(says(report_on(throttled).notes, "throttled"));
  throttled.refused = 0.25;
  const Report refusing = report_on(throttled);
  EXPECT_TRUE(says(refusing.notes, "throttled"));
  EXPECT_THAT(refusing.notes.front().text, StartsWith("20"));
  EXPECT_EQ(refusing.verdict, Verdict::choose);
  TestSet unasked = user_profiles();
  unasked.operations.clear();
  const Report report = report_on(unasked);
  EXPECT_EQ(report.verdict, Verdict::insufficient);
  EXPECT_TRUE(says(report.notes, "no_workload"));
}

TEST(AdviseSets, AThousandItemsAndFourHundredRequestsAreEnough) {
  TestSet set = readings(200, 1'500, 90);
  set.sampled_items = 1'000;
  set.sampled_requests = 400;
  const Report report = report_on(set);
  EXPECT_EQ(report.verdict, Verdict::change);
  EXPECT_THAT(best(report), AnyOf(StartsWith("hier(/device,"), StartsWith("join(/device,")));
}

TEST(AdviseSets, MarksAndPlainValuesGiveTheSameBestAndTheSameInputTheSameBytes) {
  for (const TestSet& set : {tenants({0.33, 0.12}, 600), streams()}) {
    const Report hashed = report_on(set);
    EXPECT_EQ(best(hashed), best(report_on(set, true))) << set.name;
    const Report again = report_on(set);
    EXPECT_EQ(to_json(hashed), to_json(again)) << set.name;
    EXPECT_EQ(to_table(hashed), to_table(again)) << set.name;
    EXPECT_EQ(to_svg(hashed), to_svg(again)) << set.name;
  }
}

TEST(AdviseSets, MarksWithoutTheirSecretGiveTheSameBestAndLessConfidence) {
  for (const TestSet& set : {readings(200, 1'500, 90), tenants({0.33, 0.12, 0.06}, 600)}) {
    const Report report = report_on(set, false, false);
    EXPECT_EQ(best(report), best(report_on(set))) << set.name;
    EXPECT_TRUE(says(report.notes, "marks_only"));
    EXPECT_LT(report.confidence, Confidence::high);
  }
}

TEST(AdviseSets, TheJsonCanBeReadAndTheReasonsHaveNumbers) {
  const Report report = report_on(tenants({0.33, 0.12, 0.06}, 600));
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
