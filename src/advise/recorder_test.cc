// What is recorded for the advisor, and what is not.
#include "advise/recorder.h"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"
#include "value/json.h"

namespace orrery::advise {
namespace {

constexpr uint32_t kContainer = 7;

Observed observed(RequestKind operation, double ru = 1) {
  Observed out;
  out.container = kContainer;
  out.operation = operation;
  out.ru = ru;
  return out;
}

RecordedContainer about() {
  RecordedContainer out;
  out.name = "db/c";
  out.throughput = 400;
  out.partition_key = {"/pk"};
  out.items = 10;
  out.bytes = 1'000;
  return out;
}

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

Workload read_back(const std::string& lines, PathTable& paths) {
  WorkloadReader reader(paths);
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at);
    const auto status = reader.add_line(std::string_view(lines).substr(at, end - at));
    EXPECT_TRUE(status) << lines.substr(at, end - at) << (status ? "" : status.error().message);
    at = end + 1;
  }
  return *reader.finish();
}

void record_item(Recorder& recorder, RequestKind operation, const std::string& json) {
  const auto document = value::JsonDocument::parse(json);
  recorder.record(observed(operation, 5),
                  [&](Details& details) { details.add_item(document->root()); });
}

TEST(Recorder, KeepsNoValueAndMarksMeetItems) {
  ManualClock clock;
  Recorder recorder(48, clock);
  record_item(recorder, RequestKind::create,
              R"({"id":"secret-1","owner":{"name":"Ada Lovelace"},"n":42,"tags":["x"],"_ts":1})");
  Observed query = observed(RequestKind::query, 3);
  query.query = "SELECT * FROM c WHERE c.owner.name = 'Ada Lovelace' AND c.n = @n";
  const auto parameters = value::JsonDocument::parse(R"([{"name":"@n","value":42}])");
  query.parameters = &parameters->root();
  recorder.record(query);
  const std::string lines = recorder.lines(kContainer, about(), false);
  EXPECT_EQ(lines.find("Lovelace"), std::string::npos);
  EXPECT_EQ(lines.find("secret"), std::string::npos);
  EXPECT_EQ(lines.find("tags"), std::string::npos);
  EXPECT_NE(lines.find("\"key\":null"), std::string::npos);

  PathTable paths;
  const Workload workload = read_back(recorder.lines(kContainer, about(), true), paths);
  ASSERT_EQ(workload.requests.size(), 2U);
  EXPECT_TRUE(workload.has_secret);
  const auto name = value::JsonDocument::parse("\"Ada Lovelace\"");
  const uint64_t mark = workload.marker.mark(placement_bytes(name->root()));
  for (const Request& request : workload.requests) {
    bool found = false;
    for (const advise::Known& known : request.known) {
      found = found || (paths.name(known.path) == "/owner/name" && known.mark == mark);
    }
    EXPECT_TRUE(found);
  }
  // Another recording has another secret.
  Recorder other(48, clock);
  record_item(other, RequestKind::create, R"({"id":"a"})");
  const Workload second = read_back(other.lines(kContainer, about(), true), paths);
  EXPECT_NE(second.marker.mark(placement_bytes(name->root())), mark);
}

