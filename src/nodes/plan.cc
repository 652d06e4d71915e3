// See plan.h.
#include "nodes/plan.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace orrery::nodes {
namespace {

// What counts of a range: mostly its load, then its size. That it is there counts too, so that many
// idle ranges are spread.
constexpr double kLoadCounts = 0.5;
constexpr double kBytesCount = 0.3;
constexpr double kOneCounts = 0.2;

struct Weighed {
  RangeRef ref;
  double weight = 0;
  std::optional<uint32_t> owner;
};

std::vector<Weighed> weigh(const std::vector<RangeFacts>& ranges) {
  double load = 0;
  double bytes = 0;
  for (const RangeFacts& range : ranges) {
    load += range.load;
    bytes += static_cast<double>(range.bytes);
  }
  std::vector<Weighed> weighed;
  weighed.reserve(ranges.size());
  for (const RangeFacts& range : ranges) {
    double weight = kOneCounts / static_cast<double>(ranges.size());
    if (load > 0) weight += kLoadCounts * range.load / load;
    if (bytes > 0) weight += kBytesCount * static_cast<double>(range.bytes) / bytes;
    weighed.push_back({.ref = range.ref, .weight = weight, .owner = std::nullopt});
  }
  return weighed;
}

class Placer {
 public:
  explicit Placer(const Placing& placing)
      : placing_(placing),
        ranges_(weigh(placing.ranges)),
        loads_(placing.members.size(), 0),
        left_(placing.members.size(), kMovesAtOnce),
        takes_(placing.members.size()) {
    for (size_t i = 0; i < placing.members.size(); ++i) {
      takes_[i] = !placing.members[i].draining &&
                  !placing.strangers.contains(placing.members[i].incarnation);
      if (placing.busy.contains(placing.members[i].incarnation)) left_[i] = 0;
    }
    has_takers_ = std::ranges::any_of(takes_, [](bool takes) { return takes; });
    if (!has_takers_) takes_.assign(takes_.size(), true);  // there is nobody else
  }

  std::map<RangeRef, uint32_t> run() {
    keep_holders();
    give_out();
    follow_pins();
    drain();
    if (placing_.balance != Placing::Balance::no) balance();
    std::map<RangeRef, uint32_t> owners;
    for (const Weighed& range : ranges_) owners.emplace(range.ref, *range.owner);
    return owners;
  }

 private:
  void keep_holders() {
    std::map<std::string, uint32_t> by_incarnation;
    std::map<std::string, uint32_t> by_name;
    for (uint32_t i = 0; i < placing_.members.size(); ++i) {
      by_incarnation[placing_.members[i].incarnation] = i;
      by_name[placing_.members[i].name] = i;
    }
    for (Weighed& range : ranges_) {
      const auto holder = placing_.holders.find(range.ref);
      if (holder == placing_.holders.end()) continue;
      auto found = by_incarnation.find(holder->second.incarnation);
      if (found != by_incarnation.end()) {
        if (!is_given_up(found->second)) give(range, found->second);
        continue;
      }
      found = by_name.find(holder->second.name);
      if (found != by_name.end() && may_return(found->second)) give(range, found->second);
    }
  }

  // It is new, and was not heard of in time.
  bool is_given_up(uint32_t member) const {
    const std::string& incarnation = placing_.members[member].incarnation;
    return placing_.strangers.contains(incarnation) && !placing_.expected.contains(incarnation);
  }
  bool may_return(uint32_t member) const {
    const Member& back = placing_.members[member];
    return takes_[member] || (!back.draining && placing_.expected.contains(back.incarnation));
  }

  void give_out() {
    std::vector<Weighed*> homeless;
    for (Weighed& range : ranges_) {
      if (!range.owner) homeless.push_back(&range);
    }
    std::ranges::sort(homeless, [](const Weighed* a, const Weighed* b) {
      return a->weight != b->weight ? a->weight > b->weight : a->ref < b->ref;
    });
    for (Weighed* range : homeless) give(*range, pin_of(*range).value_or(lightest()));
  }

  void follow_pins() {
    for (Weighed& range : ranges_) {
      const auto to = pin_of(range);
      if (to && *to != *range.owner) move(range, *to);
    }
  }

  void drain() {
    for (Weighed& range : ranges_) {
      if (has_takers_ && placing_.members[*range.owner].draining) move(range, lightest());
    }
  }

  void balance() {
    double mean = 0;
    uint32_t takers = 0;
    for (size_t i = 0; i < loads_.size(); ++i) {
      if (!takes_[i]) continue;
      mean += loads_[i];
      ++takers;
    }
    mean /= takers;
    const bool is_eager = placing_.balance == Placing::Balance::as_good_as_possible;
    const double slack = (is_eager ? 0.02 : kSlack) * mean;
    // Each step makes nodes less different. The bound is how much may be under way.
    for (size_t step = 0; step < kMovesAtOnce * loads_.size(); ++step) {
      std::optional<uint32_t> heaviest;
      for (uint32_t i = 0; i < loads_.size(); ++i) {
        if (left_[i] > 0 && takes_[i] && (!heaviest || loads_[i] > loads_[*heaviest])) heaviest = i;
      }
      if (!heaviest) return;
      const uint32_t to = lightest();
      const double gap = loads_[*heaviest] - loads_[to];
      if (gap <= slack) return;
      // Best is what leaves both alike: half of the gap.
      Weighed* best = nullptr;
      for (Weighed& range : ranges_) {
        if (*range.owner != *heaviest || pin_of(range)) continue;
        if (!best || std::abs(gap / 2 - range.weight) < std::abs(gap / 2 - best->weight)) {
          best = &range;
        }
      }
      const double least_gain = is_eager ? 0.01 * gap : 0.1 * gap;
      if (!best || std::abs(gap - 2 * best->weight) > gap - least_gain) return;
      move(*best, to);
    }
  }

  std::optional<uint32_t> pin_of(const Weighed& range) const {
    const auto pin = placing_.pinned.find(range.ref);
    if (pin == placing_.pinned.end()) return std::nullopt;
    for (uint32_t i = 0; i < placing_.members.size(); ++i) {
      if (placing_.members[i].name == pin->second && takes_[i]) return i;
    }
    return std::nullopt;
  }

  // Ties go to the first by name.
  uint32_t lightest() const {
    uint32_t lightest = UINT32_MAX;
    for (uint32_t i = 0; i < loads_.size(); ++i) {
      if (takes_[i] && (lightest == UINT32_MAX || loads_[i] < loads_[lightest])) lightest = i;
    }
    return lightest;
  }

  void give(Weighed& range, uint32_t to) {
    range.owner = to;
    loads_[to] += range.weight;
  }

  void move(Weighed& range, uint32_t to) {
    if (left_[*range.owner] == 0 || *range.owner == to) return;
    --left_[*range.owner];
    loads_[*range.owner] -= range.weight;
    give(range, to);
  }

  const Placing& placing_;
  std::vector<Weighed> ranges_;
  std::vector<double> loads_;
  std::vector<uint32_t> left_;  // how many may still be taken from each
  std::vector<bool> takes_;
  bool has_takers_ = false;
};

}  // namespace

std::map<RangeRef, uint32_t> place(const Placing& placing) {
  if (placing.members.empty()) return {};
  return Placer(placing).run();
}

}  // namespace orrery::nodes
