// See evaluation.h.
#include "api/gremlin/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "api/gremlin/graph/engine_graph.h"
#include "api/gremlin/graph/item.h"
#include "api/gremlin/parse/parser.h"
#include "api/gremlin/traversal/compile.h"
#include "api/gremlin/traversal/profile.h"
#include "catalog/model.h"

namespace orrery::gremlin {
namespace {

constexpr size_t kResultsOfPart = 64;
constexpr size_t kPartBytesMax = 1ULL << 20;
constexpr size_t kScriptBytesMax = 64 * 1024;
constexpr size_t kStepsMax = 400;
constexpr int64_t kTimeMs = 30'000;
constexpr int kOverBudget = 3200;  // the substatus of 429
// Of results that wait until what the traversal writes is stored. Beyond that it is stored in
// pieces.
constexpr size_t kHeldBytesMax = 16ULL << 20;
// Of a request that is tried on the loop's thread.
constexpr size_t kAtOnceBytesMax = 4096;
constexpr size_t kAtOnceCallsMax = 16;

// Whether a traversal looks vertices up by an id or one value, and then gives something of them or
// adds elements there: when what it needs is in memory, that is done in microseconds.
bool is_short(const Chain& chain) {
  const auto is_plain = [](const Argument& argument) {
    return !argument.predicate && (!argument.chain || is_short(*argument.chain));
  };
  for (size_t i = 0; i < chain.calls.size(); ++i) {
    const StepCall& call = chain.calls[i];
    static constexpr std::string_view kNames[] = {
        "V",  "has",   "addV",  "addE",   "property", "to",    "from",
        "as", "limit", "count", "values", "valueMap", "label", "id"};
    if (std::ranges::find(kNames, call.name) == std::end(kNames)) return false;
    if (!std::ranges::all_of(call.arguments, is_plain)) return false;
    if (call.name != "V") continue;
    const bool has_id = call.arguments.size() == 1 && call.arguments[0].is_text();
    const bool has_value = call.arguments.empty() && i + 1 < chain.calls.size() &&
                           chain.calls[i + 1].name == "has" &&
                           chain.calls[i + 1].arguments.size() == 2;
    if (!has_id && !has_value) return false;
  }
  return true;
}

// What a client is told about an error.
struct Outcome {
  int code;          // of the protocol
  int service_code;  // x-ms-status-code
};

Outcome outcome_of(const Error& error, bool timed_out, bool is_parsing) {
  if (timed_out) return {status::kTimeout, 1009};
  switch (error.code) {
    case Code::invalid:
    case Code::unsupported:
      return {status::kEvaluationError, is_parsing ? 1004 : 1000};
    case Code::unauthorized:
      return {status::kUnauthorized, 401};
    case Code::forbidden:
      return {status::kForbidden, 403};
    case Code::not_found:
      return {status::kServerError, 404};
    case Code::conflict:
      return {status::kServerError, 409};
    case Code::precondition_failed:
      return {status::kServerError, 412};
    case Code::throttled:
    case Code::overloaded:
      return {status::kServerError, 429};
    case Code::too_large:
      return {status::kServerError, 1003};
    default:
      return {status::kServerError, 500};
  }
}

class Evaluation {
 public:
  Evaluation(const HandlerContext& context, std::unique_ptr<Answers> answers,
             std::shared_ptr<const Login> login, Message message, GraphSon form)
      : context_(context),
        answers_(std::move(answers)),
        room_(answers_->room()),
        login_(std::move(login)),
        message_(std::move(message)),
        form_(form),
        is_bytecode_(message_.op == "bytecode"),
        started_us_(context.lent.clock.steady_us()) {
    attributes_.activity_id = new_id();
    part_from_us_ = started_us_;
  }
  ~Evaluation() {
    // Memory ran out on the way.
    if (answered_) return;
    fail({.code = Code::overloaded,
          .message = stores_later_ ? "the server ran out of memory before this was finished: it "
                                     "may be done or not"
                                   : "the server has no memory for this"});
  }
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  bool client_is_gone() const { return answers_->is_gone(); }

  void fail(const Error& error) {
    if (answered_) return;
    const Outcome outcome = outcome_of(error, graph_ && graph_->timed_out(), is_parsing_);
    attributes_.status_code = outcome.service_code;
    attributes_.substatus_code = outcome.service_code == 429 ? kOverBudget : 0;
    attributes_.retry_after_ms =
        outcome.service_code == 429 ? std::max(error.retry_after_ms, 1U) : 0;
    const Failure failure{.code = outcome.code,
                          .is_parsing = is_parsing_,
                          .message = error.message + what_was_written()};
    answered_ = true;
    note_costs();
    answers_->fail(failure, attributes_, may_wait_ && !stores_later_);
    count(outcome.code);
  }

