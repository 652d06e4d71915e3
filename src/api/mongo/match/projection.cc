// See projection.h. A projection is a tree by the components of its paths. It includes or excludes
// as a whole; $slice goes with both, and what is computed with inclusion only.
#include "api/mongo/match/projection.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/match/path.h"

namespace orrery::mongo {

struct Projection::Node {
  enum class Kind : uint8_t { nested, include, exclude, compute, slice, elem_match, position };
  struct Child {
    std::string name;
    Kind kind = Kind::nested;
    std::unique_ptr<Node> nested = nullptr;
    std::optional<Expression> expression = std::nullopt;
    std::optional<Matcher> elem_match = std::nullopt;
    int64_t skip = 0;  // of $slice
    int64_t count = 0;
    bool has_skip = false;
  };
  std::vector<Child> children;
  bool is_inclusion = false;  // the same in the whole tree
  bool includes_id = true;    // at the root: _id is shown though nothing says so
  bool has_computed = false;  // here or further down
  bool has_position = false;  // likewise

  const Child* find(std::string_view name) const {
    const auto found = std::ranges::find(children, name, &Child::name);
    return found == children.end() ? nullptr : &*found;
  }
};

namespace {

using Node = Projection::Node;
using Kind = Node::Kind;
using Child = Node::Child;

constexpr size_t kMaxFields = 10'000;

class Parser {
 public:
  explicit Parser(const MatchOptions& options) : options_(options) {}

  Answer<void> parse(const Value& spec, const std::string& prefix, int depth) {
    if (depth > kMaxNesting) return refuse(kBadValue, "a projection is nested too deep");
    for (const auto& [name, value] : spec.members()) {
      const std::string path =
          prefix.empty() ? std::string(name) : prefix + "." + std::string(name);
      if (const Answer<void> done = parse_field(path, value, depth); !done) return done;
    }
    return {};
  }

  Answer<std::shared_ptr<const Node>> finish() {
    root_->is_inclusion = is_inclusion_.value_or(has_computed_ || (id_included_ == true));
    if (root_->is_inclusion && id_included_ == false) root_->includes_id = false;
    if (!root_->is_inclusion && is_inclusion_ == std::nullopt && has_computed_)
      root_->is_inclusion = true;
    if (!root_->is_inclusion && id_included_ == true) {
      std::erase_if(root_->children, [](const Child& child) {
        return child.name == "_id" && child.kind == Kind::include;
      });
    }
    mark(*root_, root_->is_inclusion);
    return std::shared_ptr<const Node>(std::move(root_));
  }
  bool uses_position() const { return has_position_; }

 private:
  Answer<void> parse_field(const std::string& path, const Value& value, int depth) {
    if (value.is_object()) return parse_object(path, value, depth);
    if (path.ends_with(".$")) return parse_position(path, value);
    Child child;
    if (value.is_number() || value.is_bool()) {
      const bool includes = is_truthy(value);
      child.kind = includes ? Kind::include : Kind::exclude;
      if (path == "_id") {
        id_included_ = includes;
      } else if (const Answer<void> fits = set_inclusion(includes, path); !fits) {
        return fits;
      }
      return add(path, std::move(child));
    }
    return add_expression(path, value);
  }

  Answer<void> parse_object(const std::string& path, const Value& value, int depth) {
    if (value.size() == 0) {
      return refuse(51270, fmt::format("An empty sub-projection is not a valid value. Found empty "
                                       "object at path {}",
                                       path));
    }
    if (!is_operator(value)) return parse(value, path, depth + 1);
    if (path.ends_with(".$")) {
      return refuse(31271, "positional projection cannot be used with an expression or sub object");
    }
    if (value.size() == 1) {
      if (const Value slice = value.find("$slice"); !slice.is_undefined()) {
        if (slice.is_number() ||
            (slice.is_array() && slice.size() > 0 && slice.at(0).is_number())) {
          return add_slice(path, slice);
        }
      }
      if (const Value match = value.find("$elemMatch"); !match.is_undefined()) {
        return add_elem_match(path, match);
      }
      if (!value.find("$meta").is_undefined()) {
        return refuse(kNotImplemented, "$meta is not supported in a projection");
      }
    }
    return add_expression(path, value);
  }

