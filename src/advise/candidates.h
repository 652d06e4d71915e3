// Which keys are worth judging: properties, joins, periods, suffixes and hierarchies of those that
// requests name. At most kMaxCandidates, the present key and the asked-for ones always among them.
#pragma once

#include <vector>

#include "advise/facts.h"
#include "advise/key_expression.h"

namespace orrery::advise {

inline constexpr size_t kMaxCandidates = 60;

std::vector<KeyExpression> make_candidates(const Facts& facts);

}  // namespace orrery::advise
