// What a filter says of an entity. See filter.h.
#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>

#include "api/table/query/filter.h"

namespace orrery::table {
namespace {

bool is_number(Edm type) {
  return type == Edm::int32 || type == Edm::int64 || type == Edm::real;
}

// Exactly, beyond 2^53 too.
std::partial_ordering compare_whole_with_real(int64_t whole, double real) {
  if (std::isnan(real)) return std::partial_ordering::unordered;
  if (real >= 0x1p63) return std::partial_ordering::less;
  if (real < -0x1p63) return std::partial_ordering::greater;
  const double floor = std::floor(real);
  const auto below = static_cast<int64_t>(floor);
  if (whole != below) return whole <=> below;
  return floor < real ? std::partial_ordering::less : std::partial_ordering::equivalent;
}

std::partial_ordering compare_numbers(const EdmValue& a, const EdmValue& b) {
  if (a.type == Edm::real && b.type == Edm::real) return a.real <=> b.real;
  if (a.type == Edm::real) return 0 <=> compare_whole_with_real(b.integer, a.real);
  if (b.type == Edm::real) return compare_whole_with_real(a.integer, b.real);
  return a.integer <=> b.integer;
}

std::partial_ordering order_of(const EdmValue& a, const EdmValue& b) {
  switch (a.type) {
    case Edm::boolean:
      return a.boolean <=> b.boolean;
    case Edm::datetime:
      return a.integer <=> b.integer;
    default:
      return a.bytes <=> b.bytes;
  }
}

bool is_true(Comparison comparison, std::partial_ordering order) {
  switch (comparison) {
    case Comparison::eq:
      return order == std::partial_ordering::equivalent;
    case Comparison::ne:
      return order != std::partial_ordering::equivalent;
    case Comparison::gt:
      return order == std::partial_ordering::greater;
    case Comparison::ge:
      return order == std::partial_ordering::greater || order == std::partial_ordering::equivalent;
    case Comparison::lt:
      return order == std::partial_ordering::less;
    case Comparison::le:
      return order == std::partial_ordering::less || order == std::partial_ordering::equivalent;
  }
  return false;
}

}  // namespace

Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::gt:
      return Comparison::lt;
    case Comparison::ge:
      return Comparison::le;
    case Comparison::lt:
      return Comparison::gt;
    case Comparison::le:
      return Comparison::ge;
    default:
      return comparison;
  }
}

Comparison negated(Comparison comparison) {
  switch (comparison) {
    case Comparison::eq:
      return Comparison::ne;
    case Comparison::ne:
      return Comparison::eq;
    case Comparison::gt:
      return Comparison::le;
    case Comparison::ge:
      return Comparison::lt;
    case Comparison::lt:
      return Comparison::ge;
    case Comparison::le:
      return Comparison::gt;
  }
  return comparison;
}

bool compare(const EdmValue& left, Comparison comparison, const EdmValue& right) {
  if (is_number(left.type) && is_number(right.type)) {
    return is_true(comparison, compare_numbers(left, right));
  }
  return left.type == right.type && is_true(comparison, order_of(left, right));
}

bool matches(const Filter& filter, const FindProperty& find) {
  switch (filter.kind) {
    case Filter::Kind::constant:
      return filter.constant;
    case Filter::Kind::compare: {
      const EdmValue* value = find(filter.name);
      if (value == nullptr) return false;
      EdmValue literal = filter.literal.value;
      literal.bytes = filter.literal.text;
      return compare(*value, filter.comparison, literal);
    }
    case Filter::Kind::all_of:
      return std::ranges::all_of(filter.parts,
                                 [&](const Filter& part) { return matches(part, find); });
    case Filter::Kind::any_of:
      return std::ranges::any_of(filter.parts,
                                 [&](const Filter& part) { return matches(part, find); });
    case Filter::Kind::negation:
      return !matches(filter.parts.front(), find);
  }
  return false;
}

bool matches_entity(const Filter& filter, std::string_view stored) {
  if (filter.kind == Filter::Kind::constant) return filter.constant;
  EdmValue found;
  const auto find = [&](std::string_view name) -> const EdmValue* {
    auto reader = EntityReader::open(stored);
    if (!reader) return nullptr;
    if (name == kTimestamp) {
      found = {.type = Edm::datetime, .integer = reader->timestamp()};
      return &found;
    }
    for (Property property; reader->next(property);) {
      if (property.name != name) continue;
      found = property.value;
      return &found;
    }
    return nullptr;
  };
  return matches(filter, find);
}

}  // namespace orrery::table
