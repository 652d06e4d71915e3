// Whether two values are written the same: equal, of the same kinds of numbers, with members in the
// same order. Equal values need not be: 1 and 1.0 are equal.
//
// Pure; any thread may call.
#pragma once

#include "value/value.h"

namespace orrery::mongo {

bool identical(const value::Value& a, const value::Value& b);

}  // namespace orrery::mongo
