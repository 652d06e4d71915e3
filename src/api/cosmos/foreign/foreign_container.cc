// See foreign_container.h.
#include "api/cosmos/foreign/foreign_container.h"

#include "api/cosmos/foreign/foreign_item.h"
#include "api/cosmos/resources/container_definition.h"
#include "api/cosmos/resources/definition_fields.h"
#include "partition/item.h"

namespace orrery::cosmos {
namespace {

std::string key_json(const value::KeyDefinition& key) {
  std::string paths = "[";
  for (const value::Path& path : key.paths) {
    if (paths.size() > 1) paths += ',';
    paths += quoted(shown_path(path));
  }
  std::string out = "{";
  append_member(out, "paths", paths + "]");
  switch (key.placement) {
    case value::Placement::hash_v1:
      append_member(out, "kind", R"("Hash")");
      append_member(out, "version", "1");
      break;
    case value::Placement::hash_v2:
      append_member(out, "kind", R"("Hash")");
      append_member(out, "version", "2");
      break;
    case value::Placement::multi_hash:
      append_member(out, "kind", R"("MultiHash")");
      append_member(out, "version", "2");
      break;
    case value::Placement::range:
      append_member(out, "kind", R"("Range")");
      break;
  }
  return out + "}";
}

}  // namespace

std::string foreign_definition(const catalog::ContainerSpec& spec) {
  std::string out;
  append_member(
      out, "indexingPolicy",
      R"({"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]})");
  append_member(out, "partitionKey",
                spec.key.paths.empty() ? std::string(kFixedKey) : key_json(spec.key));
  if (const auto life_ms = spec.default_life_ms) {
    const bool is_forever = *life_ms == partition::Lifetime::kForever;
    append_member(out, "defaultTtl", is_forever ? "-1" : std::to_string((*life_ms + 999) / 1000));
  }
  return out;
}

}  // namespace orrery::cosmos
