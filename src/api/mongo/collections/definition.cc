// See definition.h.
#include "api/mongo/collections/definition.h"

#include <utility>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/collections/unique_index.h"
#include "base/bytes.h"
#include "value/placement.h"

namespace orrery::mongo {
namespace {

using value::NumberKind;
using value::Type;
using value::Value;

constexpr std::string_view kBegins = "{\"bson\":\"";
constexpr std::string_view kEnds = "\"}";
constexpr uint8_t kUuidSubtype = 4;

Value int32_of(int32_t number) {
  return Value::make_integer(number, NumberKind::int32);
}

}  // namespace

std::vector<std::string> places_of(const IndexSpec& index) {
  std::vector<std::string> paths;
  for (const Value::Member& field : index.key.members()) {
    if (field.value.is_string() && field.value.text() == "2dsphere") paths.emplace_back(field.name);
  }
  return paths;
}

Value condition_of(const IndexSpec& index) {
  if (const Value partial = index.spec.find("partialFilterExpression"); partial.is_object()) {
    return partial;
  }
  if (!is_truthy(index.spec.find("sparse"))) return {};
  const auto object_of = [](std::string_view name, Value value) {
    return Value::make_object({{Value::make_string(std::string(name)), std::move(value)}});
  };
  std::vector<Value> fields;
  for (const Value::Member& field : index.key.members()) {
    fields.push_back(object_of(field.name, object_of("$exists", Value::make_bool(true))));
  }
  return object_of("$or", Value::make_array(std::move(fields)));
}

std::vector<std::string> Definition::shard_paths() const {
  std::vector<std::string> paths;
  for (const Value::Member& member : shard_key.members()) paths.emplace_back(member.name);
  return paths;
}

const IndexSpec* Definition::index_of_name(std::string_view name) const {
  for (const IndexSpec& index : indexes) {
    if (index.name == name) return &index;
  }
  return nullptr;
}

std::optional<int64_t> Definition::expire_after_s(const IndexSpec& index) {
  const Value seconds = index.spec.find("expireAfterSeconds");
  if (!seconds.is_number()) return std::nullopt;
  return static_cast<int64_t>(seconds.number());
}

bool Definition::is_expiry_pending(const IndexSpec& index) {
  return index.spec.find("expiryPending").is_true();
}

const IndexSpec* Definition::expiring_index() const {
  for (const IndexSpec& index : indexes) {
    if (expire_after_s(index)) return &index;
  }
  return nullptr;
}

IndexSpec id_index() {
  const Value key = Value::make_object({{text_value("_id"), int32_of(1)}});
  return {"_id_", key,
          Value::make_object({{text_value("v"), int32_of(2)},
                              {text_value("key"), key},
                              {text_value("name"), text_value("_id_")}})};
}

std::string Definition::to_face_json() const {
  std::vector<Value> specs;
  for (const IndexSpec& index : indexes) specs.push_back(index.spec);
  std::vector<Value::Field> fields;
  fields.push_back({text_value("uuid"), Value::make_bytes(Type::binary, uuid, kUuidSubtype)});
  if (options.is_object()) fields.push_back({text_value("options"), options});
  fields.push_back({text_value("indexes"), Value::make_array(std::move(specs))});
  if (is_sharded()) fields.push_back({text_value("shardKey"), shard_key});
  // Its parts came in messages, so it is not too large or too deep.
  const auto bson = to_bson(Value::make_object(std::move(fields)));
  std::string json(kBegins);
  json += to_base64(bson ? *bson : std::string());
  json += kEnds;
  return json;
}

Definition read_definition(const catalog::ContainerSpec& spec) {
  Definition definition;
  definition.options = Value::make_object({});
  if (spec.key.paths.empty()) definition.placement = value::place(spec.key, {});
  std::string_view json = spec.face_json;
  if (!json.starts_with(kBegins) || !json.ends_with(kEnds)) return definition;
  json.remove_prefix(kBegins.size());
  json.remove_suffix(kEnds.size());
  const auto bytes = from_base64(json);
  if (!bytes) return definition;
  const auto kept = from_bson(*bytes);
  if (!kept) return definition;
  if (const Value uuid = kept->find("uuid"); uuid.type() == Type::binary) {
    definition.uuid = uuid.bytes();
  }
  if (const Value options = kept->find("options"); options.is_object()) {
    definition.options = options.to_owned();
  }
  definition.shard_key = kept->find("shardKey").to_owned();
  const Value indexes = kept->find("indexes");
  for (const Value& index : indexes.elements()) {
    const Value name = index.find("name");
    if (!name.is_string()) continue;
    IndexSpec made{std::string(name.text()), index.find("key").to_owned(), index.to_owned()};
    // Documents have contradicted it while it was built.
    if (is_unique(made) && !unique_key_of(spec, made)) continue;
    for (std::string& place : places_of(made)) definition.places.push_back(std::move(place));
    definition.indexes.push_back(std::move(made));
  }
  return definition;
}

value::Path path_of(std::string_view dotted) {
  value::Path path;
  for (;;) {
    const size_t dot = dotted.find('.');
    path.steps.push_back({.name = std::string(dotted.substr(0, dot))});
    if (dot == std::string_view::npos) return path;
    dotted.remove_prefix(dot + 1);
  }
}

const Definition& definition_of(const cluster::Routing& routing) {
  return routing.decoded.get<Definition>(
      [&routing] { return read_definition(routing.container->spec); });
}

}  // namespace orrery::mongo
