// Advice beyond the choice of a key: values that deserve a container of their own, a container for
// each period, what a hierarchical key is for.
#pragma once

#include "advise/advise.h"

namespace orrery::advise {

void add_advice(const Facts& facts, Report& report);

}  // namespace orrery::advise
