// The parsed tree of a filter. A node is asked of a document, or of a value itself: what $elemMatch
// asks of an element has no path.
//
// Nodes are immutable; a MatchState belongs to one question.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/match/match.h"
#include "api/mongo/match/path.h"

namespace orrery::mongo {

struct MatchState {
  Evaluation& evaluation;
  const Collation* collation = nullptr;
  std::optional<size_t> position = std::nullopt;
  // Once it is set, what nodes answer is void.
  std::optional<Error> error = std::nullopt;

  // Counts a step; false when there is no going on.
  bool go_on() {
    if (error.has_value()) return false;
    if (!evaluation.budget.spend(1)) [[likely]]
      return true;
    error = evaluation.over().error();
    return false;
  }
  void fail(Error why) {
    if (!error.has_value()) error = std::move(why);
  }
};

class MatchNode {
 public:
  virtual ~MatchNode() = default;
  virtual bool matches(const Value& document, MatchState& state) const = 0;
  virtual bool matches_value(const Value& value, MatchState& state) const = 0;
};
using MatchNodePtr = std::shared_ptr<const MatchNode>;

// A condition on the values that a path leads to: one of them has to satisfy it.
class PathNode : public MatchNode {
 public:
  PathNode(MatchPath path, MatchPath::Leaf leaf) : path_(std::move(path)), leaf_(leaf) {}
  bool matches(const Value& document, MatchState& state) const final {
    const bool found = path_.visit(document, leaf_, [&](const Value& value, size_t index) {
      if (!state.go_on()) return true;
      if (!matches_value(value, state)) return false;
      if (index != MatchPath::kNoIndex) state.position = index;
      return true;
    });
    return found && !state.error.has_value();
  }

 private:
  const MatchPath path_;
  const MatchPath::Leaf leaf_;
};

template <class Test>
class LeafNode final : public PathNode {
 public:
  LeafNode(MatchPath path, MatchPath::Leaf leaf, Test test)
      : PathNode(std::move(path), leaf), test_(std::move(test)) {}
  bool matches_value(const Value& value, MatchState& state) const override {
    return test_(value, state);
  }

 private:
  const Test test_;
};

// bool test(const Value&, MatchState&)
template <class Test>
MatchNodePtr make_leaf(const MatchPath& path, MatchPath::Leaf leaf, Test test) {
  return std::make_shared<LeafNode<Test>>(path, leaf, std::move(test));
}

// A condition on the whole document.
template <class Test>
class DocumentNode final : public MatchNode {
 public:
  explicit DocumentNode(Test test) : test_(std::move(test)) {}
  bool matches(const Value& document, MatchState& state) const override {
    return test_(document, state);
  }
  bool matches_value(const Value& value, MatchState& state) const override {
    return test_(value, state);
  }

 private:
  const Test test_;
};
template <class Test>
MatchNodePtr make_document_node(Test test) {
  return std::make_shared<DocumentNode<Test>>(std::move(test));
}

MatchNodePtr make_and(std::vector<MatchNodePtr> children);
MatchNodePtr make_or(std::vector<MatchNodePtr> children);
MatchNodePtr make_not(MatchNodePtr child);
MatchNodePtr make_constant(bool answer);
// All of {path: value} for each; the position is that of the first.
MatchNodePtr make_and_of_first_position(std::vector<MatchNodePtr> children);

// What is known where a part of a filter is parsed.
struct MatchScope {
  const MatchOptions& options;
  std::shared_ptr<const Matcher::Near>* near = nullptr;  // null where $near may not be
  bool is_top = true;  // of the document, not of something within one
  int depth = 0;
};
MatchScope nested(const MatchScope& scope, bool keeps_top);

// A filter of a document: {a: 1, $or: […]}.
Answer<MatchNodePtr> parse_filter(const Value& filter, const MatchScope& scope);
// Operators of one path: {$gt: 1, $lt: 5}.
Answer<MatchNodePtr> parse_operators(const MatchPath& path, const Value& operators,
                                     const MatchScope& scope);
// Whether a value has operators of its field: its first member starts with $, and it is no
// reference to a document ($ref, $id, $db).
bool has_operators(const Value& value);

// {path: operand}, where a regular expression is one.
Answer<MatchNodePtr> parse_equality(const MatchPath& path, const Value& operand);

// The rooms of the operator table: each parses the operand of one operator of a path.
struct FieldOperator {
  std::string_view name;
  Answer<MatchNodePtr> (*parse)(const MatchPath& path, const Value& operand,
                                const MatchScope& scope);
};
const FieldOperator* find_comparison(std::string_view name);
const FieldOperator* find_geo(std::string_view name);
Answer<MatchNodePtr> parse_regex_operators(const MatchPath& path, const Value& pattern,
                                           const Value& options);

// What $type and bsonType take: a name, a number, or several.
Answer<std::vector<BsonType>> parse_types(const Value& operand);

Answer<MatchNodePtr> parse_json_schema(const Value& schema);

}  // namespace orrery::mongo
