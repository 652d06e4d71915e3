// See terms.h, which has the byte formats. A policy is kept as a trie over the steps of its paths
// and walked in step with the item, so that the cost of a term does not depend on the number of
// rules. Immutable once made: any number of threads may use one policy.
#include "value/terms.h"

#include <algorithm>
#include <optional>

#include "value/geometry.h"
#include "value/ordered.h"
#include "value/spatial.h"

namespace orrery::value {

namespace {

constexpr char kPathEnd = 0x01;
constexpr char kPropertyStep = 0x02;
constexpr char kElementStep = 0x03;

void append_property_step(std::string& out, std::string_view name) {
  out.push_back(kPropertyStep);
  append_ordered_bytes(out, name);
}

}  // namespace

struct IndexPolicy::Trie {
  std::optional<bool> value;    // what `/?` here says
  std::optional<bool> subtree;  // what `/*` here says
  bool always = false;
  bool spatial_value = false;    // a spatial index for `/?` here
  bool spatial_subtree = false;  // and for `/*`
  std::vector<std::pair<std::string, std::unique_ptr<Trie>>> properties;  // by name
  std::unique_ptr<Trie> elements;

  bool has_children() const { return !properties.empty() || elements != nullptr; }

  const Trie* property(std::string_view name) const {
    const auto at =
        std::ranges::lower_bound(properties, name, {}, &decltype(properties)::value_type::first);
    return at != properties.end() && at->first == name ? at->second.get() : nullptr;
  }

  Trie& at(const Path& path) {
    Trie* trie = this;
    for (const Path::Step& step : path.steps) {
      auto* child = &trie->elements;
      if (!step.array) {
        auto& list = trie->properties;
        auto place =
            std::ranges::lower_bound(list, step.name, {}, &decltype(properties)::value_type::first);
        if (place == list.end() || place->first != step.name) {
          place = list.emplace(place, step.name, nullptr);
        }
        child = &place->second;
      }
      if (*child == nullptr) *child = std::make_unique<Trie>();
      trie = child->get();
    }
    return *trie;
  }
};

namespace {

// Walks an item along with a trie. `term` holds the path of the node being visited.
template <class Trie, class Emit>
class TermWalk {
 public:
  TermWalk(const Emit& emit, ValueOrder order) : emit_(emit), order_(order) { term_.reserve(256); }

  // What the nearest `/*` above says.
  struct Inherited {
    bool indexed = false;
    bool spatial = false;
    bool any() const { return indexed || spatial; }
  };

  // `trie` is null below the last rule. False when `emit` wants no more.
  bool visit(const Node& node, const Trie* trie, Inherited inherited, bool is_root) {
    bool here = inherited.indexed;
    bool spatial = inherited.spatial;
    if (trie != nullptr) {
      inherited.indexed = trie->subtree.value_or(inherited.indexed);
      inherited.spatial = trie->spatial_subtree || inherited.spatial;
      here = trie->always || trie->value.value_or(inherited.indexed);
      spatial = trie->spatial_value || inherited.spatial;
      if (!trie->has_children()) trie = nullptr;
    }
    if (here && !is_root && node.type != Type::undefined) {
      const size_t size = term_.size();
      term_.push_back(kPathEnd);
      append_term_value(term_, node, order_);
      const bool go_on = emit_(term_);
      term_.resize(size);
      if (!go_on) return false;
    }
    if (spatial && !is_root && !emit_cells(node)) return false;
    if (!inherited.any() && trie == nullptr) return true;
    if (node.type == Type::object) return visit_members(node, trie, inherited);
    if (node.type == Type::array) return visit_elements(node, trie, inherited);
    return true;
  }

 private:
  // What a spatial index has of a value. Nothing: it is no shape.
  std::optional<geo::Shape> shape_of(const Node& node) const {
    const bool is_typed = order_ == ValueOrder::typed;
    if (node.type != Type::object && !(is_typed && node.type == Type::array)) return std::nullopt;
    if (!is_typed && (node.find("type") == nullptr || node.find("coordinates") == nullptr)) {
      return std::nullopt;
    }
    auto shape =
        is_typed ? geo::parse_place(Value::from(node)) : geo::parse_shape(Value::from(node));
    if (!shape) return std::nullopt;
    return *std::move(shape);
  }

  bool emit_cells(const Node& node) {
    const auto shape = shape_of(node);
    if (!shape) return true;
    return std::ranges::all_of(cover(*shape, 0, kShapeCells), [&](uint64_t cell) {
      return emit_(spatial_term(term_ + kPathEnd, cell));
    });
  }

  bool visit_members(const Node& node, const Trie* trie, Inherited inherited) {
    const size_t size = term_.size();
    for (const Node* member = node.first; member != nullptr; member = member->next) {
      const Trie* below = trie != nullptr ? trie->property(member->name) : nullptr;
      if (!inherited.any() && below == nullptr) continue;
      append_property_step(term_, member->name);
      if (!visit(*member, below, inherited, false)) return false;
      term_.resize(size);
    }
    return true;
  }