  // Of a traversal that failed.
  std::string what_was_written() {
    if (!graph_) return {};
    const WriteReport report = graph_->written();
    if (report.stored + report.waiting == 0) return {};
    attributes_.writes_stored = report.stored;
    attributes_.writes_given_up = report.waiting;
    if (report.stored == 0)
      return fmt::format(". Nothing was written: all of its {} writes were given up",
                         report.waiting);
    return fmt::format(". It had stored {} writes, which stay; {} were given up", report.stored,
                       report.waiting);
  }

  // On a thread that may wait.
  static void run(std::unique_ptr<Evaluation> self) {
    if (auto done = self->evaluate(); !done) return self->fail(done.error());
    if (self->stores_later_) store_later(std::move(self));
  }

  // On a thread that may not wait: a traversal that reads a little from memory, or stores one
  // transaction. False: nothing has been done, and `self` is as it was.
  static bool try_at_once(std::unique_ptr<Evaluation>& self) {
    self->may_wait_ = false;
    if (self->is_for_at_once()) {
      const Status done = self->evaluate();
      if (done && self->stores_later_) {
        store_later(std::move(self));
        return true;
      }
      // A client that is over its budget takes no other thread.
      if (!done && done.error().code == Code::throttled) {
        if (self->graph_) self->graph_->settle();
        self->fail(done.error());
      }
      if (self->answered_) return true;
    }
    self->start_again();
    self->may_wait_ = true;
    return false;
  }

 private:
  // A commit that is one transaction holds no thread: the answer comes when it is stored.
  static void store_later(std::unique_ptr<Evaluation> self) {
    EngineGraph& graph = *self->graph_;
    graph.commit_later([self = std::move(self)](const Status& stored) {
      if (!stored) return self->fail(stored.error());
      self->finish_with_results();
    });
  }

  bool is_for_at_once() {
    if (message_.bytes > kAtOnceBytesMax || !login_->token.empty() || context_.anywhere ||
        context_.remote) {
      return false;
    }
    auto chain = read();
    if (!chain) return false;
    chain_ = std::move(*chain);
    return count_calls(*chain_) <= kAtOnceCallsMax && is_short(*chain_);
  }

  void start_again() {
    graph_.reset();
    is_parsing_ = true;
    stores_later_ = false;
    part_.clear();
    held_.clear();
    results_ = given_ = given_bytes_ = held_bytes_ = 0;
  }

  Result<Chain> read() {
    is_parsing_ = true;
    if (is_bytecode_) {
      const value::Node* node = argument("gremlin");
      if (node == nullptr)
        return orrery::fail(Code::invalid, "the request has no gremlin argument");
      auto read = read_graphson(*node);
      if (!read) return pass(read.error());
      if (!read->chain) return orrery::fail(Code::invalid, "the gremlin argument is no bytecode");
      return *read->chain;
    }
    const std::string_view text = message_.text("gremlin");
    if (text.empty()) return orrery::fail(Code::invalid, "the request has no gremlin argument");
    if (text.size() > kScriptBytesMax) {
      return orrery::fail(Code::invalid,
                          fmt::format("the traversal has {} bytes and the most is {}: use bindings",
                                      text.size(), kScriptBytesMax));
    }
    auto bindings = read_bindings(message_);
    if (!bindings) return pass(bindings.error());
    return parse_traversal(text, *bindings);
  }

  const value::Node* argument(std::string_view name) const { return message_.argument(name); }

  int64_t time_ms() const {
    for (const std::string_view name : {"evaluationTimeout", "scriptEvaluationTimeout"}) {
      const value::Node* given = argument(name);
      if (given == nullptr) continue;
      auto read = read_graphson(*given);
      if (read && read->is_value() && read->value.is_integer() && read->value.as_integer() > 0) {
        return std::min(read->value.as_integer(), kTimeMs);
      }
    }
    return kTimeMs;
  }

  // What the connection's key or token lets it do now.
  Result<face::SharedItems::TokenGrant> granted(const cluster::Routing& routing) const {
    if (login_->token.empty()) {
      return face::SharedItems::TokenGrant{.may_write = login_->may_write, .placement = {}};
    }
    return context_.items.open_token(login_->token, context_.lent.engine, context_.lent.account,
                                     routing, context_.lent.clock.now_s());
  }

