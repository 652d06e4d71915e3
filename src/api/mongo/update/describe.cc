// What an update did to a document. See update.h and identity.h.
#include <cmath>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/update/identity.h"
#include "api/mongo/update/update.h"

namespace orrery::mongo {
namespace {

bool identical_numbers(const Value& a, const Value& b) {
  if (a.number_kind() != b.number_kind()) return false;
  switch (a.number_kind()) {
    case NumberKind::real:
      return compare(a, b, nullptr) == 0 && std::signbit(a.number()) == std::signbit(b.number());
    case NumberKind::decimal:
      return a.decimal() == b.decimal();
    case NumberKind::int32:
    case NumberKind::int64:
      return a.integer() == b.integer();
  }
  return false;
}

void describe(const std::string& path, const Value& before, const Value& after,
              UpdateDescription& into);

std::string joined(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

void describe_object(const std::string& path, const Value& before, const Value& after,
                     UpdateDescription& into) {
  for (const auto& [name, value] : before.members()) {
    if (after.find(name).is_undefined()) into.removed.push_back(joined(path, name));
  }
  for (const auto& [name, value] : after.members()) {
    describe(joined(path, name), before.find(name), value, into);
  }
}

void describe_array(const std::string& path, const Value& before, const Value& after,
                    UpdateDescription& into) {
  for (size_t i = 0; i < after.size(); ++i) {
    describe(joined(path, fmt::to_string(i)), i < before.size() ? before.at(i) : Value(),
             after.at(i), into);
  }
  if (after.size() < before.size())
    into.truncated.push_back({.path = path, .new_size = after.size()});
}

void describe(const std::string& path, const Value& before, const Value& after,
              UpdateDescription& into) {
  if (identical(before, after)) return;
  if (before.is_object() && after.is_object()) return describe_object(path, before, after, into);
  if (before.is_array() && after.is_array() && after.size() > 0)
    return describe_array(path, before, after, into);
  into.updated.push_back(field(path, after));
}

}  // namespace

bool identical(const Value& a, const Value& b) {
  if (a.type() != b.type()) return false;
  if (a.is_number()) return identical_numbers(a, b);
  if (a.is_array()) {
    if (a.size() != b.size()) return false;
    auto other = b.elements().begin();
    for (const Value& element : a.elements()) {
      if (!identical(element, *other)) return false;
      ++other;
    }
    return true;
  }
  if (a.is_object()) {
    if (a.size() != b.size()) return false;
    auto other = b.members().begin();
    for (const auto& [name, value] : a.members()) {
      const Value::Member member = *other;
      if (name != member.name || !identical(value, member.value)) return false;
      ++other;
    }
    return true;
  }
  return compare(a, b, nullptr) == 0;
}

UpdateDescription describe_update(const Value& before, const Value& after) {
  UpdateDescription description;
  describe_object("", before, after, description);
  return description;
}

}  // namespace orrery::mongo
