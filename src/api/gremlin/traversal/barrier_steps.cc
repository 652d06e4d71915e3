// Steps that gather all traversers before they give something: count, fold, order, group. With
// Scope.local those of them that have it work on the collection within each traverser instead.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/scopes.h"

namespace orrery::gremlin {
namespace {

class LocalBarrierStep final : public MapStep {
 public:
  using Function = std::function<Result<std::optional<Value>>(Run&, const Traverser&)>;
  explicit LocalBarrierStep(Function function) : function_(std::move(function)) {}

 protected:
  Result<std::optional<Value>> map(Run& run, const Traverser& traverser) override {
    return function_(run, traverser);
  }

 private:
  const Function function_;
};
StepPtr local(LocalBarrierStep::Function function) {
  return std::make_unique<LocalBarrierStep>(std::move(function));
}

class CountStep final : public BarrierStep {
 public:
  void reset() override { BarrierStep::reset(), count_ = 0; }

 protected:
  Status take(Run&, Batch batch) override {
    for (const Traverser& traverser : batch) count_ = saturated_sum(count_, traverser.bulk);
    return {};
  }
  bool takes_numbers() const override { return true; }
  void take_numbers(const Frontier& frontier) override {
    for (const uint64_t bulk : frontier.bulks) count_ = saturated_sum(count_, bulk);
  }
  Status give(Run& run, Batch& out) override {
    if (count_ > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return fail(Code::too_large, "count() has more than 64 bits can say: narrow the traversal");
    }
    out.push_back(run.fresh(Value::integer(static_cast<int64_t>(count_), Kind::int64)));
    count_ = 0;
    return {};
  }

 private:
  uint64_t count_ = 0;
};

Result<StepPtr> make_count(Compiler&, const Calls& calls) {
  if (!is_local(calls)) return std::make_unique<CountStep>();
  return local([](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    const auto elements = collection_of(traverser.value);
    return Value::integer(elements ? static_cast<int64_t>(elements->size()) : 1, Kind::int64);
  });
}

class ReduceStep final : public BarrierStep {
 public:
  explicit ReduceStep(std::string reduction)
      : reduction_name_(std::move(reduction)), reduction_(reduction_name_) {}
  void reset() override {
    BarrierStep::reset();
    reduction_ = Reduction(reduction_name_);
  }

 protected:
  Status take(Run&, Batch batch) override {
    for (const Traverser& traverser : batch) {
      if (auto added = reduction_.add(traverser.value, traverser.bulk); !added) return added;
    }
    return {};
  }
  Status give(Run& run, Batch& out) override {
    if (auto result = reduction_.result()) out.push_back(run.fresh(std::move(*result)));
    reduction_ = Reduction(reduction_name_);
    return {};
  }

 private:
  const std::string reduction_name_;
  Reduction reduction_;
};

Result<StepPtr> make_reduce(Compiler&, const Calls& calls) {
  if (!is_local(calls)) return std::make_unique<ReduceStep>(calls.call.name);
  return local(
      [name = calls.call.name](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
        const auto elements = collection_of(traverser.value);
        Reduction reduction(name);
        for (const Value& element : elements ? *elements : std::vector{traverser.value}) {
          if (auto added = reduction.add(element, 1); !added) return pass(added.error());
        }
        return reduction.result();
      });
}

// What gathers all traversers as they are.
class GatherStep : public BarrierStep {
 public:
  void reset() override { BarrierStep::reset(), gathered_.clear(); }

 protected:
  Status take(Run& run, Batch batch) override {
    if (auto kept = run.keep(batch); !kept) return kept;
    std::ranges::move(batch, std::back_inserter(gathered_));
    return {};
  }
  Batch gathered_;
};

class FoldStep final : public GatherStep {
 public:
  FoldStep(std::optional<Value> seed, std::string op)
      : seed_(std::move(seed)), op_(std::move(op)) {}

 protected:
  Status give(Run& run, Batch& out) override {
    if (seed_) {
      Value folded = *seed_;
      for (const Traverser& traverser : gathered_) {
        for (uint64_t n = 0; n < traverser.bulk; ++n) {
          auto next = apply_operator(op_, folded, traverser.value);
          if (!next) return pass(next.error());
          folded = std::move(*next);
          if (auto checked = run.check(); !checked) return checked;
        }
      }
      gathered_.clear();
      out.push_back(run.fresh(std::move(folded)));
      return {};
    }
    Value::List all;
    for (const Traverser& traverser : gathered_) {
      if (auto kept = run.keep(saturated_product(traverser.bulk, sizeof(Value))); !kept)
        return kept;
      all.insert(all.end(), traverser.bulk, traverser.value);
    }
    gathered_.clear();
    out.push_back(run.fresh(Value::list(std::move(all))));
    return {};
  }

