// $regexMatch, $regexFind and $regexFindAll.
#include <fmt/format.h>

#include "api/mongo/bson/regex.h"
#include "api/mongo/expression/operators.h"
#include "api/mongo/expression/utf8.h"

namespace orrery::mongo {
namespace {

enum class Wants : uint8_t { match, first, all };

struct Pattern {
  std::optional<Regex> regex;  // none: the answer is that of null
};

Answer<Pattern> compile(std::string_view name, const Value& regex, const Value& options) {
  std::string_view pattern;
  std::string_view letters;
  if (regex.type() == Type::regex) {
    pattern = regex_pattern(regex);
    letters = regex_options(regex);
  } else if (regex.is_string()) {
    pattern = regex.text();
  } else if (!is_nullish(regex)) {
    return refuse(51105, fmt::format("{} needs 'regex' to be of type string or regex", name));
  }
  if (!is_nullish(options)) {
    if (!options.is_string()) {
      return refuse(51106, fmt::format("{} needs 'options' to be of type string", name));
    }
    if (!letters.empty()) {
      return refuse(51107, fmt::format("{}: found regex options specified in both 'regex' and "
                                       "'options' fields",
                                       name));
    }
    letters = options.text();
  }
  if (letters.find('\0') != std::string_view::npos) {
    return refuse(51110, fmt::format("{}: regular expression options cannot contain an embedded "
                                     "null byte",
                                     name));
  }
  // Options are checked without a pattern too.
  auto compiled = Regex::compile(pattern, letters);
  if (!compiled) return pass(std::move(compiled.error()));
  if (is_nullish(regex)) return Pattern{};
  return Pattern{.regex = std::move(*compiled)};
}

class RegexNode : public ExpressionNode {
 public:
  RegexNode(std::string_view name, Wants wants, Node input, Node regex, Node options)
      : name_(name),
        wants_(wants),
        input_(std::move(input)),
        regex_(std::move(regex)),
        options_(std::move(options)) {}

  // Compiles what is constant; an error in it is one of parsing.
  Answer<void> prepare() {
    const Value* const regex = regex_->constant();
    const Value* const options = options_ ? options_->constant() : nullptr;
    if (regex == nullptr || (options_ && options == nullptr)) return {};
    auto compiled = compile(name_, *regex, options == nullptr ? Value() : *options);
    if (!compiled) return pass(std::move(compiled.error()));
    prepared_ = std::move(*compiled);
    return {};
  }

  Answer<Value> evaluate(Evaluation& evaluation) const override {
    auto input = input_->evaluate(evaluation);
    if (!input) return input;
    if (!is_nullish(*input) && !input->is_string()) {
      return refuse(51104, fmt::format("{} needs 'input' to be of type string", name_));
    }
    Pattern pattern;
    if (prepared_) {
      pattern = *prepared_;
    } else {
      auto regex = regex_->evaluate(evaluation);
      if (!regex) return regex;
      Value options;
      if (options_) {
        auto given = options_->evaluate(evaluation);
        if (!given) return given;
        options = std::move(*given);
      }
      auto compiled = compile(name_, *regex, options);
      if (!compiled) return pass(std::move(compiled.error()));
      pattern = std::move(*compiled);
    }
    if (is_nullish(*input) || !pattern.regex) {
      switch (wants_) {
        case Wants::match:
          return Value::make_bool(false);
        case Wants::first:
          return Value::make_null();
        case Wants::all:
          return Value::make_array({});
      }
    }
    return search(evaluation, *pattern.regex, input->text());
  }

 private:
  Answer<Value> search(Evaluation& evaluation, const Regex& regex, std::string_view text) const {
    if (auto spent = evaluation.take(text.size()); !spent) return pass(std::move(spent.error()));
    if (wants_ == Wants::match) {
      auto matches = regex.matches(text);
      if (!matches) return pass(std::move(matches.error()));
      return Value::make_bool(*matches);
    }
    std::vector<Value> all;
    size_t counted_bytes = 0;
    size_t counted_points = 0;
    for (size_t start = 0; start <= text.size();) {
      auto groups = regex.find(text, start);
      if (!groups) return pass(std::move(groups.error()));
      if (!*groups) break;
      const Regex::Group whole = (**groups)[0];
      counted_points += code_points(text.substr(counted_bytes, whole.start - counted_bytes));
      counted_bytes = whole.start;
      all.push_back(found(text, **groups, counted_points));
      if (wants_ == Wants::first) return all.front();
      if (auto spent = evaluation.take(sizeof(Value) * 8); !spent) {
        return pass(std::move(spent.error()));
      }
      start = whole.end;
      if (whole.end == whole.start) {
        if (start == text.size()) break;
        start = next_code_point(text, start);
      }
    }
    if (wants_ == Wants::first) return Value::make_null();
    return Value::make_array(std::move(all));
  }

  static Value found(std::string_view text, const Regex::Groups& groups, size_t index) {
    const auto part = [&](const Regex::Group& group) {
      return group.is_set ? Value::make_string(
                                std::string(text.substr(group.start, group.end - group.start)))
                          : Value::make_null();
    };
    std::vector<Value> captures;
    for (size_t i = 1; i < groups.size(); ++i) captures.push_back(part(groups[i]));
    std::vector<Value::Field> fields;
    fields.push_back(field("match", part(groups[0])));
    fields.push_back(field("idx", make_int32(static_cast<int64_t>(index))));
    fields.push_back(field("captures", Value::make_array(std::move(captures))));
    return Value::make_object(std::move(fields));
  }

  std::string_view name_;
  Wants wants_;
  Node input_;
  Node regex_;
  Node options_;  // or null
  std::optional<Pattern> prepared_;
};

template <Wants kWants>
Answer<Node> parse_regex(std::string_view name, const Value& spec, const ParseContext& context) {
  constexpr std::array<std::string_view, 3> kNames = {"input", "regex", "options"};
  auto members = NamedSpec::take(name, spec, kNames, 31024, 51103);
  if (!members) return pass(std::move(members.error()));
  std::array<Node, 3> nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!members->has(kNames[i])) {
      if (i == 2) continue;
      return refuse(i == 0 ? 31022 : 31023,
                    fmt::format("{} requires '{}' parameter", name, kNames[i]));
    }
    auto node = parse_node((*members)[kNames[i]], context);
    if (!node) return node;
    nodes[i] = std::move(*node);
  }
  auto node = std::make_shared<RegexNode>(name, kWants, nodes[0], nodes[1], nodes[2]);
  if (auto prepared = node->prepare(); !prepared) return pass(std::move(prepared.error()));
  return node;
}

constexpr std::array kRegexesSpecial = {
    SpecialOperator{"$regexMatch", parse_regex<Wants::match>},
    SpecialOperator{"$regexFind", parse_regex<Wants::first>},
    SpecialOperator{"$regexFindAll", parse_regex<Wants::all>},
};

}  // namespace

OperatorTables regex_operators() {
  return {.special = kRegexesSpecial};
}

}  // namespace orrery::mongo
