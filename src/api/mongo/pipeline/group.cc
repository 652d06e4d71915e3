// See group.h; and $group, $sortByCount, $count.
#include "api/mongo/pipeline/group.h"

#include <fmt/format.h>

namespace orrery::mongo {

Answer<GroupFields> GroupFields::parse(std::string_view stage, const Value& spec,
                                       const ParseContext& context, std::string_view skipped) {
  GroupFields made;
  for (const auto& [name, member] : spec.members()) {
    if (name == skipped && !skipped.empty()) continue;
    if (auto checked = check_field_name(stage, name); !checked)
      return pass(std::move(checked.error()));
    if (!member.is_object() || member.size() == 0) {
      return refuse(40234, fmt::format("The field '{}' must be an accumulator object", name));
    }
    auto parsed = AccumulatorSpec::parse(member, context);
    if (!parsed) return pass(std::move(parsed.error()));
    made.fields_.push_back(
        {.name = Value::make_string(std::string(name)), .spec = std::move(*parsed)});
  }
  return made;
}

Answer<GroupFields::State> GroupFields::make(const Value& group, Run& run) const {
  State state;
  for (const Field& one : fields_) {
    auto accumulator = one.spec.make(run.evaluation, group);
    if (!accumulator) return pass(std::move(accumulator.error()));
    state.accumulators_.push_back(std::move(*accumulator));
  }
  return state;
}

Answer<void> GroupFields::State::add(const GroupFields& fields, const Value& document, Run& run) {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    auto value = fields.fields_[i].spec.input(run.evaluation, document);
    if (!value) return pass(std::move(value.error()));
    if (auto added = accumulators_[i]->add(*value, run.evaluation); !added) return added;
  }
  return {};
}

Answer<void> GroupFields::State::result(const GroupFields& fields, Run& run,
                                        std::vector<Value::Field>& out) const {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    auto value = accumulators_[i]->result(run.evaluation);
    if (!value) return pass(std::move(value.error()));
    out.push_back({.name = fields.fields_[i].name, .value = std::move(*value)});
  }
  return {};
}

size_t GroupFields::State::memory() const {
  size_t bytes = sizeof(*this);
  for (const auto& accumulator : accumulators_) bytes += accumulator->memory();
  return bytes;
}

namespace {

class GroupStage : public GatherStage {
 public:
  GroupStage(Expression id, GroupFields fields) : id_(std::move(id)), fields_(std::move(fields)) {}

  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    const Collation* const collation = run.evaluation.collation;
    std::unordered_map<Value, size_t, ValueHash, ValueEqual> places(64, ValueHash{collation},
                                                                    ValueEqual{collation});
    std::vector<Group> groups;
    size_t added = 0;
    for (;;) {
      auto document = input.next(run);
      if (!document) return pass(std::move(document.error()));
      if (!*document) break;
      if (run.evaluation.budget.spend(4)) return run.evaluation.over();
      auto id = id_.evaluate(run.evaluation, **document);
      if (!id) return pass(std::move(id.error()));
      if (id->is_undefined()) *id = Value::make_null();
      auto place = places.find(*id);
      if (place == places.end()) {
        const Value owned = id->to_owned();
        auto state = fields_.make(owned, run);
        if (!state) return pass(std::move(state.error()));
        place = places.emplace(owned, groups.size()).first;
        groups.push_back({.id = owned, .state = std::move(*state)});
      }
      if (auto done = groups[place->second].state.add(fields_, **document, run); !done) {
        return pass(std::move(done.error()));
      }
      // Accumulators grow: what they have is counted from time to time.
      if (++added % kDocumentsBetweenCounts == 0) {
        if (auto room = check_memory(groups, run); !room) return pass(std::move(room.error()));
      }
    }
    if (auto room = check_memory(groups, run); !room) return pass(std::move(room.error()));
    std::vector<Value> results;
    results.reserve(groups.size());
    for (const Group& group : groups) {
      std::vector<Value::Field> fields;
      fields.push_back({.name = id_name_, .value = group.id});
      if (auto done = group.state.result(fields_, run, fields); !done) {
        return pass(std::move(done.error()));
      }
      results.push_back(Value::make_object(std::move(fields)));
    }
    return results;
  }

