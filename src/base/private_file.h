// Files that hold secrets, or say where they are: whole or not there, durable, and for the owner
// alone.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// Puts `text` at `path`, in place of what is there, with mode 0600. Nobody sees a part of it, and
// others cannot read it, not even for a moment. When it returns, a power cut does not undo it. Not
// by two callers at once for the same path.
Status write_private_file(const std::string& path, std::string_view text);

}  // namespace orrery
