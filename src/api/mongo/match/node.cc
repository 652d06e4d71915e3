// See node.h.
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

class AndNode final : public MatchNode {
 public:
  AndNode(std::vector<MatchNodePtr> children, bool first_position)
      : children_(std::move(children)), first_position_(first_position) {}
  bool matches(const Value& document, MatchState& state) const override {
    return all(state, [&](const MatchNode& child) { return child.matches(document, state); });
  }
  bool matches_value(const Value& value, MatchState& state) const override {
    return all(state, [&](const MatchNode& child) { return child.matches_value(value, state); });
  }

 private:
  template <class Ask>
  bool all(MatchState& state, const Ask& ask) const {
    std::optional<size_t> first;
    for (const MatchNodePtr& child : children_) {
      if (!state.go_on() || !ask(*child)) return false;
      if (!first_position_) continue;
      if (!first.has_value()) first = state.position;
      state.position = first;
    }
    return true;
  }

  const std::vector<MatchNodePtr> children_;
  const bool first_position_;
};

class OrNode final : public MatchNode {
 public:
  explicit OrNode(std::vector<MatchNodePtr> children) : children_(std::move(children)) {}
  bool matches(const Value& document, MatchState& state) const override {
    return any(state, [&](const MatchNode& child) { return child.matches(document, state); });
  }
  bool matches_value(const Value& value, MatchState& state) const override {
    return any(state, [&](const MatchNode& child) { return child.matches_value(value, state); });
  }

 private:
  template <class Ask>
  bool any(MatchState& state, const Ask& ask) const {
    for (const MatchNodePtr& child : children_) {
      const std::optional<size_t> before = state.position;
      if (!state.go_on()) return false;
      if (ask(*child)) return true;
      state.position = before;
    }
    return false;
  }

  const std::vector<MatchNodePtr> children_;
};

// What it says of arrays is of no element, so there is no position.
class NotNode final : public MatchNode {
 public:
  explicit NotNode(MatchNodePtr child) : child_(std::move(child)) {}
  bool matches(const Value& document, MatchState& state) const override {
    const std::optional<size_t> before = state.position;
    const bool answer = child_->matches(document, state);
    state.position = before;
    return !answer;
  }
  bool matches_value(const Value& value, MatchState& state) const override {
    const std::optional<size_t> before = state.position;
    const bool answer = child_->matches_value(value, state);
    state.position = before;
    return !answer;
  }

 private:
  const MatchNodePtr child_;
};

}  // namespace

MatchNodePtr make_and(std::vector<MatchNodePtr> children) {
  if (children.size() == 1) return children.front();
  return std::make_shared<AndNode>(std::move(children), false);
}

MatchNodePtr make_and_of_first_position(std::vector<MatchNodePtr> children) {
  return std::make_shared<AndNode>(std::move(children), true);
}

MatchNodePtr make_or(std::vector<MatchNodePtr> children) {
  if (children.size() == 1) return children.front();
  return std::make_shared<OrNode>(std::move(children));
}

MatchNodePtr make_not(MatchNodePtr child) {
  return std::make_shared<NotNode>(std::move(child));
}

MatchNodePtr make_constant(bool answer) {
  return make_document_node([answer](const Value&, MatchState&) { return answer; });
}

MatchScope nested(const MatchScope& scope, bool keeps_top) {
  MatchScope inner = scope;
  ++inner.depth;
  if (!keeps_top) {
    inner.is_top = false;
    inner.near = nullptr;
  }
  return inner;
}

}  // namespace orrery::mongo
