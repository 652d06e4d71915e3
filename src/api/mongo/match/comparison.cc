// The operators of a path that look at single values: comparisons, $in, $type, $mod, $regex, $size
// and the bits.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/regex.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

using Leaf = MatchPath::Leaf;
using value::Type;

enum class Relation : uint8_t { equal, less, at_most, greater, at_least };

bool holds(Relation relation, std::strong_ordering order) {
  switch (relation) {
    case Relation::equal:
      return order == 0;
    case Relation::less:
      return order < 0;
    case Relation::at_most:
      return order <= 0;
    case Relation::greater:
      return order > 0;
    case Relation::at_least:
      return order >= 0;
  }
  return false;
}

bool allows_equal(Relation relation) {
  return relation == Relation::equal || relation == Relation::at_most ||
         relation == Relation::at_least;
}

// Values of another type than the operand's are not compared. MinKey and MaxKey are the ends of all
// types.
bool compares(Relation relation, const Value& value, const Value& operand,
              const Collation* collation) {
  if (value.type() != operand.type()) {
    if (is_nullish(value) && is_nullish(operand)) return allows_equal(relation);
    if (operand.type() == Type::max_key) {
      return relation == Relation::less || relation == Relation::at_most;
    }
    if (operand.type() == Type::min_key) {
      return relation == Relation::greater || relation == Relation::at_least;
    }
    return false;
  }
  if (relation == Relation::equal) return equals(value, operand, collation);
  if (value.is_number() && (is_nan(value) || is_nan(operand))) {
    return allows_equal(relation) && is_nan(value) && is_nan(operand);
  }
  return holds(relation, compare(value, operand, collation));
}

MatchNodePtr comparison(const MatchPath& path, Relation relation, const Value& operand) {
  return make_leaf(path, Leaf::each_and_whole,
                   [relation, operand](const Value& value, MatchState& state) {
                     return compares(relation, value, operand, state.collation);
                   });
}

template <Relation kRelation>
Answer<MatchNodePtr> parse_comparison(const MatchPath& path, const Value& operand,
                                      const MatchScope& /*scope*/) {
  if (operand.type() == Type::regex && kRelation != Relation::equal) {
    return refuse(kBadValue, fmt::format("Can't have RegEx as arg to predicate over field '{}'.",
                                         path.text()));
  }
  return comparison(path, kRelation, operand);
}

Answer<MatchNodePtr> parse_ne(const MatchPath& path, const Value& operand, const MatchScope&) {
  if (operand.type() == Type::regex) {
    return refuse(kBadValue, "Can't have regex as arg to $ne.");
  }
  return make_not(comparison(path, Relation::equal, operand));
}

Answer<MatchNodePtr> regex_leaf(const MatchPath& path, std::string_view pattern,
                                std::string_view options) {
  Answer<Regex> regex = Regex::compile(pattern, options);
  if (!regex) return pass(std::move(regex.error()));
  return make_leaf(path, Leaf::each_and_whole,
                   [regex = *std::move(regex), itself = make_regex(pattern, options)](
                       const Value& value, MatchState& state) {
                     if (value.type() == Type::regex) return equals(value, itself, nullptr);
                     if (!value.is_string()) return false;
                     const Answer<bool> found = regex.matches(value.text());
                     if (!found) state.fail(found.error());
                     return found && *found;
                   });
}

Answer<MatchNodePtr> parse_in(const MatchPath& path, const Value& operand,
                              const MatchScope& scope) {
  if (!operand.is_array()) return refuse(kBadValue, "$in needs an array");
  std::vector<MatchNodePtr> alternatives;
  std::vector<Value> choices;
  bool has_null = false;
  for (const Value& element : operand.elements()) {
    if (element.type() == Type::regex) {
      Answer<MatchNodePtr> regex = regex_leaf(path, regex_pattern(element), regex_options(element));
      if (!regex) return regex;
      alternatives.push_back(*std::move(regex));
      continue;
    }
    if (has_operators(element)) return refuse(kBadValue, "cannot nest $ under $in");
    has_null |= element.is_null();
    choices.push_back(element);
  }
  std::ranges::sort(choices, [&](const Value& a, const Value& b) {
    return compare(a, b, scope.options.collation.get()) < 0;
  });
  alternatives.push_back(
      make_leaf(path, Leaf::each_and_whole,
                [choices = std::move(choices), has_null](const Value& value, MatchState& state) {
                  if (value.is_undefined()) return has_null;
                  const auto found =
                      std::ranges::lower_bound(choices, value, [&](const Value& a, const Value& b) {
                        return compare(a, b, state.collation) < 0;
                      });
                  return found != choices.end() && equals(*found, value, state.collation);
                }));
  return make_or(std::move(alternatives));
}

