// A running account, as whoever copies it asks it (cluster/exporting/export_messages.h): over https
// for the command, in the same process for tests.
#pragma once

#include <string>

#include "base/result.h"

namespace orrery::backup {

class Source {
 public:
  virtual ~Source() = default;
  // Code::moved: what was open is not any more, or the partition is not there; the map tells what
  // is. Code::overloaded, Code::read_only: not now. Blocks.
  virtual Result<std::string> ask(const std::string& request) = 0;
};

}  // namespace orrery::backup
