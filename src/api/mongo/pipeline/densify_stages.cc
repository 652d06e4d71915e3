// $densify: documents for the steps that are missing between others.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/mongo/expression/date_arithmetic.h"
#include "api/mongo/expression/sort_key.h"
#include "api/mongo/pipeline/stage.h"

namespace orrery::mongo {
namespace {

constexpr size_t kMaxDocuments = 500'000;

enum class Bounds : uint8_t { full, partition, given };

struct DensifyOptions {
  std::vector<std::string> path = {};
  std::vector<std::vector<std::string>> by = {};
  Bounds bounds = Bounds::full;
  Value lower = {};
  Value upper = {};
  Value step = {};
  std::optional<TimeUnit> unit = std::nullopt;
};

class DensifyStage : public GatherStage {
 public:
  DensifyStage(DensifyOptions options, SortKey sort)
      : options_(std::move(options)), sort_(std::move(sort)) {}

  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    Kept kept;
    auto documents = read_all(input, run, kept);
    if (!documents) return documents;
    documents = sort_documents(std::move(*documents), sort_, run);
    if (!documents) return documents;
    std::vector<Value> results;
    std::map<Value, std::vector<Value>, Less> partitions{Less{run.evaluation.collation}};
    Value least;
    Value most;
    for (Value& document : *documents) {
      const Value at = path_value(document, options_.path);
      if (!is_nullish(at)) {
        const bool is_right = options_.unit ? at.type() == Type::date : at.is_number();
        if (!is_right) {
          return refuse(options_.unit ? 6053600 : 5733201,
                        fmt::format("$densify: the field must be {}, but is {}",
                                    options_.unit ? "a date, since the range has a unit"
                                                  : "a number, since the range has no unit",
                                    type_name(at)));
        }
        if (least.is_undefined()) least = at;
        most = at;
      }
      partitions[key_of(document)].push_back(std::move(document));
    }
    if (options_.by.empty() && options_.bounds == Bounds::given && partitions.empty()) {
      partitions[Value::make_array({})];
    }
    for (const auto& [key, members] : partitions) {
      if (auto filled = fill(key, members, least, most, run, kept, results); !filled) {
        return pass(std::move(filled.error()));
      }
    }
    return results;
  }

 private:
  struct Less {
    const Collation* collation;
    bool operator()(const Value& a, const Value& b) const { return compare(a, b, collation) < 0; }
  };

  // What the document has at the fields that partition: an object of paths and values, in order.
  Value key_of(const Value& document) const {
    std::vector<Value> parts;
    for (const auto& path : options_.by) {
      const Value value = path_value(document, path);
      std::vector<Value::Field> part;
      if (!value.is_undefined()) part.push_back(field("v", value));
      parts.push_back(Value::make_object(std::move(part)));
    }
    return Value::make_array(std::move(parts));
  }

  Answer<Value> next_step(const Value& from, int64_t count) const {
    if (count == 0) return from;
    if (!options_.unit) return add(from, multiply(options_.step, make_integer(count)));
    const auto step = exact_integer(options_.step).value_or(1);
    int64_t amount = 0;
    if (__builtin_mul_overflow(step, count, &amount))
      return refuse(kOverflow, "$densify overflows");
    auto ms = add_units(from.date().ms, *options_.unit, amount, TimeZone());
    if (!ms) return pass(std::move(ms.error()));
    return make_date(*ms);
  }

  Answer<void> fill(const Value& key, const std::vector<Value>& members, const Value& least,
                    const Value& most, Run& run, Kept& kept, std::vector<Value>& results) const {
    size_t next = 0;
    const auto position = [&](size_t at) { return path_value(members[at], options_.path); };
    while (next < members.size() && is_nullish(position(next))) results.push_back(members[next++]);
    Value lower;
    Value upper;
    bool is_upper_made = false;  // whether the upper bound itself may be made
    switch (options_.bounds) {
      case Bounds::given:
        lower = options_.lower;
        upper = options_.upper;
        break;
      case Bounds::full:
        lower = least;
        upper = most;
        is_upper_made = true;
        break;
      case Bounds::partition:
        if (next < members.size()) {
          lower = position(next);
          upper = position(members.size() - 1);
        }
        break;
    }
    if (lower.is_undefined()) {
      results.insert(results.end(), members.begin() + static_cast<std::ptrdiff_t>(next),
                     members.end());
      return {};
    }
    while (next < members.size() && compare(position(next), lower, nullptr) < 0) {
      results.push_back(members[next++]);
    }
    for (int64_t count = 0;; ++count) {
      auto at = next_step(lower, count);
      if (!at) return pass(std::move(at.error()));
      const auto order = compare(*at, upper, nullptr);
      if (is_upper_made ? order > 0 : order >= 0) break;
      while (next < members.size() && compare(position(next), *at, nullptr) < 0) {
        results.push_back(members[next++]);
      }
      if (next < members.size() && equals(position(next), *at, nullptr)) {
        while (next < members.size() && equals(position(next), *at, nullptr)) {
          results.push_back(members[next++]);
        }
        continue;
      }
      Value made = Value::make_object({});
      for (size_t i = 0; i < options_.by.size(); ++i) {
        const Value value = key.at(i).find("v");
        if (!value.is_undefined()) made = set_path(made, options_.by[i], value);
      }
      made = set_path(made, options_.path, *at);
      if (results.size() >= kMaxDocuments) {
        return refuse(5897900, fmt::format("Generated more than {} documents in $densify, which is "
                                           "the limit",
                                           kMaxDocuments));
      }
      if (auto room = kept.add(made.memory(), run); !room) return room;
      results.push_back(std::move(made));
    }
    results.insert(results.end(), members.begin() + static_cast<std::ptrdiff_t>(next),
                   members.end());
    return {};
  }

