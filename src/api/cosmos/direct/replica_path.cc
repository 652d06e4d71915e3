// See replica_path.h.
#include "api/cosmos/direct/replica_path.h"

#include <fmt/format.h>

#include <charconv>

namespace orrery::cosmos::direct {
namespace {

constexpr std::string_view kApp = "/apps/6f727265-7279-4000-8000-000000000000/services/";
constexpr std::string_view kService = "6f727265-7279-4000-8001-";
constexpr std::string_view kPartitions = "/partitions/";
constexpr std::string_view kPartition = "6f727265-7279-4000-8002-";
constexpr size_t kGroupDigits = 12;  // of a GUID's last group

bool take(std::string_view& rest, std::string_view prefix) {
  if (!rest.starts_with(prefix)) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

bool take_number(std::string_view& rest, uint32_t& number) {
  if (rest.size() < kGroupDigits) return false;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + kGroupDigits, number, 16);
  if (error != std::errc() || end != rest.data() + kGroupDigits) return false;
  rest.remove_prefix(kGroupDigits);
  return true;
}

}  // namespace

std::string replica_path(const ReplicaPath& path, bool secondary) {
  return fmt::format("{}{}{:012x}{}{}{:012x}/replicas/{}", kApp, kService, path.container,
                     kPartitions, kPartition, path.range, secondary ? "2s" : "1p");
}

std::optional<ReplicaPath> parse_replica_path(std::string_view text) {
  ReplicaPath path;
  if (!take(text, kApp) || !take(text, kService) || !take_number(text, path.container) ||
      !take(text, kPartitions) || !take(text, kPartition) || !take_number(text, path.range)) {
    return std::nullopt;
  }
  return path;
}

}  // namespace orrery::cosmos::direct