  Status evaluate() {
    if (!chain_) {
      auto chain = read();
      if (!chain) return pass(chain.error());
      chain_ = std::move(*chain);
    }
    if (const size_t steps = count_calls(*chain_); steps > kStepsMax) {
      return orrery::fail(
          Code::invalid,
          fmt::format("the traversal has {} steps and the most is {}", steps, kStepsMax));
    }
    const auto find = [this] {
      return context_.lent.engine.find({context_.items.face(), login_->database}, login_->graph);
    };
    auto routing = find();
    // Another node may have made it just now.
    if (!routing && context_.anywhere && context_.anywhere->learn_catalog()) routing = find();
    if (!routing) {
      is_parsing_ = false;
      return orrery::fail(Code::not_found, fmt::format("there is no graph {} in the database {}",
                                                       login_->graph, login_->database));
    }
    auto grant = granted(*routing);
    if (!grant) {
      is_parsing_ = false;
      return pass(grant.error());
    }
    RunLimits run_limits;
    run_limits.loops = context_.options.loops_max;
    auto graph = EngineGraph::open({.engine = context_.lent.engine,
                                    .items = context_.items,
                                    .clock = context_.lent.clock,
                                    .parsed = context_.parsed,
                                    .helpers = context_.lent.query_helpers,
                                    .remote = context_.remote.get(),
                                    .until_us = started_us_ + time_ms() * 1000,
                                    .is_wanted = [this] { return !answers_->is_gone(); },
                                    .memory_max = run_limits.memory,
                                    .only_placement = std::move(grant->placement),
                                    .cache = context_.neighbours.of(routing->container->number),
                                    .anywhere = context_.anywhere.get(),
                                    .may_wait = may_wait_},
                                   routing);
    if (!graph) return pass(graph.error());
    graph_ = std::move(*graph);
    Run run(*graph_, run_limits);
    auto compiled = compile(*chain_, run);
    if (!compiled) return pass(compiled.error());
    is_parsing_ = false;
    if (!compiled->is_read_only && !grant->may_write) {
      return orrery::fail(Code::forbidden,
                          "the key or token of this connection is for reading only");
    }
    if (compiled->only_adds) graph_->will_only_add();
    if (compiled->only_adds && compiled->is_read_only) graph_->will_not_write();
    return give_results(run, *compiled);
  }

  Status give_results(Run& run, Compiled& compiled) {
    Traversal& traversal = *compiled.traversal;
    if (compiled.explain) {
      if (auto added = add_result(explain(traversal), 1); !added) return added;
      return store_and_finish();
    }
    std::unique_ptr<Profile> profile;
    if (compiled.profile)
      profile = std::make_unique<Profile>(traversal, *graph_, context_.lent.clock);
    traversal.start(run.seed());
    uint64_t left = compiled.read_as == "next"       ? static_cast<uint64_t>(compiled.next_count)
                    : compiled.read_as == "has_next" ? 1
                                                     : UINT64_MAX;
    bool any = false;
    for (size_t want = kResultsOfPart; left > 0; want = std::min<size_t>(want * 2, 4096)) {
      Batch out;
      if (auto pulled = traversal.pull(run, std::min<uint64_t>(want, left), out); !pulled)
        return pulled;
      if (out.empty()) break;
      any = true;
      if (auto checked = run.check(out.size()); !checked) return checked;
      if (compiled.profile || compiled.read_as == "iterate" || compiled.read_as == "has_next") {
        if (compiled.read_as == "has_next") break;
        continue;
      }
      for (const Traverser& traverser : out) {
        const uint64_t count = std::min(traverser.bulk, left);
        left -= count;
        if (auto added = add_results(run, traverser.value, count); !added) return added;
        if (left == 0) break;
      }
      if (attributes_.is_cut && compiled.is_read_only) break;
    }
    if (compiled.read_as == "has_next") {
      if (auto added = add_result(Value::boolean(any), 1); !added) return added;
    }
    if (profile) {
      if (auto stored = graph_->commit(); !stored) return stored;
      if (auto added = add_result(profile->report(), 1); !added) return added;
    }
    return store_and_finish();
  }

  Status add_results(Run& run, const Value& value, uint64_t count) {
    if (is_bytecode_) return add_result(value, count);
    for (uint64_t n = 0; n < count && !attributes_.is_cut; ++n) {
      if (auto added = add_result(value, 1); !added) return added;
      if (auto checked = run.check(); !checked) return checked;
    }
    return {};
  }

