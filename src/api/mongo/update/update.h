// An update: a replacement, operators ($set, $inc, …) or a pipeline. Parsed once, applied to many
// documents.
//
// An Update is immutable and may be used by any thread; an Evaluation belongs to one.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/match/match.h"
#include "value/value.h"

namespace orrery::mongo {

// What an update did to a document, as change streams describe it.
struct UpdateDescription {
  struct Truncated {
    std::string path;
    size_t new_size = 0;
  };
  std::vector<value::Value::Field> updated;  // dotted paths and their new values
  std::vector<std::string> removed;
  std::vector<Truncated> truncated;
};
// What turns one document into another.
UpdateDescription describe_update(const value::Value& before, const value::Value& after);

struct UpdateOptions {
  MatchOptions match = {};
  value::Value array_filters = {};  // an array, or undefined
  // The command's `c`: variables of a pipeline's expressions.
  value::Value constants = {};
};

class Update {
 public:
  enum class Kind : uint8_t { replacement, operators, pipeline };

  struct Target {
    value::Value document;
    // Of the filter that found it (Matcher::match): what "$" stands for.
    std::optional<size_t> position = std::nullopt;
    // The document is upsert_seed's (bounds.h), and is inserted.
    bool is_insert = false;
  };
  struct Outcome {
    value::Value document;
    bool is_changed = false;  // in a type, a value or the order of members
  };

  static Answer<Update> parse(const value::Value& spec, const UpdateOptions& options = {});

  Kind kind() const;
  // $currentDate takes `now` and `cluster_time` of the evaluation. An _id that is to be generated
  // is not set: a document without one comes back.
  Answer<Outcome> apply(const Target& target, Evaluation& evaluation) const;
  // Applies it to what the filter says of a new document.
  Answer<value::Value> upsert(const value::Value& filter, Evaluation& evaluation) const;

  struct Plan;

 private:
  explicit Update(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  std::shared_ptr<const Plan> plan_;
};

}  // namespace orrery::mongo
