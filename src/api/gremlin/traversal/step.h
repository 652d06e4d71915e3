// Steps and the traversals that they make. A step pulls traversers from the one before it, in
// batches, so that a hop over many vertices is one request, and a limit() stops what comes before
// it. A step that needs all of them (order, group, fold) pulls until nothing comes: a barrier.
//
// A traversal inside a step (a child) is started with traversers and pulled until it is empty. It
// is used again for the next ones: reset() forgets everything between two uses.
//
// Threading: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/gremlin/parse/tree.h"
#include "api/gremlin/traversal/run.h"
#include "base/result.h"

namespace orrery::gremlin {

class Step {
 public:
  virtual ~Step() = default;
  // Appends about `want` traversers, at least one; none at the end.
  virtual Status pull(Run& run, size_t want, Batch& out) = 0;
  // The same for vertices of which only the number matters: a consumer that wants all of them asks
  // for them so. False: there is nothing that can be given this way, and pull() has it.
  virtual Result<bool> pull_numbers(Run& /*run*/, Frontier& /*out*/) { return false; }
  // Whether it does that, when what comes before it does.
  virtual bool gives_numbers() const { return false; }
  virtual void reset() {}
  // Ready for more starts, with what it remembers of those before: for the next loop of a repeat().
  virtual void rearm() {}
  // Whether what it gives for a traverser depends on others: then a branch runs it for one at a
  // time.
  virtual bool is_stateful() const { return true; }
  // Only the number of what it gives is asked for: it may give fewer, with the bulk of more.
  virtual void only_count() { only_ask(); }
  // Only whether it gives something, or how much, is asked for: what that is does not matter.
  virtual void only_ask() {}

  std::string name;  // as it was written, for explain() and executionProfile()
  Step* before = nullptr;
};
using StepPtr = std::unique_ptr<Step>;

// The starts of a traversal.
class Feed final : public Step {
 public:
  Status pull(Run& run, size_t want, Batch& out) override;
  Result<bool> pull_numbers(Run& run, Frontier& out) override;
  bool gives_numbers() const override { return true; }
  void reset() override { batch_.clear(), at_ = 0, frontier_.clear(); }
  void put(Batch batch);
  void put(Frontier frontier);

 private:
  Batch batch_;
  size_t at_ = 0;
  Frontier frontier_;
};

// Between traversers and numbers. False: one of them is no vertex, or has more than its bulk.
Result<bool> to_numbers(Run& run, const Batch& batch, Frontier& out);
Status from_numbers(Run& run, const Frontier& frontier, Batch& out);

// What comes before a step, as numbers, in chunks: none at the end. What cannot be had so is kept
// in `rest`, for pull(), which has to look there first.
class NumberedInput {
 public:
  // False: there is something in `rest`, or the traversal has no numbers.
  Result<bool> next(Run& run, Step& before, Frontier& out);
  Status give_back(Run& run, const Frontier& frontier) { return from_numbers(run, frontier, rest); }

  Batch rest;
};

class Traversal {
 public:
  Traversal() { steps_.push_back(std::make_unique<Feed>()); }
  void add(StepPtr step);
  bool empty() const { return steps_.size() == 1; }
  bool is_stateful() const;
  bool gives_numbers() const;
  const std::vector<StepPtr>& steps() const { return steps_; }

  void start(Batch starts);
  void start(Traverser one);
  Status pull(Run& run, size_t want, Batch& out);
  // All that comes of these starts.
  Result<Batch> all(Run& run, Batch starts);
  Result<Batch> all(Run& run, const Traverser& start);
  // The same without forgetting what went before.
  Result<Batch> all_further(Run& run, Batch starts);
  // The same with numbers. When not all of it could be had so, the rest is given too, as it is.
  Result<Batch> all_further(Run& run, Frontier starts, Frontier& out);
  Result<std::optional<Traverser>> first(Run& run, const Traverser& start);
  Result<bool> has_any(Run& run, const Traverser& start);
  void reset();
  void insert_behind_each(const std::function<StepPtr(const Step&)>& make);

  // Labels at its ends, where() and match() use them: as('a').out().as('b').
  std::string start_label;
  std::string end_label;
  bool is_identity_or_token = false;  // of a by() without a traversal

 private:
  Result<Batch> drain(Run& run);

  std::vector<StepPtr> steps_;  // the first is the Feed
};
using TraversalPtr = std::unique_ptr<Traversal>;

// Turns batches into batches.
class FlatStep : public Step {
 public:
  bool is_stateful() const override { return false; }
  Status pull(Run& run, size_t want, Batch& out) final;

 protected:
  virtual Status apply(Run& run, Batch in, Batch& out) = 0;
};

class FilterStep : public FlatStep {
 protected:
  virtual Result<bool> test(Run& run, Traverser& traverser) = 0;
  // Before the tests of these.
  virtual Status prepare(Run& /*run*/, const Batch& /*batch*/) { return {}; }
  Status apply(Run& run, Batch in, Batch& out) final;
};

// One value for each traverser; nothing: it goes no further.
class MapStep : public FlatStep {
 protected:
  virtual Result<std::optional<Value>> map(Run& run, const Traverser& traverser) = 0;
  Status apply(Run& run, Batch in, Batch& out) final;
};

// Takes all traversers, then gives what it made of them.
class BarrierStep : public Step {
 public:
  Status pull(Run& run, size_t want, Batch& out) final;
  void reset() override { done_ = false; }
  void rearm() override { done_ = false; }

 protected:
  virtual Status take(Run& run, Batch batch) = 0;
  // Nothing but the number of what comes matters: `frontier` is some of it.
  virtual bool takes_numbers() const { return false; }
  virtual void take_numbers(const Frontier& /*frontier*/) {}
  // Its state is clear afterwards.
  virtual Status give(Run& run, Batch& out) = 0;

 private:
  bool done_ = false;
};

// by(): from a traverser to a value.
class Modulator {
 public:
  enum class Kind : uint8_t { identity, key, token, column, traversal };
  Kind kind = Kind::identity;
  std::string name;  // of a key, or T.… or Column.…
  std::shared_ptr<Traversal> traversal;
  // order().by(…, desc)
  enum class Order : uint8_t { ascending, descending, shuffle };
  Order order = Order::ascending;

  // Nothing: there is no such value.
  Result<std::optional<Value>> find(Run& run, const Traverser& traverser) const;
  // Code::invalid when there is none.
  Result<Value> apply(Run& run, const Traverser& traverser) const;
};
// by() number i, in turns; as it is when there is none.
Result<Value> modulate(Run& run, const std::vector<Modulator>& modulators, size_t i,
                       const Traverser& traverser);

enum class Pop : uint8_t { unsaid, first, last, all, mixed };
// What a name means where a traverser is: a member of a map, a side effect, a label of its path.
Result<std::optional<Value>> scope_value(Run& run, const Traverser& traverser,
                                         const std::string& name, Pop pop = Pop::unsaid);

bool test(const Predicate& predicate, const Value& value);
// The values of a property of a vertex, an edge or a vertex property.
std::vector<Value> property_values(const Value& element, std::string_view key);
std::optional<Value> token_value(const Value& element, std::string_view token);
bool matches(const Condition& condition, const Value& element);

// What group() makes of its groups.
Result<Value> group_values(Run& run, Grouped<Batch>& groups, Traversal* values);

}  // namespace orrery::gremlin
