// See shape.h.
#include "api/mongo/pipeline/shape.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

using Node = Shape::Node;
using Kind = Node::Kind;

Node* find_child(Node& node, std::string_view name) {
  const auto found = std::ranges::find(
      node.children, name, [](const auto& child) { return std::string_view(child.first); });
  return found == node.children.end() ? nullptr : &found->second;
}
const Node* find_child(const Node& node, std::string_view name) {
  return find_child(const_cast<Node&>(node), name);
}

// Puts a leaf at the path; two that collide are an error.
Answer<void> place(Node& root, const std::vector<std::string>& steps, Node leaf) {
  Node* node = &root;
  for (size_t i = 0; i < steps.size(); ++i) {
    node->has_computed = node->has_computed || leaf.has_computed;
    node->has_kept = node->has_kept || leaf.has_kept;
    Node* child = find_child(*node, steps[i]);
    const bool is_last = i + 1 == steps.size();
    if (child == nullptr) {
      node->children.emplace_back(steps[i], is_last ? std::move(leaf) : Node());
      if (is_last) return {};
      child = &node->children.back().second;
    } else if (is_last || child->kind != Kind::branch) {
      return refuse(31250, fmt::format("Invalid projection: path collision at '{}'", steps[i]));
    }
    node = child;
  }
  return {};
}

struct Parser {
  const ParseContext& context;
  bool is_project;
  Node root = {};
  // Whether members were seen that are kept, and that are left out; _id apart.
  bool has_kept = false;
  bool has_dropped = false;
  bool has_computed = false;
  std::optional<bool> keeps_id = std::nullopt;

  Answer<void> parse(const Value& spec, std::vector<std::string>& path, int depth);
  Answer<void> parse_member(const Value& value, std::vector<std::string>& path, int depth);
};

Answer<void> Parser::parse_member(const Value& value, std::vector<std::string>& path, int depth) {
  const bool is_id = path.size() == 1 && path[0] == "_id";
  Node leaf;
  if (is_project && (value.is_bool() || value.is_number())) {
    const bool is_kept = is_truthy(value);
    leaf.kind = is_kept ? Kind::kept : Kind::dropped;
    leaf.has_kept = true;
    if (is_id) {
      keeps_id = is_kept;
    } else {
      (is_kept ? has_kept : has_dropped) = true;
    }
    return place(root, path, std::move(leaf));
  }
  if (value.is_object() && !is_operator(value)) {
    if (value.size() == 0) {
      if (is_project) {
        return refuse(51270,
                      "An empty sub-projection is not a valid value. Found empty object at "
                      "path");
      }
    } else {
      return parse(value, path, depth + 1);
    }
  }
  auto expression = Expression::parse(value, context);
  if (!expression) return pass(std::move(expression.error()));
  leaf.kind = Kind::computed;
  leaf.has_computed = true;
  leaf.expression = std::make_shared<Expression>(std::move(*expression));
  has_computed = true;
  return place(root, path, std::move(leaf));
}

Answer<void> Parser::parse(const Value& spec, std::vector<std::string>& path, int depth) {
  if (depth > kMaxNesting) return refuse(kOverflow, "a projection is nested too deep");
  for (const auto& [name, value] : spec.members()) {
    if (depth > 0 && name.find('.') != std::string_view::npos && !is_project) {
      return refuse(40183, fmt::format("FieldPath field names may not contain '.' in a nested "
                                       "object: '{}'",
                                       name));
    }
    auto steps = parse_path(name);
    if (!steps) return pass(std::move(steps.error()));
    const size_t size = path.size();
    path.insert(path.end(), steps->begin(), steps->end());
    if (path.size() > static_cast<size_t>(kMaxNesting)) {
      return refuse(kOverflow, "a projection's path is too long");
    }
    auto parsed = parse_member(value, path, depth);
    if (!parsed) return parsed;
    path.resize(size);
  }
  return {};
}

Value keep(const Value& value, const Node& node, bool is_inclusion);

Value keep_members(const Value& object, const Node& node, bool is_inclusion) {
  std::vector<Value::Field> fields;
  for (const auto& [name, value] : object.members()) {
    const Node* const child = find_child(node, name);
    if (child == nullptr) {
      if (!is_inclusion) fields.push_back(field(name, value));
      continue;
    }
    switch (child->kind) {
      case Kind::kept:
        fields.push_back(field(name, value));
        break;
      case Kind::dropped:
        break;
      case Kind::computed:
        // Its place is behind what is kept.
        if (!is_inclusion) fields.push_back(field(name, value));
        break;
      case Kind::branch:
        fields.push_back(field(name, keep(value, *child, is_inclusion)));
        break;
    }
  }
  return Value::make_object(std::move(fields));
}