 private:
  const std::optional<Value> seed_;
  const std::string op_;
};

Result<StepPtr> make_fold(Compiler&, const Calls& calls) {
  const auto& arguments = calls.arguments();
  if (arguments.empty()) return std::make_unique<FoldStep>(std::nullopt, "");
  if (arguments.size() != 2 || !arguments[0].is_value() || !arguments[1].is_token()) {
    return bad_arguments(calls);
  }
  return std::make_unique<FoldStep>(arguments[0].value, arguments[1].value.string());
}

class OrderStep final : public GatherStep {
 public:
  explicit OrderStep(std::vector<Modulator> by) : by_(std::move(by)) {}

 protected:
  Status give(Run& run, Batch& out) override {
    if (auto sorted = sort_by(run, by_, gathered_); !sorted) return sorted;
    std::ranges::move(gathered_, std::back_inserter(out));
    gathered_.clear();
    return {};
  }

 private:
  const std::vector<Modulator> by_;
};

Result<StepPtr> make_order(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  if (!is_local(calls)) return std::make_unique<OrderStep>(std::move(*by));
  return local([by = *by](Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto elements = collection_of(traverser.value);
    if (!elements) return traverser.value;
    Batch batch;
    for (Value& element : *elements) batch.push_back(traverser.with(std::move(element)));
    std::vector<Modulator> orders = by;
    if (traverser.value.is_map()) {
      for (Modulator& one : orders) {  // the natural order of entries is that of their values
        if (one.kind == Modulator::Kind::identity) {
          one.kind = Modulator::Kind::column;
          one.name = "Column.values";
        }
      }
    }
    if (auto sorted = sort_by(run, orders, batch); !sorted) return pass(sorted.error());
    std::vector<Value> made;
    for (Traverser& one : batch) made.push_back(std::move(one.value));
    return collection_like(traverser.value, std::move(made));
  });
}

Result<StepPtr> make_local_dedup(Compiler& compiler, const Calls& calls) {
  if (!is_local(calls)) return make_global_dedup(compiler, calls);
  return local([](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto elements = collection_of(traverser.value);
    if (!elements) return traverser.value;
    std::unordered_set<Value, Value::Hash> seen;
    Value::List made;
    for (Value& element : *elements) {
      if (seen.insert(element).second) made.push_back(std::move(element));
    }
    return Value::list(std::move(made), Kind::set);
  });
}

// The elements from `low` to `high`; a single one stands for itself.
Value part_of(const Value& whole, std::vector<Value> elements, size_t low, size_t high,
              bool single) {
  low = std::min(low, elements.size());
  high = std::min(high, elements.size());
  std::vector<Value> part(elements.begin() + static_cast<std::ptrdiff_t>(low),
                          elements.begin() + static_cast<std::ptrdiff_t>(std::max(low, high)));
  if (single && whole.kind() != Kind::map && part.size() == 1) return part.front();
  return collection_like(whole, std::move(part));
}

Result<StepPtr> make_local_range(Compiler& compiler, const Calls& calls) {
  if (!is_local(calls)) return make_global_range(compiler, calls);
  auto first = integer_argument(calls, 1);
  if (!first) return pass(first.error());
  int64_t low = 0, high = *first;
  if (calls.call.name == "skip") {
    low = *first;
    high = -1;
  } else if (calls.call.name == "range") {
    auto second = integer_argument(calls, 2);
    if (!second) return pass(second.error());
    low = *first;
    high = *second;
  }
  return local([=](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto elements = collection_of(traverser.value);
    if (!elements) return traverser.value;
    const size_t end = high < 0 ? elements->size() : static_cast<size_t>(high);
    const bool single = high >= 0 && high - low == 1;
    if (single && elements->size() <= static_cast<size_t>(low)) return std::nullopt;
    return part_of(traverser.value, std::move(*elements),
                   static_cast<size_t>(std::max<int64_t>(low, 0)), end, single);
  });
}

class TailStep final : public BarrierStep {
 public:
  explicit TailStep(uint64_t count) : count_(count) {}
  void reset() override { BarrierStep::reset(), last_.clear(), kept_ = 0; }

 protected:
  Status take(Run&, Batch batch) override {
    for (Traverser& traverser : batch) {
      kept_ += traverser.bulk;
      last_.push_back(std::move(traverser));
      while (!last_.empty() && kept_ - last_.front().bulk >= count_) {
        kept_ -= last_.front().bulk;
        last_.pop_front();
      }
    }
    return {};
  }
  Status give(Run&, Batch& out) override {
    if (!last_.empty() && kept_ > count_) last_.front().bulk -= kept_ - count_;
    std::ranges::move(last_, std::back_inserter(out));
    last_.clear();
    kept_ = 0;
    if (count_ == 0) out.clear();
    return {};
  }

