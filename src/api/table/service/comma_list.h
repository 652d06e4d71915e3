// Lists as headers and CORS rules have them: values between commas, with space around them that
// does not count. Pure; any thread may call.
#pragma once

#include <string_view>

namespace orrery::table {

// Calls `visit` with each value that is not empty, for as long as it returns true.
template <class Visit>
void for_each_in_list(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view value = list.substr(0, comma);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    const size_t begin = value.find_first_not_of(" \t");
    if (begin == std::string_view::npos) continue;
    value = value.substr(begin, value.find_last_not_of(" \t") - begin + 1);
    if (!visit(value)) return;
  }
}

}  // namespace orrery::table