Answer<MatchNodePtr> parse_nin(const MatchPath& path, const Value& operand,
                               const MatchScope& scope) {
  if (!operand.is_array()) return refuse(kBadValue, "$nin needs an array");
  Answer<MatchNodePtr> in = parse_in(path, operand, scope);
  if (!in) return in;
  return make_not(*std::move(in));
}

Answer<MatchNodePtr> parse_exists(const MatchPath& path, const Value& operand, const MatchScope&) {
  MatchNodePtr exists = make_leaf(path, Leaf::each_and_whole, [](const Value& value, MatchState&) {
    return !value.is_undefined();
  });
  return is_truthy(operand) ? exists : make_not(std::move(exists));
}

Answer<MatchNodePtr> parse_type(const MatchPath& path, const Value& operand, const MatchScope&) {
  Answer<std::vector<BsonType>> types = parse_types(operand);
  if (!types) return pass(std::move(types.error()));
  return make_leaf(
      path, Leaf::each_and_whole, [types = *std::move(types)](const Value& value, MatchState&) {
        return std::ranges::find(types, bson_type(value)) != types.end() && !value.is_undefined();
      });
}

Answer<MatchNodePtr> parse_size(const MatchPath& path, const Value& operand, const MatchScope&) {
  if (!operand.is_number()) {
    return refuse(kBadValue, fmt::format("Failed to parse $size. Expected a number in: $size: {}",
                                         shown(operand)));
  }
  const std::optional<int64_t> size = exact_integer(operand);
  if (!size.has_value()) {
    return refuse(kBadValue, fmt::format("Failed to parse $size. Expected an integer: $size: {}",
                                         shown(operand)));
  }
  if (*size < 0) {
    return refuse(kBadValue,
                  fmt::format("Failed to parse $size. Expected a non-negative number in: $size: {}",
                              shown(operand)));
  }
  return make_leaf(path, Leaf::whole,
                   [size = static_cast<uint64_t>(*size)](const Value& value, MatchState&) {
                     return value.is_array() && value.size() == size;
                   });
}

Answer<int64_t> mod_argument(const Value& number, std::string_view name) {
  if (!number.is_number()) {
    return refuse(kBadValue, fmt::format("malformed mod, {} not a number", name));
  }
  const std::optional<int64_t> integer = truncated_integer(number);
  if (!integer.has_value()) {
    return refuse(kBadValue, fmt::format("malformed mod, {} value is invalid: {} is out of range",
                                         name, shown(number)));
  }
  return *integer;
}

Answer<MatchNodePtr> parse_mod(const MatchPath& path, const Value& operand, const MatchScope&) {
  if (!operand.is_array()) return refuse(kBadValue, "malformed mod, needs to be an array");
  if (operand.size() < 2) return refuse(kBadValue, "malformed mod, not enough elements");
  if (operand.size() > 2) return refuse(kBadValue, "malformed mod, too many elements");
  const Answer<int64_t> divisor = mod_argument(operand.at(0), "divisor");
  if (!divisor) return pass(divisor.error());
  const Answer<int64_t> remainder = mod_argument(operand.at(1), "remainder");
  if (!remainder) return pass(remainder.error());
  if (*divisor == 0) return refuse(kBadValue, "divisor cannot be 0");
  return make_leaf(path, Leaf::each_and_whole,
                   [by = *divisor, rest = *remainder](const Value& value, MatchState&) {
                     if (!value.is_number()) return false;
                     const std::optional<int64_t> integer = truncated_integer(value);
                     if (!integer.has_value()) return false;
                     // The smallest integer divided by -1 does not fit.
                     return (by == -1 ? 0 : *integer % by) == rest;
                   });
}

