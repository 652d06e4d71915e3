// What an operator can set of the Table face.
#pragma once

#include <array>

#include "api/table/handler_context.h"
#include "face/settings.h"

namespace orrery::table {

inline constexpr std::array kPorts = {
    face::Port{"table", 10002, "Port of Table storage, for http and https; 0: any free one"}};
inline constexpr std::array kOptions = {
    face::Option{"table-flavour", "storage|cosmos",
                 "What new tables are like: storage (entities in the order of their keys) or "
                 "cosmos (placed by hash; 429 over budget)",
                 "storage"}};

inline ServiceOptions service_options(const face::OptionValues& values) {
  return {.flavour = values.text("table-flavour") == "cosmos" ? Flavour::cosmos : Flavour::storage};
}

}  // namespace orrery::table
