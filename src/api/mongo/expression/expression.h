// Expressions of MongoDB's aggregation language. An expression is parsed once, out of the value it
// is written as, and evaluated over many documents.
//
// Variables are resolved when parsing: each name has a slot, counted from the outermost scope on.
// ROOT, CURRENT, NOW, CLUSTER_TIME and REMOVE are always defined.
//
// An Expression is immutable and may be used by any thread; an Evaluation belongs to one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/bson/types.h"
#include "base/budget.h"
#include "value/value.h"

namespace orrery::mongo {

// What is known where an expression is parsed.
struct ParseContext {
  std::vector<std::string> variables = {};  // by slot; of equal names the last counts
  int depth = 0;                            // of nesting so far
};

// What an expression is evaluated with. `variables` has a value for each of ParseContext's.
struct Evaluation {
  explicit Evaluation(Budget& work) : budget(work) {}

  Budget& budget;
  Value root = {};     // $$ROOT
  Value current = {};  // $$CURRENT: what paths start at
  Value now = {};
  Value cluster_time = {};
  std::vector<Value> variables = {};
  const Collation* collation = nullptr;

  void set_document(const Value& document) {
    root = document;
    current = document;
  }
  // Steps of work; an error once the budget is over.
  Answer<void> spend(uint64_t steps) {
    if (budget.spend(steps)) [[unlikely]]
      return over();
    return {};
  }
  // Bytes that a value about to be made will have.
  Answer<void> take(size_t bytes) {
    if (budget.spend_bytes(bytes)) [[unlikely]]
      return over();
    if (bytes > kRoomUnasked && !budget.has_room(bytes)) [[unlikely]]
      return over();
    return {};
  }
  // The error of a budget that is over: 50 (time) or 292 (memory).
  std::unexpected<Error> over() const;

 private:
  static constexpr size_t kRoomUnasked = size_t{1} << 16;
};

// A node of the parsed tree.
class ExpressionNode {
 public:
  virtual ~ExpressionNode() = default;
  virtual Answer<Value> evaluate(Evaluation& evaluation) const = 0;
  // The value, where it needs no document to be known.
  virtual const Value* constant() const { return nullptr; }
  // The path, where it is one of the current document: "a.b".
  virtual std::string_view field_path() const { return {}; }
};

class Expression {
 public:
  static Answer<Expression> parse(const Value& spec, const ParseContext& context);
  static Expression of_constant(const Value& value);
  explicit Expression(std::shared_ptr<const ExpressionNode> node) : node_(std::move(node)) {}

  Answer<Value> evaluate(Evaluation& evaluation) const { return node_->evaluate(evaluation); }
  // With this document as ROOT and CURRENT.
  Answer<Value> evaluate(Evaluation& evaluation, const Value& document) const {
    evaluation.set_document(document);
    return node_->evaluate(evaluation);
  }
  const Value* constant() const { return node_->constant(); }
  std::string_view field_path() const { return node_->field_path(); }
  const std::shared_ptr<const ExpressionNode>& node() const { return node_; }

 private:
  std::shared_ptr<const ExpressionNode> node_;
};

// Whether the value is an object whose first member's name starts with $: an operator.
bool is_operator(const Value& spec);

// A dotted path, followed through arrays as $path does: an array on the way gives the array of what
// its elements have.
Value path_value(const Value& from, const std::vector<std::string>& steps, size_t at = 0);
// Its steps; an error for empty ones, for a leading $, and for too many.
Answer<std::vector<std::string>> parse_path(std::string_view path);

// `let` of a command: names and constant expressions, evaluated once. Gives the names to `context`
// and the values to `evaluation`.
Answer<void> define_variables(const Value& let, ParseContext& context, Evaluation& evaluation);
// An error when a variable may not have this name.
Answer<void> check_variable_name(std::string_view name);

}  // namespace orrery::mongo
