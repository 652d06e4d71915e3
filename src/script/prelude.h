// The JavaScript of prelude.js and prelude_query.js, built into the program.
#pragma once

#include <string_view>

namespace orrery::script {

// The name that stacks give them.
inline constexpr const char* kPreludeName = "orrery";

extern const std::string_view kPrelude;
extern const std::string_view kPreludeQuery;

}  // namespace orrery::script
