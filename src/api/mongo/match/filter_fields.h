// Which members of a document a filter looks at.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <vector>

#include "value/value.h"

namespace orrery::mongo {

// Adds their names to `names`, each once. False: it may look at any.
bool add_filter_fields(const value::Value& filter, std::vector<std::string>& names);
// The first step of a dotted path, if it is not there yet.
void add_field(std::string_view path, std::vector<std::string>& names);

}  // namespace orrery::mongo