TEST(Recorder, CountsShapesAndTimesAndKeepsDistances) {
  ManualClock clock;
  clock.set_now_s(1'794'787'200);  // 2026-11-16
  Recorder recorder(48, clock);
  for (const char* text :
       {"SELECT * FROM c WHERE c.day >= '2026-11-14' AND c.day < '2026-11-15'",
        "SELECT * FROM c WHERE c.day >= '2026-11-13' AND c.day < '2026-11-14'"}) {
    Observed query = observed(RequestKind::query, 4);
    query.query = text;
    query.asked = 3;
    query.weight = 2;
    recorder.record(query);
  }
  PathTable paths;
  const Workload workload = read_back(recorder.lines(kContainer, about(), true), paths);
  ASSERT_EQ(workload.shapes.size(), 1U) << "two texts that differ in their literals are one shape";
  EXPECT_EQ(workload.shapes[0].count, 4);
  EXPECT_EQ(workload.shapes[0].ru, 16);
  EXPECT_EQ(workload.shapes[0].asked, 3);
  ASSERT_EQ(workload.requests.size(), 2U);
  EXPECT_EQ(workload.requests[0].times[0].lag_s, 86'400);
  EXPECT_EQ(workload.requests[0].times[0].width_s, 86'400);
  EXPECT_EQ(workload.buckets.size(), 1U);
  EXPECT_EQ(workload.buckets[0].requests, 4);
}

TEST(Recorder, KnowsWhatUpdatesChange) {
  ManualClock clock;
  Recorder recorder(1, clock);
  const auto before = value::JsonDocument::parse(
      R"({"id":"a","owner":"o","state":"new","place":{"city":"x","zip":1},"gone":1,"_ts":1})");
  const auto after = value::JsonDocument::parse(
      R"({"id":"a","owner":"o","state":"done","place":{"city":"x","zip":"1"},"come":1,"_ts":2})");
  // More than are kept.
  for (int i = 0; i < 40; ++i) {
    Observed replace = observed(RequestKind::replace);
    replace.updated = updated_properties(before->root(), after->root());
    recorder.record(replace);
  }
  PathTable paths;
  const Workload workload = read_back(recorder.lines(kContainer, about(), true), paths);
  std::map<std::string, double> changed;
  for (const PathChange& change : workload.changes) {
    EXPECT_EQ(change.replaced, 40);
    changed[paths.name(change.path)] = change.changed;
  }
  const std::map<std::string, double> expected = {
      {"/id", 0},         {"/owner", 0}, {"/state", 40}, {"/place/city", 0},
      {"/place/zip", 40}, {"/gone", 40}, {"/come", 40}};
  EXPECT_EQ(changed, expected);
  // Of any number of properties, so many are counted.
  for (size_t i = 0; i < 2 * Recorder::kMaxUpdatedPaths; ++i) {
    Observed replace = observed(RequestKind::replace);
    replace.updated = {{"/p" + std::to_string(i), true}};
    recorder.record(replace);
  }
  EXPECT_EQ(count_of(recorder.lines(kContainer, about(), false), "\"k\":\"change\""),
            Recorder::kMaxUpdatedPaths);
}

TEST(Recorder, CountsRefusalsBesidesRequests) {
  ManualClock clock;
  Recorder recorder(48, clock);
  recorder.record(observed(RequestKind::read));
  recorder.record_throttled(kContainer, 3);
  recorder.record_throttled(kContainer, 2);
  PathTable paths;
  const Workload workload = read_back(recorder.lines(kContainer, about(), true), paths);
  ASSERT_EQ(workload.buckets.size(), 1U);
  EXPECT_EQ(workload.buckets[0].throttled, 5);
  EXPECT_EQ(workload.buckets[0].requests, 1);
}

TEST(Recorder, IsBounded) {
  ManualClock clock;
  constexpr size_t kPerHour = 5;
  Recorder recorder(kPerHour, clock);
  // 10 days of requests, with a text of its own each.
  for (size_t hour = 0; hour < 240; ++hour) {
    for (size_t i = 0; i < 20; ++i) {
      Observed query = observed(RequestKind::query);
      const std::string text = "SELECT * FROM c WHERE c.p" + std::to_string(hour * 20 + i) + " = 1";
      query.query = text;
      recorder.record(query);
    }
    clock.advance_ms(3'600'000);
  }
  const std::string lines = recorder.lines(kContainer, about(), false);
  EXPECT_LE(count_of(lines, "\"k\":\"req\""), (Recorder::kHours + 1) * kPerHour);
  EXPECT_LE(count_of(lines, "\"k\":\"shape\""), Recorder::kMaxShapes + 1);
  EXPECT_LE(count_of(lines, "\"k\":\"time\""),
            static_cast<size_t>(Recorder::kHours * 3600 / Recorder::kBucketS + 1));
  // More containers than there is room for: the idle ones go, the busy ones stay.
  for (uint32_t container = 100; container < 200; ++container) {
    Observed read = observed(RequestKind::read);
    read.container = container;
    recorder.record(read);
  }
  size_t recorded = 0;
  for (uint32_t container = 0; container < 200; ++container) {
    if (count_of(recorder.lines(container, about(), false), "\"k\":\"shape\"") > 0) ++recorded;
  }
  EXPECT_EQ(recorded, Recorder::kMaxContainers);
}

TEST(Recorder, AnObjectWithVeryManyNamesIsDataAndLongValuesAreLeftOut) {
  ManualClock clock;
  Recorder recorder(48, clock);
  std::string json = R"({"id":"a","long":")" + std::string(200, 'x') + R"(","byUser":{)";
  for (int i = 0; i < 150; ++i) {
    json += (i == 0 ? "" : ",") + ("\"user" + std::to_string(i) + "\":1");
  }
  json += "}}";
  record_item(recorder, RequestKind::create, json);
  const std::string lines = recorder.lines(kContainer, about(), false);
  EXPECT_EQ(lines.find("user1"), std::string::npos);
  EXPECT_EQ(lines.find("/long"), std::string::npos);
  EXPECT_NE(lines.find("\"/id\""), std::string::npos);
}

TEST(Recorder, TakesAllOfFewRequestsAndOneInManyOfMany) {
  ManualClock clock;
  Recorder recorder(48, clock);
  double taken = 0;
  double stands_for = 0;
  constexpr size_t kRequests = 200'000;
  // 10,000 a second.
  for (size_t i = 0; i < kRequests; ++i) {
    const uint32_t weight = recorder.take();
    taken += weight > 0 ? 1 : 0;
    stands_for += weight;
    if (i % 10 == 0) clock.advance_ms(1);
  }
  EXPECT_LT(taken, kRequests / 20.0);
  EXPECT_NEAR(stands_for, kRequests, 2'048);
  // One a second: after the next that is taken, each is.
  for (size_t i = 0; i < 1'100; ++i) {
    clock.advance_ms(1'000);
    recorder.take();
  }
  for (size_t i = 0; i < 50; ++i) {
    clock.advance_ms(1'000);
    EXPECT_EQ(recorder.take(), 1U);
  }
}

TEST(Recorder, IsOffAtZero) {
  ManualClock clock;
  Recorder recorder(0, clock);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(recorder.take(), 0U);
  record_item(recorder, RequestKind::create, R"({"id":"a"})");
  EXPECT_EQ(count_of(recorder.lines(kContainer, about(), true), "\n"), 1U);
}

}  // namespace
}  // namespace orrery::advise
