// Numbers as people write them.
#pragma once

#include <string>

namespace orrery::advise {

std::string percent(double share);     // 31 %, 0.4 %
std::string number(double value);      // 1,234
std::string bytes_text(double bytes);  // 3.2 GB

}  // namespace orrery::advise
