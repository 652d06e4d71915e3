// A path of an update, and the change of what it leads to. Other than a filter's path it names one
// place: arrays are entered by an index, by "$" (the element that the filter found), by "$[]" (all
// elements) or by "$[name]" (those that an array filter takes).
//
// Immutable; any thread may call. An UpdateState belongs to one application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/match/match.h"
#include "value/value.h"

namespace orrery::mongo {

struct UpdateState {
  Evaluation& evaluation;
  const std::vector<ValueMatcher>& filters;
  std::optional<size_t> position = std::nullopt;
  bool is_insert = false;
  const Collation* collation = nullptr;
};

// What an operator does with the value at its path.
struct Modifier {
  enum class Missing : uint8_t {
    create,  // it makes the path
    ignore,  // nothing is done; a path that could not be is an error
    allow,   // nothing is done, whatever the path
  };
  // Undefined in: there is no value. Undefined out: there is none any more.
  std::function<Answer<Value>(const Value& current, UpdateState& state)> apply;
  Missing missing = Missing::create;
  bool only_on_insert = false;
};

class UpdatePath {
 public:
  enum class Kind : uint8_t { name, position, all, filtered };
  struct Component {
    Kind kind = Kind::name;
    std::string name;             // as written; of a filter the name in brackets
    std::optional<size_t> index;  // of a name that is a number
  };

  static Answer<UpdatePath> parse(std::string_view text);
  // A path without any of the "$" forms.
  bool is_plain() const;

  const std::string& text() const { return text_; }
  const std::vector<Component>& components() const { return components_; }

  // The document with the modifier applied to what the path leads to.
  Answer<Value> apply(const Value& document, const Modifier& modifier, UpdateState& state) const;

  struct Step {
    const UpdatePath* path;
    const Modifier* modifier;
  };
  // The same of several, which are in their order and do not conflict. Objects that several lead
  // into are made anew once.
  static Answer<Value> apply_all(const Value& document, std::span<const Step> steps,
                                 UpdateState& state) {
    return apply_all_at(document, steps, 0, state);
  }

 private:
  static Answer<Value> apply_all_at(const Value& value, std::span<const Step> steps, size_t depth,
                                    UpdateState& state);
  static Answer<Value> apply_groups(const Value& object, std::span<const Step> steps, size_t depth,
                                    UpdateState& state);
  Answer<Value> apply_at(const Value& value, size_t depth, const Modifier& modifier,
                         UpdateState& state) const;
  Answer<Value> apply_in_array(const Value& array, size_t index, size_t depth,
                               const Modifier& modifier, UpdateState& state) const;
  Answer<Value> apply_to_elements(const Value& array, size_t depth, const Modifier& modifier,
                                  UpdateState& state) const;
  Answer<Value> create(size_t depth, const Modifier& modifier, UpdateState& state) const;
  std::unexpected<Error> not_viable(const Value& value, size_t depth,
                                    const Modifier& modifier) const;
  std::string prefix(size_t depth) const;

  std::string text_;
  std::vector<Component> components_;
};

// The order in which operators are applied: by components, numbers first and by what they
// are worth.
bool is_before(const UpdatePath& a, const UpdatePath& b);
// 40 when one of the paths is, or is within, the other.
Answer<void> check_conflict(const UpdatePath& a, const UpdatePath& b);

}  // namespace orrery::mongo
