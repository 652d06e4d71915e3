// Accumulators: what $group, $bucket and $setWindowFields make of many documents. A specification
// is parsed once; each group has an accumulator of its own.
//
// A specification is immutable and may be used by any thread; an accumulator belongs to one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/expression/expression.h"
#include "api/mongo/expression/sort_key.h"

namespace orrery::mongo {

// The result of what was added so far.
class Accumulator {
 public:
  virtual ~Accumulator() = default;
  // `value` is what the specification's input gave for a document.
  virtual Answer<void> add(const Value& value, Evaluation& evaluation) = 0;
  virtual Answer<Value> result(Evaluation& evaluation) const = 0;
  // As if all that was added to `later`, which is of the same specification, were added to this.
  // Only where AccumulatorSpec::merges().
  virtual Answer<void> merge(const Accumulator& later, Evaluation& evaluation);
  // Estimated bytes that it keeps.
  virtual size_t memory() const { return 64; }
};

class AccumulatorSpec {
 public:
  // Of {$sum: …}. `is_window`: operators that only windows lack are known too.
  static Answer<AccumulatorSpec> parse(const Value& spec, const ParseContext& context);
  static bool is_known(std::string_view name);

  // A new accumulator. `group` is what n of $firstN and the like may refer to.
  Answer<std::unique_ptr<Accumulator>> make(Evaluation& evaluation, const Value& group) const;
  // The input's value for the document.
  Answer<Value> input(Evaluation& evaluation, const Value& document) const {
    return input_.evaluate(evaluation, document);
  }
  // The same for the document that the evaluation has.
  Answer<Value> input(Evaluation& evaluation) const { return input_.evaluate(evaluation); }
  // The same where it is one value for all documents; null: it is not. Lives as long as this.
  const Value* constant() const { return input_.constant(); }
  std::string_view name() const { return name_; }
  // Whether documents may be added to several accumulators, each to one, which are then merged. Not
  // where the result would be rounded in other places.
  bool merges() const { return merges_; }

  // What the tables of accumulator.cc are made with.
  struct Options {
    std::optional<Expression> n = std::nullopt;   // of $firstN and the like
    std::optional<SortKey> order = std::nullopt;  // of $top and the like
    std::vector<double> percentiles = {};
    int64_t count = 1;  // what n is worth for this group
  };

 private:
  using Make = std::unique_ptr<Accumulator> (*)(const Options& options);
  friend class AccumulatorParser;

  std::string_view name_;
  Make make_ = nullptr;
  bool merges_ = true;
  Expression input_ = Expression(nullptr);
  Options options_;
};

}  // namespace orrery::mongo
