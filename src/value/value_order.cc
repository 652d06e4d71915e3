// How values compare, and their hash. See value.h and type.h, which declares the orders.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/keyed_hash.h"
#include "value/number.h"
#include "value/value.h"

namespace orrery::value {
namespace {

uint64_t mix(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93;
  x ^= x >> 32;
  return x;
}

// Secret, so that the hash of a value without texts is as hard to foresee as that of one with them.
uint64_t hash_of_type(Type type) {
  static const auto hashes = [] {
    std::array<uint64_t, kTypes> made;
    for (size_t i = 0; i < made.size(); ++i) made[i] = keyed_hash(std::to_string(i));
    return made;
  }();
  return hashes[static_cast<size_t>(type)];
}

// Up to here the members of two objects are looked for one by one.
constexpr size_t kMaxComparedPairwise = 16;

std::strong_ordering compare_bytes(const Value& a, const Value& b) {
  // Binary compares by size first, as encodings that have it do; code by what it is.
  if (a.type() == Type::binary && a.bytes().size() != b.bytes().size()) {
    return a.bytes().size() <=> b.bytes().size();
  }
  if (a.subtype() != b.subtype()) return a.subtype() <=> b.subtype();
  return a.bytes() <=> b.bytes();
}

}  // namespace

ExactNumber Value::exact_number() const {
  switch (number_kind()) {
    case NumberKind::real:
      return ExactNumber::of(number_);
    case NumberKind::decimal:
      return ExactNumber::of_decimal(decimal());
    case NumberKind::int32:
    case NumberKind::int64:
      break;
  }
  return ExactNumber::of(SplitInteger{number_, static_cast<int32_t>(count_)});
}

std::strong_ordering Value::compare_numbers(const Value& a, const Value& b) {
  constexpr auto kDecimal = static_cast<uint8_t>(NumberKind::decimal);
  if (a.detail_ == kDecimal || b.detail_ == kDecimal) return a.exact_number() <=> b.exact_number();
  if (const auto order = compare_doubles(a.number_, b.number_); order != 0) return order;
  return static_cast<int32_t>(a.count_) <=> static_cast<int32_t>(b.count_);
}

bool Value::operator==(const Value& other) const {
  if (type_ != other.type_) return false;
  if (is_string()) return text() == other.text();
  if (is_number()) return compare_numbers(*this, other) == 0;
  if ((is_array() || is_object()) && count_ != other.count_) return false;
  if (is_array()) {
    auto theirs = other.elements().begin();
    for (const Value& mine : elements()) {
      if (mine != *theirs) return false;
      ++theirs;
    }
    return true;
  }
  if (is_object() && count_ <= kMaxComparedPairwise) {
    for (const Member& mine : members()) {
      if (mine.value != other.find(mine.name)) return false;
    }
    return true;
  }
  return (*this <=> other) == 0;
}

std::strong_ordering Value::operator<=>(const Value& other) const {
  return compare(*this, other, ValueOrder::json);
}

std::strong_ordering Value::compare_elements(const Value& a, const Value& b, ValueOrder order) {
  auto mine = a.elements().begin();
  auto theirs = b.elements().begin();
  for (size_t left = std::min(a.count_, b.count_); left > 0; --left, ++mine, ++theirs) {
    if (const auto one = compare(*mine, *theirs, order); one != 0) return one;
  }
  return a.count_ <=> b.count_;
}

std::strong_ordering Value::compare_members_by_name(const Value& a, const Value& b) {
  const std::vector<Member> mine = a.sorted_members();
  const std::vector<Member> theirs = b.sorted_members();
  for (size_t i = 0; i < std::min(mine.size(), theirs.size()); ++i) {
    if (const auto order = mine[i].name <=> theirs[i].name; order != 0) return order;
    if (const auto order = mine[i].value <=> theirs[i].value; order != 0) return order;
  }
  return mine.size() <=> theirs.size();
}

std::strong_ordering Value::compare_members_in_place(const Value& a, const Value& b) {
  constexpr auto kOrder = ValueOrder::typed;
  auto mine = a.members().begin();
  auto theirs = b.members().begin();
  for (size_t left = std::min(a.count_, b.count_); left > 0; --left, ++mine, ++theirs) {
    const Member one = *mine;
    const Member other = *theirs;
    const auto types = rank_of(one.value.type_, kOrder) <=> rank_of(other.value.type_, kOrder);
    if (types != 0) return types;
    if (const auto order = one.name <=> other.name; order != 0) return order;
    if (const auto order = compare(one.value, other.value, kOrder); order != 0) return order;
  }
  return a.count_ <=> b.count_;
}

std::strong_ordering compare(const Value& a, const Value& b, ValueOrder order) {
  if (a.type_ != b.type_) return rank_of(a.type_, order) <=> rank_of(b.type_, order);
  switch (a.type_) {
    case Type::undefined:
    case Type::null:
    case Type::min_key:
    case Type::max_key:
      return std::strong_ordering::equal;
    case Type::boolean:
      return a.detail_ <=> b.detail_;
    case Type::number:
      return Value::compare_numbers(a, b);
    case Type::string:
      return a.text() <=> b.text();
    case Type::array:
      return Value::compare_elements(a, b, order);
    case Type::object:
      return order == ValueOrder::json ? Value::compare_members_by_name(a, b)
                                       : Value::compare_members_in_place(a, b);
    case Type::binary:
    case Type::object_id:
    case Type::guid:
    case Type::regex:
    case Type::code:
      return compare_bytes(a, b);
    case Type::date:
      if (a.integer_ != b.integer_) return a.integer_ <=> b.integer_;
      return a.count_ <=> b.count_;
    case Type::timestamp:
      return a.timestamp() <=> b.timestamp();
  }
  return std::strong_ordering::equal;
}

std::vector<Value::Member> Value::sorted_members() const {
  std::vector<Member> sorted;
  sorted.reserve(count_);
  for (Member member : members()) sorted.push_back(std::move(member));
  std::ranges::sort(sorted, {}, &Member::name);
  return sorted;
}

uint64_t Value::hash() const {
  uint64_t hash = hash_of_type(type_);
  switch (type_) {
    case Type::undefined:
    case Type::null:
    case Type::min_key:
    case Type::max_key:
      break;
    case Type::boolean:
      hash += detail_;
      break;
    case Type::number: {
      // Equal numbers have the same nearest double, whatever their kinds.
      double number = this->number();
      if (number == 0) number = 0;
      if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
      const auto bytes = std::bit_cast<std::array<char, sizeof(number)>>(number);
      hash ^= keyed_hash({bytes.data(), bytes.size()});
      break;
    }
    case Type::string:
      hash ^= keyed_hash(text());
      break;
    case Type::array:
      for (const Value& element : elements()) hash = mix(hash) + element.hash();
      break;
    case Type::object:
      // A sum, since the order of the members does not count.
      for (const Member& member : members()) {
        hash += mix(keyed_hash(member.name) + mix(member.value.hash()));
      }
      break;
    case Type::binary:
    case Type::object_id:
    case Type::guid:
    case Type::regex:
    case Type::code:
      hash = (hash + detail_) ^ keyed_hash(bytes());
      break;
    case Type::date:
    case Type::timestamp: {
      const auto bytes = std::bit_cast<std::array<char, sizeof(integer_)>>(integer_);
      hash = (hash + count_) ^ keyed_hash({bytes.data(), bytes.size()});
      break;
    }
  }
  return mix(hash);
}

}  // namespace orrery::value
