// See entity.h.
#include "transfer/entity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/ascii_case.h"
#include "transfer/item.h"
#include "value/json.h"

namespace orrery::transfer {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr std::string_view kTypeOf = "@odata.type";

Result<std::string> key_of(const Node& entity, std::string_view name) {
  const Node* key = entity.find(name);
  if (key == nullptr) {
    return fail(Code::invalid, fmt::format("it has no {}: every entity needs both keys", name));
  }
  if (key->type != Type::string) {
    return fail(Code::invalid, fmt::format("its {} is {}, which is not a string", name, key->raw));
  }
  return std::string(key->text);
}

// The type that a value has when none is said.
std::string_view usual_type(const Node& value) {
  switch (value.type) {
    case Type::boolean:
      return "Edm.Boolean";
    case Type::number: {
      const bool is_integer = value.raw.find_first_of(".eE") == std::string_view::npos;
      const bool fits = value.number >= INT32_MIN && value.number <= INT32_MAX;
      return is_integer && fits ? "Edm.Int32" : "Edm.Double";
    }
    default:
      return "Edm.String";
  }
}

// The same text for all spellings of a value.
std::string canonical(const Node& value, std::string_view type) {
  std::string text;
  if (value.type == Type::number) {
    value::append_json_number(text, value.number);
    return text;
  }
  text = value.type == Type::string ? value.text : value.raw;
  if (type == "Edm.Double") {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && std::isfinite(number)) {
      text.clear();
      value::append_json_number(text, number);
    }
  } else if (type == "Edm.Guid") {
    text = lowered(text);
  } else if (type == "Edm.DateTime" && text.ends_with('Z') && text.find('.') != std::string::npos) {
    text.pop_back();
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    text += 'Z';
  }
  return text;
}

// By name: the type and the value.
using Properties = std::map<std::string, std::pair<std::string, std::string>>;
std::optional<Properties> properties_of(std::string_view json) {
  auto document = JsonDocument::parse(json);
  if (!document || document->root().type != Type::object) return std::nullopt;
  Properties properties;
  for (const Node* one = document->root().first; one != nullptr; one = one->next) {
    if (is_system_property(one->name, RecordKind::entity) || one->name.ends_with(kTypeOf)) continue;
    if (one->type == Type::null) continue;  // as if it were not there
    const Node* said = document->root().find(std::string(one->name) + std::string(kTypeOf));
    const std::string type(said != nullptr ? said->text : usual_type(*one));
    properties.emplace(one->name, std::pair(type, canonical(*one, type)));
  }
  return properties;
}

}  // namespace

Result<PreparedEntity> prepare_entity(std::string_view json) {
  auto document = JsonDocument::parse(json);
  if (!document) {
    return fail(Code::invalid, fmt::format("it is not JSON: {}", document.error().message));
  }
  const Node& root = document->root();
  if (root.type != Type::object) return fail(Code::invalid, "it is not a JSON object");
  auto partition_key = key_of(root, "PartitionKey");
  if (!partition_key) return pass(partition_key.error());
  auto row_key = key_of(root, "RowKey");
  if (!row_key) return pass(row_key.error());
  return PreparedEntity{.partition_key = std::move(*partition_key),
                        .row_key = std::move(*row_key),
                        .body = without_system_properties(root, RecordKind::entity)};
}

bool entities_are_equal(std::string_view first, std::string_view second) {
  const auto ours = properties_of(first);
  return ours && ours == properties_of(second);
}

}  // namespace orrery::transfer
