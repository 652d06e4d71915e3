// The projection of find: which members of a document are shown, and what is computed beside them.
//
// Immutable; any thread may call. An Evaluation belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "api/mongo/bson/error.h"
#include "api/mongo/match/match.h"
#include "value/value.h"

namespace orrery::mongo {

class Projection {
 public:
  // Everything.
  Projection();
  // The filter that goes with it, for the positional operator.
  static Answer<Projection> parse(const value::Value& spec, const MatchOptions& options = {});

  // `position` is that of Matcher::match; only needed where uses_position().
  Answer<value::Value> apply(const value::Value& document, std::optional<size_t> position,
                             Evaluation& evaluation) const;

  bool is_everything() const { return root_ == nullptr; }
  bool uses_position() const { return uses_position_; }

  struct Node;

 private:
  std::shared_ptr<const Node> root_;
  bool uses_position_ = false;
};

}  // namespace orrery::mongo
