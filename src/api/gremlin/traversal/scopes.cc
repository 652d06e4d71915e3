// See scopes.h.
#include "api/gremlin/traversal/scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace orrery::gremlin {

std::optional<std::vector<Value>> collection_of(const Value& value) {
  if (value.is_list()) return value.elements();
  if (value.kind() == Kind::path) return value.path()->objects;
  if (value.kind() == Kind::map) {
    std::vector<Value> entries;
    for (const auto& [key, member] : value.members()) entries.push_back(Value::entry(key, member));
    return entries;
  }
  return std::nullopt;
}

Value collection_like(const Value& like, std::vector<Value> elements) {
  if (like.kind() == Kind::map) {
    Value::Map members;
    for (const Value& entry : elements) members.push_back(entry.members().front());
    return Value::map(std::move(members));
  }
  return Value::list(std::move(elements), like.kind() == Kind::set ? Kind::set : Kind::list);
}

Status Reduction::add(const Value& value, uint64_t count) {
  const bool orders = name_ == "min" || name_ == "max";
  if (value.is_null()) return {};
  if (!orders && !value.is_number()) {
    return fail(Code::invalid, fmt::format("{}() takes numbers, and {} is none", name_,
                                           value.print().substr(0, 100)));
  }
  count_ += count;
  if (orders) {
    if (!value_) {
      value_ = value;
    } else if ((compare(value, *value_) < 0) == (name_ == "min") && !(value == *value_)) {
      value_ = value;
    }
    return {};
  }
  if (name_ == "mean") {
    sum_ += value.as_number() * static_cast<double>(count);
    return {};
  }
  auto times =
      count == 1
          ? Result<Value>(value)
          : apply_operator("mult", value,
                           Value::integer(static_cast<int64_t>(count),
                                          value.kind() == Kind::int32 ? Kind::int32 : Kind::int64));
  if (!times) return pass(times.error());
  auto sum = value_ ? apply_operator("sum", *value_, *times) : std::move(times);
  if (!sum) return pass(sum.error());
  value_ = std::move(*sum);
  return {};
}

std::optional<Value> Reduction::result() const {
  if (name_ == "mean") {
    if (count_ == 0) return std::nullopt;
    return Value::real(sum_ / static_cast<double>(count_));
  }
  return value_;
}

Status sort_by(Run& run, const std::vector<Modulator>& by, Batch& batch) {
  std::vector<std::vector<Value>> keys(batch.size());
  const size_t count = std::max<size_t>(by.size(), 1);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (auto checked = run.check(); !checked) return checked;
    for (size_t k = 0; k < count; ++k) {
      if (k < by.size() && by[k].order == Modulator::Order::shuffle) {
        keys[i].push_back(Value::integer(static_cast<int64_t>(run.random() >> 1), Kind::int64));
        continue;
      }
      auto key = modulate(run, by, k, batch[i]);
      if (!key) return pass(key.error());
      keys[i].push_back(std::move(*key));
    }
  }
  std::vector<size_t> order(batch.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](size_t a, size_t b) {
    for (size_t k = 0; k < count; ++k) {
      const int compared = compare(keys[a][k], keys[b][k]);
      if (compared != 0) {
        return (k < by.size() && by[k].order == Modulator::Order::descending) ? compared > 0
                                                                              : compared < 0;
      }
    }
    return a < b;  // stable
  });
  Batch sorted;
  sorted.reserve(batch.size());
  for (const size_t i : order) sorted.push_back(std::move(batch[i]));
  batch = std::move(sorted);
  return {};
}

}  // namespace orrery::gremlin
