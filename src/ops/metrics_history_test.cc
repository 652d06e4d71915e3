// The history of metrics: what was added is there, after a restart too; what is damaged or too old
// is a gap; and rates come from the growth of counters.
#include "ops/metrics_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ops/metrics_sampler.h"

namespace orrery::ops {
namespace {

using testing::HasSubstr;

constexpr uint32_t kSampleTime = 1'794'717'000;

class MetricsHistoryTest : public testing::Test {
 protected:
  MetricsHistoryTest()
      : file_(testing::TempDir() + "history-" + std::to_string(::getpid()) + "-" +
              testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove(file_);
  }
  ~MetricsHistoryTest() override { std::filesystem::remove(file_); }

  static Sample sample(uint32_t at_s, float reads) {
    Sample made{.at_s = at_s};
    made[Figure::reads] = reads;
    return made;
  }
  static std::vector<float> reads(const MetricsHistory& history, uint32_t step_s = kFineStepS) {
    std::vector<float> found;
    for (Sample& one : history.samples(step_s, 0, kSampleTime + 1'000'000)) {
      found.push_back(one[Figure::reads]);
    }
    return found;
  }

  const std::string file_;
};

TEST_F(MetricsHistoryTest, OutlivesTheServer) {
  {
    MetricsHistory history(file_);
    history.add(kFineStepS, sample(kSampleTime + 3, 1));
    history.add(kFineStepS, sample(kSampleTime + 5, 2));
    history.add(kCoarseStepS, sample(kSampleTime, 3));
  }
  const MetricsHistory again(file_);
  EXPECT_THAT(reads(again), testing::ElementsAre(1, 2));
  EXPECT_THAT(reads(again, kCoarseStepS), testing::ElementsAre(3));
  EXPECT_THAT(again.json(kFineStepS, kSampleTime, kSampleTime + 10, 100),
              HasSubstr("\"samples\":[[" + std::to_string(kSampleTime) + ",1,0"));
}

TEST_F(MetricsHistoryTest, IsOfBoundedSizeAndForgetsTheOldest) {
  MetricsHistory history(file_);
  const uint32_t records = 3600 / kFineStepS;
  for (uint32_t i = 0; i < 2 * records; ++i) {
    history.add(kFineStepS, sample(kSampleTime + i * kFineStepS, static_cast<float>(i)));
  }
  const std::vector<float> found = reads(history);
  EXPECT_EQ(found.size(), records);
  EXPECT_EQ(found.front(), static_cast<float>(records));
  EXPECT_LE(std::filesystem::file_size(file_), records * 64);
}

TEST_F(MetricsHistoryTest, WhatIsDamagedIsAGap) {
  {
    MetricsHistory history(file_);
    for (uint32_t i = 0; i < 5; ++i)
      history.add(kFineStepS, sample(kSampleTime + 5 * i, static_cast<float>(1 + i)));
  }
  {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    const auto place = [](uint32_t i) {
      return static_cast<std::streamoff>((kSampleTime / 5 + i) % (3600 / kFineStepS) * 64);
    };
    file.seekp(place(1) + 9);
    file.put('x');
    // A good record in the place of another.
    std::array<char, 64> record{};
    file.seekg(place(2));
    file.read(record.data(), record.size());
    file.seekp(place(3));
    file.write(record.data(), record.size());
  }
  const MetricsHistory again(file_);
  EXPECT_THAT(reads(again), testing::ElementsAre(1, 3, 5));
}

TEST_F(MetricsHistoryTest, WithoutAFileItIsInMemory) {
  MetricsHistory nowhere("/nonexistent/folder/file");
  nowhere.add(kFineStepS, sample(kSampleTime, 1));
  EXPECT_THAT(reads(nowhere), testing::ElementsAre(1));
  std::ofstream(file_) << "not a history, and short";
  EXPECT_THAT(reads(MetricsHistory(file_)), testing::IsEmpty());
}

TEST_F(MetricsHistoryTest, ManySamplesAreGivenAsMeans) {
  MetricsHistory history("");
  for (uint32_t i = 0; i < 4; ++i)
    history.add(kFineStepS, sample(kSampleTime + 5 * i, static_cast<float>(1 + i)));
  EXPECT_THAT(history.json(kFineStepS, kSampleTime, kSampleTime + 15, 2),
              testing::AllOf(HasSubstr("\"stepSeconds\":10"),
                             HasSubstr("[" + std::to_string(kSampleTime) + ",1.5,"),
                             HasSubstr("[" + std::to_string(kSampleTime + 10) + ",3.5,")));
}

TEST(MetricsSampler, RatesAreTheGrowthOfCounters) {
  Totals before;
  before.steady_us = 1'000'000;
  before.requests = {10, 20, 30, 40};
  before.throttled = 100;
  Totals now = before;
  now.steady_us = 6'000'000;
  now.requests = {60, 20, 35, 40};
  now.units = 50;
  now.throttled = 40;  // a split began some counters anew
  now.bytes = 7;
  Sample made = figures_between(before, now);
  EXPECT_EQ(made[Figure::reads], 10);
  EXPECT_EQ(made[Figure::writes], 0);
  EXPECT_EQ(made[Figure::queries], 1);
  EXPECT_EQ(made[Figure::units], 10);
  EXPECT_EQ(made[Figure::throttled], 0);
  EXPECT_EQ(made[Figure::bytes], 7);
}

TEST(MetricsSampler, PercentilesComeFromTheBucketsOfTheTimeBetween) {
  Totals before;
  before.latencies = {{0.001, 100}, {0.01, 100}, {std::numeric_limits<double>::infinity(), 100}};
  Totals now = before;
  EXPECT_EQ(percentile_ms(before, now, 0.5), 0) << "nobody asked";
  now.latencies = {{0.001, 150}, {0.01, 199}, {std::numeric_limits<double>::infinity(), 200}};
  EXPECT_NEAR(percentile_ms(before, now, 0.25), 0.5, 0.001);
  EXPECT_NEAR(percentile_ms(before, now, 0.5), 1, 0.001);
  EXPECT_NEAR(percentile_ms(before, now, 0.99), 10, 0.001);
  EXPECT_NEAR(percentile_ms(before, now, 0.999), 10, 0.001) << "the last bucket has no end";
}

TEST(MetricsSampler, TellsKindsOfRequestsByTheirNames) {
  prometheus::MetricFamily requests =
      face::family("orrery_requests_total", "", prometheus::MetricType::Counter);
  for (const auto& [operation, status, count] : {std::tuple{"item_read", "200", 1},
                                                 {"item_feed", "200", 2},
                                                 {"item_create", "201", 4},
                                                 {"item_query", "200", 8},
                                                 {"partition_key_delete", "503", 16},
                                                 {"database", "500", 32}}) {
    face::add_line(requests, {{"operation", operation}, {"status", status}}, count);
  }
  Totals made;
  add_requests({requests}, made);
  EXPECT_THAT(made.requests, testing::ElementsAre(3, 20, 8, 32));
  EXPECT_EQ(made.failed, 48);
}

}  // namespace
}  // namespace orrery::ops
