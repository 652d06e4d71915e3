// How operators are made known to the parser: tables of names, arguments and functions, one table a
// file. Private to this folder.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"
#include "api/mongo/expression/expression.h"

namespace orrery::mongo {

using Node = std::shared_ptr<const ExpressionNode>;

// What a function is called with. Missing arguments are undefined, and so may be given ones.
struct Arguments {
  Evaluation& evaluation;
  std::string_view name;  // of the operator, with its $
  std::span<const Value> values;
  uint32_t given = 0;  // a bit for each parameter that was written

  const Value& operator[](size_t at) const { return values[at]; }
  size_t size() const { return values.size(); }
  bool has(size_t at) const { return at < values.size() && ((given >> at) & 1) != 0; }
};
using OperatorFunction = Answer<Value> (*)(const Arguments&);

// {$name: [a, b]}, or {$name: a} with one argument.
inline constexpr int kAnyNumber = -1;
struct PositionalOperator {
  std::string_view name;
  int min;
  int max;
  OperatorFunction function;
  bool is_null_of_null = false;  // null when any argument is null or missing
};

// {$name: {a: …, b: …}}
struct Parameter {
  std::string_view name;
  int32_t required = 0;  // the error's code when it is not written; 0: it need not be
};
inline constexpr size_t kMaxParameters = 12;
struct NamedOperator {
  std::string_view name;
  std::array<Parameter, kMaxParameters> parameters;
  int32_t unknown;     // the error's code for other parameters
  int32_t not_object;  // and when there is no object
  OperatorFunction function;
};

// Whatever has a form of its own.
struct SpecialOperator {
  std::string_view name;
  Answer<Node> (*parse)(std::string_view name, const Value& spec, const ParseContext& context);
};

struct OperatorTables {
  std::span<const PositionalOperator> positional = {};
  std::span<const NamedOperator> named = {};
  std::span<const SpecialOperator> special = {};
};
OperatorTables arithmetic_operators();
OperatorTables trigonometry_operators();
OperatorTables comparison_operators();
OperatorTables conditional_operators();
OperatorTables array_operators();
OperatorTables loop_operators();
OperatorTables summary_operators();
OperatorTables set_operators();
OperatorTables string_operators();
OperatorTables text_search_operators();
OperatorTables regex_operators();
OperatorTables object_operators();
OperatorTables type_operators();
OperatorTables date_part_operators();
OperatorTables date_text_operators();
OperatorTables date_arithmetic_operators();

// One level deeper than `context`; an error beyond kMaxNesting.
Answer<ParseContext> deeper(const ParseContext& context);
Answer<Node> parse_node(const Value& spec, const ParseContext& context);
Node constant_node(const Value& value);
// Calls of functions that are in no table.
Answer<Node> parse_named(const NamedOperator& one, const Value& spec, const ParseContext& context);
Node call_node(std::string_view name, OperatorFunction function, std::vector<Node> arguments);

// The largest value that one operator may make.
inline constexpr size_t kMaxExpressionBytes = size_t{100} << 20;

// The arguments as the parser takes them: an array's elements, or the one value.
std::vector<Value> argument_specs(const Value& spec);

// Takes the members of an operator's object by name. Unknown ones are an error.
class NamedSpec {
 public:
  static Answer<NamedSpec> take(std::string_view name, const Value& spec,
                                std::span<const std::string_view> known, int32_t unknown,
                                int32_t not_object);
  Value operator[](std::string_view parameter) const { return spec_.find(parameter); }
  bool has(std::string_view parameter) const { return !spec_.find(parameter).is_undefined(); }

 private:
  explicit NamedSpec(Value spec) : spec_(std::move(spec)) {}
  Value spec_;
};

// "$name only supports numeric types, not string"
std::unexpected<Error> wrong_type(int32_t code, std::string_view name, std::string_view wants,
                                  const Value& given);

// As $concat's relatives read a value: numbers and dates as text, null and missing as none.
Answer<std::string> coerce_to_string(const Value& value);

// How $convert changes a value. Missing for what it cannot be changed to.
Answer<Value> convert(const Value& value, BsonType to);

}  // namespace orrery::mongo
