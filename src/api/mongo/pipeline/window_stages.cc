// $setWindowFields and $fill.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/mongo/pipeline/window.h"

namespace orrery::mongo {
namespace {

class WindowStage : public GatherStage {
 public:
  struct Output {
    std::vector<std::string> path;
    std::shared_ptr<const WindowFunction> function;
  };
  WindowStage(std::optional<Expression> by, std::optional<SortKey> sort,
              std::vector<Output> outputs)
      : by_(std::move(by)), sort_(std::move(sort)), outputs_(std::move(outputs)) {}

  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    Kept kept;
    auto documents = read_all(input, run, kept);
    if (!documents) return documents;
    if (sort_) {
      // MongoDB promises no order of documents that compare equal. Here a descending order is the
      // ascending one read from its end, so that windows are mirrored with it.
      const bool is_descending = std::ranges::all_of(sort_->parts(), &SortKey::Part::is_descending);
      if (is_descending) std::ranges::reverse(*documents);
      documents = sort_documents(std::move(*documents), *sort_, run);
      if (!documents) return documents;
    }
    auto partitions = split(std::move(*documents), run);
    if (!partitions) return pass(std::move(partitions.error()));
    std::vector<Value> results;
    for (Partition& partition : *partitions) {
      if (auto done = fill(partition, run); !done) return pass(std::move(done.error()));
      for (Value& document : partition.documents) results.push_back(std::move(document));
    }
    return results;
  }

 private:
  // In the order of their keys.
  Answer<std::vector<Partition>> split(std::vector<Value> documents, Run& run) const {
    const auto less = [&](const Value& a, const Value& b) {
      return compare(a, b, run.evaluation.collation) < 0;
    };
    std::map<Value, Partition, decltype(less)> found(less);
    for (Value& document : documents) {
      Value key = Value::make_null();
      if (by_) {
        auto value = by_->evaluate(run.evaluation, document);
        if (!value) return pass(std::move(value.error()));
        if (value->is_array()) {
          return refuse(kTypeMismatch,
                        "An expression used to partition cannot evaluate to value of "
                        "type array");
        }
        if (!value->is_undefined()) key = value->to_owned();
      }
      Partition& partition = found[key];
      if (sort_) partition.positions.push_back(position(document));
      partition.documents.push_back(std::move(document));
    }
    std::vector<Partition> partitions;
    for (auto& [key, partition] : found) partitions.push_back(std::move(partition));
    return partitions;
  }

  // Of several paths, all of them: ranks compare them.
  Value position(const Value& document) const {
    if (sort_->parts().size() == 1) {
      Value value = path_value(document, sort_->parts()[0].steps);
      return value.is_undefined() ? Value::make_null() : value;
    }
    return Value::make_array(sort_->of(document));
  }

  Answer<void> fill(Partition& partition, Run& run) const {
    std::vector<std::vector<Value>> columns;
    for (const Output& output : outputs_) {
      auto values = output.function->evaluate(partition, run);
      if (!values) return pass(std::move(values.error()));
      columns.push_back(std::move(*values));
    }
    for (size_t i = 0; i < partition.documents.size(); ++i) {
      for (size_t j = 0; j < outputs_.size(); ++j) {
        partition.documents[i] = set_path(partition.documents[i], outputs_[j].path, columns[j][i]);
      }
    }
    return {};
  }

  std::optional<Expression> by_;
  std::optional<SortKey> sort_;
  std::vector<Output> outputs_;
};

Answer<StagePtr> parse_windows(std::string_view name, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(kFailedToParse,
                  fmt::format("the {} stage specification must be an object, found {}", name,
                              type_name(spec)));
  }
  for (const auto& [option, given] : spec.members()) {
    if (option != "partitionBy" && option != "sortBy" && option != "output") {
      return refuse(40415, fmt::format("BSON field '{}.{}' is an unknown field.", name, option));
    }
  }
  const Value output = spec.find("output");
  if (output.is_undefined()) {
    return refuse(40414,
                  fmt::format("BSON field '{}.output' is missing but a required field", name));
  }
  if (!output.is_object()) {
    return refuse(kTypeMismatch,
                  fmt::format("BSON field '{}.output' is the wrong type '{}', expected "
                              "type 'object'",
                              name, type_name(output)));
  }
  std::optional<Expression> by;
  if (const Value given = spec.find("partitionBy"); !given.is_undefined()) {
    auto parsed = Expression::parse(given, parser.context.expressions);
    if (!parsed) return pass(std::move(parsed.error()));
    by = std::move(*parsed);
  }
  std::optional<SortKey> sort;
  if (const Value given = spec.find("sortBy"); !given.is_undefined() && given.size() > 0) {
    auto parsed = SortKey::parse(given);
    if (!parsed) return pass(std::move(parsed.error()));
    sort = std::move(*parsed);
  }
  std::vector<WindowStage::Output> outputs;
  for (const auto& [path, function] : output.members()) {
    auto steps = parse_path(path);
    if (!steps) return pass(std::move(steps.error()));
    auto parsed = parse_window_function(function, sort, parser.context.expressions);
    if (!parsed) return pass(std::move(parsed.error()));
    outputs.push_back({.path = std::move(*steps), .function = std::move(*parsed)});
  }
  return std::make_shared<WindowStage>(std::move(by), std::move(sort), std::move(outputs));
}