  bool visit_elements(const Node& node, const Trie* trie, Inherited inherited) {
    const Trie* below = trie != nullptr ? trie->elements.get() : nullptr;
    if (!inherited.any() && below == nullptr) return true;
    const size_t size = term_.size();
    term_.push_back(kElementStep);
    for (const Node* element = node.first; element != nullptr; element = element->next) {
      if (!visit(*element, below, inherited, false)) return false;
    }
    term_.resize(size);
    return true;
  }

  const Emit& emit_;
  const ValueOrder order_;
  std::string term_;
};

}  // namespace

struct IndexPolicy::Compiled {
  IndexDefinition definition;
  Trie trie;
  std::vector<std::string> composite_prefixes;  // one for each composite
  bool has_shapes = false;
};

IndexPolicy::IndexPolicy() : IndexPolicy(IndexDefinition{}) {}

IndexPolicy::IndexPolicy(IndexDefinition definition) {
  auto compiled = std::make_shared<Compiled>();
  for (const IndexRule& rule : definition.rules) {
    Trie& at = compiled->trie.at(rule.path.path);
    (rule.path.tail == Tail::value ? at.value : at.subtree) = rule.include;
    compiled->has_shapes = compiled->has_shapes || rule.include;
  }
  for (const Path& path : definition.always) compiled->trie.at(path).always = true;
  for (const IndexPath& path : definition.spatial) {
    Trie& at = compiled->trie.at(path.path);
    (path.tail == Tail::value ? at.spatial_value : at.spatial_subtree) = true;
  }
  for (const CompositeIndex& composite : definition.composites) {
    compiled->composite_prefixes.push_back(CompositeTerms::prefix(composite));
  }
  compiled->definition = std::move(definition);
  compiled_ = std::move(compiled);
}

IndexPolicy IndexPolicy::everything() {
  return IndexPolicy({.rules = {{.path = {.path = {}, .tail = Tail::subtree}, .include = true}}});
}

const IndexDefinition& IndexPolicy::definition() const {
  return compiled_->definition;
}

bool IndexPolicy::has_shapes() const {
  return compiled_->has_shapes;
}

bool IndexPolicy::covers(const Path& path) const {
  if (path.steps.empty()) return false;
  const Trie* trie = &compiled_->trie;
  bool inherited = trie->subtree.value_or(false);
  for (const Path::Step& step : path.steps) {
    if (trie != nullptr) trie = step.array ? trie->elements.get() : trie->property(step.name);
    if (trie != nullptr) inherited = trie->subtree.value_or(inherited);
  }
  if (trie == nullptr) return inherited;
  return trie->always || trie->value.value_or(inherited);
}

bool IndexPolicy::covers_spatially(const Path& path) const {
  if (path.steps.empty()) return false;
  const Trie* trie = &compiled_->trie;
  for (const Path::Step& step : path.steps) {
    if (trie->spatial_subtree) return true;
    trie = step.array ? trie->elements.get() : trie->property(step.name);
    if (trie == nullptr) return false;
  }
  return trie->spatial_subtree || trie->spatial_value;
}

bool IndexPolicy::covers_member(std::string_view name) const {
  const Trie& root = compiled_->trie;
  const bool inherited = root.subtree.value_or(false);
  const Trie* member = root.property(name);
  if (member == nullptr) return inherited;
  return member->always || member->value.value_or(member->subtree.value_or(inherited));
}

std::string_view IndexPolicy::composite_prefix(size_t composite) const {
  return compiled_->composite_prefixes[composite];
}

bool IndexPolicy::each_path_term(const Node& item,
                                 const std::function<bool(std::string_view)>& emit) const {
  return TermWalk<Trie, std::function<bool(std::string_view)>>(emit, compiled_->definition.order)
      .visit(item, &compiled_->trie, {}, true);
}

void IndexPolicy::each_term(const Node& item,
                            const std::function<void(std::string_view)>& emit) const {
  each_path_term(item, [&](std::string_view term) {
    emit(term);
    return true;
  });
  std::string term;
  for (size_t i = 0; i < compiled_->composite_prefixes.size(); ++i) {
    term = compiled_->composite_prefixes[i];
    CompositeTerms::append(term, compiled_->definition.composites[i], item,
                           compiled_->definition.order);
    emit(term);
  }
}

std::string term_path_of_member(std::string_view name) {
  std::string out;
  append_property_step(out, name);
  out.push_back(kPathEnd);
  return out;
}

std::string term_path(const Path& path) {
  std::string out;
  for (const Path::Step& step : path.steps) {
    if (step.array) {
      out.push_back(kElementStep);
    } else {
      append_property_step(out, step.name);
    }
  }
  out.push_back(kPathEnd);
  return out;
}

}  // namespace orrery::value
