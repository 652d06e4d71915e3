// See parser.h.
#include "api/gremlin/parse/parser.h"

#include <fmt/format.h>

#include <utility>

#include "api/gremlin/parse/names.h"
#include "api/gremlin/parse/scanner.h"

namespace orrery::gremlin {
namespace {

class Parser : private Scanner {
 public:
  Parser(std::string_view text, const Bindings& bindings) : Scanner(text), bindings_(bindings) {}

  Result<Chain> parse() {
    skip_space();
    const std::string source = read_name();
    if (source != "g") return error("a traversal begins with g, as in g.V()");
    Chain chain{.source = source, .calls = {}};
    skip_space();
    if (!take('.')) return error("a step is expected after g, as in g.V()");
    if (auto parsed = parse_calls(chain, 0); !parsed) return pass(parsed.error());
    skip_space();
    take(';');
    skip_space();
    if (!is_at_end()) return error("this cannot follow a traversal: only one is run");
    return chain;
  }

 private:
  // From the name of the first call on.
  Status parse_calls(Chain& chain, size_t depth) {
    while (true) {
      skip_space();
      const size_t from = at_;
      std::string name = read_name();
      if (name.empty()) return error("the name of a step is expected");
      skip_space();
      if (peek() != '(') return error(fmt::format("'(' is expected after {}", name));
      if (chain.source == "g" || chain.source == "__") {
        if (find_step(name) == nullptr) {
          at_ = from;
          return fail(Code::unsupported,
                      fmt::format("there is no step {}() here, at character {}", name, from + 1));
        }
      }
      StepCall call{.name = std::move(name), .arguments = {}};
      if (auto parsed = parse_arguments(call.arguments, depth + 1); !parsed) return parsed;
      if (chain.source == "g" || chain.source == "__") {
        if (auto checked = check_call(call); !checked) return checked;
      }
      chain.calls.push_back(std::move(call));
      const size_t end = at_;
      skip_space();
      if (!take('.')) {
        at_ = end;
        return {};
      }
    }
  }

  // At the '('.
  Status parse_arguments(std::vector<Argument>& arguments, size_t depth) {
    if (depth > kNestingMax) return error(fmt::format("nested more than {} deep", kNestingMax));
    take('(');
    skip_space();
    if (take(')')) return {};
    while (true) {
      auto argument = parse_argument(depth);
      if (!argument) return pass(argument.error());
      arguments.push_back(std::move(*argument));
      skip_space();
      if (take(')')) return {};
      if (!take(',')) return error("',' or ')' is expected");
    }
  }

  // (name: value, …) of a new strategy, or nothing: as its calls name(value).
  Status parse_settings(Chain& chain, size_t depth) {
    if (!take('(')) return {};
    skip_space();
    if (take(')')) return {};
    while (true) {
      skip_space();
      std::string name = read_name();
      skip_space();
      if (name.empty() || !take(':')) return error("a setting is written as name: value");
      auto value = parse_argument(depth);
      if (!value) return pass(value.error());
      chain.calls.push_back({std::move(name), {std::move(*value)}});
      skip_space();
      if (take(')')) return {};
      if (!take(',')) return error("',' or ')' is expected");
    }
  }

  Result<Argument> parse_argument(size_t depth) {
    if (depth > kNestingMax) return error(fmt::format("nested more than {} deep", kNestingMax));
    skip_space();
    const char c = peek();
    if (c == '\'' || c == '"') return as_argument(read_text());
    if (is_digit(c) || c == '-' || c == '+' || c == '.') return as_argument(read_number());
    if (c == '[') return as_argument(parse_list(depth));
    if (c == '{') return error("closures are not supported");
    if (c == '(') {  // (T.id) as a key of a map, or a cast such as (int) 1
      ++at_;
      auto inner = parse_argument(depth + 1);
      if (!inner) return inner;
      skip_space();
      if (!take(')')) return error("')' is expected");
      return inner;
    }
    if (!is_letter(c)) return error("an argument is expected");
    return parse_named(depth);
  }

  static Result<Argument> as_argument(Result<Value> value) {
    if (!value) return pass(value.error());
    return Argument{.value = std::move(*value), .chain = {}, .predicate = {}};
  }

  static Argument as_argument(Chain chain) {
    return {.value = {}, .chain = std::make_shared<Chain>(std::move(chain)), .predicate = {}};
  }

