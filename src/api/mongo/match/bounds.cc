// See bounds.h.
#include "api/mongo/match/bounds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/node.h"
#include "api/mongo/match/path.h"

namespace orrery::mongo {
namespace {

using value::Type;

// Filters nest at most kMaxNesting deep where they were parsed; these functions may be asked of
// others.
constexpr int kMaxDepth = kMaxNesting;

// --- intervals

Interval point(const Value& at) {
  return {.type = at.type(), .low = at, .high = at};
}

// Starts of intervals in MongoDB's order: by type, then by value, "from the first" before all.
std::strong_ordering compare_lows(const Interval& a, const Interval& b) {
  if (a.type != b.type) {
    return value::rank_of(a.type, value::ValueOrder::typed) <=>
           value::rank_of(b.type, value::ValueOrder::typed);
  }
  if (!a.low.has_value() || !b.low.has_value()) return a.low.has_value() <=> b.low.has_value();
  const std::strong_ordering order = compare(*a.low, *b.low, nullptr);
  return order != 0 ? order : b.has_low <=> a.has_low;
}

std::strong_ordering compare_highs(const Interval& a, const Interval& b) {
  if (!a.high.has_value() || !b.high.has_value()) return b.high.has_value() <=> a.high.has_value();
  const std::strong_ordering order = compare(*a.high, *b.high, nullptr);
  return order != 0 ? order : a.has_high <=> b.has_high;
}

bool is_empty(const Interval& interval) {
  if (!interval.low.has_value() || !interval.high.has_value()) return false;
  const std::strong_ordering order = compare(*interval.low, *interval.high, nullptr);
  return order > 0 || (order == 0 && !(interval.has_low && interval.has_high));
}

// Whether `a`, which does not start behind `b`, has a value in common with it or ends where it
// starts.
bool touches(const Interval& a, const Interval& b) {
  if (a.type != b.type) return false;
  if (!a.high.has_value() || !b.low.has_value()) return true;
  const std::strong_ordering order = compare(*a.high, *b.low, nullptr);
  return order > 0 || (order == 0 && (a.has_high || b.has_low));
}

std::vector<Interval> united(std::vector<Interval> intervals) {
  std::ranges::sort(intervals,
                    [](const Interval& a, const Interval& b) { return compare_lows(a, b) < 0; });
  std::vector<Interval> result;
  for (Interval& interval : intervals) {
    if (is_empty(interval)) continue;
    if (result.empty() || !touches(result.back(), interval)) {
      result.push_back(std::move(interval));
    } else if (compare_highs(result.back(), interval) < 0) {
      result.back().high = interval.high;
      result.back().has_high = interval.has_high;
    }
  }
  return result;
}

std::vector<Interval> intersected(const std::vector<Interval>& a, const std::vector<Interval>& b) {
  std::vector<Interval> result;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i].type != b[j].type) {
      compare_lows(a[i], b[j]) < 0 ? ++i : ++j;
      continue;
    }
    const Interval& low = compare_lows(a[i], b[j]) < 0 ? b[j] : a[i];
    const bool a_ends_first = compare_highs(a[i], b[j]) < 0;
    const Interval& high = a_ends_first ? a[i] : b[j];
    Interval both{.type = low.type,
                  .low = low.low,
                  .high = high.high,
                  .has_low = low.has_low,
                  .has_high = high.has_high};
    if (!is_empty(both)) result.push_back(std::move(both));
    a_ends_first ? ++i : ++j;
  }
  return result;
}

Bounds exactly(std::vector<Interval> intervals, bool is_exact) {
  return {.is_everything = false, .intervals = united(std::move(intervals)), .is_exact = is_exact};
}

Bounds both(const Bounds& a, const Bounds& b, bool is_multikey) {
  if (a.is_everything)
    return {.is_everything = b.is_everything,
            .intervals = b.intervals,
            .is_exact = a.is_exact && b.is_exact};
  if (b.is_everything)
    return {.is_everything = false, .intervals = a.intervals, .is_exact = a.is_exact && b.is_exact};
  if (!is_multikey)
    return {.is_everything = false,
            .intervals = intersected(a.intervals, b.intervals),
            .is_exact = a.is_exact && b.is_exact};
  // Another element may satisfy the other condition. The narrower one is taken: one whose ends are
  // all known, and then the one with fewer parts.
  const auto is_closed = [](const Bounds& bounds) {
    return std::ranges::all_of(bounds.intervals, [](const Interval& interval) {
      return interval.low.has_value() && interval.high.has_value();
    });
  };
  const bool takes_a =
      is_closed(a) != is_closed(b) ? is_closed(a) : a.intervals.size() <= b.intervals.size();
  return {
      .is_everything = false, .intervals = takes_a ? a.intervals : b.intervals, .is_exact = false};
}

Bounds either(Bounds a, const Bounds& b) {
  if (a.is_everything || b.is_everything) return {};
  a.intervals.insert(a.intervals.end(), b.intervals.begin(), b.intervals.end());
  return exactly(std::move(a.intervals), a.is_exact && b.is_exact);
}

// --- conditions

