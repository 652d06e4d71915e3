// Groups of documents, each with accumulators: $group and the stages that are made of it.
//
// Documents that come in parts are grouped by several threads, each with a table of its own. The
// tables are merged in the order of the parts, so that groups, and what is pushed into arrays, are
// in the order in which one thread would have met them.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/mongo/expression/accumulator.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {

// Fields that are accumulated: {total: {$sum: "$x"}, …}.
class GroupFields {
 public:
  static Answer<GroupFields> parse(std::string_view stage, const Value& spec,
                                   const ParseContext& context, std::string_view skipped = {});
  bool empty() const { return fields_.empty(); }
  // Whether the states of two parts of a group's documents can be merged into that of all.
  bool merges() const;

  // Of one group.
  class State {
   public:
    Answer<void> add(const GroupFields& fields, const Value& document, Run& run) {
      run.evaluation.set_document(document);
      return add_current(fields, run);
    }
    // The document that the run's evaluation has.
    Answer<void> add_current(const GroupFields& fields, Run& run);
    Answer<void> merge(const State& later, Run& run);
    Answer<void> result(const GroupFields& fields, Run& run, std::vector<Value::Field>& out) const;
    size_t memory() const;

   private:
    friend class GroupFields;
    std::vector<std::unique_ptr<Accumulator>> accumulators_;
  };
  Answer<State> make(const Value& group, Run& run) const;

 private:
  struct Field {
    Value name;
    AccumulatorSpec spec;
    std::optional<Value> constant;  // what is added of every document, if it is one value
  };
  std::vector<Field> fields_;
};

}  // namespace orrery::mongo