  Answer<void> set_inclusion(bool includes, std::string_view path) {
    if (is_inclusion_.has_value() && *is_inclusion_ != includes) {
      return includes
                 ? refuse(
                       31253,
                       fmt::format("Cannot do inclusion on field {} in exclusion projection", path))
                 : refuse(31254,
                          fmt::format("Cannot do exclusion on field {} in inclusion projection",
                                      path));
    }
    is_inclusion_ = includes;
    return {};
  }

  Answer<void> add_expression(const std::string& path, const Value& value) {
    ParseContext context = options_.context;
    Answer<Expression> expression = Expression::parse(value, context);
    if (!expression) return pass(std::move(expression.error()));
    if (is_inclusion_ == false) {
      return refuse(31252,
                    fmt::format("Cannot use expression in exclusion projection, at {}", path));
    }
    // Paths that are only computed do not decide between inclusion and exclusion of others.
    if (path != "_id") is_inclusion_ = true;
    has_computed_ = true;
    Child child{.name = {}, .kind = Kind::compute};
    child.expression = *std::move(expression);
    return add(path, std::move(child));
  }

  Answer<void> add_slice(const std::string& path, const Value& slice) {
    Child child{.name = {}, .kind = Kind::slice};
    const auto integer = [](const Value& number) {
      return truncated_integer(number).value_or(number.number() < 0 ? INT32_MIN : INT32_MAX);
    };
    if (slice.is_number()) {
      child.count = integer(slice);
      return add(path, std::move(child));
    }
    if (slice.size() != 2 || !slice.at(1).is_number()) {
      return refuse(
          28724, "$slice takes a number, or an array of a number to skip and a number of elements");
    }
    child.has_skip = true;
    child.skip = integer(slice.at(0));
    child.count = integer(slice.at(1));
    if (child.count <= 0) {
      return refuse(
          28724,
          fmt::format("The number of elements of $slice must be positive, found {}", child.count));
    }
    return add(path, std::move(child));
  }

  Answer<void> add_elem_match(const std::string& path, const Value& match) {
    if (!match.is_object()) return refuse(31274, "elemMatch: Invalid argument, object required");
    if (path.find('.') != std::string::npos) {
      return refuse(31275, "Cannot use $elemMatch projection on a nested field.");
    }
    if (has_position_) return refuse(31255, "Cannot specify positional operator and $elemMatch.");
    if (is_inclusion_ == false) {
      return refuse(31252,
                    fmt::format("Cannot use $elemMatch in exclusion projection, at {}", path));
    }
    Answer<Matcher> matcher = Matcher::parse(
        Value::make_object({field(path, Value::make_object({field("$elemMatch", match)}))}),
        options_);
    if (!matcher) return pass(std::move(matcher.error()));
    is_inclusion_ = true;
    has_computed_ = true;
    Child child{.name = {}, .kind = Kind::elem_match};
    child.elem_match = *std::move(matcher);
    return add(path, std::move(child));
  }

  Answer<void> parse_position(const std::string& path, const Value& value) {
    if (!(value.is_number() || value.is_bool()) || !is_truthy(value)) {
      return refuse(31395, "positional projection cannot be used with exclusion");
    }
    if (has_position_)
      return refuse(31276, "Cannot specify more than one positional projection per query.");
    if (has_computed_ && std::ranges::any_of(root_->children, [](const Child& c) {
          return c.kind == Kind::elem_match;
        })) {
      return refuse(31255, "Cannot specify positional operator and $elemMatch.");
    }
    has_position_ = true;
    const std::string rest = path.substr(0, path.size() - 2);
    if (const Answer<void> fits = set_inclusion(true, rest); !fits) return fits;
    return add(rest, Child{.name = {}, .kind = Kind::position});
  }