// --- bits: a mask as a number, as bytes, or as the positions of its bits

enum class BitTest : uint8_t { all_set, any_set, all_clear, any_clear };

Answer<std::vector<uint32_t>> parse_positions(const Value& operand, std::string_view name) {
  std::vector<uint32_t> positions;
  if (operand.is_number()) {
    const std::optional<int64_t> mask = exact_integer(operand);
    if (!mask.has_value()) {
      return refuse(kFailedToParse,
                    fmt::format("Expected an integer: {}: {}", name, shown(operand)));
    }
    if (*mask < 0) {
      return refuse(kFailedToParse,
                    fmt::format("Expected a non-negative number in: {}: {}", name, shown(operand)));
    }
    for (uint32_t bit = 0; bit < 63; ++bit) {
      if (((*mask >> bit) & 1) != 0) positions.push_back(bit);
    }
    return positions;
  }
  if (operand.type() == Type::binary) {
    const std::string_view bytes = operand.bytes();
    for (size_t i = 0; i < bytes.size(); ++i) {
      for (uint32_t bit = 0; bit < 8; ++bit) {
        if (((static_cast<uint8_t>(bytes[i]) >> bit) & 1) != 0) {
          positions.push_back(static_cast<uint32_t>(i * 8 + bit));
        }
      }
    }
    return positions;
  }
  if (operand.is_array()) {
    for (const Value& element : operand.elements()) {
      const std::optional<int64_t> position = exact_integer(element);
      if (!position.has_value()) {
        return refuse(kBadValue,
                      fmt::format("bit positions must be an integer but got: {}", shown(element)));
      }
      if (*position < 0) {
        return refuse(kBadValue, fmt::format("bit positions must be >= 0 but got: {}", *position));
      }
      positions.push_back(static_cast<uint32_t>(std::min<int64_t>(*position, INT32_MAX)));
    }
    return positions;
  }
  return refuse(kBadValue, fmt::format("{} takes an Array, a number, or a BinData but received: {}",
                                       name, shown(operand)));
}

bool test_bits(BitTest test, const std::vector<uint32_t>& positions, const Value& value) {
  std::string_view bytes;
  int64_t integer = 0;
  if (value.is_number()) {
    const std::optional<int64_t> exact = exact_integer(value);
    if (!exact.has_value()) return false;
    integer = *exact;
  } else if (value.type() == Type::binary) {
    bytes = value.bytes();
  } else {
    return false;
  }
  const bool is_binary = value.type() == Type::binary;
  const auto is_set = [&](uint32_t position) {
    if (!is_binary) return ((integer >> std::min<uint32_t>(position, 63)) & 1) != 0;
    return position / 8 < bytes.size() &&
           ((static_cast<uint8_t>(bytes[position / 8]) >> (position % 8)) & 1) != 0;
  };
  switch (test) {
    case BitTest::all_set:
      return std::ranges::all_of(positions, is_set);
    case BitTest::any_set:
      return std::ranges::any_of(positions, is_set);
    case BitTest::all_clear:
      return std::ranges::none_of(positions, is_set);
    case BitTest::any_clear:
      return !std::ranges::all_of(positions, is_set);
  }
  return false;
}

template <BitTest kTest>
Answer<MatchNodePtr> parse_bits(const MatchPath& path, const Value& operand, const MatchScope&) {
  static constexpr std::array kNames = {"$bitsAllSet", "$bitsAnySet", "$bitsAllClear",
                                        "$bitsAnyClear"};
  Answer<std::vector<uint32_t>> positions =
      parse_positions(operand, kNames[static_cast<size_t>(kTest)]);
  if (!positions) return pass(std::move(positions.error()));
  return make_leaf(path, Leaf::each_and_whole,
                   [positions = *std::move(positions)](const Value& value, MatchState&) {
                     return test_bits(kTest, positions, value);
                   });
}

