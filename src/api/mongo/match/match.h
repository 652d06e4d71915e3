// A filter of MongoDB's query language: parsed once, asked of many documents.
//
// Comparisons look at values of the operand's type only, so {a: {$lt: 5}} does not match strings.
// A path leads through arrays (path.h). Null matches what is missing.
//
// A Matcher is immutable and may be used by any thread; an Evaluation belongs to one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/mongo/bson/collation.h"
#include "api/mongo/bson/error.h"
#include "api/mongo/expression/expression.h"
#include "value/value.h"

namespace orrery::mongo {

class MatchNode;

struct MatchOptions {
  std::shared_ptr<const Collation> collation = nullptr;
  ParseContext context = {};  // the variables that $expr knows
  // Whether the caller sorts by what near() asks. Otherwise $near is refused (238).
  bool sorts_by_distance = false;
};

class Matcher {
 public:
  // Which element of an array satisfied the filter: what "$" stands for in paths of updates and
  // projections.
  struct Match {
    bool is_match = false;
    std::optional<size_t> position = std::nullopt;
  };

  // $near and $nearSphere say how to sort, which a filter cannot: near() has what they ask.
  struct Near {
    std::string path;
    value::Value point;  // GeoJSON
    std::optional<double> min_distance_m = std::nullopt;
    std::optional<double> max_distance_m = std::nullopt;
  };

  // Of no filter: everything matches.
  Matcher();
  static Answer<Matcher> parse(const value::Value& filter, const MatchOptions& options = {});

  // $expr is evaluated with the variables of `evaluation`. Its document is set where one is needed.
  Answer<bool> matches(const value::Value& document, Evaluation& evaluation) const;
  Answer<Match> match(const value::Value& document, Evaluation& evaluation) const;

  const value::Value& filter() const { return filter_; }
  bool is_everything() const { return filter_.size() == 0; }
  // Only at the top of a filter or of its $and. Documents without the field, or out of range, do
  // not match.
  const Near* near() const { return near_.get(); }

 private:
  value::Value filter_;
  std::shared_ptr<const MatchNode> node_;
  std::shared_ptr<const Near> near_;
  std::shared_ptr<const Collation> collation_;
};

// The place that a document has at the path, and how far it is from the point: the nearest one of
// several that are far enough. Nothing where it has none.
struct NearestPlace {
  double distance_m = 0;
  value::Value place;
};
std::optional<NearestPlace> nearest_place(const Matcher::Near& near, const value::Value& document,
                                          Evaluation& evaluation);
// Whether a 2dsphere index over the path can have the document: 16755 when it has something else
// than a place there.
Answer<void> check_place(const value::Value& document, std::string_view path);

// Conditions on a value itself, as $pull, $elemMatch of projections and arrayFilters have them.
class ValueMatcher {
 public:
  // {$gt: 5, $lt: 8}: operators, of the value. {a: 1, b: 2}: a filter of the value, which is a
  // document. Anything else: equality.
  static Answer<ValueMatcher> parse(const value::Value& condition,
                                    const MatchOptions& options = {});
  // An array filter: {x: {$gt: 5}} or {"x.a": 1, "x.b": 2}: of the value x.
  static Answer<ValueMatcher> parse_array_filter(const value::Value& filter,
                                                 const MatchOptions& options = {});
  Answer<bool> matches(const value::Value& value, Evaluation& evaluation) const;
  // Of an array filter: "x".
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  bool is_of_document_ = false;
  bool is_wrapped_ = false;  // the value is asked as {name: value}
  std::shared_ptr<const MatchNode> node_;
  std::shared_ptr<const Collation> collation_;
};

}  // namespace orrery::mongo
