// See fingerprint.h. Hashed is a canonical form of the value: its type, its size, and its children,
// members sorted by name.
#include "query/evaluate/fingerprint.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/hash.h"
#include "value/number.h"
#include "value/ordered.h"
#include "value/term_value.h"

namespace orrery::query {
namespace {

using value::Type;
using value::Value;

void append_text(std::string& out, std::string_view text) {
  value::append_u64(out, text.size());
  out += text;
}

void append(std::string& out, const Value& value) {
  out += static_cast<char>('0' + static_cast<int>(value.type()));
  switch (value.type()) {
    case Type::undefined:
    case Type::null:
      return;
    case Type::boolean:
      out += value.boolean() ? '1' : '0';
      return;
    case Type::number: {
      if (value.number_kind() != value::NumberKind::real && value.exact_number().side != 0) {
        // No double is worth the same.
        return value::append_term_value(out, value, value::ValueOrder::typed);
      }
      const double number = value.number();
      value::append_ordered_number(
          out, std::isnan(number) ? std::numeric_limits<double>::quiet_NaN() : number);
      return;
    }
    case Type::string:
      append_text(out, value.text());
      return;
    case Type::array:
      value::append_u64(out, value.size());
      for (const Value element : value.elements()) append(out, element);
      return;
    case Type::object: {
      std::vector<Value::Member> members;
      for (Value::Member member : value.members()) members.push_back(std::move(member));
      std::ranges::sort(members, {}, &Value::Member::name);
      value::append_u64(out, members.size());
      for (const Value::Member& member : members) {
        append_text(out, member.name);
        append(out, member.value);
      }
      return;
    }
    default:
      value::append_term_value(out, value, value::ValueOrder::typed);  // what JSON does not have
  }
}

constexpr size_t kRememberedMax = 1'024;
constexpr size_t kRememberedBytes = 64;  // of a form

Fingerprint first_half_of(const std::array<uint8_t, 32>& digest) {
  Fingerprint out;
  std::ranges::copy_n(digest.begin(), out.size(), out.begin());
  return out;
}

}  // namespace

Fingerprint fingerprint_of(const Value& value) {
  std::string form;
  append(form, value);
  return first_half_of(sha256(form));
}

Fingerprint fingerprint_of(std::span<const Value> values) {
  std::string form;
  for (const Value& value : values) append(form, value);
  return first_half_of(sha256(form));
}

Fingerprint Fingerprints::of(std::span<const Value> values) {
  form_.clear();
  for (const Value& value : values) append(form_, value);
  if (form_.size() > kRememberedBytes) return first_half_of(sha256(form_));
  if (const auto known = known_.find(form_); known != known_.end()) return known->second;
  const Fingerprint made = first_half_of(sha256(form_));
  if (known_.size() < kRememberedMax) known_.emplace(form_, made);
  return made;
}

}  // namespace orrery::query
