// See run.h.
#include "api/gremlin/traversal/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/gremlin/traversal/step.h"
#include "api/gremlin/value/value_index.h"

namespace orrery::gremlin {
namespace {

size_t memory_of(const Traverser& traverser) {
  return sizeof(Traverser) + traverser.value.memory() + 2 * sizeof(PathNode) +
         (traverser.loop ? sizeof(Loop) : 0);
}

Result<Value> value_of(Run& run, SideEffect& effect) {
  if (effect.tree) return Value::of(std::shared_ptr<const Tree>(effect.tree));
  if (effect.has_counts) {
    Value::Map counts =
        effect.given && effect.given->is_map() ? effect.given->members() : Value::Map();
    for (const auto& [key, count] : effect.counts.entries()) {
      const auto there = std::ranges::find(counts, key, &std::pair<Value, Value>::first);
      if (there != counts.end()) {
        there->second = Value::integer(there->second.as_integer() + count, Kind::int64);
      } else {
        counts.emplace_back(key, Value::integer(count, Kind::int64));
      }
    }
    return Value::map(std::move(counts));
  }
  if (effect.has_groups) {
    auto grouped = group_values(run, effect.groups, effect.group_values);
    if (!grouped || !effect.given || !effect.given->is_map()) return grouped;
    Value::Map merged = effect.given->members();
    for (const auto& [key, value] : grouped->members()) {
      const auto there = std::ranges::find(merged, key, &std::pair<Value, Value>::first);
      if (there == merged.end()) {
        merged.emplace_back(key, value);
      } else if (there->second.is_list() && value.is_list()) {
        Value::List joined = there->second.elements();
        joined.insert(joined.end(), value.elements().begin(), value.elements().end());
        there->second = Value::list(std::move(joined));
      } else {
        there->second = value;
      }
    }
    return Value::map(std::move(merged));
  }
  if (effect.bag) {
    Value::List all =
        effect.given && effect.given->is_list() ? effect.given->elements() : Value::List();
    all.insert(all.end(), effect.bag->begin(), effect.bag->end());
    return Value::list(std::move(all));
  }
  return effect.given.value_or(Value());
}

}  // namespace

Traverser Traverser::with(Value other) const {
  Traverser made = *this;
  made.value = std::move(other);
  return made;
}

Traverser Traverser::step_to(Value to) const {
  Traverser made;
  made.bulk = bulk;
  made.sack = sack;
  made.loop = loop;
  if (path) made.path = std::make_shared<const PathNode>(PathNode{to, {}, path});
  made.value = std::move(to);
  return made;
}

void Traverser::add_label(const std::string& label) {
  if (!path || !path->before) return;
  PathNode node = *path;
  if (std::ranges::find(node.labels, label) == node.labels.end()) node.labels.push_back(label);
  path = std::make_shared<const PathNode>(std::move(node));
}

std::vector<Value> Traverser::labelled(std::string_view label) const {
  std::vector<Value> found;
  for (const PathNode* node = path.get(); node && node->before; node = node->before.get()) {
    if (std::ranges::find(node->labels, label) != node->labels.end()) found.push_back(node->value);
  }
  std::ranges::reverse(found);
  return found;
}

std::shared_ptr<const PathValue> Traverser::path_value() const {
  auto made = std::make_shared<PathValue>();
  for (const PathNode* node = path.get(); node && node->before; node = node->before.get()) {
    made->objects.push_back(node->value);
    made->labels.push_back(node->labels);
  }
  std::ranges::reverse(made->objects);
  std::ranges::reverse(made->labels);
  return made;
}

Traverser Run::fresh(Value value) const {
  Traverser made = seed();
  return made.step_to(std::move(value));
}

Traverser Run::seed() const {
  Traverser made;
  made.sack = sack;
  if (keeps_path) made.path = std::make_shared<const PathNode>();
  return made;
}

Status Run::check(size_t work) {
  work_ += work;
  if (work_ < 1024) return {};
  work_ = 0;
  if (auto checked = check_memory(); !checked) return checked;
  return graph.check();
}

Status Run::keep(size_t bytes) {
  kept_ += std::min(bytes, limits.memory);
  return check_memory();
}

// What is kept until the end, and the traversers and paths that live now.
Status Run::check_memory() const {
  const int64_t live = CountedBytes::on_this_thread() - counted_at_start_;
  if (kept_ + static_cast<size_t>(std::max<int64_t>(live, 0)) <= limits.memory) return {};
  return fail(Code::too_large,
              fmt::format("the traversal needs more than the {} bytes of memory that it may have: "
                          "narrow it, or put limit() before what gathers",
                          limits.memory));
}

Status Run::keep(const Batch& batch) {
  size_t bytes = 0;
  for (const Traverser& traverser : batch) bytes += memory_of(traverser);
  return keep(bytes);
}

Result<std::optional<Value>> Run::side_effect(std::string_view name) {
  const auto found = side_effects.find(name);
  if (found == side_effects.end()) return std::nullopt;
  auto value = value_of(*this, found->second);
  if (!value) return pass(value.error());
  return std::move(*value);
}

bool are_same(const Loop* a, const Loop* b) {
  for (; a != b; a = a->outer.get(), b = b->outer.get()) {
    if (a == nullptr || b == nullptr) return false;
    if (a->step != b->step || a->count != b->count || a->name != b->name) return false;
  }
  return true;
}

void merge_bulk(const Run& run, Batch& batch) {
  if (run.keeps_path || batch.size() < 2) return;
  ValueIndex index;
  index.reserve(batch.size());
  size_t kept = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    Traverser& traverser = batch[i];
    const size_t at = index.find_or_add(traverser.value.hash(), [&](size_t other) {
      const Traverser& to = batch[other];
      return to.value == traverser.value && are_same(to.loop.get(), traverser.loop.get()) &&
             (!run.sack_merge.empty() || to.sack == traverser.sack);
    });
    if (at == kept) {
      if (kept != i) batch[kept] = std::move(traverser);
      ++kept;
      continue;
    }
    Traverser& to = batch[at];
    if (!run.sack_merge.empty()) {
      if (auto sum = apply_operator(run.sack_merge, to.sack, traverser.sack))
        to.sack = std::move(*sum);
    }
    if (run.with_bulk) to.bulk = saturated_sum(to.bulk, traverser.bulk);
  }
  batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(kept), batch.end());
}

