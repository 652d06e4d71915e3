// The order of scored keys (score.h).
#include <algorithm>

#include "advise/score.h"
#include "advise/sequences.h"

namespace orrery::advise {
namespace {

// Whether nobody asks by the key's property: all that it does is to spread, and so does the id.
bool only_spreads_like(const Facts& facts, const KeyExpression& key, const KeyExpression& other) {
  const auto place = facts.place_of(key.levels.front().parts.front().path);
  return facts.has_workload && other == single_key(facts.tracked[facts.id].path) && place &&
         key == single_key(facts.tracked[*place].path) && facts.tracked[*place].used_ru <= 0;
}

}  // namespace

void rank(const Facts& facts, std::vector<Scored>& candidates) {
  constexpr double kWorthIt = 1.05;
  for (Scored& one : candidates) {
    one.rank_score = one.score;
  }
  // The simplest first, and the id before other properties, so that what a key is compared with has
  // its own rank already.
  const KeyExpression id = single_key(facts.tracked[facts.id].path);
  sort_stable(candidates, std::less(),
              [&](const Scored& one) { return one.key == id ? size_t{0} : one.key.parts(); });
  for (size_t i = 0; i < candidates.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const Scored& simpler = candidates[j];
      Scored& one = candidates[i];
      if (simpler.disqualified() != one.disqualified()) continue;
      if (!one.key.extends(simpler.key) && !only_spreads_like(facts, one.key, simpler.key))
        continue;
      if (one.score < kWorthIt * simpler.score) {
        one.rank_score = std::min(one.rank_score, simpler.rank_score - 0.001);
      }
    }
  }
  sort_stable(candidates, [](const Scored& a, const Scored& b) {
    if (a.disqualified() != b.disqualified()) return b.disqualified();
    if (a.rank_score != b.rank_score) return a.rank_score > b.rank_score;
    if (a.warnings.size() != b.warnings.size()) return a.warnings.size() < b.warnings.size();
    return false;
  });
}

}  // namespace orrery::advise
