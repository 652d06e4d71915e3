// See patch.h.
#include "value/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <memory>

namespace orrery::value {
namespace {

constexpr size_t kShownBytes = 100;  // of what a client sent, in messages

// A document while it is changed. It is closed (text as it was written) until an operation reaches
// into it; only then are there children. All views are into the document, the operations, or the
// editor's numbers.
struct Tree {
  std::string_view name;       // as a member
  std::string_view text;       // of a closed one
  const Node* node = nullptr;  // of a closed one; null for a computed number
  Type type = Type::null;
  std::unique_ptr<std::vector<Tree>> children;  // of an open one

  static Tree of(const Node& node, std::string_view name) {
    return {.name = name, .text = node.raw, .node = &node, .type = node.type, .children = nullptr};
  }
  bool is_container() const { return type == Type::object || type == Type::array; }
  std::vector<Tree>& open() {
    if (!children) {
      children = std::make_unique<std::vector<Tree>>();
      children->reserve(node->count);
      for (const Node* child = node->first; child != nullptr; child = child->next) {
        children->push_back(of(*child, child->name));
      }
    }
    return *children;
  }
  void write(std::string& out) const {
    if (!children) {
      out += text;
      return;
    }
    const bool object = type == Type::object;
    out += object ? '{' : '[';
    bool first = true;
    for (const Tree& child : *children) {
      if (!first) out += ',';
      first = false;
      if (object) {
        append_json_string(out, child.name);
        out += ':';
      }
      child.write(out);
    }
    out += object ? '}' : ']';
  }
};

std::optional<size_t> parse_index(std::string_view step) {
  if (step.empty() || (step.size() > 1 && step.front() == '0')) return std::nullopt;
  size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  return index;
}

std::string shown(const Pointer& pointer, size_t steps) {
  std::string text =
      to_string(Pointer(pointer.begin(), pointer.begin() + static_cast<long>(steps)));
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "…";
  return text;
}

std::unexpected<Error> no_such(const Pointer& pointer, size_t steps) {
  return fail(Code::invalid, fmt::format("the item has nothing at '{}'", shown(pointer, steps)));
}

// A place in an open container: which child it is, or where one would be put.
struct Place {
  Tree* container = nullptr;
  size_t at = 0;
  bool there = false;

  std::vector<Tree>& siblings() const { return *container->children; }
  Tree& child() const { return siblings()[at]; }
  bool in_array() const { return container->type == Type::array; }
};

// The place of the pointer's step `depth` in `container`.
Result<Place> find_in(Tree& container, const Pointer& pointer, size_t depth) {
  if (!container.is_container()) {
    return fail(Code::invalid,
                fmt::format("what the item has at '{}' is neither an object nor an array, so "
                            "nothing can be below it",
                            shown(pointer, depth)));
  }
  std::vector<Tree>& children = container.open();
  const std::string& step = pointer[depth];
  Place place{.container = &container};
  if (container.type == Type::object) {
    const auto found = std::ranges::find(children, std::string_view(step), &Tree::name);
    place.at = static_cast<size_t>(found - children.begin());
    place.there = found != children.end();
    return place;
  }
  if (step == "-") {
    place.at = children.size();
    return place;
  }
  const auto index = parse_index(step);
  if (!index) {
    return fail(Code::invalid,
                fmt::format("the item has an array at '{}', and '{}' is not an index of one: use "
                            "a number, or - for its end",
                            shown(pointer, depth), step.substr(0, kShownBytes)));
  }
  if (*index > children.size()) {
    return fail(Code::invalid, fmt::format("the array at '{}' has {} elements, so the index {} is "
                                           "beyond its end",
                                           shown(pointer, depth), children.size(), *index));
  }
  place.at = *index;
  place.there = *index < children.size();
  return place;
}

Result<Place> find_place(Tree& root, const Pointer& pointer) {
  Tree* container = &root;
  for (size_t depth = 0;; ++depth) {
    auto place = find_in(*container, pointer, depth);
    if (!place || depth + 1 == pointer.size()) return place;
    if (!place->there) return no_such(pointer, depth + 1);
    container = &place->child();
  }
}

Result<Place> find_there(Tree& root, const Pointer& pointer) {
  auto place = find_place(root, pointer);
  if (place && !place->there) return no_such(pointer, pointer.size());
  return place;
}

class Editor {
 public:
  explicit Editor(const Node& document) : root_(Tree::of(document, {})) {}

  Status apply(const PatchOperation& operation) {
    using Kind = PatchOperation::Kind;
    if (operation.path.empty()) {
      return fail(Code::invalid, "the path is that of the whole item: name a property");
    }
    switch (operation.kind) {
      case Kind::add:
        return put(operation.path, Tree::of(operation.value->root(), {}), true);
      case Kind::set:
        return put(operation.path, Tree::of(operation.value->root(), {}), false);
      case Kind::replace: {
        auto place = find_there(root_, operation.path);
        if (!place) return pass(place.error());
        replace(*place, Tree::of(operation.value->root(), {}));
        return {};
      }
      case Kind::remove: {
        auto removed = take(operation.path);
        return removed ? Status() : pass(removed.error());
      }
      case Kind::increment:
        return increment(operation.path, operation.value->root());
      case Kind::move: {
        if (operation.from.empty() ||
            (operation.path != operation.from && is_within(operation.path, operation.from))) {
          return fail(Code::invalid, fmt::format("'{}' lies inside of '{}', and a value cannot be "
                                                 "moved into itself",
                                                 shown(operation.path, operation.path.size()),
                                                 shown(operation.from, operation.from.size())));
        }
        auto taken = take(operation.from);
        if (!taken) return pass(taken.error());
        return put(operation.path, std::move(*taken), true);
      }
    }
    return {};
  }

