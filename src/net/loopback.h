// Which names and addresses are this machine's own and cannot be reached from another.
#pragma once

#include <string_view>

namespace orrery::net {

// `host` is an address or a name, with or without a port: 127.0.0.1:8081, [::1], ::1, localhost.
// Names other than localhost and what ends in .localhost are not looked up: whoever owns a name
// says where it leads, and can say that it leads here.
bool is_loopback(std::string_view host);

}  // namespace orrery::net
