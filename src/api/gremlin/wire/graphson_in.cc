// GraphSON → values. See graphson.h.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "api/gremlin/parse/names.h"
#include "api/gremlin/parse/parser.h"
#include "api/gremlin/wire/graphson.h"

namespace orrery::gremlin {
namespace {

using value::Node;
using value::Type;

std::unexpected<Error> bad(std::string_view what) {
  return fail(Code::invalid, fmt::format("GraphSON that cannot be read: {}", what));
}

Argument of(Value value) {
  return {.value = std::move(value), .chain = {}, .predicate = {}};
}

Result<Value> number_in(std::string_view text, Kind kind) {
  const char* const end = text.data() + text.size();
  if (kind == Kind::int32 || kind == Kind::int64) {
    int64_t integer = 0;
    const auto [at, failed] = std::from_chars(text.data(), end, integer);
    if (failed == std::errc() && at == end) return Value::integer(integer, kind);
  } else {
    double number = 0;
    const auto [at, failed] = std::from_chars(text.data(), end, number);
    if (failed == std::errc() && at == end) return Value::real(number, kind);
  }
  return bad("a number is expected");
}

Result<Value> number_of(const Node& node, Kind kind) {
  if (node.type == Type::string) {
    if (node.text == "NaN") return Value::real(std::nan(""), kind);
    if (node.text == "Infinity") return Value::real(std::numeric_limits<double>::infinity(), kind);
    if (node.text == "-Infinity")
      return Value::real(-std::numeric_limits<double>::infinity(), kind);
    return number_in(node.text, kind);  // of languages whose numbers hold no 64 bits
  }
  if (node.type != Type::number) return bad("a number is expected");
  if (kind == Kind::float32 || kind == Kind::float64) return Value::real(node.number, kind);
  int64_t integer = 0;
  const auto [end, failed] =
      std::from_chars(node.raw.data(), node.raw.data() + node.raw.size(), integer);
  if (failed == std::errc() && end == node.raw.data() + node.raw.size())
    return Value::integer(integer, kind);
  if (std::abs(node.number) > 9.2e18) return bad("an integer is too large");
  return Value::integer(static_cast<int64_t>(node.number), kind);
}

Result<Value> plain_number(const Node& node) {
  const bool is_integer = node.raw.find_first_of(".eE") == std::string_view::npos;
  if (!is_integer || std::abs(node.number) > 9.2e18) return Value::real(node.number);
  auto number = number_of(node, Kind::int64);
  if (!number) return number;
  return Value::integer(number->as_integer());
}

Result<Value> value_of(const Node& node, size_t depth) {
  auto read = read_graphson(node, depth);
  if (!read) return pass(read.error());
  if (!read->is_value()) return bad("a value is expected here");
  return std::move(read->value);
}

Result<Value::List> list_of(const Node& node, size_t depth) {
  if (node.type != Type::array) return bad("a list is expected");
  Value::List made;
  for (const Node* element = node.first; element != nullptr; element = element->next) {
    auto value = value_of(*element, depth + 1);
    if (!value) return pass(value.error());
    made.push_back(std::move(*value));
  }
  return made;
}

// Keys and values in turns.
Result<Value> flat_map(const Node& node, size_t depth) {
  auto parts = list_of(node, depth);
  if (!parts) return pass(parts.error());
  if (parts->size() % 2 != 0) return bad("a g:Map has keys and values in turns");
  Value::Map made;
  for (size_t i = 0; i < parts->size(); i += 2) made.emplace_back((*parts)[i], (*parts)[i + 1]);
  return Value::map(std::move(made));
}

Result<Value> plain_map(const Node& node, size_t depth) {
  Value::Map made;
  for (const Node* member = node.first; member != nullptr; member = member->next) {
    auto value = value_of(*member, depth + 1);
    if (!value) return pass(value.error());
    made.emplace_back(Value::text(std::string(member->name)), std::move(*value));
  }
  return Value::map(std::move(made));
}

Result<Argument> predicate_of(const Node& node, size_t depth) {
  const Node* op = node.find("predicate");
  const Node* value = node.find("value");
  if (op == nullptr || op->type != Type::string || value == nullptr) return bad("g:P");
  auto made = std::make_shared<Predicate>();
  made->op = op->text;
  if (made->op != "and" && made->op != "or" && made->op != "not" && !is_predicate(made->op)) {
    return fail(Code::unsupported,
                fmt::format("there is no predicate {}", made->op.substr(0, 100)));
  }
  if (made->op == "and" || made->op == "or" || made->op == "not") {
    std::vector<const Node*> parts;
    const Node* list = value;
    if (const Node* inner = value->type == Type::object ? value->find("@type") : nullptr;
        inner != nullptr && inner->text == "g:List") {
      list = value->find("@value");
    }
    if (list != nullptr && list->type == Type::array) {
      for (const Node* part = list->first; part != nullptr; part = part->next)
        parts.push_back(part);
    } else {
      parts.push_back(value);
    }
    for (const Node* part : parts) {
      auto read = read_graphson(*part, depth + 1);
      if (!read) return read;
      if (!read->predicate) return bad("a predicate of predicates");
      made->parts.push_back(read->predicate);
    }
    if (made->parts.empty()) return bad("a predicate without parts");
  } else {
    auto read = value_of(*value, depth + 1);
    if (!read) return pass(read.error());
    const bool takes_two = made->op == "between" || made->op == "inside" || made->op == "outside";
    if (read->is_list() && (takes_two || made->op == "within" || made->op == "without")) {
      made->values = read->elements();
    } else {
      made->values.push_back(std::move(*read));
    }
    if (takes_two && made->values.size() != 2) return bad("a predicate takes two values");
  }
  return Argument{.value = {}, .chain = {}, .predicate = std::move(made)};
}

std::string member_text(const Node& node, std::string_view name) {
  const Node* found = node.find(name);
  if (found == nullptr) return {};
  if (found->type == Type::object) found = found->find("@value");
  if (found == nullptr) return {};
  return std::string(found->type == Type::string ? std::string_view(found->text) : found->raw);
}

// A strategy's settings become calls, as in Strategy.build().name(value).
Result<Argument> strategy_of(std::string_view name, const Node& settings, size_t depth) {
  auto chain = std::make_shared<Chain>(Chain{std::string(name), {}});
  const Node* map = &settings;
  if (settings.type == Type::object) {
    // {"fqcn": …, "conf": {…}} in newer clients.
    if (const Node* inner = settings.find("conf"); inner != nullptr) map = inner;
  }
  const auto add = [&](std::string_view key, const Node& value) -> Status {
    auto read = read_graphson(value, depth + 1);
    if (!read) return pass(read.error());
    chain->calls.push_back({std::string(key), {std::move(*read)}});
    return {};
  };
  const Node* type = map->type == Type::object ? map->find("@type") : nullptr;
  if (type != nullptr && type->text == "g:Map") {
    const Node* flat = map->find("@value");
    if (flat == nullptr || flat->type != Type::array) return bad("the settings of a strategy");
    for (const Node* key = flat->first; key != nullptr && key->next != nullptr; key = key->next) {
      if (auto added = add(key->text, *key->next); !added) return pass(added.error());
      key = key->next;
    }
  } else if (map->type == Type::object) {
    for (const Node* member = map->first; member != nullptr; member = member->next) {
      if (auto added = add(member->name, *member); !added) return pass(added.error());
    }
  }
  return Argument{.value = {}, .chain = std::move(chain), .predicate = {}};
}

Result<Argument> typed(std::string_view type, const Node& node, size_t depth) {
  if (type == "g:Int32" || type == "gx:Int16" || type == "gx:Byte" || type == "gx:Short") {
    auto number = number_of(node, Kind::int32);
    return number ? Result<Argument>(of(std::move(*number))) : pass(number.error());
  }
  if (type == "g:Int64" || type == "g:Date" || type == "g:Timestamp" || type == "gx:BigInteger") {
    auto number = number_of(node, Kind::int64);
    return number ? Result<Argument>(of(std::move(*number))) : pass(number.error());
  }
  if (type == "g:Float" || type == "g:Double" || type == "gx:BigDecimal") {
    auto number = number_of(node, type == "g:Float" ? Kind::float32 : Kind::float64);
    return number ? Result<Argument>(of(std::move(*number))) : pass(number.error());
  }
  if (type == "g:List" || type == "g:Set" || type == "g:BulkSet") {
    auto list = list_of(node, depth);
    if (!list) return pass(list.error());
    return of(Value::list(std::move(*list), type == "g:Set" ? Kind::set : Kind::list));
  }
  if (type == "g:Map") {
    auto map = flat_map(node, depth);
    return map ? Result<Argument>(of(std::move(*map))) : pass(map.error());
  }
  if (type == "g:P" || type == "g:TextP") return predicate_of(node, depth);
  if (type == "g:Bytecode") {
    auto chain = read_bytecode(node, depth + 1);
    if (!chain) return pass(chain.error());
    return Argument{
        .value = {}, .chain = std::make_shared<Chain>(std::move(*chain)), .predicate = {}};
  }
  if (type == "g:Binding") {
    const Node* value = node.find("value");
    if (value == nullptr) return bad("g:Binding");
    return read_graphson(*value, depth + 1);
  }
  if (type == "g:Vertex") {
    auto vertex = std::make_shared<Vertex>();
    vertex->key.id = member_text(node, "id");
    vertex->label = member_text(node, "label");
    return of(Value::of(std::move(vertex)));
  }
  if (type == "g:Edge") {
    auto edge = std::make_shared<Edge>();
    edge->key.id = member_text(node, "id");
    edge->label = member_text(node, "label");
    return of(Value::of(std::move(edge)));
  }
  if (type == "g:Traverser") {
    const Node* value = node.find("value");
    if (value == nullptr) return bad("g:Traverser");
    return read_graphson(*value, depth + 1);
  }
  if (type == "g:UUID" || type == "g:Class") return of(Value::text(std::string(node.text)));
  if (type.ends_with("Strategy")) return strategy_of(type.substr(2), node, depth);
  if (type.starts_with("g:") && node.type == Type::string) {
    std::string_view name = type.substr(2);
    if (auto known = constant(name, node.text)) return of(std::move(*known));
  }
  return fail(Code::unsupported, fmt::format("the type {} is not supported", type.substr(0, 100)));
}

}  // namespace

Result<Argument> read_graphson(const Node& node, size_t depth) {
  if (depth > kNestingMax) return bad("it nests too deep");
  switch (node.type) {
    case Type::null:
      return of(Value());
    case Type::boolean:
      return of(Value::boolean(node.boolean));
    case Type::number: {
      auto number = plain_number(node);
      return number ? Result<Argument>(of(std::move(*number))) : pass(number.error());
    }
    case Type::string:
      return of(Value::text(std::string(node.text)));
    case Type::array: {
      auto list = list_of(node, depth);
      if (!list) return pass(list.error());
      return of(Value::list(std::move(*list)));
    }
    case Type::object: {
      const Node* type = node.find("@type");
      const Node* value = node.find("@value");
      if (type != nullptr && type->type == Type::string) {
        if (value == nullptr && std::string_view(type->text).ends_with("Strategy")) value = type;
        if (value == nullptr) return bad("a @type without its @value");
        return typed(type->text, *value, depth);
      }
      auto map = plain_map(node, depth);
      return map ? Result<Argument>(of(std::move(*map))) : pass(map.error());
    }
    default:
      return bad("a value");
  }
}

Result<Chain> read_bytecode(const Node& node, size_t depth) {
  if (depth > kNestingMax) return bad("it nests too deep");
  Chain chain{.source = "__", .calls = {}};
  for (const std::string_view part : {"source", "step"}) {
    const Node* calls = node.find(part);
    if (calls == nullptr) continue;
    if (calls->type != Type::array) return bad("the instructions of bytecode are a list");
    for (const Node* one = calls->first; one != nullptr; one = one->next) {
      if (one->type != Type::array || one->first == nullptr || one->first->type != Type::string) {
        return bad("an instruction of bytecode is a list that begins with its name");
      }
      StepCall call{.name = std::string(one->first->text), .arguments = {}};
      for (const Node* argument = one->first->next; argument != nullptr;
           argument = argument->next) {
        auto read = read_graphson(*argument, depth + 1);
        if (!read) return pass(read.error());
        call.arguments.push_back(std::move(*read));
      }
      if (auto checked = check_call(call); !checked) return pass(checked.error());
      chain.calls.push_back(std::move(call));
    }
  }
  return chain;
}

}  // namespace orrery::gremlin
