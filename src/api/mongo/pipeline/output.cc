// See output.h.
#include "api/mongo/pipeline/output.h"

#include <fmt/format.h>

namespace orrery::mongo {
namespace {

// "coll" or {db, coll}.
Answer<void> parse_target(std::string_view name, const Value& spec, Output& output) {
  if (spec.is_string()) {
    output.collection = spec.text();
  } else if (spec.is_object()) {
    for (const auto& [member, value] : spec.members()) {
      if (member == "timeseries") {
        return refuse(kNotImplemented, fmt::format("{} into a time series is not supported", name));
      }
      if ((member != "db" && member != "coll") || !value.is_string()) {
        return refuse(16994,
                      fmt::format("{} only supports a string or an object with the strings db "
                                  "and coll, but its {} is {}",
                                  name, member, shown(value)));
      }
      (member == "db" ? output.database : output.collection) = value.text();
    }
  } else {
    return refuse(16990, fmt::format("{} only supports a string or object argument, but found {}",
                                     name, type_name(spec)));
  }
  if (output.collection.empty() || output.collection.find('\0') != std::string::npos) {
    return refuse(kInvalidNamespace, fmt::format("{} needs the name of a collection", name));
  }
  return {};
}

struct WhenName {
  std::string_view name;
  Output::When when;
};
constexpr std::array kMatched = {
    WhenName{"replace", Output::When::replace}, WhenName{"merge", Output::When::merge},
    WhenName{"keepExisting", Output::When::keep_existing}, WhenName{"fail", Output::When::fail}};
constexpr std::array kNotMatched = {WhenName{"insert", Output::When::insert},
                                    WhenName{"discard", Output::When::discard},
                                    WhenName{"fail", Output::When::fail}};

Answer<Output::When> parse_when(std::string_view option, const Value& given,
                                std::span<const WhenName> names) {
  const auto found = std::ranges::find(names, given.is_string() ? given.text() : std::string_view(),
                                       &WhenName::name);
  if (found == names.end()) {
    return refuse(kBadValue, fmt::format("Enumeration value '{}' for field '$merge.{}' is not a "
                                         "valid value.",
                                         shown(given), option));
  }
  return found->when;
}

Answer<void> parse_on(const Value& given, Output& output) {
  output.on.clear();
  if (given.is_string()) {
    output.on.emplace_back(given.text());
    return {};
  }
  for (const Value& one : given.elements()) {
    if (!one.is_string()) {
      return refuse(51185,
                    fmt::format("$merge 'on' must be a string or an array of strings, but has "
                                "a {}",
                                type_name(one)));
    }
    output.on.emplace_back(one.text());
  }
  if (output.on.empty()) {
    return refuse(51187, "$merge 'on' must be a string or a non-empty array of strings");
  }
  return {};
}

Answer<void> parse_update(const Value& stages, const Value& let, StageParser& parser,
                          Output& output) {
  PipelineContext inner = {.expressions = parser.context.expressions,
                           .collation = parser.context.collation,
                           .is_nested = true,
                           .is_update = true,
                           .depth = parser.context.depth + 1};
  std::vector<Value::Field> variables;
  bool has_new = false;
  for (const auto& [name, member] : let.members()) {
    has_new = has_new || name == "new";
    variables.push_back(field(name, member));
  }
  if (!has_new) variables.push_back(field("new", Value::borrow_string("$$ROOT")));
  for (const Value::Field& one : variables) {
    if (auto checked = check_variable_name(one.name.text()); !checked) return checked;
    auto expression = Expression::parse(one.value, parser.context.expressions);
    if (!expression) return pass(std::move(expression.error()));
    output.let.emplace_back(one.name.text(), std::move(*expression));
  }
  for (const auto& [name, expression] : output.let) inner.expressions.variables.push_back(name);
  output.variables = inner.expressions.variables;
  auto update = Pipeline::parse(stages, inner);
  if (!update) return pass(std::move(update.error()));
  output.update = std::make_shared<const Pipeline>(std::move(*update));
  output.when_matched = Output::When::pipeline;
  return {};
}

}  // namespace

Answer<Output> parse_output(std::string_view name, const Value& spec, StageParser& parser) {
  Output output;
  output.is_merge = name == "$merge";
  if (!output.is_merge || !spec.is_object()) {
    if (auto parsed = parse_target(name, spec, output); !parsed) {
      return pass(std::move(parsed.error()));
    }
    return output;
  }
  bool has_into = false;
  for (const auto& [option, given] : spec.members()) {
    Answer<void> parsed;
    if (option == "into") {
      has_into = true;
      parsed = parse_target(name, given, output);
    } else if (option == "on") {
      parsed = parse_on(given, output);
    } else if (option == "whenMatched") {
      if (given.is_array()) {
        parsed = parse_update(given, spec.find("let"), parser, output);
      } else {
        auto when = parse_when(option, given, kMatched);
        if (!when) return pass(std::move(when.error()));
        output.when_matched = *when;
      }
    } else if (option == "whenNotMatched") {
      auto when = parse_when(option, given, kNotMatched);
      if (!when) return pass(std::move(when.error()));
      output.when_not_matched = *when;
    } else if (option == "let") {
      if (!given.is_object()) return refuse(kTypeMismatch, "$merge 'let' must be an object");
    } else {
      return refuse(40415, fmt::format("BSON field '$merge.{}' is an unknown field.", option));
    }
    if (!parsed) return pass(std::move(parsed.error()));
  }
  if (!has_into) return refuse(40414, "BSON field '$merge.into' is missing but a required field");
  if (!spec.find("let").is_undefined() && output.when_matched != Output::When::pipeline) {
    return refuse(51199, "Cannot use 'let' variables with 'whenMatched' that is no pipeline");
  }
  return output;
}

}  // namespace orrery::mongo
