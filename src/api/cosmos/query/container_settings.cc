// See container_settings.h.
#include "api/cosmos/query/container_settings.h"

#include <utility>

#include "api/cosmos/foreign/foreign_database.h"
#include "api/cosmos/resources/container_policies.h"

namespace orrery::cosmos {
namespace {

Result<ContainerSettings> decode(const cluster::Routing& routing) {
  const std::string& definition = routing.container->spec.face_json;
  auto computed = computed_properties(definition);
  if (!computed) return pass(computed.error());
  auto vectors = vector_paths(definition);
  if (!vectors) return pass(vectors.error());
  return ContainerSettings{.computed = std::move(*computed), .vectors = std::move(*vectors)};
}

}  // namespace

Result<const ContainerSettings*> settings_of(const cluster::Routing& routing) {
  // The definition of another face's container is that face's, and so is what is decoded of it.
  static const ContainerSettings kNone{};
  if (!is_own(*routing.database)) return &kNone;
  const auto& kept =
      routing.decoded.get<Result<ContainerSettings>>([&] { return decode(routing); });
  if (!kept) return pass(kept.error());
  return &*kept;
}

}  // namespace orrery::cosmos
