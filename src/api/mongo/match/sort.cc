// See sort.h.
#include "api/mongo/match/sort.h"

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {

Answer<Sort> Sort::parse(const Value& spec, std::shared_ptr<const Collation> collation) {
  Sort sort;
  sort.collation_ = std::move(collation);
  if (spec.is_undefined()) return sort;
  if (!spec.is_object()) return refuse(kTypeMismatch, "a sort must be an object");
  if (spec.size() == 0) return sort;
  if (const Value natural = spec.find("$natural"); !natural.is_undefined()) {
    if (spec.size() != 1) return refuse(kBadValue, "Cannot include '$natural' in compound sort");
    const std::optional<int64_t> direction = exact_integer(natural);
    if (direction != 1 && direction != -1) {
      return refuse(kBadValue, "$natural sort cannot be set to a value other than -1 or 1.");
    }
    sort.natural_ = static_cast<int>(*direction);
    return sort;
  }
  for (const auto& [path, direction] : spec.members()) {
    if (!direction.find("$meta").is_undefined()) {
      return refuse(kNotImplemented, "$meta is not supported in a sort");
    }
  }
  Answer<SortKey> key = SortKey::parse(spec);
  if (!key) return pass(std::move(key.error()));
  for (const SortKey::Part& part : key->parts()) {
    sort.parts_.push_back({.path = part.path, .descending = part.is_descending});
  }
  sort.key_ = *std::move(key);
  return sort;
}

Sort::Key Sort::key(const Value& document) const {
  return key_.has_value() ? key_->of(document, collation_.get()) : Key();
}

std::strong_ordering Sort::compare(const Key& a, const Key& b) const {
  return key_.has_value() ? key_->compare(a, b, collation_.get()) : std::strong_ordering::equal;
}

std::strong_ordering Sort::compare_documents(const Value& a, const Value& b) const {
  return compare(key(a), key(b));
}

}  // namespace orrery::mongo