// What is not known by its operator: everything, and the filter has to be asked.
const Bounds kUnknown{.is_everything = true, .intervals = {}, .is_exact = false};
const Bounds kAll{.is_everything = true, .intervals = {}, .is_exact = true};

// Strings, and what may have strings within, compare otherwise under a collation.
bool is_collated(const Value& operand, const Collation* collation) {
  return collation != nullptr && (operand.is_string() || operand.is_array() || operand.is_object());
}

Bounds equality_bounds(const Value& operand, const Collation* collation) {
  if (operand.type() == Type::regex || is_collated(operand, collation)) return kUnknown;
  if (operand.is_array()) {
    // The index has the elements, and the array itself where it is within another one.
    if (operand.size() == 0 || operand.at(0).is_array()) return kUnknown;
    return exactly({point(operand.at(0)), point(operand)}, false);
  }
  // Null is what a document without the member has as well: whether it is missing in some element
  // of an array, the index does not tell.
  return exactly({point(operand)}, !operand.is_null());
}

Bounds in_bounds(const Value& operand, const Collation* collation) {
  if (!operand.is_array()) return kUnknown;
  std::vector<Interval> points;
  bool is_exact = true;
  for (const Value& element : operand.elements()) {
    const Bounds one = equality_bounds(element, collation);
    if (one.is_everything) return kUnknown;
    points.insert(points.end(), one.intervals.begin(), one.intervals.end());
    is_exact = is_exact && one.is_exact;
  }
  return exactly(std::move(points), is_exact);
}

Bounds range_bounds(const Value& operand, bool is_upper, bool includes,
                    const Collation* collation) {
  if (is_collated(operand, collation) || operand.is_array() || operand.type() == Type::regex)
    return kUnknown;
  if (operand.type() == Type::min_key || operand.type() == Type::max_key) return kUnknown;
  if (operand.is_null() || (operand.is_number() && operand.number() != operand.number())) {
    return includes ? exactly({point(operand)}, !operand.is_null()) : exactly({}, true);
  }
  Interval interval{.type = operand.type()};
  (is_upper ? interval.high : interval.low) = operand;
  (is_upper ? interval.has_high : interval.has_low) = includes;
  // NaN is before all numbers, and less than none of them.
  return exactly({std::move(interval)}, !(is_upper && operand.is_number()));
}

// A regular expression that starts with ^ and plain characters: strings with that prefix.
Bounds regex_bounds(std::string_view pattern, std::string_view options,
                    const Collation* collation) {
  if (collation != nullptr || !options.empty()) return kUnknown;
  if (!pattern.starts_with('^') || pattern.find('|') != std::string_view::npos) return kUnknown;
  std::string prefix;
  for (const char c : pattern.substr(1)) {
    if (std::string_view("?*{").find(c) != std::string_view::npos && !prefix.empty()) {
      prefix.pop_back();  // the character before may be missing
      break;
    }
    const auto byte = static_cast<uint8_t>(c);
    const bool is_plain = (byte < 0x80 && (std::isalnum(byte) != 0)) ||
                          std::string_view(" _-:/,;@#%&=~'\"<>!").find(c) != std::string_view::npos;
    if (!is_plain) break;
    prefix += c;
  }
  if (prefix.empty()) return kUnknown;
  std::string end = prefix;
  end.back() = static_cast<char>(end.back() + 1);  // plain characters are below 7F
  Interval interval{.type = Type::string,
                    .low = Value::make_string(prefix),
                    .high = Value::make_string(std::move(end)),
                    .has_high = false};
  Interval itself{.type = Type::regex};
  return exactly({std::move(interval), std::move(itself)}, false);
}

Bounds type_bounds(const Value& operand) {
  const Answer<std::vector<BsonType>> types = parse_types(operand);
  if (!types) return kUnknown;
  std::vector<Interval> intervals;
  bool is_exact = true;
  for (const BsonType type : *types) {
    switch (type) {
      case BsonType::string:
        intervals.push_back({.type = Type::string});
        break;
      case BsonType::object_id:
        intervals.push_back({.type = Type::object_id});
        break;
      case BsonType::boolean:
        intervals.push_back({.type = Type::boolean});
        break;
      case BsonType::date:
        intervals.push_back({.type = Type::date});
        break;
      case BsonType::timestamp:
        intervals.push_back({.type = Type::timestamp});
        break;
      case BsonType::object:
        intervals.push_back({.type = Type::object});
        break;
      case BsonType::binary:
        intervals.push_back({.type = Type::binary});
        break;
      case BsonType::real:
      case BsonType::int32:
      case BsonType::int64:
      case BsonType::decimal:
        intervals.push_back({.type = Type::number});
        is_exact = false;
        break;
      default:
        return kUnknown;
    }
  }
  return exactly(std::move(intervals), is_exact);
}

