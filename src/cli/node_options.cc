// See node_options.h.
#include "cli/node_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

namespace orrery::cli {
namespace {

constexpr size_t kNameMax = 63;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kNameMax && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// HOST:PORT; an IPv6 address in brackets.
bool is_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool is_v6 = host.starts_with('[') && host.ends_with(']');
  if (!is_v6 && host.find(':') != std::string_view::npos) return false;
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number != 0;
}

}  // namespace

Status check_node_options(const NodeOptions& options, const std::string& volume) {
  const std::array<std::pair<const char*, const std::string*>, 4> others = {
      {{"--node-address", &options.address},
       {"--cluster-ca", &options.ca},
       {"--cluster-cert", &options.certificate},
       {"--cluster-key", &options.private_key}}};
  for (const auto& [flag, value] : others) {
    if (options.is_node() && value->empty()) {
      return fail(Code::invalid, fmt::format("--node {} needs {} as well", options.name, flag));
    }
    if (!options.is_node() && !value->empty()) {
      return fail(Code::invalid,
                  fmt::format("{} is for a node among others: name it with --node", flag));
    }
  }
  if (!options.is_node()) return {};
  if (!is_name(options.name)) {
    return fail(Code::invalid, fmt::format("--node '{}' is not a name of up to {} letters a-z, "
                                           "digits and hyphens",
                                           options.name, kNameMax));
  }
  if (!is_address(options.address)) {
    return fail(Code::invalid,
                fmt::format("--node-address '{}' is not HOST:PORT, at which other nodes reach "
                            "this one",
                            options.address));
  }
  if (volume == "local") {
    return fail(Code::invalid,
                "--node needs a volume that the nodes share: --volume rados:POOL, "
                "or directory:PATH for nodes on one machine");
  }
  return {};
}

}  // namespace orrery::cli
