// See profile.h.
#include "api/gremlin/traversal/profile.h"

namespace orrery::gremlin {

// Stands behind a step and counts what it gives.
class Profile::Meter final : public Step {
 public:
  explicit Meter(const Clock& clock) : clock_(clock) {}
  Status pull(Run& run, size_t want, Batch& out) override {
    const size_t had = out.size();
    const int64_t from_us = clock_.steady_us();
    Status pulled = before->pull(run, want, out);
    total_us += clock_.steady_us() - from_us;
    for (size_t i = had; i < out.size(); ++i) bulk += out[i].bulk;
    traversers += out.size() - had;
    return pulled;
  }
  int64_t total_us = 0;  // with what comes before
  uint64_t traversers = 0;
  uint64_t bulk = 0;

 private:
  const Clock& clock_;
};

Profile::Profile(Traversal& traversal, const Clock& clock)
    : clock_(clock), started_us_(clock.steady_us()) {
  traversal.insert_behind_each([&](const Step& step) {
    auto meter = std::make_unique<Meter>(clock);
    meter->name = step.name;
    meters_.push_back(meter.get());
    return meter;
  });
}

Profile::~Profile() = default;

Value Profile::report(double charge) const {
  const auto text = [](std::string_view name) { return Value::text(std::string(name)); };
  const auto ms = [](int64_t us) { return Value::real(static_cast<double>(us) / 1000); };
  Value::List metrics;
  const int64_t total_us = clock_.steady_us() - started_us_;
  int64_t before_us = 0;
  for (const Meter* meter : meters_) {
    const int64_t own_us = meter->total_us - before_us;
    before_us = meter->total_us;
    const double share =
        total_us > 0 ? 100 * static_cast<double>(own_us) / static_cast<double>(total_us) : 0;
    metrics.push_back(Value::map(
        {{text("name"), Value::text(meter->name)},
         {text("time"), ms(own_us)},
         {text("annotations"), Value::map({{text("percentTime"), Value::real(share)}})},
         {text("counts"),
          Value::map({{text("resultCount"),
                       Value::integer(static_cast<int64_t>(meter->bulk), Kind::int64)},
                      {text("traverserCount"),
                       Value::integer(static_cast<int64_t>(meter->traversers), Kind::int64)}})}}));
  }
  return Value::map({{text("gremlin"), text("executionProfile()")},
                     {text("totalTime"), ms(total_us)},
                     {text("totalRequestCharge"), Value::real(charge)},
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