struct Condition {
  std::string_view name;
  Bounds (*bounds)(const Value& operand, const Collation* collation);
};
constexpr std::array kConditions = {
    Condition{"$eq", [](const Value& v, const Collation* c) { return equality_bounds(v, c); }},
    Condition{"$in", [](const Value& v, const Collation* c) { return in_bounds(v, c); }},
    Condition{"$gt",
              [](const Value& v, const Collation* c) { return range_bounds(v, false, false, c); }},
    Condition{"$gte",
              [](const Value& v, const Collation* c) { return range_bounds(v, false, true, c); }},
    Condition{"$lt",
              [](const Value& v, const Collation* c) { return range_bounds(v, true, false, c); }},
    Condition{"$lte",
              [](const Value& v, const Collation* c) { return range_bounds(v, true, true, c); }},
    Condition{"$type", [](const Value& v, const Collation*) { return type_bounds(v); }},
    Condition{"$comment", [](const Value&, const Collation*) { return kAll; }},
};

Bounds operator_bounds(const Value& operators, bool is_multikey, const Collation* collation) {
  Bounds bounds = kAll;
  for (const auto& [name, operand] : operators.members()) {
    Bounds one = kUnknown;
    const auto* const found = std::ranges::find(kConditions, name, &Condition::name);
    if (found != kConditions.end()) {
      one = found->bounds(operand, collation);
    } else if (name == "$regex" && operand.is_string() &&
               operators.find("$options").is_undefined()) {
      one = regex_bounds(operand.text(), "", collation);
    } else if (name == "$elemMatch" && operand.is_object() && has_operators(operand)) {
      // All of them hold for one element.
      one = operator_bounds(operand, false, collation);
      one.is_exact = false;
    } else if (name == "$all" && operand.is_array() && operand.size() > 0 &&
               !has_operators(operand.at(0))) {
      one = equality_bounds(operand.at(0), collation);
      one.is_exact = one.is_exact && operand.size() == 1;
    }
    bounds = both(bounds, one, is_multikey);
  }
  return bounds;
}

Bounds filter_bounds(const Value& filter, std::string_view path, bool is_multikey,
                     const Collation* collation, int depth) {
  if (depth > kMaxDepth) return kUnknown;
  // Exact means: of the path. Conditions on others do not change it.
  Bounds bounds = kAll;
  for (const auto& [name, operand] : filter.members()) {
    Bounds one = kAll;
    if (name == path) {
      one = has_operators(operand) ? operator_bounds(operand, is_multikey, collation)
            : operand.type() == Type::regex
                ? regex_bounds(regex_pattern(operand), regex_options(operand), collation)
                : equality_bounds(operand, collation);
    } else if (name == "$and") {
      for (const Value& clause : operand.elements()) {
        one =
            both(one, filter_bounds(clause, path, is_multikey, collation, depth + 1), is_multikey);
      }
    } else if (name == "$or") {
      one = {.is_everything = false, .intervals = {}, .is_exact = true};
      for (const Value& clause : operand.elements()) {
        one =
            either(std::move(one), filter_bounds(clause, path, is_multikey, collation, depth + 1));
      }
      // A branch may say more of other paths.
      one.is_exact = false;
    } else if (name == "$nor" || name == "$expr" || name == "$jsonSchema") {
      one = kUnknown;
    }
    bounds = both(bounds, one, is_multikey);
  }
  return bounds;
}

}  // namespace

Bounds bounds_of(const Value& filter, std::string_view path, bool is_multikey,
                 const Collation* collation) {
  return filter_bounds(filter, path, is_multikey, collation, 0);
}

namespace {

// What an operand says: values of which a matching document has one. Nothing if it says no such
// thing.
std::optional<std::vector<Value>> operand_choices(const Value& operand) {
  if (operand.type() == Type::regex) return std::nullopt;
  if (!has_operators(operand)) return std::vector{operand};
  if (const Value equal = operand.find("$eq"); !equal.is_undefined()) return std::vector{equal};
  const Value in = operand.find("$in");
  if (!in.is_array()) return std::nullopt;
  std::vector<Value> choices;
  for (const Value& element : in.elements()) {
    if (element.type() == Type::regex) return std::nullopt;
    choices.push_back(element);
  }
  return choices;
}

std::optional<std::vector<Value>> find_choices(const Value& filter, std::string_view path,
                                               int depth) {
  if (depth > kMaxDepth) return std::nullopt;
  std::optional<std::vector<Value>> best;
  const auto take = [&](std::optional<std::vector<Value>> choices) {
    if (choices.has_value() && (!best.has_value() || choices->size() < best->size())) {
      best = std::move(choices);
    }
  };
  for (const auto& [name, operand] : filter.members()) {
    if (name == path) take(operand_choices(operand));
    if (name != "$and") continue;
    for (const Value& clause : operand.elements()) take(find_choices(clause, path, depth + 1));
  }
  return best;
}

}  // namespace

std::optional<std::vector<Value>> choices_of(const Value& filter, std::string_view path) {
  return find_choices(filter, path, 0);
}

std::optional<Value> equality_of(const Value& filter, std::string_view path) {
  const std::optional<std::vector<Value>> choices = choices_of(filter, path);
  if (!choices.has_value() || choices->size() != 1) return std::nullopt;
  return choices->front();
}

}  // namespace orrery::mongo
