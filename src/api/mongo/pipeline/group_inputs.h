// Which members of a document a stage that keeps none of it looks at.
//
// Pure; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "value/value.h"

namespace orrery::mongo {

// Of a stage's specification, {$group: …}, {$sortByCount: …} or {$count: …}. Nothing: it may look
// at any.
std::optional<std::vector<std::string>> inputs_of(const value::Value& stage);

}  // namespace orrery::mongo
