// See step.h.
#include "api/gremlin/traversal/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

namespace orrery::gremlin {
namespace {

// Barriers pull so much at once: a hop over them is one request.
constexpr size_t kBarrierBatch = 4096;

bool test_text(const Predicate& predicate, const Value& value, auto matches) {
  return value.is_text() && predicate.values[0].is_text() &&
         matches(value.string(), predicate.values[0].string());
}

}  // namespace

Status Feed::pull(Run& run, size_t want, Batch& out) {
  if (!frontier_.empty()) {
    if (auto made = from_numbers(run, frontier_, batch_); !made) return made;
    frontier_.clear();
  }
  for (size_t i = 0; i < want && at_ < batch_.size(); ++i) out.push_back(std::move(batch_[at_++]));
  if (at_ == batch_.size()) reset();
  return {};
}

Result<bool> Feed::pull_numbers(Run& run, Frontier& out) {
  if (at_ < batch_.size()) {
    if (at_ > 0) return false;
    auto made = to_numbers(run, batch_, out);
    if (made && *made) reset();
    return made;
  }
  for (size_t i = 0; i < frontier_.size(); ++i) out.add(frontier_.vertices[i], frontier_.bulks[i]);
  frontier_.clear();
  return true;
}

void Feed::put(Batch batch) {
  reset();
  batch_ = std::move(batch);
}

void Feed::put(Frontier frontier) {
  reset();
  frontier_ = std::move(frontier);
}

Result<bool> to_numbers(Run& run, const Batch& batch, Frontier& out) {
  if (!run.may_number()) return false;
  std::vector<VertexPtr> vertices;
  vertices.reserve(batch.size());
  for (const Traverser& traverser : batch) {
    if (!traverser.value.is_vertex() || traverser.loop || !traverser.sack.is_null()) return false;
    vertices.push_back(traverser.value.vertex());
  }
  std::vector<uint32_t> numbers;
  auto made = run.graph.number(vertices, numbers);
  if (!made || !*made) return made;
  for (size_t i = 0; i < numbers.size(); ++i) out.add(numbers[i], batch[i].bulk);
  return true;
}

Status from_numbers(Run& run, const Frontier& frontier, Batch& out) {
  auto vertices = run.graph.numbered(frontier.vertices);
  if (!vertices) return pass(vertices.error());
  out.reserve(out.size() + frontier.size());
  for (size_t i = 0; i < frontier.size(); ++i) {
    if (!(*vertices)[i]) continue;
    out.push_back(run.fresh(Value::of(std::move((*vertices)[i]))));
    out.back().bulk = frontier.bulks[i];
  }
  return {};
}

Result<bool> NumberedInput::next(Run& run, Step& before, Frontier& out) {
  if (!rest.empty() || !run.may_number()) return false;
  auto given = before.pull_numbers(run, out);
  if (!given || *given) return given;
  Batch in;
  if (auto pulled = before.pull(run, kBarrierBatch, in); !pulled) return pass(pulled.error());
  if (auto checked = run.check(in.size()); !checked) return pass(checked.error());
  if (in.empty()) return true;
  auto made = to_numbers(run, in, out);
  if (made && !*made) rest = std::move(in);
  return made;
}

void Traversal::add(StepPtr step) {
  step->before = steps_.back().get();
  steps_.push_back(std::move(step));
}

bool Traversal::is_stateful() const {
  return std::ranges::any_of(steps_ | std::views::drop(1),
                             [](const StepPtr& step) { return step->is_stateful(); });
}

bool Traversal::gives_numbers() const {
  return std::ranges::all_of(steps_, [](const StepPtr& step) { return step->gives_numbers(); });
}

void Traversal::reset() {
  for (const StepPtr& step : steps_) step->reset();
}

void Traversal::start(Batch starts) {
  reset();
  static_cast<Feed&>(*steps_.front()).put(std::move(starts));
}

void Traversal::start(Traverser one) {
  Batch starts;
  starts.push_back(std::move(one));
  start(std::move(starts));
}

void Traversal::insert_behind_each(const std::function<StepPtr(const Step&)>& make) {
  std::vector<StepPtr> steps = std::exchange(steps_, {});
  for (StepPtr& step : steps) {
    const bool is_feed = steps_.empty();
    if (!is_feed) step->before = steps_.back().get();
    steps_.push_back(std::move(step));
    if (!is_feed) add(make(*steps_.back()));
  }
}

Status Traversal::pull(Run& run, size_t want, Batch& out) {
  return steps_.back()->pull(run, want, out);
}

Result<Batch> Traversal::all(Run& run, Batch starts) {
  start(std::move(starts));
  return drain(run);
}

Result<Batch> Traversal::all_further(Run& run, Batch starts) {
  for (const StepPtr& step : steps_) step->rearm();
  static_cast<Feed&>(*steps_.front()).put(std::move(starts));
  return drain(run);
}

Result<Batch> Traversal::all_further(Run& run, Frontier starts, Frontier& out) {
  for (const StepPtr& step : steps_) step->rearm();
  static_cast<Feed&>(*steps_.front()).put(std::move(starts));
  while (true) {
    const size_t had = out.size();
    auto given = steps_.back()->pull_numbers(run, out);
    if (!given) return pass(given.error());
    if (!*given) return drain(run);
    if (out.size() == had) return Batch();
    if (auto checked = run.check(out.size() - had); !checked) return pass(checked.error());
  }
}

Result<Batch> Traversal::drain(Run& run) {
  Batch out;
  while (true) {
    const size_t had = out.size();
    if (auto pulled = pull(run, kBarrierBatch, out); !pulled) return pass(pulled.error());
    if (out.size() == had) return out;
    if (auto checked = run.check(out.size() - had); !checked) return pass(checked.error());
  }
}

Result<Batch> Traversal::all(Run& run, const Traverser& start) {
  Batch starts{start};
  return all(run, std::move(starts));
}

Result<std::optional<Traverser>> Traversal::first(Run& run, const Traverser& start_at) {
  Traverser one = start_at;
  one.bulk = 1;
  start(std::move(one));
  Batch out;
  if (auto pulled = pull(run, 1, out); !pulled) return pass(pulled.error());
  reset();
  if (out.empty()) return std::nullopt;
  return std::move(out.front());
}

Result<bool> Traversal::has_any(Run& run, const Traverser& start) {
  auto found = first(run, start);
  if (!found) return pass(found.error());
  return found->has_value();
}

Status FlatStep::pull(Run& run, size_t want, Batch& out) {
  const size_t had = out.size();
  while (out.size() == had) {
    Batch in;
    if (auto pulled = before->pull(run, want, in); !pulled) return pulled;
    if (in.empty()) return {};
    if (auto checked = run.check(in.size()); !checked) return checked;
    if (auto applied = apply(run, std::move(in), out); !applied) return applied;
  }
  return {};
}

Status FilterStep::apply(Run& run, Batch in, Batch& out) {
  if (auto prepared = prepare(run, in); !prepared) return prepared;
  for (Traverser& traverser : in) {
    auto passes = test(run, traverser);
    if (!passes) return pass(passes.error());
    if (*passes) out.push_back(std::move(traverser));
  }
  return {};
}

Status MapStep::apply(Run& run, Batch in, Batch& out) {
  for (const Traverser& traverser : in) {
    auto mapped = map(run, traverser);
    if (!mapped) return pass(mapped.error());
    if (*mapped) out.push_back(traverser.step_to(std::move(**mapped)));
  }
  return {};
}

Status BarrierStep::pull(Run& run, size_t /*want*/, Batch& out) {
  if (done_) return {};
  while (takes_numbers()) {
    Frontier in;
    auto given = before->pull_numbers(run, in);
    if (!given) return pass(given.error());
    if (!*given || in.empty()) break;
    if (auto checked = run.check(in.size()); !checked) return checked;
    take_numbers(in);
  }
  while (true) {
    Batch in;
    if (auto pulled = before->pull(run, kBarrierBatch, in); !pulled) return pulled;
    if (in.empty()) break;
    if (auto checked = run.check(in.size()); !checked) return checked;
    if (auto taken = take(run, std::move(in)); !taken) return taken;
  }
  done_ = true;
  return give(run, out);
}

std::vector<Value> property_values(const Value& element, std::string_view key) {
  std::vector<Value> values;
  if (element.is_vertex()) {
    for (const auto& property : element.vertex()->properties) {
      if (property->key == key) values.push_back(property->value);
    }
  } else if (element.is_edge()) {
    if (const Value* value = element.edge()->find(key)) values.push_back(*value);
  } else if (element.kind() == Kind::vertex_property) {
    for (const auto& [name, value] : element.vertex_property()->meta) {
      if (name == key) values.push_back(value);
    }
  }
  return values;
}

std::optional<Value> token_value(const Value& element, std::string_view token) {
  if (token == "T.id") {
    if (element.is_vertex()) return Value::text(element.vertex()->key.id);
    if (element.is_edge()) return Value::text(element.edge()->key.id);
    if (element.kind() == Kind::vertex_property) return Value::text(element.vertex_property()->id);
  } else if (token == "T.label") {
    if (element.is_vertex()) return Value::text(element.vertex()->label);
    if (element.is_edge()) return Value::text(element.edge()->label);
    if (element.kind() == Kind::vertex_property) return Value::text(element.vertex_property()->key);
  } else if (token == "T.key") {
    if (element.kind() == Kind::vertex_property) return Value::text(element.vertex_property()->key);
    if (element.kind() == Kind::property) return Value::text(element.property()->key);
  } else if (token == "T.value") {
    if (element.kind() == Kind::vertex_property) return element.vertex_property()->value;
    if (element.kind() == Kind::property) return element.property()->value;
  }
  return std::nullopt;
}

bool matches(const Condition& condition, const Value& element) {
  switch (condition.of) {
    case Condition::Of::id:
    case Condition::Of::label: {
      const auto value =
          token_value(element, condition.of == Condition::Of::id ? "T.id" : "T.label");
      return value && (!condition.predicate || test(*condition.predicate, *value));
    }
    case Condition::Of::property: {
      const std::vector<Value> values = property_values(element, condition.name);
      if (!condition.predicate) return !values.empty();
      return std::ranges::any_of(
          values, [&](const Value& value) { return test(*condition.predicate, value); });
    }
  }
  return false;
}

bool test(const Predicate& predicate, const Value& value) {
  const std::string& op = predicate.op;
  const auto& values = predicate.values;
  const auto ordered = [&](size_t i) { return are_comparable(value, values[i]); };
  if (op == "eq") return value == values[0];
  if (op == "neq") return !(value == values[0]);
  if (op == "within") return std::ranges::find(values, value) != values.end();
  if (op == "without") return std::ranges::find(values, value) == values.end();
  if (op == "lt") return ordered(0) && compare(value, values[0]) < 0;
  if (op == "lte") return ordered(0) && compare(value, values[0]) <= 0;
  if (op == "gt") return ordered(0) && compare(value, values[0]) > 0;
  if (op == "gte") return ordered(0) && compare(value, values[0]) >= 0;
  if (op == "between") {
    return ordered(0) && ordered(1) && compare(value, values[0]) >= 0 &&
           compare(value, values[1]) < 0;
  }
  if (op == "inside") {
    return ordered(0) && ordered(1) && compare(value, values[0]) > 0 &&
           compare(value, values[1]) < 0;
  }
  if (op == "outside") {
    return ordered(0) && ordered(1) &&
           (compare(value, values[0]) < 0 || compare(value, values[1]) > 0);
  }
  if (op == "and") {
    return std::ranges::all_of(predicate.parts,
                               [&](const auto& part) { return test(*part, value); });
  }
  if (op == "or") {
    return std::ranges::any_of(predicate.parts,
                               [&](const auto& part) { return test(*part, value); });
  }
  if (op == "not") return !test(*predicate.parts[0], value);
  using Text = const std::string&;
  if (op == "startingWith") {
    return test_text(predicate, value, [](Text a, Text b) { return a.starts_with(b); });
  }
  if (op == "notStartingWith") {
    return test_text(predicate, value, [](Text a, Text b) { return !a.starts_with(b); });
  }
  if (op == "endingWith") {
    return test_text(predicate, value, [](Text a, Text b) { return a.ends_with(b); });
  }
  if (op == "notEndingWith") {
    return test_text(predicate, value, [](Text a, Text b) { return !a.ends_with(b); });
  }
  if (op == "containing") {
    return test_text(predicate, value, [](Text a, Text b) { return a.find(b) != a.npos; });
  }
  if (op == "notContaining") {
    return test_text(predicate, value, [](Text a, Text b) { return a.find(b) == a.npos; });
  }
  return false;
}

Result<std::optional<Value>> Modulator::find(Run& run, const Traverser& traverser) const {
  const Value& value = traverser.value;
  switch (kind) {
    case Kind::identity:
      return value;
    case Kind::key: {
      if (value.is_map()) {
        const Value* member = value.find(Value::text(name));
        return member == nullptr ? std::nullopt : std::optional(*member);
      }
      if (!value.is_element()) {
        return fail(Code::invalid,
                    fmt::format("by('{}') is for elements and maps, and {} is neither", name,
                                value.print().substr(0, 100)));
      }
      auto values = property_values(value, name);
      if (values.empty()) return std::nullopt;
      return std::move(values.front());
    }
    case Kind::token: {
      auto found = token_value(value, name);
      if (!found) {
        return fail(Code::invalid, fmt::format("{} has no {}", value.print().substr(0, 100), name));
      }
      return found;
    }
    case Kind::column: {
      const bool keys = name == "Column.keys";
      if (value.is_map()) {
        Value::List parts;
        for (const auto& [key, member] : value.members()) parts.push_back(keys ? key : member);
        if (value.kind() == gremlin::Kind::entry) return parts.front();
        return Value::list(std::move(parts), keys ? gremlin::Kind::set : gremlin::Kind::list);
      }
      return fail(Code::invalid, fmt::format("by({}) is for maps, and {} is none", name,
                                             value.print().substr(0, 100)));
    }
    case Kind::traversal: {
      auto found = traversal->first(run, traverser);
      if (!found) return pass(found.error());
      if (!*found) return std::nullopt;
      return std::move((*found)->value);
    }
  }
  return std::nullopt;
}

Result<Value> Modulator::apply(Run& run, const Traverser& traverser) const {
  auto found = find(run, traverser);
  if (!found) return pass(found.error());
  if (*found) return std::move(**found);
  return fail(
      Code::invalid,
      fmt::format("The provided traverser does not map to a value: {}->[by({})]",
                  traverser.value.print().substr(0, 100), name.empty() ? "traversal" : name));
}

Result<Value> modulate(Run& run, const std::vector<Modulator>& modulators, size_t i,
                       const Traverser& traverser) {
  if (modulators.empty()) return traverser.value;
  return modulators[i % modulators.size()].apply(run, traverser);
}

Result<std::optional<Value>> scope_value(Run& run, const Traverser& traverser,
                                         const std::string& name, Pop pop) {
  if (const Value* member = traverser.value.find(Value::text(name))) return *member;
  auto effect = run.side_effect(name);
  if (!effect) return pass(effect.error());
  if (*effect) return effect;
  auto labelled = traverser.labelled(name);
  if (labelled.empty()) return std::nullopt;
  switch (pop) {
    case Pop::first:
      return labelled.front();
    case Pop::unsaid:
    case Pop::last:
      return labelled.back();
    case Pop::all:
      return Value::list(std::move(labelled));
    case Pop::mixed:
      if (labelled.size() == 1) return labelled.front();
      return Value::list(std::move(labelled));
  }
  return std::nullopt;
}

Result<Value> group_values(Run& run, Grouped<Batch>& groups, Traversal* values) {
  Value::Map made;
  for (auto& [key, batch] : groups.entries()) {
    if (values == nullptr) {
      Value::List all;
      for (const Traverser& traverser : batch) {
        if (auto kept = run.keep(saturated_product(traverser.bulk, sizeof(Value))); !kept)
          return pass(kept.error());
        all.insert(all.end(), traverser.bulk, traverser.value);
      }
      made.emplace_back(key, Value::list(std::move(all)));
      continue;
    }
    values->start(batch);
    Batch out;
    if (auto pulled = values->pull(run, 1, out); !pulled) return pass(pulled.error());
    if (!out.empty()) made.emplace_back(key, std::move(out.front().value));
  }
  if (values != nullptr) values->reset();
  return Value::map(std::move(made));
}

}  // namespace orrery::gremlin
