// See replay.h.
#include "advise/replay.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "advise/key_values.h"
#include "advise/score.h"
#include "advise/sketches.h"

namespace orrery::advise {
namespace {

constexpr size_t kMostWindows = 16;
constexpr size_t kLeastInWindow = 200;
constexpr double kMostEvents = 100'000;
constexpr double kMostSeconds = 64;
constexpr double kLeastSeconds = 4;  // of a window: budgets begin full, and hold one second

class Budgets {
 public:
  Budgets(size_t count, double rate) : rate_(rate), left_(count, rate), at_(count, 0) {}
  bool is_open(size_t partition, double now) {
    left_[partition] = std::min(rate_, left_[partition] + rate_ * (now - at_[partition]));
    at_[partition] = now;
    return left_[partition] > 0;
  }
  void pay(size_t partition, double charge) { left_[partition] -= charge; }

 private:
  double rate_;
  std::vector<double> left_;
  std::vector<double> at_;
};

}  // namespace

double throttled_share(const Facts& facts, const KeyExpression& key) {
  if (facts.requests.empty() || facts.peak_ru <= 0) return 0;
  const auto n = static_cast<uint32_t>(facts.partitions);
  const KeyValues values(facts, key);
  const Rows rows = all_rows(facts);
  const std::vector<Asked> asked = requests_with(facts, key, rows.requests);
  std::unordered_map<uint64_t, uint32_t> seen;
  for (const Asked& one : asked) ++seen[one.first];
  double charged = 0;
  double weights = 0;
  std::vector<uint32_t> places(asked.size());
  for (size_t i = 0; i < asked.size(); ++i) {
    charged += facts.requests[i].ru * facts.requests[i].weight;
    weights += facts.requests[i].weight;
    const auto row = static_cast<uint32_t>(i);
    if (asked[i].keyed) places[i] = values.place(facts.requests[i], row, n);
  }
  const double rate = facts.peak_ru / (charged / weights);  // requests a second
  const size_t windows = std::clamp<size_t>(asked.size() / kLeastInWindow, 1, kMostWindows);
  const double seconds =
      std::clamp(kMostEvents / rate, kLeastSeconds * static_cast<double>(windows), kMostSeconds);
  const double window_s = seconds / static_cast<double>(windows);
  const double events = std::min(kMostEvents, rate * seconds);
  // Fewer events than the rate asks for stand for several each.
  const double stands_for = rate * seconds / events;
  Budgets budgets(n, facts.throughput / facts.partitions);
  Random random(3);
  double throttled = 0;
  double counted = 0;
  for (double event = 0; event < events; ++event) {
    const double now = event / events * seconds;
    const auto window = std::min(windows - 1, static_cast<size_t>(now / window_s));
    const size_t from = asked.size() * window / windows;
    const size_t to = asked.size() * (window + 1) / windows;
    const size_t i = from + random.below(to - from);
    const Asked& one = asked[i];
    // A value seen once stands for all that were not seen: it is somewhere else each time.
    const bool is_rare = !one.keyed || seen[one.first] < 2;
    const size_t first = is_rare ? random.below(n) : places[i];
    const auto partitions = static_cast<size_t>(std::max(1.0, std::round(one.partitions)));
    bool open = true;
    for (size_t k = 0; k < partitions; ++k) open = budgets.is_open((first + k) % n, now) && open;
    // The first second of a window pays off what the one before left.
    const bool counts = now - static_cast<double>(window) * window_s > window_s / 2;
    if (counts) ++counted;
    if (!open) {
      if (counts) ++throttled;
      continue;
    }
    const double charge = one.cost / static_cast<double>(partitions) * stands_for;
    for (size_t k = 0; k < partitions; ++k) budgets.pay((first + k) % n, charge);
  }
  return counted > 0 ? throttled / counted : 0;
}

}  // namespace orrery::advise