// What is kept of a value at a branch: of arrays, of each element.
Value keep(const Value& value, const Node& node, bool is_inclusion) {
  if (value.is_object()) return keep_members(value, node, is_inclusion);
  if (value.is_array()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements()) {
      elements.push_back(keep(element, node, is_inclusion));
    }
    return Value::make_array(std::move(elements));
  }
  // What is computed below a scalar takes its place.
  return is_inclusion && !node.has_computed ? Value() : value;
}

Answer<Value> compute(const Value& value, const Node& node, Evaluation& evaluation) {
  if (value.is_array()) {
    std::vector<Value> elements;
    for (const Value& element : value.elements()) {
      auto computed = compute(element, node, evaluation);
      if (!computed) return computed;
      elements.push_back(std::move(*computed));
    }
    return Value::make_array(std::move(elements));
  }
  std::vector<Value::Field> fields;
  for (const auto& [name, member] : value.members()) fields.push_back(field(name, member));
  for (const auto& [name, child] : node.children) {
    if (!child.has_computed) continue;
    const auto place = std::ranges::find(fields, std::string_view(name),
                                         [](const Value::Field& one) { return one.name.text(); });
    const Value old = place == fields.end() ? Value() : place->value;
    auto computed = child.kind == Kind::computed ? child.expression->evaluate(evaluation)
                                                 : compute(old, child, evaluation);
    if (!computed) return computed;
    // What is missing goes away: make_object leaves it out.
    if (place != fields.end()) {
      place->value = std::move(*computed);
    } else {
      fields.push_back(field(name, std::move(*computed)));
    }
  }
  return Value::make_object(std::move(fields));
}

}  // namespace

Answer<Shape> Shape::parse_project(const Value& spec, const ParseContext& context) {
  if (!spec.is_object()) return refuse(15969, "$project specification must be an object");
  if (spec.size() == 0)
    return refuse(51272, "projection specification must have at least one field");
  Parser parser{.context = context, .is_project = true};
  std::vector<std::string> path;
  if (auto parsed = parser.parse(spec, path, 0); !parsed) return pass(std::move(parsed.error()));
  if (parser.has_kept && parser.has_dropped) {
    return refuse(31254, "Cannot do exclusion in inclusion projection, or inclusion in exclusion");
  }
  Shape shape;
  const bool is_exclusion =
      parser.has_dropped || (!parser.has_kept && !parser.has_computed && parser.keeps_id == false);
  if (is_exclusion && parser.has_computed) {
    return refuse(31252, "Cannot use an expression in an exclusion projection");
  }
  shape.mode_ = is_exclusion ? Mode::exclusion : Mode::inclusion;
  shape.root_ = std::move(parser.root);
  // _id is kept unless it is said not to be.
  if (!is_exclusion && find_child(shape.root_, "_id") == nullptr) {
    shape.root_.children.emplace_back("_id", Node{.kind = Kind::kept, .has_kept = true});
  }
  return shape;
}

Answer<Shape> Shape::parse_add_fields(std::string_view stage, const Value& spec,
                                      const ParseContext& context) {
  if (!spec.is_object()) {
    return refuse(40272, fmt::format("{} specification stage must be an object, got {}", stage,
                                     type_name(spec)));
  }
  if (spec.size() == 0) {
    return refuse(40177, fmt::format("Invalid {} :: caused by :: specification must have at least "
                                     "one field",
                                     stage));
  }
  Parser parser{.context = context, .is_project = false};
  std::vector<std::string> path;
  if (auto parsed = parser.parse(spec, path, 0); !parsed) return pass(std::move(parsed.error()));
  Shape shape;
  shape.root_ = std::move(parser.root);
  return shape;
}

Answer<Shape> Shape::parse_unset(const Value& spec) {
  std::vector<Value> names;
  if (spec.is_string()) {
    names.push_back(spec);
  } else if (spec.is_array()) {
    for (const Value& name : spec.elements()) names.push_back(name);
    if (names.empty()) {
      return refuse(31119,
                    "$unset specification must be a string or an array with at least one "
                    "field");
    }
  } else {
    return refuse(31002, "$unset specification must be a string or an array");
  }
  Shape shape;
  shape.mode_ = Mode::exclusion;
  for (const Value& name : names) {
    if (!name.is_string()) {
      return refuse(31120,
                    "$unset specification must be a string or an array containing only "
                    "string values");
    }
    auto steps = parse_path(name.text());
    if (!steps) return pass(std::move(steps.error()));
    auto placed = place(shape.root_, *steps, Node{.kind = Kind::dropped, .has_kept = true});
    if (!placed) return pass(std::move(placed.error()));
  }
  return shape;
}

Answer<Value> Shape::apply(const Value& document, Evaluation& evaluation) const {
  evaluation.set_document(document);
  if (evaluation.budget.spend(1 + document.size())) return evaluation.over();
  Value kept = document;
  if (mode_ != Mode::addition) kept = keep_members(document, root_, mode_ == Mode::inclusion);
  if (!root_.has_computed) return kept;
  return compute(kept, root_, evaluation);
}

}  // namespace orrery::mongo
