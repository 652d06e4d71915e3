// $bucket and $bucketAuto.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "api/mongo/bson/stable_order.h"
#include "api/mongo/pipeline/granularity.h"
#include "api/mongo/pipeline/group.h"

namespace orrery::mongo {
namespace {

// What a bucket has when it is not told: {count: {$sum: 1}}.
Answer<GroupFields> parse_output(std::string_view name, const Value& output,
                                 const ParseContext& context, int32_t code) {
  if (output.is_undefined()) {
    return GroupFields::parse(name, stage_spec("count", stage_spec("$sum", make_int32(1))),
                              context);
  }
  if (!output.is_object()) {
    return refuse(code, fmt::format("The {} 'output' field must be an object, but found type: {}",
                                    name, type_name(output)));
  }
  if (!output.find("_id").is_undefined()) {
    return refuse(40236, fmt::format("{}: the output may have no _id", name));
  }
  return GroupFields::parse(name, output, context);
}

Answer<Expression> parse_group_by(std::string_view name, const Value& by,
                                  const ParseContext& context, int32_t code) {
  const bool is_path = by.is_string() && by.text().starts_with('$');
  if (!is_path && !is_operator(by)) {
    return refuse(code,
                  fmt::format("The {} 'groupBy' field must be defined as a $-prefixed path or "
                              "an expression, but found: {}",
                              name, shown(by)));
  }
  return Expression::parse(by, context);
}

class BucketStage : public GatherStage {
 public:
  BucketStage(Expression by, std::vector<Value> boundaries, std::optional<Value> otherwise,
              GroupFields fields)
      : by_(std::move(by)),
        boundaries_(std::move(boundaries)),
        otherwise_(std::move(otherwise)),
        fields_(std::move(fields)) {}

  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    const Collation* const collation = run.evaluation.collation;
    // One for each lower boundary, and the default's.
    std::vector<std::optional<GroupFields::State>> states(boundaries_.size());
    for (;;) {
      auto document = input.next(run);
      if (!document) return pass(std::move(document.error()));
      if (!*document) break;
      auto value = by_.evaluate(run.evaluation, **document);
      if (!value) return pass(std::move(value.error()));
      const auto above = std::upper_bound(
          boundaries_.begin(), boundaries_.end(), *value,
          [&](const Value& a, const Value& b) { return compare(a, b, collation) < 0; });
      size_t place = boundaries_.size() - 1;
      if (above != boundaries_.begin() && above != boundaries_.end()) {
        place = static_cast<size_t>(above - boundaries_.begin()) - 1;
      } else if (!otherwise_) {
        return refuse(40066, fmt::format("$bucket: {} falls into no bucket, and no default was "
                                         "specified",
                                         shown(*value)));
      }
      if (!states[place]) {
        auto state = fields_.make(**document, run);
        if (!state) return pass(std::move(state.error()));
        states[place] = std::move(*state);
      }
      if (auto added = states[place]->add(fields_, **document, run); !added) {
        return pass(std::move(added.error()));
      }
      if (states[place]->memory() > run.memory_limit) {
        return refuse(kQueryExceededMemory, "$bucket needs too much memory");
      }
    }
    std::vector<Value> results;
    for (size_t i = 0; i < states.size(); ++i) {
      if (!states[i]) continue;
      std::vector<Value::Field> fields;
      fields.push_back(field("_id", i + 1 == states.size() ? *otherwise_ : boundaries_[i]));
      if (auto done = states[i]->result(fields_, run, fields); !done) {
        return pass(std::move(done.error()));
      }
      results.push_back(Value::make_object(std::move(fields)));
    }
    sort_stably(results, [&](const Value& a, const Value& b) {
      return compare(a.find("_id"), b.find("_id"), collation) < 0;
    });
    return results;
  }