  DensifyOptions options_;
  SortKey sort_;
};

Answer<void> parse_bounds(const Value& bounds, DensifyOptions& options) {
  if (bounds.is_string()) {
    if (bounds.text() == "full") {
      options.bounds = Bounds::full;
    } else if (bounds.text() == "partition") {
      options.bounds = Bounds::partition;
    } else {
      return refuse(5946802, "Bounds string must either be 'full' or 'partition'");
    }
    return {};
  }
  if (!bounds.is_array()) {
    return refuse(5733409, "Bounds in a range statement must be a string or an array");
  }
  if (bounds.size() != 2) {
    return refuse(5733403, "A bounding array in a range statement must have exactly two elements");
  }
  options.bounds = Bounds::given;
  options.lower = bounds.at(0).to_owned();
  options.upper = bounds.at(1).to_owned();
  for (const Value* const bound : {&options.lower, &options.upper}) {
    const bool is_right = options.unit ? bound->type() == Type::date : bound->is_number();
    if (!is_right) {
      return refuse(5733402, fmt::format("A bounding array must contain either both dates (with a "
                                         "unit) or both numbers (without), but has {}",
                                         shown(*bound)));
    }
  }
  if (compare(options.lower, options.upper, nullptr) > 0) {
    return refuse(5733401, "The bounds in a bounding array must be in ascending order");
  }
  return {};
}

Answer<void> parse_range(const Value& range, DensifyOptions& options) {
  if (range.is_undefined()) {
    return refuse(40414, "BSON field '$densify.range' is missing but a required field");
  }
  if (!range.is_object()) return refuse(kTypeMismatch, "$densify's 'range' must be an object");
  for (const auto& [name, member] : range.members()) {
    if (name != "step" && name != "bounds" && name != "unit") {
      return refuse(40415,
                    fmt::format("BSON field '$densify.range.{}' is an unknown field.", name));
    }
  }
  const Value step = range.find("step");
  if (!step.is_number()) {
    return refuse(step.is_undefined() ? 40414 : kTypeMismatch,
                  "$densify's 'range.step' must be a number");
  }
  if (is_nan(step) || compare(step, make_int32(0), nullptr) <= 0) {
    return refuse(5733401,
                  "The step parameter in a range statement must be a strictly positive "
                  "numeric value");
  }
  options.step = step.to_owned();
  if (const Value unit = range.find("unit"); !unit.is_undefined()) {
    const auto found = unit.is_string() ? time_unit_of(unit.text()) : std::nullopt;
    if (!found)
      return refuse(kFailedToParse, fmt::format("unknown time unit value: {}", shown(unit)));
    if (!exact_integer(step)) {
      return refuse(6586400,
                    "The step parameter in a range statement must be a whole number when "
                    "densifying a date range");
    }
    options.unit = found;
  }
  const Value bounds = range.find("bounds");
  if (bounds.is_undefined()) {
    return refuse(40414, "BSON field '$densify.range.bounds' is missing but a required field");
  }
  return parse_bounds(bounds, options);
}

Answer<StagePtr> parse_densify(std::string_view name, const Value& spec, StageParser&) {
  if (!spec.is_object()) {
    return refuse(5733201, fmt::format("the {} stage specification must be an object, found {}",
                                       name, type_name(spec)));
  }
  for (const auto& [option, given] : spec.members()) {
    if (option != "field" && option != "partitionByFields" && option != "range") {
      return refuse(40415, fmt::format("BSON field '$densify.{}' is an unknown field.", option));
    }
  }
  DensifyOptions options;
  const Value path = spec.find("field");
  if (!path.is_string()) {
    return refuse(path.is_undefined() ? 40414 : kTypeMismatch,
                  "$densify's 'field' must be a string");
  }
  auto steps = parse_path(path.text());
  if (!steps) return pass(std::move(steps.error()));
  options.path = std::move(*steps);
  const Value by = spec.find("partitionByFields");
  if (!by.is_undefined() && !by.is_array()) {
    return refuse(kTypeMismatch, "$densify's 'partitionByFields' must be an array");
  }
  for (const Value& one : by.elements()) {
    if (!one.is_string()) {
      return refuse(kTypeMismatch, "$densify's 'partitionByFields' must be strings");
    }
    auto parsed = parse_path(one.text());
    if (!parsed) return pass(std::move(parsed.error()));
    options.by.push_back(std::move(*parsed));
    if (one.text() == path.text()) {
      return refuse(8993000, "$densify's 'field' cannot be one of 'partitionByFields'");
    }
  }
  if (auto parsed = parse_range(spec.find("range"), options); !parsed) {
    return pass(std::move(parsed.error()));
  }
  if (options.bounds == Bounds::partition && options.by.empty()) {
    return refuse(5733408,
                  "one may not specify the bounds as 'partition' without specifying a "
                  "non-empty array of partitionByFields. You may have meant to specify 'full' "
                  "bounds.");
  }
  auto sort = SortKey::parse(stage_spec(path.text(), make_int32(1)));
  if (!sort) return pass(std::move(sort.error()));
  return std::make_shared<DensifyStage>(std::move(options), std::move(*sort));
}

constexpr std::array kDensifyStages = {StageKind{"$densify", parse_densify}};

}  // namespace

std::span<const StageKind> densify_stages() {
  return kDensifyStages;
}

}  // namespace orrery::mongo