// {f: "$f"} for each of the names.
Answer<Value> partition_expression(std::string_view stage, const Value& fields) {
  if (!fields.is_array()) {
    return refuse(kTypeMismatch, fmt::format("{}'s partitionByFields must be an array", stage));
  }
  std::vector<Value> parts;
  for (const Value& one : fields.elements()) {
    if (!one.is_string()) {
      return refuse(kTypeMismatch, fmt::format("{}'s partitionByFields must be strings", stage));
    }
    if (auto steps = parse_path(one.text()); !steps) return pass(std::move(steps.error()));
    std::vector<Value::Field> part;
    part.push_back(field("v", Value::make_string("$" + std::string(one.text()))));
    parts.push_back(Value::make_object(std::move(part)));
  }
  // An object, since a partition's key may be no array.
  std::vector<Value::Field> key;
  key.push_back(field("k", Value::make_array(std::move(parts))));
  return Value::make_object(std::move(key));
}

Answer<StagePtr> parse_fill(std::string_view name, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) {
    return refuse(kFailedToParse,
                  fmt::format("the {} stage specification must be an object", name));
  }
  for (const auto& [option, given] : spec.members()) {
    if (option != "partitionBy" && option != "partitionByFields" && option != "sortBy" &&
        option != "output") {
      return refuse(40415, fmt::format("BSON field '$fill.{}' is an unknown field.", option));
    }
  }
  const Value by = spec.find("partitionBy");
  const Value by_fields = spec.find("partitionByFields");
  const Value sort = spec.find("sortBy");
  const Value output = spec.find("output");
  if (!by.is_undefined() && !by_fields.is_undefined()) {
    return refuse(6050204,
                  "Maximum one of 'partitionBy' and 'partitionByFields can be specified in "
                  "'$fill'");
  }
  if (!output.is_object()) {
    return refuse(40414, "BSON field '$fill.output' is missing but a required field");
  }
  std::vector<Value::Field> windows;
  std::vector<Value::Field> constants;
  for (const auto& [path, how] : output.members()) {
    if (!how.is_object() || how.size() != 1) {
      return refuse(6050202,
                    fmt::format("$fill needs exactly one of 'method' and 'value' for {}", path));
    }
    const Value::Member only = *how.members().begin();
    Value source = Value::make_string("$" + std::string(path));
    if (only.name == "value") {
      constants.push_back(
          field(path, stage_spec("$ifNull", Value::make_array({source, only.value}))));
      continue;
    }
    const std::string_view method =
        only.name == "method" && only.value.is_string() ? only.value.text() : std::string_view();
    if (method != "linear" && method != "locf") {
      return refuse(6050202,
                    fmt::format("Method must be either locf or linear, not {}", shown(how)));
    }
    windows.push_back(
        field(path, stage_spec(method == "linear" ? "$linearFill" : "$locf", source)));
  }
  std::vector<StagePtr> stages;
  if (!windows.empty()) {
    std::vector<Value::Field> members;
    if (!by.is_undefined()) members.push_back(field("partitionBy", by));
    if (!by_fields.is_undefined()) {
      auto key = partition_expression(name, by_fields);
      if (!key) return pass(std::move(key.error()));
      members.push_back(field("partitionBy", std::move(*key)));
    }
    if (!sort.is_undefined()) members.push_back(field("sortBy", sort));
    members.push_back(field("output", Value::make_object(std::move(windows))));
    auto stage =
        parse_stage(stage_spec("$setWindowFields", Value::make_object(std::move(members))), parser);
    if (!stage) return stage;
    stages.push_back(std::move(*stage));
  }
  if (!constants.empty()) {
    auto stage =
        parse_stage(stage_spec("$addFields", Value::make_object(std::move(constants))), parser);
    if (!stage) return stage;
    stages.push_back(std::move(*stage));
  }
  return chain_of(std::move(stages));
}

constexpr std::array kWindowStages = {
    StageKind{"$setWindowFields", parse_windows},
    StageKind{"$fill", parse_fill},
};

}  // namespace

std::span<const StageKind> window_stages() {
  return kWindowStages;
}

}  // namespace orrery::mongo
