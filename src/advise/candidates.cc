// See candidates.h.
#include "advise/candidates.h"
#include "advise/sequences.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace orrery::advise {
namespace {

constexpr size_t kMostPaths = 16;
constexpr size_t kMostUsed = 8;
constexpr double kLeastPresent = 0.2;
constexpr double kLeastRu = 0.01;  // of all

class Maker {
 public:
  explicit Maker(const Facts& facts) : facts_(facts) {}

  std::vector<KeyExpression> make() {
    if (facts_.present_key) add(*facts_.present_key);
    for (const KeyExpression& key : facts_.settings.keys) add(key);
    find_used();
    find_time();
    find_pairs();
    for (const uint32_t path : single_paths()) add(single_key(path));
    for (const auto& [a, b] : pairs_) add(one_level({part(a), part(b)}));
    add_hierarchies();
    add_periods();
    for (const uint32_t place : used_) {
      for (const uint32_t suffix : {10U, 100U}) {
        if (is_time(place) || place == facts_.id) continue;
        KeyExpression key = single_key(facts_.tracked[place].path);
        key.levels.front().suffix = suffix;
        add(key);
      }
    }
    return std::move(out_);
  }

 private:
  void add(const KeyExpression& key) {
    if (out_.size() < kMaxCandidates && !contains(out_, key)) out_.push_back(key);
  }
  KeyPart part(uint32_t place, Period period = Period::none) const {
    return {.path = facts_.tracked[place].path, .period = period};
  }
  static KeyExpression one_level(std::vector<KeyPart> parts) {
    return {.levels = {{.parts = std::move(parts), .suffix = 0}}};
  }
  static KeyExpression hierarchy(const std::vector<KeyPart>& parts) {
    KeyExpression key;
    for (const KeyPart& one : parts) key.levels.push_back({.parts = {one}, .suffix = 0});
    return key;
  }
  bool is_time(uint32_t place) const { return facts_.tracked[place].is_time; }
  double distinct(uint32_t place) const { return facts_.statistics[place].distinct.estimate(); }
  bool is_present(uint32_t place) const {
    const PathStatistics& statistics = facts_.statistics[place];
    return statistics.present - statistics.containers >= kLeastPresent * facts_.items_read;
  }

  // Places of tracked paths that requests name in equalities, the most RU first.
  void find_used() {
    double all = 0;
    for (const FactRequest& request : facts_.requests) all += request.ru;
    for (uint32_t i = 0; i < facts_.tracked.size(); ++i) {
      if (facts_.tracked[i].used_ru >= kLeastRu * all && facts_.tracked[i].used_ru > 0 &&
          is_present(i)) {
        used_.push_back(i);
      }
    }
    sort_stable(used_, std::ranges::greater(),
                [this](uint32_t place) { return facts_.tracked[place].used_ru; });
    if (used_.size() > kMostUsed) used_.resize(kMostUsed);
  }

  // The finest time, and of those the one that requests name in ranges.
  void find_time() {
    const auto in_ranges = [this](uint32_t place) {
      return std::ranges::any_of(facts_.shapes, [&](const Shape& shape) {
        return contains(shape.range, facts_.tracked[place].path);
      });
    };
    for (uint32_t i = 0; i < facts_.tracked.size(); ++i) {
      if (!is_time(i) || !is_present(i) || changes(i)) continue;
      const auto better = [&](uint32_t a, uint32_t b) {
        return std::pair(facts_.tracked[a].form, !in_ranges(a)) <
               std::pair(facts_.tracked[b].form, !in_ranges(b));
      };
      if (!time_ || better(i, *time_)) time_ = i;
    }
  }

  bool changes(uint32_t place) const {
    const TrackedPath& tracked = facts_.tracked[place];
    return tracked.updates >= 20 && tracked.changed > 0.01 * tracked.updates;
  }

  std::vector<uint32_t> single_paths() const {
    std::vector<uint32_t> places = used_;
    if (!contains(places, facts_.id)) places.push_back(facts_.id);
    std::vector<uint32_t> rest;
    for (uint32_t i = 0; i < facts_.tracked.size(); ++i) {
      if (is_present(i) && !contains(places, i)) rest.push_back(i);
    }
    sort_stable(rest, std::ranges::greater(), [this](uint32_t place) { return distinct(place); });
    places.insert(places.end(), rest.begin(), rest.end());
    if (places.size() > kMostPaths) places.resize(kMostPaths);
    std::vector<uint32_t> paths;
    for (const uint32_t place : places) paths.push_back(facts_.tracked[place].path);
    return paths;
  }