Result<Value> apply_operator(std::string_view name, const Value& a, const Value& b) {
  if (name.starts_with("Operator.")) name.remove_prefix(9);
  if (name == "assign") return b;
  if (name == "min") return compare(a, b) <= 0 ? a : b;
  if (name == "max") return compare(a, b) >= 0 ? a : b;
  if (name == "and") return Value::boolean(a.as_bool() && b.as_bool());
  if (name == "or") return Value::boolean(a.as_bool() || b.as_bool());
  if (name == "addAll" && a.is_list() && b.is_list()) {
    Value::List all = a.elements();
    all.insert(all.end(), b.elements().begin(), b.elements().end());
    return Value::list(std::move(all));
  }
  if (!a.is_number() || !b.is_number()) {
    return fail(Code::invalid, fmt::format("{} takes numbers, and not {} and {}", name,
                                           a.print().substr(0, 100), b.print().substr(0, 100)));
  }
  if (a.is_integer() && b.is_integer()) {
    const int64_t x = a.as_integer(), y = b.as_integer();
    int64_t made = 0;
    bool overflows = false;
    if (name == "sum" || name == "sumLong") {
      overflows = __builtin_add_overflow(x, y, &made);
    } else if (name == "minus") {
      overflows = __builtin_sub_overflow(x, y, &made);
    } else if (name == "mult") {
      overflows = __builtin_mul_overflow(x, y, &made);
    } else {
      if (y == 0) return fail(Code::invalid, "a division by zero");
      made = y == -1 ? -x : x / y;
    }
    if (!overflows) {
      const bool is_long = a.kind() == Kind::int64 || b.kind() == Kind::int64;
      return is_long ? Value::integer(made, Kind::int64) : Value::integer(made);
    }
  }
  const double x = a.as_number(), y = b.as_number();
  if (name == "sum" || name == "sumLong") return Value::real(x + y);
  if (name == "minus") return Value::real(x - y);
  if (name == "mult") return Value::real(x * y);
  if (name == "div") return Value::real(x / y);
  return fail(Code::unsupported, fmt::format("there is no operator {}", name));
}

}  // namespace orrery::gremlin
