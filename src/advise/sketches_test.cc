// The bounds of the sketches.
#include "advise/sketches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

namespace orrery::advise {
namespace {

TEST(Reservoir, KeepsEachWithTheSameChance) {
  constexpr size_t kCapacity = 1'000;
  constexpr size_t kStream = 50'000;
  Reservoir reservoir(kCapacity, 7);
  std::vector<size_t> kept(kCapacity);
  for (size_t i = 0; i < kStream; ++i) {
    const size_t place = reservoir.offer();
    if (i < kCapacity) EXPECT_EQ(place, i);
    if (place == Reservoir::kNone) continue;
    ASSERT_LT(place, kCapacity);
    kept[place] = i;
  }
  double mean = 0;
  for (const size_t one : kept) mean += static_cast<double>(one) / kCapacity;
  // The mean of 1,000 even numbers below 50,000 has a standard deviation of 456.
  EXPECT_NEAR(mean, kStream / 2.0, 4 * 456);
  EXPECT_EQ(reservoir.seen(), kStream);
}

TEST(HyperLogLog, StaysWithinItsError) {
  for (const size_t distinct : {10, 1'000, 20'000, 300'000, 2'000'000}) {
    HyperLogLog sketch;
    for (size_t i = 0; i < distinct; ++i) {
      const uint64_t hash = mix(distinct, i);
      sketch.add(hash);
      if (i % 3 == 0) sketch.add(hash);
    }
    const auto count = static_cast<double>(distinct);
    EXPECT_NEAR(sketch.estimate(), count, 3 * 0.0163 * count + 1) << distinct;
  }
  EXPECT_EQ(HyperLogLog().estimate(), 0);
}

TEST(SpaceSaving, KeepsItsBounds) {
  SpaceSaving sketch;
  std::map<uint64_t, double> truth;
  Random random(5);
  double total = 0;
  for (size_t i = 0; i < 100'000; ++i) {
    // A few heavy values among many light ones.
    const uint64_t value = random.below(4) == 0 ? random.below(5) : 1'000 + random.below(50'000);
    const auto weight = static_cast<double>(1 + random.below(9));
    sketch.add(hash_of(std::to_string(value)), std::to_string(value), weight);
    truth[hash_of(std::to_string(value))] += weight;
    total += weight;
  }
  EXPECT_EQ(sketch.total(), total);
  const auto heaviest = sketch.heaviest();
  EXPECT_EQ(heaviest.size(), SpaceSaving::kCapacity);
  const double most_error = total / SpaceSaving::kCapacity;
  std::map<uint64_t, double> found;
  for (const auto& counter : heaviest) {
    EXPECT_GE(counter.weight, truth[counter.hash]);
    EXPECT_LE(counter.lower_bound(), truth[counter.hash]);
    EXPECT_LE(counter.error, most_error);
    EXPECT_EQ(hash_of(counter.value), counter.hash);
    found[counter.hash] = counter.weight;
  }
  for (const auto& [hash, weight] : truth) {
    if (weight > most_error) EXPECT_TRUE(found.contains(hash));
  }
}

}  // namespace
}  // namespace orrery::advise
