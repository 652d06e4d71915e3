// The shape that $project, $addFields, $set and $unset give a document: members that are kept or
// left out, and members that are computed, by dotted paths through objects and arrays.
//
// Immutable; any thread may call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/mongo/expression/expression.h"

namespace orrery::mongo {

class Shape {
 public:
  static Answer<Shape> parse_project(const Value& spec, const ParseContext& context);
  static Answer<Shape> parse_add_fields(std::string_view stage, const Value& spec,
                                        const ParseContext& context);
  static Answer<Shape> parse_unset(const Value& spec);

  Answer<Value> apply(const Value& document, Evaluation& evaluation) const;

  struct Node {
    enum class Kind : uint8_t { branch, kept, dropped, computed };
    Kind kind = Kind::branch;
    bool has_computed = false;  // here or below
    bool has_kept = false;      // kept or dropped, here or below
    std::shared_ptr<Expression> expression = nullptr;
    std::vector<std::pair<std::string, Node>> children = {};
  };

 private:
  enum class Mode : uint8_t { inclusion, exclusion, addition };
  Mode mode_ = Mode::addition;
  Node root_;
};

}  // namespace orrery::mongo