  // Pairs of used paths that requests name together, the most RU first.
  void find_pairs() {
    std::map<std::pair<uint32_t, uint32_t>, double> together;
    double all = 0;
    for (const FactRequest& request : facts_.requests) {
      const double ru = request.ru * request.weight;
      all += ru;
      if (has_body(facts_.shapes[request.shape].operation)) continue;
      for (size_t i = 0; i < used_.size(); ++i) {
        for (size_t j = i + 1; j < used_.size(); ++j) {
          if (names(request, used_[i]) && names(request, used_[j])) {
            together[{used_[i], used_[j]}] += ru;
          }
        }
      }
    }
    std::vector<std::pair<double, std::pair<uint32_t, uint32_t>>> sorted;
    for (const auto& [pair, ru] : together) {
      if (ru >= kLeastRu * all && !(is_time(pair.first) && is_time(pair.second))) {
        sorted.emplace_back(-ru, pair);
      }
    }
    std::ranges::sort(sorted);
    for (auto& [ru, pair] : sorted) {
      // The one with fewer values first: so it is a prefix for people, and a first level.
      if (distinct(pair.second) < distinct(pair.first)) std::swap(pair.first, pair.second);
      pairs_.push_back(pair);
    }
  }

  static bool names(const FactRequest& request, uint32_t place) {
    return request.values[place] != FactRequest::kNotKnown ||
           contains(request.lists, place, [](const auto& list) { return list.first; });
  }

  // From fewer to more values.
  void add_hierarchies() {
    for (const auto& [a, b] : pairs_) {
      add(hierarchy({part(a), part(b)}));
    }
    for (const auto& [a, b] : pairs_) {
      for (const auto& [c, d] : pairs_) {
        if (c == b && d != a) add(hierarchy({part(a), part(b), part(d)}));
      }
      if (a != facts_.id && b != facts_.id) {
        add(hierarchy({part(a), part(b), part(facts_.id)}));
      }
    }
    for (const uint32_t place : used_) {
      if (place == facts_.id) continue;
      add(hierarchy({part(place), part(facts_.id)}));
      if (is_time(place)) continue;
      for (uint32_t other = 0; other < facts_.tracked.size(); ++other) {
        if (is_time(other) && facts_.tracked[other].form != TimeForm::instant && !changes(other) &&
            is_present(other)) {
          add(hierarchy({part(place), part(other)}));
        }
      }
      if (time_ && facts_.tracked[*time_].form != TimeForm::month) {
        for (const Period period : {Period::day, Period::month}) {
          if (period == Period::day && facts_.tracked[*time_].form == TimeForm::day) continue;
          add(hierarchy({part(place), part(*time_, period)}));
        }
      }
    }
  }

  void add_periods() {
    if (!time_ || facts_.tracked[*time_].form == TimeForm::month) return;
    for (const Period period : {Period::day, Period::month}) {
      // A property that is a day already makes no other key.
      if (period == Period::day && facts_.tracked[*time_].form == TimeForm::day) continue;
      add(one_level({part(*time_, period)}));
      for (const uint32_t place : used_) {
        if (!is_time(place) && place != facts_.id) {
          add(one_level({part(place), part(*time_, period)}));
        }
      }
    }
    for (const uint32_t place : used_) {
      if (is_time(place) || place == facts_.id) continue;
      for (uint32_t other = 0; other < facts_.tracked.size(); ++other) {
        if (is_time(other) && facts_.tracked[other].form == TimeForm::day && !changes(other) &&
            is_present(other)) {
          add(one_level({part(place), part(other)}));
        }
      }
    }
  }

  const Facts& facts_;
  std::vector<KeyExpression> out_;
  std::vector<uint32_t> used_;                        // places
  std::vector<std::pair<uint32_t, uint32_t>> pairs_;  // places
  std::optional<uint32_t> time_;
};

}  // namespace

std::vector<KeyExpression> make_candidates(const Facts& facts) {
  return Maker(facts).make();
}

}  // namespace orrery::advise
