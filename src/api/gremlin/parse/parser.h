// The text of a traversal: one chain of calls, as g.V().has('name','marko').out(). No variables, no
// closures, no second statement. A name that is no constant of the language is a binding.
//
// Pure; any thread may call. Recursion is bounded by kNestingMax.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "api/gremlin/parse/tree.h"
#include "base/result.h"

namespace orrery::gremlin {

using Bindings = std::map<std::string, Argument, std::less<>>;

// Code::invalid with the place in the text.
Result<Chain> parse_traversal(std::string_view text, const Bindings& bindings);

// Whether a step has so many arguments: for text and for bytecode alike.
Status check_call(const StepCall& call);

}  // namespace orrery::gremlin
