// The document that an upsert starts from. See bounds.h.
#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/bounds.h"
#include "api/mongo/match/node.h"
#include "api/mongo/match/path.h"

namespace orrery::mongo {
namespace {

using value::Type;

constexpr int32_t kNotSingleValueField = 54;

struct Equality {
  std::string path;
  Value value;
};

Answer<void> add(std::vector<Equality>& equalities, std::string_view path, const Value& value) {
  for (const Equality& known : equalities) {
    if (known.path == path) {
      return refuse(
          kNotSingleValueField,
          fmt::format("cannot infer query fields to set, path '{}' is matched twice", path));
    }
    const auto is_prefix = [](std::string_view a, std::string_view b) {
      return b.size() > a.size() && b.starts_with(a) && b[a.size()] == '.';
    };
    if (is_prefix(known.path, path) || is_prefix(path, known.path)) {
      return refuse(
          kNotSingleValueField,
          fmt::format("cannot infer query fields to set, both paths '{}' and '{}' are matched",
                      known.path, path));
    }
  }
  equalities.push_back({std::string(path), value});
  return {};
}

Answer<void> collect_operators(std::vector<Equality>& equalities, std::string_view path,
                               const Value& operators) {
  for (const auto& [name, operand] : operators.members()) {
    Value one;
    if (name == "$eq") {
      one = operand;
    } else if (name == "$in" && operand.is_array() && operand.size() == 1 &&
               operand.at(0).type() != Type::regex) {
      one = operand.at(0);
    } else if (name == "$all" && operand.is_array()) {
      for (const Value& element : operand.elements()) {
        if (has_operators(element) || element.type() == Type::regex) continue;
        if (const Answer<void> added = add(equalities, path, element); !added) return added;
      }
      continue;
    } else {
      continue;
    }
    if (const Answer<void> added = add(equalities, path, one); !added) return added;
  }
  return {};
}

Answer<void> collect(std::vector<Equality>& equalities, const Value& filter, int depth) {
  if (depth > kMaxNesting) return {};
  for (const auto& [name, operand] : filter.members()) {
    // A $or of one branch says as much as the branch.
    if (name == "$and" || (name == "$or" && operand.size() == 1)) {
      for (const Value& clause : operand.elements()) {
        if (const Answer<void> done = collect(equalities, clause, depth + 1); !done) return done;
      }
      continue;
    }
    if (name.starts_with('$') || operand.type() == Type::regex) continue;
    const Answer<void> added = has_operators(operand) ? collect_operators(equalities, name, operand)
                                                      : add(equalities, name, operand);
    if (!added) return added;
  }
  return {};
}

// The object with the value at the end of a path, whose components are all members of objects.
Value with_path(const Value& object, const std::vector<std::string>& components, size_t at,
                const Value& value) {
  if (at + 1 == components.size()) return with_member(object, components[at], value);
  const Value inner = object.find(components[at]);
  const Value base = inner.is_object() ? inner : Value::make_object({});
  return with_member(object, components[at], with_path(base, components, at + 1, value));
}

}  // namespace

Answer<Value> upsert_seed(const Value& filter) {
  std::vector<Equality> equalities;
  if (const Answer<void> done = collect(equalities, filter, 0); !done) return pass(done.error());
  Value seed = Value::make_object({});
  for (const bool is_of_id : {true, false}) {
    for (const Equality& equality : equalities) {
      const std::vector<std::string> components = split_path(equality.path);
      if ((components.front() == "_id") != is_of_id) continue;
      if (components.size() > static_cast<size_t>(kMaxNesting)) {
        return refuse(kBadValue, fmt::format("the path '{}' is nested too deep", equality.path));
      }
      seed = with_path(seed, components, 0, equality.value);
    }
  }
  return seed;
}

Answer<Value> upsert_seed_of_replacement(const Value& filter) {
  std::vector<Equality> equalities;
  if (const Answer<void> done = collect(equalities, filter, 0); !done) return pass(done.error());
  for (const Equality& equality : equalities) {
    if (equality.path == "_id") return Value::make_object({field("_id", equality.value)});
  }
  return Value::make_object({});
}

}  // namespace orrery::mongo
