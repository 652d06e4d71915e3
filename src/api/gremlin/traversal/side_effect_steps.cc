// Steps that put something aside: group, groupCount, aggregate, store, tree, sack, cap; and those
// of them that give it on at once.
#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/scopes.h"

namespace orrery::gremlin {
namespace {

struct GroupSpec {
  Modulator key;
  std::shared_ptr<Traversal> values;  // null: a list of what is grouped
};

// by() without a traversal, for the values of a group: as a traversal that maps and folds.
class MapAndFold final : public BarrierStep {
 public:
  explicit MapAndFold(Modulator by) : by_(std::move(by)) {}
  void reset() override { BarrierStep::reset(), values_.clear(); }

 protected:
  Status take(Run& run, Batch batch) override {
    for (const Traverser& traverser : batch) {
      auto value = by_.apply(run, traverser);
      if (!value) return pass(value.error());
      if (auto kept = run.keep(saturated_product(traverser.bulk, sizeof(Value))); !kept)
        return kept;
      values_.insert(values_.end(), traverser.bulk, *value);
    }
    return {};
  }
  Status give(Run& run, Batch& out) override {
    out.push_back(run.fresh(Value::list(std::move(values_))));
    values_ = {};
    return {};
  }

 private:
  const Modulator by_;
  Value::List values_;
};

Result<GroupSpec> group_spec(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  if (by->size() > 2) return fail(Code::invalid, "group() takes two by() at most");
  GroupSpec spec;
  if (!by->empty()) spec.key = (*by)[0];
  if (by->size() == 2) {
    Modulator& values = (*by)[1];
    if (values.kind == Modulator::Kind::traversal) {
      spec.values = values.traversal;
    } else if (values.kind != Modulator::Kind::identity) {
      spec.values = std::make_shared<Traversal>();
      spec.values->add(std::make_unique<MapAndFold>(values));
    }
  }
  return spec;
}

Status add_to_groups(Run& run, const GroupSpec& spec, Batch batch, Grouped<Batch>& groups) {
  if (auto kept = run.keep(batch); !kept) return kept;
  for (Traverser& traverser : batch) {
    auto key = spec.key.apply(run, traverser);
    if (!key) return pass(key.error());
    groups[*key].push_back(std::move(traverser));
  }
  return {};
}

class GroupStep final : public BarrierStep {
 public:
  explicit GroupStep(GroupSpec spec) : spec_(std::move(spec)) {}
  void reset() override { BarrierStep::reset(), groups_ = {}; }

 protected:
  Status take(Run& run, Batch batch) override {
    return add_to_groups(run, spec_, std::move(batch), groups_);
  }
  Status give(Run& run, Batch& out) override {
    auto grouped = group_values(run, groups_, spec_.values.get());
    if (!grouped) return pass(grouped.error());
    groups_ = {};
    out.push_back(run.fresh(std::move(*grouped)));
    return {};
  }

 private:
  const GroupSpec spec_;
  Grouped<Batch> groups_;
};

// A step that looks at traversers and lets them go on.
class AsideStep final : public FlatStep {
 public:
  using Function = std::function<Status(Run&, Batch&)>;
  explicit AsideStep(Function function) : function_(std::move(function)) {}

 protected:
  Status apply(Run& run, Batch in, Batch& out) override {
    if (auto done = function_(run, in); !done) return done;
    std::ranges::move(in, std::back_inserter(out));
    return {};
  }

 private:
  const Function function_;
};
StepPtr aside(AsideStep::Function function) {
  return std::make_unique<AsideStep>(std::move(function));
}

Result<std::string> effect_name(const Calls& calls, size_t at = 0) {
  if (calls.arguments().size() <= at || !calls.arguments()[at].is_text())
    return bad_arguments(calls);
  return calls.arguments()[at].value.string();
}

Result<StepPtr> make_group(Compiler& compiler, const Calls& calls) {
  auto spec = group_spec(compiler, calls);
  if (!spec) return pass(spec.error());
  if (calls.arguments().empty()) return std::make_unique<GroupStep>(std::move(*spec));
  auto name = effect_name(calls);
  if (!name) return pass(name.error());
  compiler.run().side_effects[*name].has_groups = true;
  return aside([spec = *spec, name = *name](Run& run, Batch& batch) -> Status {
    SideEffect& effect = run.side_effects[name];
    effect.group_values = spec.values.get();
    return add_to_groups(run, spec, batch, effect.groups);
  });
}

Status add_to_counts(Run& run, const Modulator& by, const Batch& batch, Grouped<int64_t>& counts) {
  for (const Traverser& traverser : batch) {
    auto key = by.apply(run, traverser);
    if (!key) return pass(key.error());
    if (auto kept = run.keep(64); !kept) return kept;
    counts[*key] += static_cast<int64_t>(traverser.bulk);
  }
  return {};
}

class GroupCountStep final : public BarrierStep {
 public:
  explicit GroupCountStep(Modulator by) : by_(std::move(by)) {}
  void reset() override { BarrierStep::reset(), counts_ = {}; }