constexpr std::array kComparisonOperators = {
    FieldOperator{"$eq", parse_comparison<Relation::equal>},
    FieldOperator{"$gt", parse_comparison<Relation::greater>},
    FieldOperator{"$gte", parse_comparison<Relation::at_least>},
    FieldOperator{"$lt", parse_comparison<Relation::less>},
    FieldOperator{"$lte", parse_comparison<Relation::at_most>},
    FieldOperator{"$ne", parse_ne},
    FieldOperator{"$in", parse_in},
    FieldOperator{"$nin", parse_nin},
    FieldOperator{"$exists", parse_exists},
    FieldOperator{"$type", parse_type},
    FieldOperator{"$size", parse_size},
    FieldOperator{"$mod", parse_mod},
    FieldOperator{"$bitsAllSet", parse_bits<BitTest::all_set>},
    FieldOperator{"$bitsAnySet", parse_bits<BitTest::any_set>},
    FieldOperator{"$bitsAllClear", parse_bits<BitTest::all_clear>},
    FieldOperator{"$bitsAnyClear", parse_bits<BitTest::any_clear>},
};

}  // namespace

const FieldOperator* find_comparison(std::string_view name) {
  const auto* const found = std::ranges::find(kComparisonOperators, name, &FieldOperator::name);
  return found == kComparisonOperators.end() ? nullptr : found;
}

Answer<MatchNodePtr> parse_equality(const MatchPath& path, const Value& operand) {
  if (operand.type() == Type::regex) {
    return regex_leaf(path, regex_pattern(operand), regex_options(operand));
  }
  return comparison(path, Relation::equal, operand);
}

Answer<MatchNodePtr> parse_regex_operators(const MatchPath& path, const Value& pattern,
                                           const Value& options) {
  if (pattern.is_undefined()) return refuse(kBadValue, "$options needs a $regex");
  if (!options.is_undefined() && !options.is_string()) {
    return refuse(kBadValue, "$options has to be a string");
  }
  if (pattern.type() == Type::regex) {
    if (!options.is_undefined() && !regex_options(pattern).empty()) {
      return refuse(51075, "options set in both $regex and $options");
    }
    return regex_leaf(path, regex_pattern(pattern),
                      options.is_string() ? options.text() : regex_options(pattern));
  }
  if (!pattern.is_string()) return refuse(kBadValue, "$regex has to be a string");
  return regex_leaf(path, pattern.text(), options.is_string() ? options.text() : "");
}

Answer<std::vector<BsonType>> parse_types(const Value& operand) {
  std::vector<BsonType> types;
  const auto add = [&](const Value& one) -> Answer<void> {
    if (one.is_string()) {
      if (one.text() == "number") {
        types.insert(types.end(),
                     {BsonType::real, BsonType::int32, BsonType::int64, BsonType::decimal});
        return {};
      }
      const std::optional<BsonType> type = type_of_name(one.text());
      if (!type.has_value()) {
        return refuse(kBadValue, fmt::format("Unknown type name alias: {}", one.text()));
      }
      types.push_back(*type);
      return {};
    }
    if (!one.is_number()) {
      return refuse(kTypeMismatch, "type must be represented as a number or a string");
    }
    const std::optional<int64_t> number = exact_integer(one);
    const std::optional<BsonType> type =
        number.has_value() ? type_of_number(*number) : std::nullopt;
    if (!type.has_value() || *type == BsonType::missing) {
      return refuse(kBadValue, fmt::format("Invalid numerical type code: {}", shown(one)));
    }
    types.push_back(*type);
    return {};
  };
  if (!operand.is_array()) {
    if (const Answer<void> added = add(operand); !added) return pass(added.error());
    return types;
  }
  for (const Value& one : operand.elements()) {
    if (const Answer<void> added = add(one); !added) return pass(added.error());
  }
  if (types.empty()) return refuse(kFailedToParse, "must match at least one type");
  return types;
}

}  // namespace orrery::mongo
