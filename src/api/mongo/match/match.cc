// See match.h.
#include "api/mongo/match/match.h"

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/match/node.h"

namespace orrery::mongo {
namespace {

// Gives the evaluation the filter's collation, which $expr compares by, while it is asked.
class WithCollation {
 public:
  WithCollation(Evaluation& evaluation, const Collation* collation)
      : evaluation_(evaluation), before_(evaluation.collation) {
    if (collation != nullptr) evaluation.collation = collation;
  }
  ~WithCollation() { evaluation_.collation = before_; }
  WithCollation(const WithCollation&) = delete;
  WithCollation& operator=(const WithCollation&) = delete;

 private:
  Evaluation& evaluation_;
  const Collation* const before_;
};

}  // namespace

Matcher::Matcher() : node_(make_constant(true)) {}

Answer<Matcher> Matcher::parse(const Value& filter, const MatchOptions& options) {
  Matcher matcher;
  if (filter.is_undefined()) return matcher;
  if (!filter.is_object()) {
    return refuse(
        kTypeMismatch,
        fmt::format("a filter must be an object, and this is of the type {}", type_name(filter)));
  }
  matcher.filter_ = filter.to_owned();
  matcher.collation_ = options.collation;
  const MatchScope scope{.options = options, .near = &matcher.near_};
  Answer<MatchNodePtr> node = parse_filter(matcher.filter_, scope);
  if (!node) return pass(std::move(node.error()));
  matcher.node_ = *std::move(node);
  return matcher;
}

Answer<Matcher::Match> Matcher::match(const Value& document, Evaluation& evaluation) const {
  const WithCollation with(evaluation, collation_.get());
  MatchState state{.evaluation = evaluation, .collation = collation_.get()};
  const bool is_match = node_->matches(document, state);
  if (state.error.has_value()) return pass(*std::move(state.error));
  return Match{.is_match = is_match, .position = is_match ? state.position : std::nullopt};
}

Answer<bool> Matcher::matches(const Value& document, Evaluation& evaluation) const {
  const Answer<Match> answer = match(document, evaluation);
  if (!answer) return pass(answer.error());
  return answer->is_match;
}

Answer<ValueMatcher> ValueMatcher::parse(const Value& condition, const MatchOptions& options) {
  ValueMatcher matcher;
  matcher.collation_ = options.collation;
  const Value owned = condition.to_owned();
  const MatchScope scope{.options = options, .is_top = false};
  Answer<MatchNodePtr> node;
  if (has_operators(owned)) {
    node = parse_operators(MatchPath(), owned, scope);
  } else if (owned.is_object()) {
    node = parse_filter(owned, scope);
    matcher.is_of_document_ = true;
  } else if (owned.type() == value::Type::regex) {
    node = parse_equality(MatchPath(), owned);
  } else {
    node = make_document_node([owned](const Value& value, MatchState& state) {
      return equals(value, owned, state.collation);
    });
  }
  if (!node) return pass(std::move(node.error()));
  matcher.node_ = *std::move(node);
  return matcher;
}

namespace {

// The first components of all paths of an array filter have to be one name.
Answer<void> find_name(const Value& filter, std::string& name, int depth) {
  if (depth > kMaxNesting) return refuse(kBadValue, "an array filter is nested too deep");
  for (const auto& [member, operand] : filter.members()) {
    if (member == "$and" || member == "$or" || member == "$nor") {
      for (const Value& clause : operand.elements()) {
        if (const Answer<void> found = find_name(clause, name, depth + 1); !found) return found;
      }
      continue;
    }
    if (member.starts_with('$')) continue;
    const std::string_view first = member.substr(0, member.find('.'));
    if (name.empty()) name = first;
    if (name != first) {
      return refuse(kFailedToParse,
                    fmt::format("Error parsing array filter :: caused by :: Expected a single "
                                "top-level field name, found '{}' and '{}'",
                                name, first));
    }
  }
  return {};
}

bool is_filter_name(std::string_view name) {
  if (name.empty() || name.front() < 'a' || name.front() > 'z') return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  });
}

}  // namespace

Answer<ValueMatcher> ValueMatcher::parse_array_filter(const Value& filter,
                                                      const MatchOptions& options) {
  if (!filter.is_object()) return refuse(kTypeMismatch, "an array filter must be an object");
  ValueMatcher matcher;
  matcher.collation_ = options.collation;
  matcher.is_wrapped_ = true;
  const Value owned = filter.to_owned();
  if (const Answer<void> found = find_name(owned, matcher.name_, 0); !found) {
    return pass(found.error());
  }
  if (matcher.name_.empty()) {
    return refuse(kFailedToParse,
                  "Cannot use an expression without a top-level field name in arrayFilters");
  }
  if (!is_filter_name(matcher.name_)) {
    return refuse(kBadValue,
                  fmt::format("Error parsing array filter :: caused by :: The top-level field name "
                              "must be an alphanumeric string beginning with a lowercase letter, "
                              "found '{}'",
                              matcher.name_));
  }
  Answer<MatchNodePtr> node = parse_filter(owned, MatchScope{.options = options, .is_top = false});
  if (!node) return pass(std::move(node.error()));
  matcher.node_ = *std::move(node);
  return matcher;
}

Answer<bool> ValueMatcher::matches(const Value& value, Evaluation& evaluation) const {
  if (is_of_document_ && !value.is_object()) return false;
  const WithCollation with(evaluation, collation_.get());
  MatchState state{.evaluation = evaluation, .collation = collation_.get()};
  const bool is_match =
      node_->matches(is_wrapped_ ? Value::make_object({field(name_, value)}) : value, state);
  if (state.error.has_value()) return pass(*std::move(state.error));
  return is_match;
}

}  // namespace orrery::mongo
