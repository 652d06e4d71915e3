// See faces.h.
#include "cli/faces.h"

#include <fmt/format.h>

#include <array>

#include "api/cosmos/service.h"

namespace orrery::cli {
namespace {

Result<cosmos::ServiceOptions> cosmos_options(const ServeOptions& options) {
  cosmos::ServiceOptions service;
  auto consistency = cosmos::parse_consistency(options.consistency);
  if (!consistency) return pass(consistency.error());
  service.consistency = *consistency;
  if (options.queries != "service" && options.queries != "permissive") {
    return fail(Code::invalid,
                fmt::format("--queries '{}' is not one of service, permissive", options.queries));
  }
  service.query_rules = options.queries == "permissive" ? cosmos::QueryRules::permissive
                                                        : cosmos::QueryRules::service;
  for (const KnownFace& known : known_faces().subspan(1)) {
    service.other_faces.emplace_back(known.name);
  }
  return service;
}

Status check_cosmos(const ServeOptions& options) {
  auto parsed = cosmos_options(options);
  if (!parsed) return pass(parsed.error());
  return {};
}

std::unique_ptr<face::Face> make_cosmos(const face::Context& context, const ServeOptions& options) {
  return std::make_unique<cosmos::Service>(context, *cosmos_options(options));
}

constexpr std::array kFaces = {
    KnownFace{"cosmos", 8081, "Port for http and https; 0: any free one", check_cosmos,
              make_cosmos},
};

}  // namespace

std::span<const KnownFace> known_faces() {
  return kFaces;
}

}  // namespace orrery::cli
