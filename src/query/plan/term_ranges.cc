// See term_ranges.h.
#include "query/plan/term_ranges.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "value/ordered.h"
#include "value/term_value.h"
#include "value/terms.h"

namespace orrery::query {
namespace {

using value::Type;
using value::Value;
using value::ValueOrder;

TermRange point(std::string term) {
  std::string after = term;
  after.push_back('\0');
  return {.from = std::move(term), .to = std::move(after)};
}

// All terms that start like this one.
TermRange starting(std::string prefix) {
  std::string after = value::after_prefix(prefix);
  return {.from = std::move(prefix), .to = std::move(after)};
}

}  // namespace

PathTerms::PathTerms(const value::Path& path, ValueOrder order)
    : path_(value::term_path(path)), order_(order) {}

TermRanges PathTerms::all() const {
  // What comes first and last in each order; of the two that JSON does not have, none is undefined.
  if (order_ == ValueOrder::typed) {
    return {.ranges = {tagged(value::term_tags(Type::min_key, order_).first,
                              value::term_tags(Type::max_key, order_).second)},
            .is_exact = true};
  }
  return {.ranges = {tagged(value::term_tags(Type::null, order_).first,
                            value::term_tags(Type::object, order_).second)},
          .is_exact = true};
}

TermRange PathTerms::tagged(char first, char last) const {
  TermRange range{.from = path_, .to = path_};
  range.from.push_back(first);
  range.to.push_back(static_cast<char>(last + 1));
  return range;
}

TermRanges PathTerms::of_type(Type type) const {
  if (type == Type::undefined) return {};
  const bool is_json = order_ == ValueOrder::json;
  if (is_json && type > Type::object) return {};  // an index in this order is of JSON
  const auto [first, last] = value::term_tags(type, order_);
  const bool has_one_term =
      type == Type::null || (is_json && (type == Type::array || type == Type::object));
  if (has_one_term) return {.ranges = {point(path_ + first)}, .is_exact = true};
  return {.ranges = {tagged(first, last)}, .is_exact = true};
}

TermRanges PathTerms::primitives() const {
  return without(all(), collections());
}

TermRanges PathTerms::collections() const {
  const auto [array, last_array] = value::term_tags(Type::array, order_);
  const auto [object, last_object] = value::term_tags(Type::object, order_);
  // Nothing stands between the two in either order.
  return {.ranges = {tagged(std::min(array, object), std::max(last_array, last_object))},
          .is_exact = true};
}

TermRanges PathTerms::not_a_number() const {
  if (order_ == ValueOrder::json) return {};
  return {.ranges = {point(term(Value::make_number(std::nan(""))))}, .is_exact = true};
}

std::string PathTerms::term(const Value& constant) const {
  std::string out = path_;
  value::append_term_value(out, constant, order_);
  return out;
}

TermRanges PathTerms::compared(Binary comparison, const Value& constant) const {
  if (constant.is_undefined()) return {};
  const bool is_nan = constant.is_number() && std::isnan(constant.number());
  switch (comparison) {
    case Binary::equal: {
      if (is_nan) return not_a_number();
      // The typed order tells objects apart by the order of their members, the language does not.
      if (constant.is_array() || constant.is_object()) {
        TermRanges found = of_type(constant.type());
        found.is_exact = false;
        return found;
      }
      std::string one = term(constant);
      const bool is_exact = !is_cut(one);
      return {.ranges = {point(std::move(one))}, .is_exact = is_exact};
    }
    case Binary::not_equal:
      return without(all(), compared(Binary::equal, constant));
    case Binary::less:
      return less(constant, false);
    case Binary::less_or_equal:
      return less(constant, true);
    case Binary::greater:
      return greater(constant, false);
    case Binary::greater_or_equal:
      return greater(constant, true);
    default:
      return all();
  }
}

bool PathTerms::is_cut(std::string_view term) const {
  return value::is_cut_term_value(term.substr(path_.size()));
}

// The term of a long string ends in a hash, so strings with the same prefix sort on either side of
// it.
TermRanges PathTerms::less(const Value& constant, bool or_equal) const {
  TermRanges found = of_type(constant.type());
  if (found.ranges.empty() || constant.is_array() || constant.is_object()) return {};
  if (constant.is_number() && std::isnan(constant.number())) return {};
  TermRange& range = found.ranges.front();
  range.to = term(constant);
  if (is_cut(range.to)) {
    range.to.resize(range.to.size() - value::kCutTextHashBytes);
    range.to = value::after_prefix(range.to);
    found.is_exact = false;
  } else if (or_equal) {
    range.to.push_back('\0');
  }
  // NaN is the first of the numbers, and less than none.
  if (constant.is_number()) {
    for (const TermRange& nan : not_a_number().ranges) range.from = nan.to;
  }
  if (range.from >= range.to) found.ranges.clear();
  return found;
}

TermRanges PathTerms::greater(const Value& constant, bool or_equal) const {
  TermRanges found = of_type(constant.type());
  if (found.ranges.empty() || constant.is_array() || constant.is_object()) return {};
  if (constant.is_number() && std::isnan(constant.number())) return {};
  TermRange& range = found.ranges.front();
  range.from = term(constant);
  if (is_cut(range.from)) {
    range.from.resize(range.from.size() - value::kCutTextHashBytes);
    found.is_exact = false;
  } else if (!or_equal) {
    range.from.push_back('\0');
  }
  if (range.from >= range.to) found.ranges.clear();
  return found;
}

TermRanges PathTerms::starting_with(std::string_view prefix) const {
  std::string start = path_;
  start.push_back(value::term_tags(Type::string, order_).first);
  value::append_ordered_bytes(start, prefix.substr(0, value::kMaxTermText));
  start.resize(start.size() - 1);  // the end mark
  if (prefix.size() > value::kMaxTermText) {
    start.push_back(0x02);  // only strings that were cut are as long
    return {.ranges = {starting(std::move(start))}, .is_exact = false};
  }
  start.resize(start.size() - 1);
  return {.ranges = {starting(std::move(start))}, .is_exact = true};
}

TermRanges without(const TermRanges& a, const TermRanges& b) {
  if (!b.is_exact) return {.ranges = a.ranges, .is_exact = false};
  TermRanges left{.ranges = {}, .is_exact = a.is_exact};
  auto taken = b.ranges.begin();
  for (TermRange range : a.ranges) {
    while (taken != b.ranges.end() && taken->to <= range.from) ++taken;
    for (auto at = taken; at != b.ranges.end() && at->from < range.to; ++at) {
      if (at->from > range.from) left.ranges.push_back({range.from, at->from});
      range.from = std::min(at->to, range.to);
    }
    if (range.from < range.to) left.ranges.push_back(std::move(range));
  }
  return left;
}

TermRanges union_of(std::vector<TermRanges> sets) {
  TermRanges all;
  size_t count = 0;
  for (const TermRanges& set : sets) count += set.ranges.size();
  all.ranges.reserve(count);
  for (TermRanges& set : sets) {
    all.is_exact = all.is_exact && set.is_exact;
    std::ranges::move(set.ranges, std::back_inserter(all.ranges));
  }
  std::ranges::sort(all.ranges, {}, &TermRange::from);
  std::vector<TermRange> merged;
  merged.reserve(count);
  for (TermRange& range : all.ranges) {
    // Adjacent ranges stay apart: two points are cheaper to read than one range, which is not
    // sorted by key.
    if (!merged.empty() && (range.from < merged.back().to || range == merged.back())) {
      merged.back().to = std::max(merged.back().to, range.to);
    } else {
      merged.push_back(std::move(range));
    }
  }
  all.ranges = std::move(merged);
  return all;
}

TermRanges common_of(std::vector<TermRanges> sets) {
  // Pairwise, in rounds: an intersection is no longer than its inputs, so each round is linear.
  while (sets.size() > 1) {
    const size_t half = (sets.size() + 1) / 2;
    for (size_t i = half; i < sets.size(); ++i) sets[i - half] = both(sets[i - half], sets[i]);
    sets.resize(half);
  }
  return std::move(sets.front());
}

TermRanges both(const TermRanges& a, const TermRanges& b) {
  TermRanges common{.ranges = {}, .is_exact = a.is_exact && b.is_exact};
  auto one = a.ranges.begin();
  auto other = b.ranges.begin();
  while (one != a.ranges.end() && other != b.ranges.end()) {
    const std::string& from = std::max(one->from, other->from);
    const std::string& to = std::min(one->to, other->to);
    if (from < to) common.ranges.push_back({.from = from, .to = to});
    if (one->to < other->to) {
      ++one;
    } else {
      ++other;
    }
  }
  return common;
}

bool is_point(const TermRange& range) {
  return range.to.size() == range.from.size() + 1 && range.to.back() == '\0' &&
         range.to.starts_with(range.from);
}

namespace {

// A number's bytes, behind the tag.
Value number_of(std::string_view bytes, ValueOrder order) {
  constexpr std::string_view kNan("\0\0\0\0\0\0\0\0", 8);
  const bool is_nan = bytes.starts_with(kNan);
  const auto number = value::take_ordered_number(bytes);
  if (!number) return {};
  constexpr char kIsTheDouble = 0x02;
  if (order == ValueOrder::typed && (bytes.empty() || bytes.front() != kIsTheDouble)) return {};
  return Value::make_number(is_nan ? std::nan("") : *number);
}

Value date_of(std::string_view bytes) {
  if (bytes.size() != 10) return {};
  const uint64_t ms = load_u64_be(bytes.data()) ^ (uint64_t{1} << 63);
  const auto high = static_cast<uint8_t>(bytes[8]);
  const auto low = static_cast<uint8_t>(bytes[9]);
  return Value::make_date({std::bit_cast<int64_t>(ms), uint32_t{high} << 8 | low});
}

}  // namespace

Value value_of_term(std::string_view term, size_t path_size) {
  if (term.size() <= path_size) return {};
  const char tag = term[path_size];
  term.remove_prefix(path_size + 1);
  const auto type = value::type_of_tag(tag);
  if (!type) return {};
  const bool is_json = value::term_tags(*type, ValueOrder::json).first <= tag &&
                       tag <= value::term_tags(*type, ValueOrder::json).second;
  const ValueOrder order = is_json ? ValueOrder::json : ValueOrder::typed;
  switch (*type) {
    case Type::null:
      return Value::make_null();
    case Type::boolean:
      return Value::make_bool(tag == value::term_tags(Type::boolean, order).second);
    case Type::number:
      return number_of(term, order);
    case Type::string: {
      auto text = value::take_ordered_bytes(term);  // refuses what was cut
      return text ? Value::make_string(std::move(*text)) : Value();
    }
    case Type::object_id:
    case Type::guid:
      return Value::make_bytes(*type, std::string(term));
    case Type::date:
      return date_of(term);
    case Type::timestamp:
      return term.size() == 8 ? Value::make_timestamp(load_u64_be(term.data())) : Value();
    case Type::min_key:
      return Value::make_min_key();
    case Type::max_key:
      return Value::make_max_key();
    default:
      return {};
  }
}

}  // namespace orrery::query
