// See path.h.
#include "api/mongo/match/path.h"

#include <charconv>

namespace orrery::mongo {

std::optional<size_t> index_of(std::string_view component) {
  if (component.empty() || component.size() > 9) return std::nullopt;
  if (component.size() > 1 && component.front() == '0') return std::nullopt;
  uint32_t index = 0;
  const auto [end, error] =
      std::from_chars(component.data(), component.data() + component.size(), index);
  if (error != std::errc() || end != component.data() + component.size()) return std::nullopt;
  return index;
}

std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> components;
  while (true) {
    const size_t dot = path.find('.');
    components.emplace_back(path.substr(0, dot));
    if (dot == std::string_view::npos) return components;
    path.remove_prefix(dot + 1);
  }
}

MatchPath::MatchPath(std::string_view path) : text_(path), components_(split_path(path)) {
  numbers_.reserve(components_.size());
  for (const std::string& component : components_) numbers_.push_back(index_of(component));
}

bool MatchPath::walk(const Value& value, size_t depth, Leaf leaf, size_t index,
                     const Visit& visit) const {
  Value at = value;
  for (; depth < components_.size(); ++depth) {
    if (at.is_array()) return walk_array(at, depth, leaf, index, visit);
    at = at.find(components_[depth]);
    if (at.is_undefined()) return visit(at, index);
  }
  return end(at, leaf, index, visit);
}

bool MatchPath::end(const Value& value, Leaf leaf, size_t index, const Visit& visit) const {
  if (value.is_array() && leaf == Leaf::each_and_whole) {
    size_t i = 0;
    for (const Value& element : value.elements()) {
      if (visit(element, index == kNoIndex ? i : index)) return true;
      ++i;
    }
  }
  return visit(value, index);
}

// The rest of the path within the documents of an array, and within the element that the next
// component is the number of.
bool MatchPath::walk_array(const Value& array, size_t depth, Leaf leaf, size_t index,
                           const Visit& visit) const {
  size_t i = 0;
  for (const Value& element : array.elements()) {
    if (element.is_object() && walk(element, depth, leaf, index == kNoIndex ? i : index, visit)) {
      return true;
    }
    if (numbers_[depth] == i) {
      // An element that was named is not entered without being named.
      if (depth + 1 == components_.size()) {
        if (end(element, leaf, index, visit)) return true;
      } else if (element.is_object() || element.is_array()) {
        if (walk(element, depth + 1, leaf, index, visit)) return true;
      }
    }
    ++i;
  }
  return false;
}

}  // namespace orrery::mongo
