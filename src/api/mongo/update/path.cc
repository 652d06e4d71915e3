// See path.h.
#include "api/mongo/update/path.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/path.h"

namespace orrery::mongo {
namespace {

constexpr int32_t kEmptyFieldName = 56;
// How many elements beyond an array's end an index may be: what is between is filled with nulls.
constexpr size_t kMaxPadding = 1'500'000;

std::vector<Value> members_of(const Value& array) {
  std::vector<Value> elements;
  elements.reserve(array.size() + 1);
  for (const Value& element : array.elements()) elements.push_back(element);
  return elements;
}

}  // namespace

Answer<UpdatePath> UpdatePath::parse(std::string_view text) {
  if (text.empty()) return refuse(kEmptyFieldName, "An empty update path is not valid.");
  UpdatePath path;
  path.text_ = text;
  size_t positions = 0;
  for (std::string& name : split_path(text)) {
    Component component;
    if (name.empty()) {
      return refuse(
          kEmptyFieldName,
          fmt::format("The update path '{}' contains an empty field name, which is not allowed.",
                      text));
    }
    if (name == "$") {
      component.kind = Kind::position;
      if (++positions > 1) {
        return refuse(
            kBadValue,
            fmt::format("Too many positional (i.e. '$') elements found in path '{}'", text));
      }
    } else if (name.starts_with("$[") && name.ends_with(']')) {
      name = name.substr(2, name.size() - 3);
      component.kind = name.empty() ? Kind::all : Kind::filtered;
    } else if (name.starts_with('$') && name != "$id" && name != "$ref" && name != "$db") {
      return refuse(
          kDollarPrefixedFieldName,
          fmt::format("The dollar ($) prefixed field '{}' in '{}' is not allowed in the context of "
                      "an update's replacement document. Consider using an aggregation pipeline "
                      "with $replaceWith.",
                      name, text));
    } else {
      component.index = index_of(name);
    }
    if (component.kind != Kind::name && path.components_.empty()) {
      return refuse(
          kBadValue,
          fmt::format(
              "Cannot have positional (i.e. '$') element in the first position in path '{}'",
              text));
    }
    component.name = std::move(name);
    path.components_.push_back(std::move(component));
  }
  if (path.components_.size() > static_cast<size_t>(kMaxNesting)) {
    return refuse(kBadValue,
                  fmt::format("the path '{}' is nested deeper than {}", text, kMaxNesting));
  }
  return path;
}

bool UpdatePath::is_plain() const {
  return std::ranges::all_of(components_, [](const Component& c) { return c.kind == Kind::name; });
}

std::string UpdatePath::prefix(size_t depth) const {
  std::string text;
  for (size_t i = 0; i < depth; ++i) text += (i == 0 ? "" : ".") + components_[i].name;
  return text;
}

std::unexpected<Error> UpdatePath::not_viable(const Value& value, size_t depth,
                                              const Modifier& modifier) const {
  const std::string element =
      fmt::format("{{{}: {}}}", depth == 0 ? "" : components_[depth - 1].name, shown(value));
  const std::string& name = components_[depth].name;
  return refuse(kPathNotViable,
                modifier.missing == Modifier::Missing::create
                    ? fmt::format("Cannot create field '{}' in element {}", name, element)
                    : fmt::format("Cannot use the part ({}) of ({}) to traverse the element ({})",
                                  name, text_, element));
}

Answer<Value> UpdatePath::apply(const Value& document, const Modifier& modifier,
                                UpdateState& state) const {
  return apply_at(document, 0, modifier, state);
}

// The components from `depth` on, none of which is there, with the value at their end.
Answer<Value> UpdatePath::create(size_t depth, const Modifier& modifier, UpdateState& state) const {
  if (depth < components_.size() && modifier.missing != Modifier::Missing::create) return Value();
  for (size_t i = depth; i < components_.size(); ++i) {
    if (components_[i].kind == Kind::all || components_[i].kind == Kind::filtered) {
      return refuse(
          kBadValue,
          fmt::format("The path '{}' must exist in the document in order to apply array updates.",
                      prefix(i)));
    }
    if (components_[i].kind == Kind::position && !state.position.has_value()) {
      return refuse(kBadValue,
                    "The positional operator did not find the match needed from the query.");
    }
  }
  Answer<Value> value = modifier.apply(Value(), state);
  if (!value || value->is_undefined()) return value;
  for (size_t i = components_.size(); i > depth; --i) {
    const Component& component = components_[i - 1];
    const std::string name =
        component.kind == Kind::position ? fmt::to_string(*state.position) : component.name;
    value = Value::make_object({field(name, *std::move(value))});
  }
  return value;
}

Answer<Value> UpdatePath::apply_at(const Value& value, size_t depth, const Modifier& modifier,
                                   UpdateState& state) const {
  if (depth == components_.size()) return modifier.apply(value, state);
  if (value.is_undefined()) return create(depth, modifier, state);
  if (const Answer<void> spent = state.evaluation.spend(1 + value.size()); !spent)
    return pass(spent.error());
  const Component& component = components_[depth];
  if (component.kind == Kind::all || component.kind == Kind::filtered) {
    if (!value.is_array()) {
      return refuse(kBadValue, fmt::format("Cannot apply array updates to non-array element {}: {}",
                                           prefix(depth), shown(value)));
    }
    return apply_to_elements(value, depth, modifier, state);
  }
  std::optional<size_t> index = component.index;
  std::string position_name;
  if (component.kind == Kind::position) {
    if (!state.position.has_value()) {
      return refuse(kBadValue,
                    "The positional operator did not find the match needed from the query.");
    }
    index = state.position;
    position_name = fmt::to_string(*index);
  }
  if (value.is_object()) {
    const std::string& name = component.kind == Kind::position ? position_name : component.name;
    const Value member = value.find(name);
    Answer<Value> changed = apply_at(member, depth + 1, modifier, state);
    if (!changed) return changed;
    if (member.is_undefined() && changed->is_undefined()) return value;
    return with_member(value, name, *changed);
  }
  if (value.is_array() && index.has_value()) {
    return apply_in_array(value, *index, depth, modifier, state);
  }
  if (modifier.missing == Modifier::Missing::allow) return value;
  return not_viable(value, depth, modifier);
}

Answer<Value> UpdatePath::apply_in_array(const Value& array, size_t index, size_t depth,
                                         const Modifier& modifier, UpdateState& state) const {
  if (index < array.size()) {
    Answer<Value> changed = apply_at(array.at(index), depth + 1, modifier, state);
    if (!changed) return changed;
    std::vector<Value> elements = members_of(array);
    // What is removed leaves a null: the others keep their places.
    elements[index] = changed->is_undefined() ? Value::make_null() : *std::move(changed);
    return Value::make_array(std::move(elements));
  }
  if (modifier.missing != Modifier::Missing::create) return array;
  if (index - array.size() > kMaxPadding) {
    return refuse(kBadValue, fmt::format("can't backfill more than {} elements", kMaxPadding));
  }
  if (const Answer<void> room = state.evaluation.take((index - array.size()) * sizeof(Value));
      !room) {
    return pass(room.error());
  }
  Answer<Value> made = create(depth + 1, modifier, state);
  if (!made || made->is_undefined()) return made ? Answer<Value>(array) : made;
  std::vector<Value> elements = members_of(array);
  elements.resize(index, Value::make_null());
  elements.push_back(*std::move(made));
  return Value::make_array(std::move(elements));
}

Answer<Value> UpdatePath::apply_to_elements(const Value& array, size_t depth,
                                            const Modifier& modifier, UpdateState& state) const {
  const Component& component = components_[depth];
  const ValueMatcher* filter = nullptr;
  if (component.kind == Kind::filtered) {
    const auto found = std::ranges::find(state.filters, component.name, &ValueMatcher::name);
    if (found == state.filters.end()) {
      return refuse(kBadValue, fmt::format("No array filter found for identifier '{}' in path '{}'",
                                           component.name, text_));
    }
    filter = &*found;
  }
  std::vector<Value> elements = members_of(array);
  for (Value& element : elements) {
    if (filter != nullptr) {
      const Answer<bool> takes = filter->matches(element, state.evaluation);
      if (!takes) return pass(takes.error());
      if (!*takes) continue;
    }
    Answer<Value> changed = apply_at(element, depth + 1, modifier, state);
    if (!changed) return changed;
    element = changed->is_undefined() ? Value::make_null() : *std::move(changed);
  }
  return Value::make_array(std::move(elements));
}

Answer<Value> UpdatePath::apply_all_at(const Value& value, std::span<const Step> steps,
                                       size_t depth, UpdateState& state) {
  // Of several none ends here: it would conflict with the others.
  const bool are_names = std::ranges::all_of(steps, [depth](const Step& step) {
    return depth < step.path->components_.size() &&
           step.path->components_[depth].kind == Kind::name;
  });
  if (steps.size() > 1 && value.is_object() && are_names) {
    return apply_groups(value, steps, depth, state);
  }
  Value changed = value;
  for (const Step& step : steps) {
    Answer<Value> next = step.path->apply_at(changed, depth, *step.modifier, state);
    if (!next) return next;
    changed = *std::move(next);
  }
  return changed;
}

Answer<Value> UpdatePath::apply_groups(const Value& object, std::span<const Step> steps,
                                       size_t depth, UpdateState& state) {
  if (const Answer<void> spent = state.evaluation.spend(1 + object.size()); !spent) {
    return pass(spent.error());
  }
  // Steps with the same name here are beside one another.
  std::vector<std::pair<std::string_view, Value>> changes;
  std::unordered_map<std::string_view, size_t> places;
  for (size_t i = 0; i < steps.size();) {
    const std::string& name = steps[i].path->components_[depth].name;
    size_t end = i + 1;
    while (end < steps.size() && steps[end].path->components_[depth].name == name) ++end;
    Answer<Value> changed =
        apply_all_at(object.find(name), steps.subspan(i, end - i), depth + 1, state);
    if (!changed) return changed;
    places.emplace(name, changes.size());
    changes.emplace_back(name, *std::move(changed));
    i = end;
  }
  std::vector<Value::Field> fields;
  fields.reserve(object.size() + changes.size());
  std::vector<bool> is_in_place(changes.size());
  for (const auto& [name, value] : object.members()) {
    const auto found = places.find(name);
    if (found == places.end()) {
      fields.push_back(field(name, value));
      continue;
    }
    is_in_place[found->second] = true;
    const Value& changed = changes[found->second].second;
    if (!changed.is_undefined()) fields.push_back(field(name, changed));
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    if (is_in_place[i] || changes[i].second.is_undefined()) continue;
    fields.push_back(field(changes[i].first, changes[i].second));
  }
  return Value::make_object(std::move(fields));
}

bool is_before(const UpdatePath& a, const UpdatePath& b) {
  return std::ranges::lexicographical_compare(a.components(), b.components(),
                                              [](const auto& x, const auto& y) {
                                                if (x.index.has_value() != y.index.has_value())
                                                  return x.index.has_value();
                                                if (x.index.has_value()) return *x.index < *y.index;
                                                return x.name < y.name;
                                              });
}

Answer<void> check_conflict(const UpdatePath& a, const UpdatePath& b) {
  const size_t common = std::min(a.components().size(), b.components().size());
  const auto is_of_elements = [](const UpdatePath::Component& c) {
    return c.kind == UpdatePath::Kind::all || c.kind == UpdatePath::Kind::filtered;
  };
  std::string at;
  for (size_t i = 0; i < common; ++i) {
    const UpdatePath::Component& x = a.components()[i];
    const UpdatePath::Component& y = b.components()[i];
    const bool is_same = x.kind == y.kind && x.name == y.name;
    if (!is_same && !(i > 0 && is_of_elements(x) != is_of_elements(y))) return {};
    if (!is_same) break;
    at += (i == 0 ? "" : ".") + x.name;
  }
  return refuse(
      kConflictingUpdateOperators,
      fmt::format("Updating the path '{}' would create a conflict at '{}'", b.text(), at));
}

}  // namespace orrery::mongo