  // What begins with a name: a constant, a binding, a predicate, or an anonymous traversal.
  Result<Argument> parse_named(size_t depth) {
    const size_t from = at_;
    std::string name = read_name();
    const size_t named = at_;
    skip_space();
    if (name == "new") {
      name = read_name();
      skip_space();
      if (!name.ends_with("Strategy")) return error(fmt::format("new {} is not supported", name));
      Chain chain{.source = name, .calls = {}};
      if (auto parsed = parse_settings(chain, depth + 1); !parsed) return pass(parsed.error());
      return as_argument(std::move(chain));
    }
    if (peek() == '(') return parse_call_argument(from, name, depth);
    if (const auto bound = bindings_.find(name); bound != bindings_.end()) return bound->second;
    if (peek() == '.') {
      if (name == "__" || name == "g" || name.ends_with("Strategy")) {
        ++at_;
        Chain chain{.source = name == "g" ? "__" : name, .calls = {}};
        if (auto parsed = parse_calls(chain, depth + 1); !parsed) return pass(parsed.error());
        return as_argument(std::move(chain));
      }
      if (name == "P" || name == "TextP") {
        ++at_;
        skip_space();
        const size_t at = at_;
        const std::string op = read_name();
        skip_space();
        if ((!is_predicate(op) && op != "not") || peek() != '(') {
          at_ = at;
          return error(fmt::format("{} has no predicate of this name", name));
        }
        return parse_predicate(op, depth);
      }
      return parse_constant(std::move(name), from);
    }
    at_ = named;
    if (name == "true" || name == "false") {
      return as_argument(Value::boolean(name == "true"));
    }
    if (name == "null") return as_argument(Value());
    if (auto known = bare_constant(name)) return as_argument(std::move(*known));
    if (name.ends_with("Strategy")) {
      return as_argument(Chain{name, {}});
    }
    at_ = from;
    return error(fmt::format("'{}' is neither a constant of the language nor a binding", name));
  }

  // Class.name, as T.id or VertexProperty.Cardinality.list; and UUID.fromString('…').
  Result<Argument> parse_constant(std::string type, size_t from) {
    std::string name;
    while (take('.')) {
      skip_space();
      if (!name.empty()) type += "." + name;
      name = read_name();
      skip_space();
    }
    if (type == "UUID" && name == "fromString" && take('(')) {
      skip_space();
      auto text = read_text();
      if (!text) return pass(text.error());
      skip_space();
      if (!take(')')) return error("')' is expected");
      return as_argument(std::move(*text));
    }
    if (auto known = constant(type, name)) return as_argument(std::move(*known));
    at_ = from;
    return error(fmt::format("'{}.{}' is not a constant that is known here", type, name));
  }

  // name(…): a predicate, or the first step of an anonymous traversal.
  Result<Argument> parse_call_argument(size_t from, const std::string& name, size_t depth) {
    if (is_predicate(name)) return parse_predicate(name, depth);
    Chain chain{.source = "__", .calls = {}};
    if (name == "not") {  // of a predicate, or of a traversal
      StepCall call{.name = name, .arguments = {}};
      if (auto parsed = parse_arguments(call.arguments, depth + 1); !parsed) {
        return pass(parsed.error());
      }
      if (call.arguments.size() == 1 && call.arguments[0].predicate) {
        return finish_predicate(name, call.arguments, depth);
      }
      if (auto checked = check_call(call); !checked) return pass(checked.error());
      chain.calls.push_back(std::move(call));
      const size_t end = at_;
      skip_space();
      if (!take('.')) {
        at_ = end;
        return as_argument(std::move(chain));
      }
    } else {
      at_ = from;
    }
    if (auto parsed = parse_calls(chain, depth + 1); !parsed) return pass(parsed.error());
    return as_argument(std::move(chain));
  }

  // At the '(' after its name; with .and(…), .or(…) and .negate() behind it.
  Result<Argument> parse_predicate(const std::string& op, size_t depth) {
    std::vector<Argument> arguments;
    if (auto parsed = parse_arguments(arguments, depth + 1); !parsed) return pass(parsed.error());
    return finish_predicate(op, arguments, depth);
  }
  Result<Argument> finish_predicate(const std::string& op, const std::vector<Argument>& arguments,
                                    size_t depth) {
    auto made = make_predicate(op, arguments);
    if (!made) return pass(made.error());
    std::shared_ptr<const Predicate> predicate = std::move(*made);
    while (true) {
      const size_t end = at_;
      skip_space();
      if (!take('.')) {
        at_ = end;
        break;
      }
      skip_space();
      const std::string connective = read_name();
      skip_space();
      if ((connective != "and" && connective != "or" && connective != "negate") || peek() != '(') {
        return error("and(), or() or negate() is expected after a predicate");
      }
      if (++connectives_ > kNestingMax) return error("too many connectives");
      std::vector<Argument> others;
      if (auto parsed = parse_arguments(others, depth + 1); !parsed) return pass(parsed.error());
      auto joined = std::make_shared<Predicate>();
      joined->op = connective == "negate" ? "not" : connective;
      joined->parts.push_back(predicate);
      for (const Argument& other : others) {
        if (!other.predicate) return error("a predicate is expected");
        joined->parts.push_back(other.predicate);
      }
      predicate = std::move(joined);
    }
    return Argument{.value = {}, .chain = {}, .predicate = std::move(predicate)};
  }

