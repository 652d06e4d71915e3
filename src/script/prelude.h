// The JavaScript of prelude.js, built into the program.
#pragma once

#include <string_view>

namespace orrery::script {

// The name that stacks give it.
inline constexpr const char* kPreludeName = "orrery";

extern const std::string_view kPrelude;

}  // namespace orrery::script