 protected:
  Status take(Run& run, Batch batch) override { return add_to_counts(run, by_, batch, counts_); }
  Status give(Run& run, Batch& out) override {
    Value::Map made;
    for (const auto& [key, count] : counts_.entries()) {
      made.emplace_back(key, Value::integer(count, Kind::int64));
    }
    counts_ = {};
    out.push_back(run.fresh(Value::map(std::move(made))));
    return {};
  }

 private:
  const Modulator by_;
  Grouped<int64_t> counts_;
};

Result<StepPtr> make_group_count(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const Modulator key = by->empty() ? Modulator() : by->front();
  if (calls.arguments().empty()) return std::make_unique<GroupCountStep>(key);
  auto name = effect_name(calls);
  if (!name) return pass(name.error());
  compiler.run().side_effects[*name].has_counts = true;
  return aside([=, name = *name](Run& run, Batch& batch) -> Status {
    SideEffect& effect = run.side_effects[name];
    return add_to_counts(run, key, batch, effect.counts);
  });
}

Status add_to_bag(Run& run, const Modulator& by, const std::string& name, const Batch& batch) {
  SideEffect& effect = run.side_effects[name];
  if (!effect.bag) effect.bag.emplace();
  for (const Traverser& traverser : batch) {
    auto value = by.find(run, traverser);
    if (!value) return pass(value.error());
    if (!*value) continue;
    if (auto kept = run.keep(
            saturated_sum(saturated_product(traverser.bulk, sizeof(Value)), (*value)->memory()));
        !kept)
      return kept;
    effect.bag->insert(effect.bag->end(), traverser.bulk, **value);
  }
  return {};
}

// aggregate: all of them before the first goes on.
class AggregateStep final : public BarrierStep {
 public:
  AggregateStep(std::string effect, Modulator by)
      : effect_(std::move(effect)), by_(std::move(by)) {}
  void reset() override { BarrierStep::reset(), all_.clear(); }

 protected:
  Status take(Run& run, Batch batch) override {
    if (auto kept = run.keep(batch); !kept) return kept;
    std::ranges::move(batch, std::back_inserter(all_));
    return {};
  }
  Status give(Run& run, Batch& out) override {
    if (auto added = add_to_bag(run, by_, effect_, all_); !added) return added;
    std::ranges::move(all_, std::back_inserter(out));
    all_.clear();
    return {};
  }

 private:
  const std::string effect_;
  const Modulator by_;
  Batch all_;
};

Result<StepPtr> make_aggregate(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const Modulator modulator = by->empty() ? Modulator() : by->front();
  const bool has_scope = calls.arguments()[0].is_token();
  auto name = effect_name(calls, has_scope ? 1 : 0);
  if (!name) return pass(name.error());
  SideEffect& effect = compiler.run().side_effects[*name];
  if (!effect.bag) effect.bag.emplace();
  if (calls.call.name == "store" || is_local(calls)) {
    return aside([=, name = *name](Run& run, Batch& batch) -> Status {
      return add_to_bag(run, modulator, name, batch);
    });
  }
  return std::make_unique<AggregateStep>(std::move(*name), modulator);
}

class CapStep final : public BarrierStep {
 public:
  explicit CapStep(std::vector<std::string> names) : names_(std::move(names)) {}

 protected:
  Status take(Run&, Batch) override { return {}; }
  Status give(Run& run, Batch& out) override {
    Value::Map made;
    for (const std::string& one : names_) {
      auto value = run.side_effect(one);
      if (!value) return pass(value.error());
      if (names_.size() == 1) {
        out.push_back(run.fresh(value->value_or(Value::list({}))));
        return {};
      }
      made.emplace_back(Value::text(one), value->value_or(Value::list({})));
    }
    out.push_back(run.fresh(Value::map(std::move(made))));
    return {};
  }

 private:
  const std::vector<std::string> names_;
};

// Makes sure that what a traversal caps is there, even when nothing comes.
Result<StepPtr> make_cap(Compiler&, const Calls& calls) {
  auto names = texts(calls);
  if (!names) return pass(names.error());
  return std::make_unique<CapStep>(std::move(*names));
}

Status add_to_tree(Run& run, const std::vector<Modulator>& by, const Batch& batch, Tree& tree) {
  for (const Traverser& traverser : batch) {
    Tree* at = &tree;
    const auto path = traverser.path_value();
    for (size_t i = 0; i < path->objects.size(); ++i) {
      auto key = modulate(run, by, i, run.fresh(path->objects[i]));
      if (!key) return pass(key.error());
      auto child =
          std::ranges::find(at->children, *key, &std::pair<Value, std::shared_ptr<Tree>>::first);
      if (child == at->children.end()) {
        if (auto kept = run.keep(128); !kept) return kept;
        at->children.emplace_back(std::move(*key), std::make_shared<Tree>());
        child = std::prev(at->children.end());
      }
      at = child->second.get();
    }
  }
  return {};
}

class TreeStep final : public BarrierStep {
 public:
  explicit TreeStep(std::vector<Modulator> by) : by_(std::move(by)) {}
  void reset() override { BarrierStep::reset(), tree_ = std::make_shared<Tree>(); }