  Result<std::shared_ptr<const Predicate>> make_predicate(const std::string& op,
                                                          const std::vector<Argument>& arguments) {
    auto made = std::make_shared<Predicate>();
    made->op = op;
    for (const Argument& argument : arguments) {
      if (argument.chain) return error(fmt::format("{}() takes no traversal", op));
      if (argument.predicate) {
        made->parts.push_back(argument.predicate);
      } else {
        made->values.push_back(argument.value);
      }
    }
    const size_t wanted = op == "inside" || op == "outside" || op == "between" ? 2 : 1;
    const bool is_list = op == "within" || op == "without";
    if (op == "not" ? made->parts.size() != 1 : !made->parts.empty()) {
      return error(fmt::format("{}() does not take these arguments", op));
    }
    if (op != "not" && !is_list && made->values.size() != wanted) {
      return error(fmt::format("{}() takes {} argument{}", op, wanted, wanted == 1 ? "" : "s"));
    }
    if (is_list && made->values.size() == 1 && made->values[0].is_list()) {
      const Value list = made->values[0];
      made->values = list.elements();
    }
    return made;
  }

  // [a, b] or [key: value] or [:]
  Result<Value> parse_list(size_t depth) {
    ++at_;
    skip_space();
    if (take(']')) return Value::list({});
    if (take(':')) {
      skip_space();
      if (!take(']')) return error("']' is expected");
      return Value::map({});
    }
    Value::List elements;
    Value::Map members;
    bool is_map = false;
    while (true) {
      skip_space();
      Result<Argument> element = parse_key_or_element(depth);
      if (!element) return pass(element.error());
      if (!element->is_value()) return error("a list has values only");
      skip_space();
      if (take(':')) {
        if (!elements.empty()) return error("a list has no keys");
        is_map = true;
        auto value = parse_argument(depth + 1);
        if (!value) return pass(value.error());
        if (!value->is_value()) return error("a map has values only");
        std::erase_if(members, [&](const auto& member) { return member.first == element->value; });
        members.emplace_back(element->value, value->value);
      } else {
        if (is_map) return error("':' is expected after a key");
        elements.push_back(element->value);
      }
      skip_space();
      if (take(']')) break;
      if (!take(',')) return error("',' or ']' is expected");
    }
    return is_map ? Value::map(std::move(members)) : Value::list(std::move(elements));
  }

  // A key of a map may be written bare: [name: 'x'].
  Result<Argument> parse_key_or_element(size_t depth) {
    const size_t from = at_;
    if (is_letter(peek())) {
      std::string name = read_name();
      skip_space();
      if (peek() == ':') return as_argument(Value::text(std::move(name)));
      at_ = from;
    }
    return parse_argument(depth + 1);
  }

  const Bindings& bindings_;
  size_t connectives_ = 0;
};

}  // namespace

Result<Chain> parse_traversal(std::string_view text, const Bindings& bindings) {
  return Parser(text, bindings).parse();
}

Status check_call(const StepCall& call) {
  const StepName* step = find_step(call.name);
  if (step == nullptr) {
    return fail(Code::unsupported, fmt::format("there is no step {}() here", call.name));
  }
  const size_t count = call.arguments.size();
  if (count < step->least || (step->most != kAny && count > step->most)) {
    return fail(Code::invalid,
                step->least == step->most ? fmt::format("{}() takes {} arguments, and not {}",
                                                        call.name, step->least, count)
                : step->most == kAny ? fmt::format("{}() takes {} or more arguments, and not {}",
                                                   call.name, step->least, count)
                                     : fmt::format("{}() takes {} to {} arguments, and not {}",
                                                   call.name, step->least, step->most, count));
  }
  return {};
}

}  // namespace orrery::gremlin
