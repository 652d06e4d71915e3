// See group.h; and $group, $sortByCount, $count.
#include "api/mongo/pipeline/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
    const Value* const constant = parsed->constant();
    made.fields_.push_back(
        {.name = Value::make_string(std::string(name)),
         .spec = std::move(*parsed),
         .constant = constant == nullptr ? std::nullopt : std::optional(constant->to_owned())});
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

bool GroupFields::merges() const {
  return std::ranges::all_of(fields_, [](const Field& one) { return one.spec.merges(); });
}

Answer<void> GroupFields::State::add_current(const GroupFields& fields, Run& run) {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    const Field& field = fields.fields_[i];
    if (field.constant) {
      auto added = accumulators_[i]->add(*field.constant, run.evaluation);
      if (!added) return added;
      continue;
    }
    auto value = field.spec.input(run.evaluation);
    if (!value) return pass(std::move(value.error()));
    if (auto added = accumulators_[i]->add(*value, run.evaluation); !added) return added;
  }
  return {};
}

Answer<void> GroupFields::State::merge(const State& later, Run& run) {
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    auto merged = accumulators_[i]->merge(*later.accumulators_[i], run.evaluation);
    if (!merged) return merged;
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

// The groups of documents that one thread reads, in the order in which it met them.
class GroupTable {
 public:
  GroupTable(const Expression& id, const GroupFields& fields, const Collation* collation)
      : id_(id),
        fields_(fields),
        is_collated_(collation != nullptr),
        places_(64, ValueHash{collation}, ValueEqual{collation}) {}

  Answer<void> add_all(Source& input, Run& run) {
    for (size_t added = 1;; ++added) {
      auto document = input.next(run);
      if (!document) return pass(std::move(document.error()));
      if (!*document) return check_memory(run);
      if (auto done = add(**document, run); !done) return done;
      // Accumulators grow: what they have is counted from time to time.
      if (added % kDocumentsBetweenCounts == 0) {
        if (auto room = check_memory(run); !room) return room;
      }
    }
  }

  // The groups of documents that come after those of this one.
  Answer<void> merge(GroupTable later, Run& run) {
    for (Group& group : later.groups_) {
      if (run.evaluation.budget.spend(4)) return run.evaluation.over();
      const auto place = places_.find(group.id);
      if (place == places_.end()) {
        places_.emplace(group.id, groups_.size());
        groups_.push_back(std::move(group));
        continue;
      }
      if (auto merged = groups_[place->second].state.merge(group.state, run); !merged) {
        return merged;
      }
    }
    return check_memory(run);
  }

  Answer<std::vector<Value>> results(Run& run) const {
    const Value id_name = Value::make_string("_id");
    std::vector<Value> results;
    results.reserve(groups_.size());
    for (const Group& group : groups_) {
      std::vector<Value::Field> fields;
      fields.push_back({.name = id_name, .value = group.id});
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
  static constexpr size_t kRecent = 512;

  Answer<void> add(const Value& document, Run& run) {
    if (run.evaluation.budget.spend(4)) return run.evaluation.over();
    auto id = id_.evaluate(run.evaluation, document);
    if (!id) return pass(std::move(id.error()));
    if (id->is_undefined()) *id = Value::make_null();
    uint32_t* const recent = is_collated_ || !id->is_string() ? nullptr : &recent_[slot_of(*id)];
    if (recent != nullptr && *recent < groups_.size()) {
      Group& group = groups_[*recent];
      if (group.id.is_string() && group.id.text() == id->text()) {
        return group.state.add_current(fields_, run);
      }
    }
    auto place = places_.find(*id);
    if (place == places_.end()) {
      const Value owned = id->to_owned();
      auto state = fields_.make(owned, run);
      if (!state) return pass(std::move(state.error()));
      // What is made may have looked at the group in the document's place.
      run.evaluation.set_document(document);
      place = places_.emplace(owned, groups_.size()).first;
      groups_.push_back({.id = owned, .state = std::move(*state)});
    }
    if (recent != nullptr) *recent = static_cast<uint32_t>(place->second);
    return groups_[place->second].state.add_current(fields_, run);
  }

  // By a hash that is cheap, and that anyone could make collide: then places_ is asked.
  static size_t slot_of(const Value& text_id) {
    constexpr size_t kBytes = 16;
    std::string_view text = text_id.text();
    if (text.size() > kBytes) text.remove_prefix(text.size() - kBytes);
    uint32_t sum = 0;
    for (const char c : text) sum = sum * 31 + static_cast<uint8_t>(c);
    return sum % kRecent;
  }

  Answer<void> check_memory(Run& run) const {
    size_t bytes = 0;
    for (const Group& group : groups_) bytes += 2 * group.id.memory() + group.state.memory();
    if (bytes <= run.memory_limit) return {};
    return refuse(kQueryExceededMemory,
                  fmt::format("$group needs more than the {} bytes of memory that it may have",
                              run.memory_limit));
  }

  const Expression& id_;
  const GroupFields& fields_;
  const bool is_collated_;
  // Where groups whose id is a text were last found, in groups_: a look costs less than places_.
  std::array<uint32_t, kRecent> recent_ = {};
  std::unordered_map<Value, size_t, ValueHash, ValueEqual> places_;
  std::vector<Group> groups_;
};

class GroupStage : public GatherStage {
 public:
  GroupStage(Expression id, GroupFields fields) : id_(std::move(id)), fields_(std::move(fields)) {}

  Answer<std::vector<Value>> gather(Source& input, Run& run) const override {
    GroupTable all = table(run);
    Parts parts(*this);
    auto divided = fields_.merges() ? input.read_in_parts(parts, run) : Answer<bool>(false);
    if (!divided) return pass(std::move(divided.error()));
    if (!*divided) {
      parts.tables.clear();
      if (auto added = all.add_all(input, run); !added) return pass(std::move(added.error()));
    }
    for (std::optional<GroupTable>& part : parts.tables) {
      if (auto merged = all.merge(*std::move(part), run); !merged) {
        return pass(std::move(merged.error()));
      }
      part.reset();
    }
    return all.results(run);
  }

 private:
  struct Parts final : Source::PartReader {
    explicit Parts(const GroupStage& stage_in) : stage(stage_in) {}
    void begin(size_t parts) override { tables.resize(parts); }
    Answer<void> read(size_t part, Source& documents, Run& run) override {
      tables[part].emplace(stage.table(run));
      return tables[part]->add_all(documents, run);
    }
    const GroupStage& stage;
    std::vector<std::optional<GroupTable>> tables;
  };

  GroupTable table(const Run& run) const {
    return GroupTable(id_, fields_, run.evaluation.collation);
  }

  Expression id_;
  GroupFields fields_;
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
    Parts parts;
    auto divided = input.read_in_parts(parts, run);
    if (!divided) return pass(std::move(divided.error()));
    if (!*divided) {
      parts.begin(1);
      if (auto read = parts.read(0, input, run); !read) return pass(std::move(read.error()));
    }
    const int64_t count = std::accumulate(parts.counts.begin(), parts.counts.end(), int64_t{0});
    std::vector<Value> results;
    if (count > 0) results.push_back(stage_spec(name_, make_integer(count)));
    return results;
  }

 private:
  struct Parts final : Source::PartReader {
    void begin(size_t parts) override { counts.assign(parts, 0); }
    Answer<void> read(size_t part, Source& documents, Run& run) override {
      int64_t count = 0;
      for (;; ++count) {
        auto document = documents.next(run);
        if (!document) return pass(std::move(document.error()));
        if (!*document) break;
      }
      counts[part] = count;
      return {};
    }
    std::vector<int64_t> counts;
  };

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

constexpr std::array kGroupStages = {
    StageKind{"$group", parse_group},
    StageKind{"$sortByCount", parse_sort_by_count},
    StageKind{"$count", parse_count},
};

}  // namespace

std::span<const StageKind> group_stages() {
  return kGroupStages;
}

}  // namespace orrery::mongo
