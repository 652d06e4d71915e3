// See profile.h.
#include "api/gremlin/traversal/profile.h"

#include <cmath>

namespace orrery::gremlin {

namespace {

Value text(std::string_view name) {
  return Value::text(std::string(name));
}
Value ms(int64_t us) {
  return Value::real(static_cast<double>(us) / 1000);
}
Value number(uint64_t count) {
  return Value::integer(static_cast<int64_t>(count), Kind::int64);
}

StoreWork difference(const StoreWork& all, const StoreWork& less) {
  return {.charge = all.charge - less.charge,
          .requests = all.requests - less.requests,
          .items = all.items - less.items,
          .entries = all.entries - less.entries,
          .writes = all.writes - less.writes};
}

void add(StoreWork& to, const StoreWork& more) {
  to.charge += more.charge;
  to.requests += more.requests;
  to.items += more.items;
  to.entries += more.entries;
  to.writes += more.writes;
}

Value store_report(const StoreWork& work) {
  return Value::map({{text("requests"), number(work.requests)},
                     {text("items"), number(work.items)},
                     {text("indexEntries"), number(work.entries)},
                     {text("writes"), number(work.writes)},
                     {text("charge"), Value::real(std::round(work.charge * 100) / 100)}});
}

}  // namespace

// Stands behind a step and counts what it gives, and what the store does meanwhile.
class Profile::Meter final : public Step {
 public:
  Meter(Graph& graph, const Clock& clock) : graph_(graph), clock_(clock) {}
  Status pull(Run& run, size_t want, Batch& out) override {
    const size_t had = out.size();
    const int64_t from_us = clock_.steady_us();
    const StoreWork work_before = graph_.work();
    Status pulled = before->pull(run, want, out);
    total_us += clock_.steady_us() - from_us;
    add(work, difference(graph_.work(), work_before));
    for (size_t i = had; i < out.size(); ++i) bulk += out[i].bulk;
    traversers += out.size() - had;
    return pulled;
  }
  Result<bool> pull_numbers(Run& run, Frontier& out) override {
    const size_t had = out.size();
    const int64_t from_us = clock_.steady_us();
    const StoreWork work_before = graph_.work();
    auto given = before->pull_numbers(run, out);
    total_us += clock_.steady_us() - from_us;
    add(work, difference(graph_.work(), work_before));
    for (size_t i = had; i < out.size(); ++i) bulk += out.bulks[i];
    traversers += out.size() - had;
    return given;
  }
  // With what comes before.
  int64_t total_us = 0;
  StoreWork work;
  uint64_t traversers = 0;
  uint64_t bulk = 0;

 private:
  Graph& graph_;
  const Clock& clock_;
};

Profile::Profile(Traversal& traversal, Graph& graph, const Clock& clock)
    : graph_(graph), clock_(clock), started_us_(clock.steady_us()) {
  traversal.insert_behind_each([&](const Step& step) {
    auto meter = std::make_unique<Meter>(graph, clock);
    meter->name = step.name;
    meters_.push_back(meter.get());
    return meter;
  });
}

Profile::~Profile() = default;

Value Profile::report() const {
  Value::List metrics;
  const int64_t total_us = clock_.steady_us() - started_us_;
  int64_t before_us = 0;
  StoreWork work_before;
  for (const Meter* meter : meters_) {
    const int64_t own_us = meter->total_us - before_us;
    before_us = meter->total_us;
    const StoreWork own_work = difference(meter->work, work_before);
    work_before = meter->work;
    const double share =
        total_us > 0 ? 100 * static_cast<double>(own_us) / static_cast<double>(total_us) : 0;
    Value::Map metric{
        {text("name"), Value::text(meter->name)},
        {text("time"), ms(own_us)},
        {text("annotations"), Value::map({{text("percentTime"), Value::real(share)}})},
        {text("counts"), Value::map({{text("resultCount"), number(meter->bulk)},
                                     {text("traverserCount"), number(meter->traversers)}})}};
    if (own_work.requests + own_work.writes > 0) {
      metric.emplace_back(text("storeOps"), Value::list({store_report(own_work)}));
    }
    metrics.push_back(Value::map(std::move(metric)));
  }
  const StoreWork all = graph_.work();
  return Value::map({{text("gremlin"), text("executionProfile()")},
                     {text("totalTime"), ms(total_us)},
                     {text("totalRequestCharge"), Value::real(all.charge)},
                     {text("storeOps"), store_report(all)},
                     {text("metrics"), Value::list(std::move(metrics))}});
}

Value explain(const Traversal& traversal) {
  Value::List steps;
  for (const StepPtr& step : traversal.steps()) {
    if (!step->name.empty()) steps.push_back(Value::text(step->name));
  }
  return Value::map({{Value::text("final"), Value::list(std::move(steps))}});
}

}  // namespace orrery::gremlin