  std::string text() const {
    std::string out;
    root_.write(out);
    return out;
  }

 private:
  Status put(const Pointer& path, Tree value, bool insert) {
    auto place = find_place(root_, path);
    if (!place) return pass(place.error());
    if (place->there && !(insert && place->in_array())) {
      replace(*place, std::move(value));
      return {};
    }
    value.name = place->in_array() ? std::string_view() : std::string_view(path.back());
    auto& siblings = place->siblings();
    siblings.insert(siblings.begin() + static_cast<long>(place->at), std::move(value));
    return {};
  }

  static void replace(const Place& place, Tree value) {
    value.name = place.child().name;
    place.child() = std::move(value);
  }

  Result<Tree> take(const Pointer& path) {
    auto place = find_there(root_, path);
    if (!place) return pass(place.error());
    Tree taken = std::move(place->child());
    place->siblings().erase(place->siblings().begin() + static_cast<long>(place->at));
    return taken;
  }

  Status increment(const Pointer& path, const Node& by) {
    auto place = find_place(root_, path);
    if (!place) return pass(place.error());
    if (!place->there) return put(path, Tree::of(by, {}), false);
    Tree& target = place->child();
    if (target.type != Type::number) {
      return fail(Code::invalid, fmt::format("what the item has at '{}' is not a number",
                                             shown(path, path.size())));
    }
    auto sum = add(target.text, by.raw);
    if (!sum) return pass(sum.error());
    numbers_.push_back(std::move(*sum));
    target.text = numbers_.back();
    target.node = nullptr;
    return {};
  }

  static Result<std::string> add(std::string_view a, std::string_view b) {
    auto whole = [](std::string_view text) -> std::optional<int64_t> {
      int64_t number = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
      return number;
    };
    auto real = [](std::string_view text) {
      double number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      return number;
    };
    const auto whole_a = whole(a);
    const auto whole_b = whole(b);
    int64_t whole_sum = 0;
    if (whole_a && whole_b && !__builtin_add_overflow(*whole_a, *whole_b, &whole_sum)) {
      return std::to_string(whole_sum);
    }
    const double sum = real(a) + real(b);
    if (!std::isfinite(sum)) {
      return fail(Code::invalid, fmt::format("{} + {} is too large for a number", a, b));
    }
    std::string text;
    append_json_number(text, sum);
    return text;
  }

  Tree root_;
  std::deque<std::string> numbers_;
};

}  // namespace

Result<Pointer> parse_pointer(std::string_view text) {
  auto refuse = [text](std::string_view why) {
    return fail(Code::invalid,
                fmt::format("'{}' is not a path: {}", text.substr(0, kShownBytes), why));
  };
  Pointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return refuse("it is to start with /");
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      if (pointer.size() == kMaxPointerSteps) {
        return refuse(fmt::format("it has more than {} steps", kMaxPointerSteps));
      }
      pointer.emplace_back();
    } else if (text[i] == '~') {
      ++i;
      if (i == text.size() || (text[i] != '0' && text[i] != '1')) {
        return refuse("after ~ comes 0 (for a ~) or 1 (for a /)");
      }
      pointer.back() += text[i] == '0' ? '~' : '/';
    } else {
      pointer.back() += text[i];
    }
  }
  return pointer;
}

std::string to_string(const Pointer& pointer) {
  std::string text;
  for (const std::string& step : pointer) {
    text += '/';
    for (const char c : step) {
      if (c == '~') {
        text += "~0";
      } else if (c == '/') {
        text += "~1";
      } else {
        text += c;
      }
    }
  }
  return text;
}

bool is_within(const Pointer& pointer, const Pointer& above) {
  return pointer.size() >= above.size() &&
         std::ranges::equal(above, std::span(pointer).first(above.size()));
}

std::string_view to_string(PatchOperation::Kind kind) {
  using Kind = PatchOperation::Kind;
  switch (kind) {
    case Kind::add:
      return "add";
    case Kind::set:
      return "set";
    case Kind::replace:
      return "replace";
    case Kind::remove:
      return "remove";
    case Kind::increment:
      return "increment";
    case Kind::move:
      return "move";
  }
  return "?";
}

Result<std::string> apply_patch(const Node& document, std::span<const PatchOperation> operations) {
  Editor editor(document);
  for (size_t i = 0; i < operations.size(); ++i) {
    if (auto applied = editor.apply(operations[i]); !applied) {
      return fail(applied.error().code,
                  fmt::format("operation {} of the patch ({} {}) cannot be done: {}", i + 1,
                              to_string(operations[i].kind),
                              shown(operations[i].path, operations[i].path.size()),
                              applied.error().message));
    }
  }
  return editor.text();
}

}  // namespace orrery::value
