// See term_ranges.h.
#include "query/plan/term_ranges.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "value/ordered.h"
#include "value/terms.h"

namespace orrery::query {
namespace {

using value::Type;
using value::Value;

// The first bytes of a term's value, as in value/terms.h.
constexpr char kNull = 0x01;
constexpr char kFalse = 0x02;
constexpr char kTrue = 0x03;
constexpr char kNumber = 0x04;
constexpr char kText = 0x05;
constexpr char kArray = 0x07;
constexpr char kObject = 0x08;

bool is_cut(const Value& constant) {
  return constant.is_string() && constant.text().size() > value::kMaxTermText;
}

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

PathTerms::PathTerms(const value::Path& path) : path_(value::term_path(path)) {}

TermRanges PathTerms::all() const {
  return {.ranges = {tagged(kNull, kObject)}, .is_exact = true};
}

TermRange PathTerms::tagged(char first, char last) const {
  TermRange range{.from = path_, .to = path_};
  range.from.push_back(first);
  range.to.push_back(static_cast<char>(last + 1));
  return range;
}

TermRanges PathTerms::of_type(Type type) const {
  switch (type) {
    case Type::undefined:
      return {};
    case Type::null:
      return {.ranges = {point(path_ + kNull)}, .is_exact = true};
    case Type::boolean:
      return {.ranges = {tagged(kFalse, kTrue)}, .is_exact = true};
    case Type::number:
      return {.ranges = {tagged(kNumber, kNumber)}, .is_exact = true};
    case Type::string:
      return {.ranges = {tagged(kText, kText)}, .is_exact = true};
    case Type::array:
      return {.ranges = {point(path_ + kArray)}, .is_exact = true};
    case Type::object:
      return {.ranges = {point(path_ + kObject)}, .is_exact = true};
    default:
      return {};  // JSON has no others
  }
}

TermRanges PathTerms::scalars() const {
  return {.ranges = {tagged(kNull, kText)}, .is_exact = true};
}

TermRange PathTerms::unordered() const {
  return tagged(kArray, kObject);
}

std::string PathTerms::term(const Value& constant) const {
  std::string out = path_;
  value::append_term_value(out, constant, value::ValueOrder::json);
  return out;
}

TermRanges PathTerms::compared(Binary comparison, const Value& constant) const {
  if (constant.is_undefined()) return {};
  const bool is_nan = constant.is_number() && std::isnan(constant.number());
  switch (comparison) {
    case Binary::equal: {
      if (is_nan) return {};  // no item holds one
      const bool is_exact = !is_cut(constant) && !constant.is_array() && !constant.is_object();
      return {.ranges = {point(term(constant))}, .is_exact = is_exact};
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

// The term of a long string ends in a hash, so strings with the same prefix sort on either side of
// it.
TermRanges PathTerms::less(const Value& constant, bool or_equal) const {
  TermRanges found = of_type(constant.type());
  if (constant.is_array() || constant.is_object()) return {};
  if (constant.is_number() && std::isnan(constant.number())) return {};
  TermRange& range = found.ranges.front();
  if (is_cut(constant)) {
    std::string last = path_;
    value::append_term_value(last, constant.text());
    last.resize(last.size() - value::kCutTextHashBytes);
    range.to = value::after_prefix(last);
    found.is_exact = false;
  } else {
    range.to = term(constant);
    if (or_equal) range.to.push_back('\0');
  }
  if (range.from >= range.to) found.ranges.clear();
  return found;
}

TermRanges PathTerms::greater(const Value& constant, bool or_equal) const {
  TermRanges found = of_type(constant.type());
  if (constant.is_array() || constant.is_object()) return {};
  if (constant.is_number() && std::isnan(constant.number())) return {};
  TermRange& range = found.ranges.front();
  range.from = term(constant);
  if (is_cut(constant)) {
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
  start.push_back(kText);
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

Value value_of_term(std::string_view term, size_t path_size) {
  if (term.size() <= path_size) return {};
  const char tag = term[path_size];
  term.remove_prefix(path_size + 1);
  switch (tag) {
    case kNull:
      return Value::make_null();
    case kFalse:
    case kTrue:
      return Value::make_bool(tag == kTrue);
    case kNumber: {
      const auto number = value::take_ordered_number(term);
      return number ? Value::make_number(*number) : Value();
    }
    case kText: {
      auto text = value::take_ordered_bytes(term);  // refuses what was cut
      return text ? Value::make_string(std::move(*text)) : Value();
    }
    default:
      return {};
  }
}

}  // namespace orrery::query