  Status add_result(const Value& value, uint64_t bulk) {
    if (given_ == room_.results || given_bytes_ >= room_.bytes) {
      attributes_.is_cut = true;
      return {};
    }
    if (results_ == kResultsOfPart || part_.size() > kPartBytesMax) {
      if (auto sent = send_part(); !sent) return sent;
    }
    if (results_ > 0) part_ += ',';
    ++results_;
    ++given_;
    const size_t before = part_.size();
    auto added = is_bytecode_ ? append_traverser(part_, value, bulk, form_)
                              : append_graphson(part_, value, form_);
    given_bytes_ += part_.size() - before;
    return added;
  }

  void note_costs() {
    const int64_t now_us = context_.lent.clock.steady_us();
    attributes_.time_ms = static_cast<double>(now_us - part_from_us_) / 1000;
    attributes_.total_time_ms = static_cast<double>(now_us - started_us_) / 1000;
    part_from_us_ = now_us;
    const double total = graph_ ? graph_->work().charge : 0;
    attributes_.charge = total - attributes_.total_charge;
    attributes_.total_charge = total;
  }

  // A part with what is stored already; otherwise it waits.
  Status send_part() {
    if (!may_wait_) return orrery::fail(Code::would_wait, "the client may be slow");
    held_bytes_ += part_.size();
    held_.push_back(std::exchange(part_, {}));
    results_ = 0;
    if (graph_->has_staged() && held_bytes_ <= kHeldBytesMax) return {};
    return send_held();
  }

  Status send_held() {
    if (auto stored = graph_->commit(); !stored) return stored;
    held_bytes_ = 0;
    for (const std::string& part : std::exchange(held_, {})) {
      note_costs();
      if (!answers_->part(part, attributes_)) {
        answered_ = true;
        count(status::kServerError);
        return orrery::fail(Code::overloaded, "the client has gone");
      }
    }
    return {};
  }

  Status store_and_finish() {
    if (held_.empty() && graph_->can_commit_later()) {
      stores_later_ = true;
      return {};
    }
    // A thread that may not wait stores no more than that, and holds no parts.
    if (auto sent = send_held(); !sent) return sent;
    graph_->settle();
    finish_with_results();
    return {};
  }

  void finish_with_results() {
    answered_ = true;
    note_costs();
    answers_->last(results_ == 0 ? nullptr : &part_, attributes_, may_wait_ && !stores_later_);
    count(results_ == 0 ? status::kNoContent : status::kSuccess);
  }

  void count(int code) {
    const auto operation =
        static_cast<size_t>(is_bytecode_ ? Operation::bytecode : Operation::eval);
    context_.metrics.done(operation, code, context_.lent.clock.steady_us() - started_us_);
    context_.metrics.charge(operation, attributes_.total_charge);
  }

  const HandlerContext& context_;
  const std::unique_ptr<Answers> answers_;
  const Answers::Room room_;
  const std::shared_ptr<const Login> login_;
  const Message message_;
  const GraphSon form_;
  const bool is_bytecode_;
  const int64_t started_us_;
  int64_t part_from_us_ = 0;
  bool is_parsing_ = true;
  bool answered_ = false;
  bool may_wait_ = true;        // on this thread
  bool stores_later_ = false;   // on another thread, which must not wait
  std::optional<Chain> chain_;  // once it was read
  Attributes attributes_;
  std::unique_ptr<EngineGraph> graph_;
  std::string part_;  // results of the next answer
  size_t results_ = 0;
  uint64_t given_ = 0;  // results of all answers
  size_t given_bytes_ = 0;
  std::vector<std::string> held_;  // parts before it
  size_t held_bytes_ = 0;
};

}  // namespace

void start_evaluation(const HandlerContext& context, std::unique_ptr<Answers> answers,
                      std::shared_ptr<const Login> login, Message message, GraphSon form) {
  const auto routing =
      context.lent.engine.find({context.items.face(), login->database}, login->graph);
  const uint64_t share = routing ? routing->container->number : 0;
  auto call = std::make_unique<Evaluation>(context, std::move(answers), std::move(login),
                                           std::move(message), form);
  if (Evaluation::try_at_once(call)) return;
  context.lent.lanes.submit(face::Lane::queries, share,
                            std::make_unique<face::WaitingCall<Evaluation>>(
                                std::move(call), [](std::unique_ptr<Evaluation> running) {
                                  Evaluation::run(std::move(running));
                                }));
}

}  // namespace orrery::gremlin