 private:
  Expression by_;
  std::vector<Value> boundaries_;
  std::optional<Value> otherwise_;
  GroupFields fields_;
};

Answer<Value> parse_constant(std::string_view what, const Value& spec, const ParseContext& context,
                             int32_t code) {
  auto expression = Expression::parse(spec, context);
  if (!expression) return pass(std::move(expression.error()));
  if (const Value* const constant = expression->constant()) return *constant;
  // Constant expressions are evaluated; what needs a document gives nothing without one.
  Budget budget;
  budget.start({.steps = 100'000});
  Evaluation evaluation(budget);
  auto value = expression->evaluate(evaluation);
  if (!value) return value;
  if (value->is_undefined()) {
    return refuse(code,
                  fmt::format("The $bucket {} must be constant, but found: {}", what, shown(spec)));
  }
  return value->to_owned();
}

Answer<std::vector<Value>> parse_boundaries(const Value& spec, const ParseContext& context,
                                            const Collation* collation) {
  if (!spec.is_array()) {
    return refuse(40200, fmt::format("The $bucket 'boundaries' field must be an array, but found "
                                     "type: {}",
                                     type_name(spec)));
  }
  std::vector<Value> boundaries;
  for (const Value& one : spec.elements()) {
    auto value = parse_constant("boundaries", one, context, 40191);
    if (!value) return pass(std::move(value.error()));
    if (!boundaries.empty()) {
      const Value& last = boundaries.back();
      if (last.type() != value->type()) {
        return refuse(40193,
                      fmt::format("All values in the 'boundaries' option to $bucket must have "
                                  "the same type. Found: {}",
                                  shown(spec)));
      }
      if (compare(last, *value, collation) >= 0) {
        return refuse(40194, fmt::format("The 'boundaries' option to $bucket must be sorted, but "
                                         "elements {} and {} are not",
                                         shown(last), shown(*value)));
      }
    }
    boundaries.push_back(std::move(*value));
  }
  if (boundaries.size() < 2) {
    return refuse(40192, "The $bucket 'boundaries' field must have at least 2 values");
  }
  return boundaries;
}

Answer<StagePtr> parse_bucket(std::string_view name, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(40201, fmt::format("Argument to $bucket stage must be an object, but found type: "
                                     "{}",
                                     type_name(spec)));
  }
  for (const auto& [option, given] : spec.members()) {
    if (option != "groupBy" && option != "boundaries" && option != "default" &&
        option != "output") {
      return refuse(40197, fmt::format("Unrecognized option to $bucket: {}.", option));
    }
  }
  const ParseContext& context = parser.context.expressions;
  const Collation* const collation = parser.context.collation.get();
  const Value by_spec = spec.find("groupBy");
  if (by_spec.is_undefined() || spec.find("boundaries").is_undefined()) {
    return refuse(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.");
  }
  auto by = parse_group_by(name, by_spec, context, 40202);
  if (!by) return pass(std::move(by.error()));
  auto boundaries = parse_boundaries(spec.find("boundaries"), context, collation);
  if (!boundaries) return pass(std::move(boundaries.error()));
  std::optional<Value> otherwise;
  if (const Value given = spec.find("default"); !given.is_undefined()) {
    auto value = parse_constant("default", given, context, 40195);
    if (!value) return pass(std::move(value.error()));
    if (compare(*value, boundaries->front(), collation) >= 0 &&
        compare(*value, boundaries->back(), collation) < 0) {
      return refuse(40199,
                    "The $bucket 'default' field must be less than the lowest boundary or "
                    "greater than or equal to the highest boundary.");
    }
    otherwise = std::move(*value);
  }
  auto fields = parse_output(name, spec.find("output"), context, 40196);
  if (!fields) return pass(std::move(fields.error()));
  return std::make_shared<BucketStage>(std::move(*by), std::move(*boundaries), std::move(otherwise),
                                       std::move(*fields));
}

// As many buckets of about the same size.
class BucketAutoStage : public GatherStage {
 public:
  BucketAutoStage(Expression by, int64_t buckets, const Granularity* granularity,
                  GroupFields fields)
      : by_(std::move(by)),
        buckets_(buckets),
        granularity_(granularity),
        fields_(std::move(fields)) {}

  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    Kept kept;
    auto documents = read_all(input, run, kept);
    if (!documents) return documents;
    std::vector<Entry> entries;
    for (Value& document : *documents) {
      auto key = by_.evaluate(run.evaluation, document);
      if (!key) return pass(std::move(key.error()));
      if (granularity_ != nullptr && (!key->is_number() || is_nan(*key) || key->number() < 0)) {
        return refuse(40258, fmt::format("$bucketAuto can specify a 'granularity' with numeric "
                                         "boundaries that are not negative only, but found {}",
                                         shown(*key)));
      }
      if (key->is_undefined()) *key = Value::make_null();
      entries.push_back({.key = key->to_owned(), .document = std::move(document)});
    }
    const Collation* const collation = run.evaluation.collation;
    sort_stably(entries, [&](const Entry& a, const Entry& b) {
      return compare(a.key, b.key, collation) < 0;
    });
    // What does not divide evenly goes to the first buckets.
    const size_t share = entries.size() / static_cast<size_t>(buckets_);
    const size_t more = entries.size() % static_cast<size_t>(buckets_);
    std::vector<Value> results;
    Value last_max;
    for (size_t at = 0; at < entries.size();) {
      const bool is_last = static_cast<int64_t>(results.size()) + 1 == buckets_;
      const size_t wanted = std::max<size_t>(1, share + (results.size() < more ? 1 : 0));
      size_t end = is_last ? entries.size() : std::min(at + wanted, entries.size());
      Value min = entries[at].key;
      Value max = entries[end - 1].key;
      if (granularity_ != nullptr) {
        Value boundary = round_up(*granularity_, max);
        while (end < entries.size() && compare(boundary, entries[end].key, nullptr) > 0) ++end;
        const bool is_zero_first = results.empty() && max.number() == 0;
        if (!is_zero_first) {
          max = boundary;
        } else if (end < entries.size()) {
          max = round_down(*granularity_, entries[end].key);
        }
        if (results.empty()) min = round_down(*granularity_, min);
      } else {
        while (end < entries.size() && equals(max, entries[end].key, collation)) ++end;
        if (end < entries.size()) max = entries[end].key;
      }
      if (!last_max.is_undefined()) min = last_max;
      last_max = max;
      auto result = bucket(entries, at, end, min, max, run);
      if (!result) return pass(std::move(result.error()));
      results.push_back(std::move(*result));
      at = end;
    }
    return results;
  }

 private:
  struct Entry {
    Value key;
    Value document;
  };

  Answer<Value> bucket(const std::vector<Entry>& entries, size_t begin, size_t end,
                       const Value& min, const Value& max, Run& run) const {
    auto state = fields_.make(entries[begin].document, run);
    if (!state) return pass(std::move(state.error()));
    for (size_t i = begin; i < end; ++i) {
      if (auto added = state->add(fields_, entries[i].document, run); !added) {
        return pass(std::move(added.error()));
      }
    }
    std::vector<Value::Field> range;
    range.push_back(field("min", min));
    range.push_back(field("max", max));
    std::vector<Value::Field> fields;
    fields.push_back(field("_id", Value::make_object(std::move(range))));
    if (auto done = state->result(fields_, run, fields); !done)
      return pass(std::move(done.error()));
    return Value::make_object(std::move(fields));
  }

  Expression by_;
  int64_t buckets_;
  const Granularity* granularity_;
  GroupFields fields_;
};

Answer<StagePtr> parse_bucket_auto(std::string_view name, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(40240,
                  fmt::format("The argument to $bucketAuto must be an object, but found type: "
                              "{}",
                              type_name(spec)));
  }
  for (const auto& [option, given] : spec.members()) {
    if (option != "groupBy" && option != "buckets" && option != "output" &&
        option != "granularity") {
      return refuse(40245, fmt::format("Unrecognized option to $bucketAuto: {}.", option));
    }
  }
  const Value by_spec = spec.find("groupBy");
  const Value buckets = spec.find("buckets");
  if (by_spec.is_undefined() || buckets.is_undefined()) {
    return refuse(40246, "$bucketAuto requires 'groupBy' and 'buckets' to be specified.");
  }
  auto by = parse_group_by(name, by_spec, parser.context.expressions, 40239);
  if (!by) return pass(std::move(by.error()));
  if (!buckets.is_number()) {
    return refuse(40241, fmt::format("The $bucketAuto 'buckets' field must be a numeric value, but "
                                     "found type: {}",
                                     type_name(buckets)));
  }
  const auto count = exact_integer(buckets);
  if (!count || *count > std::numeric_limits<int32_t>::max()) {
    return refuse(40242, fmt::format("The $bucketAuto 'buckets' field must be representable as a "
                                     "32-bit integer, but found {}",
                                     number_text(buckets)));
  }
  if (*count <= 0) {
    return refuse(40243, fmt::format("The $bucketAuto 'buckets' field must be greater than 0, but "
                                     "found: {}",
                                     *count));
  }
  const Granularity* granularity = nullptr;
  if (const Value given = spec.find("granularity"); !given.is_undefined()) {
    if (!given.is_string()) {
      return refuse(40261, "The $bucketAuto 'granularity' field must be a string");
    }
    granularity = find_granularity(given.text());
    if (granularity == nullptr) {
      return refuse(40257, fmt::format("Unknown rounding granularity '{}'", given.text()));
    }
  }
  auto fields = parse_output(name, spec.find("output"), parser.context.expressions, 40244);
  if (!fields) return pass(std::move(fields.error()));
  return std::make_shared<BucketAutoStage>(std::move(*by), *count, granularity, std::move(*fields));
}

constexpr std::array kBucketStages = {
    StageKind{"$bucket", parse_bucket},
    StageKind{"$bucketAuto", parse_bucket_auto},
};

}  // namespace

std::span<const StageKind> bucket_stages() {
  return kBucketStages;
}

}  // namespace orrery::mongo
