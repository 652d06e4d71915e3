// See survive.h.
#include "base/survive.h"

#include "base/log.h"

namespace orrery {

void note_exception(std::string_view doing, std::string_view what) noexcept {
  try {
    log::error("gave up a piece of work", {{"doing", doing}, {"error", what}});
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is no memory to say so
  }
}

}  // namespace orrery