 private:
  const uint64_t count_;
  std::deque<Traverser> last_;
  uint64_t kept_ = 0;
};

Result<StepPtr> make_tail(Compiler&, const Calls& calls) {
  const bool is_of_collection = is_local(calls);
  const size_t at = !calls.arguments().empty() && calls.arguments()[0].is_token() ? 1 : 0;
  int64_t count = 1;
  if (calls.arguments().size() > at) {
    auto given = integer_argument(calls, at);
    if (!given) return pass(given.error());
    count = std::max<int64_t>(*given, 0);
  }
  if (!is_of_collection) return std::make_unique<TailStep>(static_cast<uint64_t>(count));
  return local([=](Run&, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto elements = collection_of(traverser.value);
    if (!elements) return traverser.value;
    const size_t size = elements->size();
    if (count == 1 && size == 0) return std::nullopt;
    const size_t low = size - std::min<size_t>(size, static_cast<size_t>(count));
    return part_of(traverser.value, std::move(*elements), low, size, count == 1);
  });
}

// Draws without putting back; by() gives weights.
Result<std::vector<size_t>> draw(Run& run, const std::vector<Modulator>& by, const Batch& from,
                                 size_t count) {
  std::vector<double> weights;
  double sum = 0;
  for (const Traverser& traverser : from) {
    double weight = 1;
    if (!by.empty()) {
      auto value = by.front().apply(run, traverser);
      if (!value) return pass(value.error());
      if (!value->is_number()) return fail(Code::invalid, "sample().by() takes numbers");
      weight = std::max(value->as_number(), 0.0);
    }
    weights.push_back(weight);
    sum += weight;
  }
  std::vector<size_t> drawn;
  while (drawn.size() < std::min(count, from.size())) {
    double at = std::uniform_real_distribution<double>(0, std::max(sum, 1e-300))(run.random);
    size_t chosen = from.size();
    for (size_t i = 0; i < from.size(); ++i) {
      if (weights[i] < 0) continue;  // drawn before
      chosen = i;
      at -= weights[i];
      if (at < 0) break;
    }
    drawn.push_back(chosen);
    sum -= weights[chosen];
    weights[chosen] = -1;
    if (auto checked = run.check(from.size()); !checked) return pass(checked.error());
  }
  return drawn;
}

class SampleStep final : public GatherStep {
 public:
  SampleStep(size_t count, std::vector<Modulator> by) : count_(count), by_(std::move(by)) {}

 protected:
  Status give(Run& run, Batch& out) override {
    Batch single;
    for (const Traverser& traverser : gathered_) {
      for (uint64_t n = 0; n < std::min<uint64_t>(traverser.bulk, count_); ++n) {
        single.push_back(traverser);
        single.back().bulk = 1;
      }
    }
    gathered_.clear();
    auto drawn = draw(run, by_, single, count_);
    if (!drawn) return pass(drawn.error());
    for (const size_t i : *drawn) out.push_back(single[i]);
    return {};
  }

 private:
  const size_t count_;
  const std::vector<Modulator> by_;
};

Result<StepPtr> make_sample(Compiler& compiler, const Calls& calls) {
  auto by = compiler.modulators(calls);
  if (!by) return pass(by.error());
  const bool is_of_collection = is_local(calls);
  auto count = integer_argument(calls, calls.arguments()[0].is_token() ? 1 : 0);
  if (!count) return pass(count.error());
  const auto most = static_cast<size_t>(std::max<int64_t>(*count, 0));
  if (!is_of_collection) return std::make_unique<SampleStep>(most, std::move(*by));
  return local([=, by = *by](Run& run, const Traverser& traverser) -> Result<std::optional<Value>> {
    auto elements = collection_of(traverser.value);
    if (!elements || elements->size() <= most) return traverser.value;
    Batch batch;
    for (const Value& element : *elements) batch.push_back(run.fresh(element));
    auto drawn = draw(run, by, batch, most);
    if (!drawn) return pass(drawn.error());
    std::vector<Value> made;
    for (const size_t i : *drawn) made.push_back((*elements)[i]);
    return collection_like(traverser.value, std::move(made));
  });
}

class NoOpBarrier final : public GatherStep {
 public:
  explicit NoOpBarrier(bool norm_sack) : norm_sack_(norm_sack) {}

 protected:
  Status give(Run& run, Batch& out) override {
    merge_bulk(run, gathered_);
    if (norm_sack_) {
      double sum = 0;
      for (const Traverser& traverser : gathered_) {
        sum += traverser.sack.as_number() * static_cast<double>(traverser.bulk);
      }
      for (Traverser& traverser : gathered_) {
        traverser.sack = Value::real(traverser.sack.as_number() / sum);
      }
    }
    std::ranges::move(gathered_, std::back_inserter(out));
    gathered_.clear();
    return {};
  }

 private:
  const bool norm_sack_;
};

Result<StepPtr> make_barrier(Compiler&, const Calls& calls) {
  const bool norm = !calls.arguments().empty() && calls.arguments()[0].is_value() &&
                    calls.arguments()[0].value.is_token("Barrier.normSack");
  return std::make_unique<NoOpBarrier>(norm);
}

}  // namespace

Maker find_barrier_step(std::string_view name) {
  if (name == "count") return make_count;
  if (name == "sum" || name == "min" || name == "max" || name == "mean") return make_reduce;
  if (name == "fold") return make_fold;
  if (name == "order") return make_order;
  if (name == "dedup") return make_local_dedup;
  if (name == "limit" || name == "skip" || name == "range") return make_local_range;
  if (name == "tail") return make_tail;
  if (name == "sample") return make_sample;
  if (name == "barrier") return make_barrier;
  return nullptr;
}

}  // namespace orrery::gremlin