 protected:
  Status take(Run& run, Batch batch) override { return add_to_tree(run, by_, batch, *tree_); }
  Status give(Run& run, Batch& out) override {
    out.push_back(run.fresh(Value::of(std::shared_ptr<const Tree>(tree_))));
    tree_ = std::make_shared<Tree>();
    return {};
  }

 private:
  const std::vector<Modulator> by_;
  std::shared_ptr<Tree> tree_ = std::make_shared<Tree>();
};

Result<StepPtr> make_tree(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  if (calls.arguments().empty()) return std::make_unique<TreeStep>(std::move(*by));
  auto name = effect_name(calls);
  if (!name) return pass(name.error());
  compiler.run().side_effects[*name].tree = std::make_shared<Tree>();
  return aside([by = *by, name = *name](Run& run, Batch& batch) -> Status {
    SideEffect& effect = run.side_effects[name];
    return add_to_tree(run, by, batch, *effect.tree);
  });
}

class ReadSackStep final : public MapStep {
 protected:
  Result<std::optional<Value>> map(Run&, const Traverser& traverser) override {
    return traverser.sack;
  }
};

Result<StepPtr> make_sack(Compiler& compiler, const Calls& calls) {
  if (calls.arguments().empty()) return std::make_unique<ReadSackStep>();
  if (!calls.arguments()[0].is_token()) return bad_arguments(calls);
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  return aside(
      [by = *by, op = calls.arguments()[0].value.string()](Run& run, Batch& batch) -> Status {
        for (Traverser& traverser : batch) {
          auto value = modulate(run, by, 0, traverser);
          if (!value) return pass(value.error());
          auto sack = apply_operator(op, traverser.sack, *value);
          if (!sack) return pass(sack.error());
          traverser.sack = std::move(*sack);
        }
        return {};
      });
}

Result<StepPtr> make_side_effect(Compiler& compiler, const Calls& calls) {
  auto made = compiler.child(calls.arguments()[0], "sideEffect");
  if (!made) return pass(made.error());
  std::shared_ptr<Traversal> child = std::move(*made);
  return aside([=](Run& run, Batch& batch) -> Status {
    for (const Traverser& traverser : batch) {
      if (auto done = child->all(run, traverser); !done) return pass(done.error());
    }
    return {};
  });
}

class InjectStep final : public Step {
 public:
  InjectStep(std::vector<Value> values, bool is_first)
      : values_(std::move(values)), is_first_(is_first) {}
  Status pull(Run& run, size_t want, Batch& out) override {
    if (!done_) {
      done_ = true;
      Batch seed;
      if (is_first_) {
        if (auto pulled = before->pull(run, want, seed); !pulled) return pulled;
        if (seed.empty()) return {};
      }
      for (const Value& value : values_) out.push_back(run.fresh(value));
      if (!values_.empty()) return {};
    }
    return is_first_ ? Status() : before->pull(run, want, out);
  }
  void reset() override { done_ = false; }

 private:
  const std::vector<Value> values_;
  const bool is_first_;
  bool done_ = false;
};

Result<StepPtr> make_inject(Compiler&, const Calls& calls) {
  std::vector<Value> values;
  for (const Argument& argument : calls.arguments()) {
    if (!argument.is_value()) return bad_arguments(calls);
    values.push_back(argument.value);
  }
  return std::make_unique<InjectStep>(std::move(values), calls.is_first);
}

Result<StepPtr> make_fail(Compiler&, const Calls& calls) {
  const std::string message =
      calls.arguments().empty() ? "fail() step triggered" : calls.arguments()[0].value.print();
  return aside([=](Run&, Batch&) -> Status { return fail(Code::invalid, message); });
}

}  // namespace

Maker find_side_effect_step(std::string_view name) {
  if (name == "group") return make_group;
  if (name == "groupCount") return make_group_count;
  if (name == "aggregate" || name == "store") return make_aggregate;
  if (name == "cap") return make_cap;
  if (name == "tree") return make_tree;
  if (name == "sack") return make_sack;
  if (name == "sideEffect") return make_side_effect;
  if (name == "inject") return make_inject;
  if (name == "fail") return make_fail;
  return nullptr;
}

}  // namespace orrery::gremlin