 private:
  struct Group {
    Value id;
    GroupFields::State state;
  };
  static constexpr size_t kDocumentsBetweenCounts = 1024;

  static Answer<void> check_memory(const std::vector<Group>& groups, Run& run) {
    size_t bytes = 0;
    for (const Group& group : groups) bytes += 2 * group.id.memory() + group.state.memory();
    if (bytes <= run.memory_limit) return {};
    return refuse(kQueryExceededMemory,
                  fmt::format("$group needs more than the {} bytes of memory that it may have",
                              run.memory_limit));
  }

  Expression id_;
  GroupFields fields_;
  Value id_name_ = Value::make_string("_id");
};

Answer<StagePtr> parse_group(std::string_view, const Value& spec, StageParser& parser) {
  if (!spec.is_object()) return refuse(15947, "a group's fields must be specified in an object");
  const Value id_spec = spec.find("_id");
  if (id_spec.is_undefined()) return refuse(15955, "a group specification must include an _id");
  auto id = Expression::parse(id_spec, parser.context.expressions);
  if (!id) return pass(std::move(id.error()));
  auto fields = GroupFields::parse("$group", spec, parser.context.expressions, "_id");
  if (!fields) return pass(std::move(fields.error()));
  return std::make_shared<GroupStage>(std::move(*id), std::move(*fields));
}

Answer<StagePtr> parse_sort_by_count(std::string_view, const Value& spec, StageParser& parser) {
  if (spec.is_object()) {
    if (!is_operator(spec)) {
      return refuse(40147,
                    "the sortByCount field must be defined as a $-prefixed path or an "
                    "expression inside an object");
    }
  } else if (!spec.is_string()) {
    return refuse(40149, "the sortByCount field must be specified as a string or as an object");
  } else if (!spec.text().starts_with('$')) {
    return refuse(40148,
                  "the sortByCount field must be defined as a $-prefixed path or an "
                  "expression inside an object");
  }
  std::vector<Value::Field> group;
  group.push_back(field("_id", spec));
  group.push_back(field("count", stage_spec("$sum", make_int32(1))));
  auto first = parse_stage(stage_spec("$group", Value::make_object(std::move(group))), parser);
  if (!first) return first;
  auto second = parse_stage(stage_spec("$sort", stage_spec("count", make_int32(-1))), parser);
  if (!second) return second;
  return chain_of({*first, *second});
}

class CountStage : public GatherStage {
 public:
  explicit CountStage(std::string name) : name_(std::move(name)) {}
  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    int64_t count = 0;
    for (;; ++count) {
      auto document = input.next(run);
      if (!document) return pass(std::move(document.error()));
      if (!*document) break;
    }
    std::vector<Value> results;
    if (count > 0) results.push_back(stage_spec(name_, make_integer(count)));
    return results;
  }

 private:
  std::string name_;
};

Answer<StagePtr> parse_count(std::string_view, const Value& spec, StageParser&) {
  if (!spec.is_string()) return refuse(40156, "the count field must be a non-empty string");
  const std::string_view name = spec.text();
  if (name.empty()) return refuse(40157, "the count field must be a non-empty string");
  if (name.starts_with('$')) return refuse(40158, "the count field cannot be a $-prefixed path");
  if (name.find('\0') != std::string_view::npos) {
    return refuse(40159, "the count field cannot contain a null byte");
  }
  if (name.find('.') != std::string_view::npos) {
    return refuse(40160, "the count field cannot contain '.'");
  }
  if (name == "_id") return refuse(9039800, "the count field cannot be '_id'");
  return std::make_shared<CountStage>(std::string(name));
}

constexpr std::array kStages = {
    StageKind{"$group", parse_group},
    StageKind{"$sortByCount", parse_sort_by_count},
    StageKind{"$count", parse_count},
};

}  // namespace

std::span<const StageKind> group_stages() {
  return kStages;
}

}  // namespace orrery::mongo