  Answer<void> check_components(const std::string& path,
                                const std::vector<std::string>& components) {
    if (path.empty()) return refuse(40352, "FieldPath cannot be constructed with empty string");
    if (path.back() == '.') return refuse(40353, "FieldPath must not end with a '.'.");
    if (components.size() > static_cast<size_t>(kMaxNesting)) {
      return refuse(kBadValue, fmt::format("the path '{}' is nested too deep", path));
    }
    for (const std::string& component : components) {
      if (component.empty())
        return refuse(15998, "FieldPath field names may not be empty strings.");
      if (component == "$") {
        return refuse(
            31394,
            "As of 4.4, it's illegal to specify positional operator in the middle of a path.");
      }
      if (component.starts_with('$') && component != "$id" && component != "$ref" &&
          component != "$db") {
        return refuse(16410, fmt::format("FieldPath field names may not start with '$'. Consider "
                                         "using $getField or $setField, at {}",
                                         path));
      }
    }
    return {};
  }

  Answer<void> add(const std::string& path, Child child) {
    const std::vector<std::string> components = split_path(path);
    if (const Answer<void> fits = check_components(path, components); !fits) return fits;
    if (++fields_ > kMaxFields) return refuse(kBadValue, "a projection has too many fields");
    Node* node = root_.get();
    for (size_t i = 0; i < components.size(); ++i) {
      const auto found = std::ranges::find(node->children, components[i], &Child::name);
      if (i + 1 == components.size()) {
        if (found != node->children.end()) {
          return refuse(31250, fmt::format("Path collision at {}", path));
        }
        child.name = components[i];
        node->children.push_back(std::move(child));
        return {};
      }
      if (found == node->children.end()) {
        node->children.push_back(
            Child{.name = components[i], .kind = Kind::nested, .nested = std::make_unique<Node>()});
        node = node->children.back().nested.get();
        continue;
      }
      if (found->kind != Kind::nested) {
        std::string rest = components[i + 1];
        for (size_t j = i + 2; j < components.size(); ++j) rest += "." + components[j];
        return refuse(31249, fmt::format("Path collision at {} remaining portion {}", path, rest));
      }
      node = found->nested.get();
    }
    return {};
  }

  static void mark(Node& node, bool is_inclusion) {
    node.is_inclusion = is_inclusion;
    for (const Child& child : node.children) {
      if (child.nested != nullptr) {
        mark(*child.nested, is_inclusion);
        node.has_computed |= child.nested->has_computed;
        node.has_position |= child.nested->has_position;
      }
      node.has_computed |= child.kind == Kind::compute || child.kind == Kind::elem_match;
      node.has_position |= child.kind == Kind::position;
    }
  }

