// Operators on arrays as sets. Results are in MongoDB's order, which makes them predictable.
#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/bson/stable_order.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

// Sorted, each value once.
using Set = std::vector<Value>;

Answer<Set> set_of(const Arguments& arguments, size_t at, int32_t code) {
  const Value& array = arguments[at];
  if (!array.is_array()) {
    return refuse(code,
                  fmt::format("All operands of {} must be arrays. One argument is of type: {}",
                              arguments.name, type_name(array)));
  }
  if (auto spent = arguments.evaluation.spend(array.size() * 4); !spent) {
    return pass(std::move(spent.error()));
  }
  const Collation* const collation = arguments.evaluation.collation;
  Set set;
  set.reserve(array.size());
  for (const Value& element : array.elements()) set.push_back(element);
  sort_stably(set, [&](const Value& a, const Value& b) { return compare(a, b, collation) < 0; });
  const auto same = std::ranges::unique(
      set, [&](const Value& a, const Value& b) { return equals(a, b, collation); });
  set.erase(same.begin(), same.end());
  return set;
}

bool contains(const Set& set, const Value& value, const Collation* collation) {
  return std::ranges::binary_search(
      set, value, [&](const Value& a, const Value& b) { return compare(a, b, collation) < 0; });
}

Answer<Value> do_union(const Arguments& arguments) {
  std::vector<Value> all;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_nullish(arguments[i])) return Value::make_null();
    if (!arguments[i].is_array()) {
      return refuse(17043, fmt::format("All operands of $setUnion must be arrays. One argument is "
                                       "of type: {}",
                                       type_name(arguments[i])));
    }
    for (const Value& element : arguments[i].elements()) all.push_back(element);
  }
  const std::array joined = {Value::make_array(std::move(all))};
  auto set = set_of({.evaluation = arguments.evaluation, .name = arguments.name, .values = joined},
                    0, 17043);
  if (!set) return pass(std::move(set.error()));
  return Value::make_array(std::move(*set));
}

Answer<Value> do_intersection(const Arguments& arguments) {
  Set common;
  bool has_null = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (is_nullish(arguments[i])) {
      has_null = true;
      break;
    }
    auto set = set_of(arguments, i, 17047);
    if (!set) return pass(std::move(set.error()));
    if (i == 0) {
      common = std::move(*set);
    } else {
      std::erase_if(common, [&](const Value& one) {
        return !contains(*set, one, arguments.evaluation.collation);
      });
    }
  }
  if (has_null) return Value::make_null();
  return Value::make_array(std::move(common));
}

Answer<Value> do_difference(const Arguments& arguments) {
  for (size_t i = 0; i < 2; ++i) {
    if (!is_nullish(arguments[i]) && !arguments[i].is_array()) {
      return refuse(i == 0 ? 17048 : 17049,
                    fmt::format("both operands of $setDifference must be arrays. An argument is of "
                                "type: {}",
                                type_name(arguments[i])));
    }
  }
  if (is_nullish(arguments[0]) || is_nullish(arguments[1])) return Value::make_null();
  auto right = set_of(arguments, 1, 17049);
  if (!right) return pass(std::move(right.error()));
  const Collation* const collation = arguments.evaluation.collation;
  // In the order of the left one.
  std::vector<Value> left;
  for (const Value& one : arguments[0].elements()) {
    if (contains(*right, one, collation)) continue;
    const bool is_there =
        std::ranges::any_of(left, [&](const Value& kept) { return equals(kept, one, collation); });
    if (!is_there) left.push_back(one);
    if (auto spent = arguments.evaluation.spend(1 + left.size()); !spent) {
      return pass(std::move(spent.error()));
    }
  }
  return Value::make_array(std::move(left));
}

bool is_same(const Set& a, const Set& b, const Collation* collation) {
  return std::ranges::equal(
      a, b, [&](const Value& x, const Value& y) { return equals(x, y, collation); });
}

Answer<Value> do_equals(const Arguments& arguments) {
  Set first;
  bool all = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    auto set = set_of(arguments, i, 17044);
    if (!set) return pass(std::move(set.error()));
    if (i == 0) {
      first = std::move(*set);
    } else {
      all = all && is_same(first, *set, arguments.evaluation.collation);
    }
  }
  return Value::make_bool(all);
}

Answer<Value> do_is_subset(const Arguments& arguments) {
  auto left = set_of(arguments, 0, 17046);
  if (!left) return pass(std::move(left.error()));
  auto right = set_of(arguments, 1, 17042);
  if (!right) return pass(std::move(right.error()));
  return Value::make_bool(std::ranges::all_of(*left, [&](const Value& one) {
    return contains(*right, one, arguments.evaluation.collation);
  }));
}

template <bool kAll>
Answer<Value> elements_true(const Arguments& arguments) {
  if (!arguments[0].is_array()) {
    return refuse(kAll ? 17040 : 17041, fmt::format("{}'s argument must be an array, but is {}",
                                                    arguments.name, type_name(arguments[0])));
  }
  for (const Value& element : arguments[0].elements()) {
    if (is_truthy(element) != kAll) return Value::make_bool(!kAll);
  }
  return Value::make_bool(kAll);
}

constexpr std::array kSetsPositional = {
    PositionalOperator{"$setUnion", 0, kAnyNumber, do_union},
    PositionalOperator{"$setIntersection", 0, kAnyNumber, do_intersection},
    PositionalOperator{"$setDifference", 2, 2, do_difference},
    PositionalOperator{"$setEquals", 2, kAnyNumber, do_equals},
    PositionalOperator{"$setIsSubset", 2, 2, do_is_subset},
    PositionalOperator{"$allElementsTrue", 1, 1, elements_true<true>},
    PositionalOperator{"$anyElementTrue", 1, 1, elements_true<false>},
};

}  // namespace

OperatorTables set_operators() {
  return {.positional = kSetsPositional};
}

}  // namespace orrery::mongo
