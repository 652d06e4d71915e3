// What an operator can set of the Gremlin face.
#pragma once

#include <array>

#include "api/gremlin/handler_context.h"
#include "face/settings.h"

namespace orrery::gremlin {

inline constexpr std::array kPorts = {
    face::Port{"gremlin", 8901, "Port of Gremlin, for ws and wss; 0: any free one"}};
inline constexpr std::array kOptions = {
    face::Option{"gremlin-answers", "untyped|typed",
                 "How Gremlin's GraphSON 2 is answered: untyped (as clients of the vendor's "
                 "service expect) or typed",
                 "untyped"},
    face::Option{"gremlin-loops", "N", "How many loops a repeat() of Gremlin may take", "64"},
    face::Option{
        "gremlin-cache-mb", "MB",
        "Memory for vertices and their neighbours that traversals of Gremlin have read; 0: "
        "none are kept",
        "256"}};

inline ServiceOptions service_options(const face::OptionValues& values) {
  return {.typed_graphson2 = values.text("gremlin-answers") == "typed",
          .loops_max = values.number("gremlin-loops"),
          .cache_mb = values.number("gremlin-cache-mb")};
}

}  // namespace orrery::gremlin