  const MatchOptions& options_;
  std::unique_ptr<Node> root_ = std::make_unique<Node>();
  std::optional<bool> is_inclusion_;
  std::optional<bool> id_included_;
  bool has_computed_ = false;
  bool has_position_ = false;
  size_t fields_ = 0;
};

// --- applying

struct Applying {
  const Value& root;
  std::optional<size_t> position;
  Evaluation& evaluation;
};

Value sliced(const Value& value, const Child& child) {
  if (!value.is_array()) return value;
  const auto size = static_cast<int64_t>(value.size());
  int64_t start = 0;
  int64_t count = child.count;
  if (child.has_skip) {
    start = child.skip < 0 ? std::max<int64_t>(0, size + child.skip) : std::min(child.skip, size);
  } else if (child.count < 0) {
    start = std::max<int64_t>(0, size + child.count);
    count = size;
  }
  std::vector<Value> elements;
  for (int64_t i = start; i < size && i - start < count; ++i)
    elements.push_back(value.at(static_cast<size_t>(i)));
  return Value::make_array(std::move(elements));
}

Answer<Value> at_position(const Value& array, Applying& applying) {
  if (!applying.position.has_value()) {
    return refuse(51246,
                  "Executor error during find command :: caused by :: positional operator '.$' "
                  "couldn't find a matching element in the array");
  }
  if (*applying.position >= array.size()) {
    return refuse(51247,
                  "Executor error during find command :: caused by :: positional operator '.$' "
                  "element mismatch");
  }
  return Value::make_array({array.at(*applying.position)});
}

Answer<Value> apply_node(const Node& node, const Value& document, bool is_root, Applying& applying);

// Undefined: the value is not shown.
Answer<Value> apply_nested(const Node& node, const Value& value, Applying& applying) {
  if (value.is_object()) return apply_node(node, value, false, applying);
  if (!value.is_array()) {
    if (node.has_computed) return apply_node(node, Value::make_object({}), false, applying);
    return node.is_inclusion ? Value() : value;
  }
  if (const Answer<void> spent = applying.evaluation.spend(value.size()); !spent)
    return pass(spent.error());
  Value array = value;
  if (node.has_position) {
    Answer<Value> one = at_position(value, applying);
    if (!one) return one;
    array = *std::move(one);
  }
  std::vector<Value> elements;
  for (const Value& element : array.elements()) {
    Answer<Value> projected = apply_nested(node, element, applying);
    if (!projected) return projected;
    if (!projected->is_undefined()) elements.push_back(*std::move(projected));
  }
  return Value::make_array(std::move(elements));
}

Answer<Value> apply_child(const Child& child, const Value& value, Applying& applying) {
  switch (child.kind) {
    case Kind::include:
      return value;
    case Kind::exclude:
      return Value();
    case Kind::nested:
      return apply_nested(*child.nested, value, applying);
    case Kind::slice:
      return sliced(value, child);
    case Kind::position:
      return value.is_array() ? at_position(value, applying) : Answer<Value>(value);
    case Kind::compute:
    case Kind::elem_match:
      return Value();  // added behind the others
  }
  return Value();
}

Answer<Value> compute_child(const Child& child, const Value& document, Applying& applying) {
  if (child.kind == Kind::compute)
    return child.expression->evaluate(applying.evaluation, applying.root);
  const Value value = document.find(child.name);
  if (!value.is_array()) return Value();
  const Answer<Matcher::Match> match = child.elem_match->match(document, applying.evaluation);
  if (!match) return pass(match.error());
  if (!match->is_match || !match->position.has_value()) return Value();
  return Value::make_array({value.at(*match->position)});
}

Answer<Value> apply_node(const Node& node, const Value& document, bool is_root,
                         Applying& applying) {
  if (const Answer<void> spent = applying.evaluation.spend(1 + document.size()); !spent)
    return pass(spent.error());
  std::vector<Value::Field> fields;
  for (const auto& [name, value] : document.members()) {
    const Child* const child = node.find(name);
    if (child == nullptr) {
      const bool is_shown = !node.is_inclusion || (is_root && name == "_id" && node.includes_id);
      if (is_shown) fields.push_back(field(name, value));
      continue;
    }
    Answer<Value> shown_value = apply_child(*child, value, applying);
    if (!shown_value) return shown_value;
    if (!shown_value->is_undefined()) fields.push_back(field(name, *std::move(shown_value)));
  }
  if (!node.has_computed) return Value::make_object(std::move(fields));
  for (const Child& child : node.children) {
    Answer<Value> computed;
    if (child.kind == Kind::compute || child.kind == Kind::elem_match) {
      computed = compute_child(child, document, applying);
    } else if (child.kind == Kind::nested && child.nested->has_computed &&
               document.find(child.name).is_undefined()) {
      computed = apply_node(*child.nested, Value::make_object({}), false, applying);
    } else {
      continue;
    }
    if (!computed) return computed;
    if (!computed->is_undefined()) fields.push_back(field(child.name, *std::move(computed)));
  }
  return Value::make_object(std::move(fields));
}

}  // namespace

Projection::Projection() = default;

Answer<Projection> Projection::parse(const Value& spec, const MatchOptions& options) {
  Projection projection;
  if (spec.is_undefined()) return projection;
  if (!spec.is_object()) return refuse(kTypeMismatch, "a projection must be an object");
  if (spec.size() == 0) return projection;
  Parser parser(options);
  if (const Answer<void> done = parser.parse(spec.to_owned(), "", 0); !done)
    return pass(done.error());
  Answer<std::shared_ptr<const Node>> root = parser.finish();
  if (!root) return pass(std::move(root.error()));
  projection.root_ = *std::move(root);
  projection.uses_position_ = parser.uses_position();
  return projection;
}

Answer<Value> Projection::apply(const Value& document, std::optional<size_t> position,
                                Evaluation& evaluation) const {
  if (root_ == nullptr) return document;
  Applying applying{.root = document, .position = position, .evaluation = evaluation};
  return apply_node(*root_, document, true, applying);
}

}  // namespace orrery::mongo
