// See recorder.h.
#include "advise/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "advise/item_sample.h"
#include "advise/query_paths.h"
#include "base/bytes.h"
#include "query/parse/literal.h"
#include "query/parse/parser.h"
#include "value/json_quoted.h"

namespace orrery::advise {
namespace {

using value::Node;
using value::quoted;

constexpr int64_t kHourS = 3'600;
constexpr int64_t kIdleS = 24 * kHourS;
constexpr uint32_t kLongestPeriod = 1'024;
constexpr uint32_t kTakenBetweenChecks = 64;
constexpr int64_t kCheckUs = 1'000'000;
// Of one thread: enough for the hours' samples, and far from what recording would be felt at.
constexpr double kMostTakenPerS = 200;
constexpr double kFewTakenPerS = 50;

std::string make_secret() {
  std::random_device device;
  std::string secret(16, '\0');
  for (size_t i = 0; i < secret.size(); i += 4) {
    const uint32_t word = device();
    for (size_t j = 0; j < 4; ++j) secret[i + j] = static_cast<char>(word >> (8 * j));
  }
  return secret;
}

std::optional<Marker> make_marker(const std::string& secret) {
  auto marker = Marker::create(secret);
  if (!marker) return std::nullopt;
  return std::move(*marker);
}

std::string list_json(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& one : texts) out += (out.size() > 1 ? "," : "") + quoted(one);
  return out + "]";
}

std::vector<std::string> names_of(const std::vector<QueryPaths::Use>& uses) {
  std::vector<std::string> names;
  for (const QueryPaths::Use& use : uses) names.push_back(to_string(use.path));
  return names;
}

// The values that a query compares with: literals as nodes, parameters by their names.
class Operands {
 public:
  explicit Operands(const Node* parameters) : parameters_(parameters) {}

  // Null when it is no scalar that is known.
  const Node* value_of(const query::Expr& expr) {
    if (expr.kind == query::ExprKind::parameter) return parameter(expr.text);
    if (expr.kind != query::ExprKind::literal) return nullptr;
    auto document = value::JsonDocument::parse(query::literal_value(expr).to_json());
    if (!document) return nullptr;
    literals_.push_back(std::move(*document));
    return &literals_.back().root();
  }

 private:
  const Node* parameter(std::string_view name) const {
    if (parameters_ == nullptr) return nullptr;
    for (const Node* one = parameters_->first; one != nullptr; one = one->next) {
      const Node* named = one->find("name");
      if (named != nullptr && named->text == name) return one->find("value");
    }
    return nullptr;
  }
  const Node* parameters_;
  std::deque<value::JsonDocument> literals_;
};

// Finds the comparison that a bound belongs to, for its direction.
const query::Expr* comparison_of(const query::Expr& expr, const query::Expr* bound) {
  for (const auto& child : expr.children) {
    if (child.get() == bound) return &expr;
    if (const query::Expr* found = comparison_of(*child, bound)) return found;
  }
  return nullptr;
}

bool is_upper_bound(const query::Query& query, const query::Expr* bound) {
  const query::Expr* comparison = comparison_of(*query.where, bound);
  if (comparison == nullptr) return false;
  if (comparison->kind == query::ExprKind::between) return comparison->children[2].get() == bound;
  const bool less =
      comparison->op == query::Operator::less || comparison->op == query::Operator::less_equal;
  return (comparison->children[1].get() == bound) == less;
}

void describe_query(const Observed& observed, Details& details) {
  const auto query = query::parse_query(observed.query);
  if (!query) return;
  const QueryPaths paths = paths_of(*query);
  Operands operands(observed.parameters);
  for (const QueryPaths::Use& use : paths.equal) {
    if (const Node* value = operands.value_of(*use.operands.front())) {
      details.add_known(use.path, *value);
    }
  }
  for (const QueryPaths::Use& use : paths.in) {
    std::vector<const Node*> values;
    for (const query::Expr* operand : use.operands) {
      if (const Node* value = operands.value_of(*operand)) values.push_back(value);
    }
    details.add_list(use.path, values);
  }
  for (const QueryPaths::Use& use : paths.range) {
    const Node* from = nullptr;
    const Node* to = nullptr;
    for (const query::Expr* operand : use.operands) {
      (is_upper_bound(*query, operand) ? to : from) = operands.value_of(*operand);
    }
    details.add_range(use.path, from, to);
  }
}

}  // namespace

thread_local Recorder::Pace Recorder::pace_;

Recorder::Recorder(uint64_t per_hour, const Clock& clock)
    : clock_(clock),
      secret_(make_secret()),
      marker_(make_marker(secret_)),
      per_hour_(marker_ ? per_hour : 0),
      random_(hash_of(secret_)) {}

uint32_t Recorder::next(Pace& pace) const {
  const uint32_t stands_for = pace.period;
  const int64_t now_us = clock_.steady_us();
  const int64_t took_us = now_us - pace.since_us;
  if (++pace.taken >= kTakenBetweenChecks || took_us >= kCheckUs) {
    const double rate = pace.taken * 1e6 / static_cast<double>(std::max<int64_t>(1, took_us));
    if (rate > kMostTakenPerS) pace.period = std::min(kLongestPeriod, 2 * pace.period);
    // At once, since the next one that is taken may be long in coming.
    if (rate < kFewTakenPerS) {
      pace.period = std::max(1U, static_cast<uint32_t>(pace.period * rate / kFewTakenPerS));
    }
    pace.taken = 0;
    pace.since_us = now_us;
  }
  pace.left = pace.period;
  return stands_for;
}

Recorder::Recording* Recorder::recording_of(uint32_t container, int64_t now_s) {
  const auto found = recordings_.find(container);
  if (found != recordings_.end()) return &found->second;
  if (recordings_.size() >= kMaxContainers) {
    const auto idlest = std::ranges::min_element(recordings_, {},
                                                 [](const auto& one) { return one.second.last_s; });
    if (idlest->second.last_s > now_s - kIdleS) return nullptr;
    recordings_.erase(idlest);
  }
  Recording& made = recordings_[container];
  made.from_s = now_s;
  return &made;
}

uint32_t Recorder::shape_of(Recording& recording, const Observed& observed) {
  std::string key = fmt::format("{} {}", to_text(observed.operation), observed.query);
  if (const auto found = recording.by_text.find(key); found != recording.by_text.end()) {
    return found->second;
  }
  Shape shape;
  shape.operation = observed.operation;
  if (observed.operation == RequestKind::query) {
    if (const auto query = query::parse_query(observed.query)) {
      const QueryPaths paths = paths_of(*query);
      shape.text = without_literals(*query);
      shape.equal = names_of(paths.equal);
      shape.in = names_of(paths.in);
      shape.range = names_of(paths.range);
    }
  }
  auto same = std::ranges::find_if(recording.shapes, [&](const Shape& one) {
    return one.operation == shape.operation && one.text == shape.text;
  });
  if (same == recording.shapes.end()) {
    if (recording.shapes.size() >= kMaxShapes) {
      // The rest is one shape, of which nothing is known but what it costs.
      shape = Shape();
      shape.operation = observed.operation;
      shape.text = "other";
      same = std::ranges::find_if(recording.shapes, [&](const Shape& one) {
        return one.operation == shape.operation && one.text == shape.text;
      });
    }
    if (same == recording.shapes.end()) {
      recording.shapes.push_back(std::move(shape));
      same = recording.shapes.end() - 1;
    }
  }
  const auto number = static_cast<uint32_t>(same - recording.shapes.begin());
  if (recording.by_text.size() >= kMaxTexts) recording.by_text.clear();
  recording.by_text.emplace(std::move(key), number);
  return number;
}

Recorder::Sums& Recorder::sums_of(Recording& recording, int64_t now_s) {
  Sums& sums = recording.buckets[now_s / kBucketS * kBucketS];
  while (recording.buckets.begin()->first < now_s - kHours * kHourS) {
    recording.buckets.erase(recording.buckets.begin());
  }
  return sums;
}

void Recorder::record_throttled(uint32_t container, double requests) {
  if (per_hour_ == 0) return;
  const int64_t now_s = clock_.now_s();
  const MutexLock lock(mutex_);
  Recording* recording = recording_of(container, now_s);
  if (recording == nullptr) return;
  recording->last_s = now_s;
  sums_of(*recording, now_s).throttled += requests;
}

void Recorder::record(const Observed& observed, const Describe& describe) {
  if (per_hour_ == 0) return;
  const int64_t now_s = clock_.now_s();
  const MutexLock lock(mutex_);
  Recording* recording = recording_of(observed.container, now_s);
  if (recording == nullptr) return;
  recording->last_s = now_s;
  recording->requests += observed.weight;
  const uint32_t number = shape_of(*recording, observed);
  Shape& shape = recording->shapes[number];
  shape.count += observed.weight;
  shape.ru += observed.weight * observed.ru;
  shape.asked += observed.weight * observed.asked;
  Sums& sums = sums_of(*recording, now_s);
  sums.requests += observed.weight;
  sums.ru += observed.weight * observed.ru;
  for (const auto& [path, changed] : observed.updated) {
    if (recording->updates.size() >= kMaxUpdatedPaths && !recording->updates.contains(path)) {
      continue;
    }
    Updates& updates = recording->updates[path];
    updates.seen += 1;
    updates.changed += changed ? 1 : 0;
  }
  Hour& hour = recording->hours[now_s / kHourS];
  while (recording->hours.begin()->first < now_s / kHourS - kHours) {
    recording->hours.erase(recording->hours.begin());
  }
  hour.seen += observed.weight;
  const bool has_room = hour.requests.size() < per_hour_;
  // Kept with the same chance as any other of this hour.
  const double chance = static_cast<double>(per_hour_) * observed.weight / hour.seen;
  const double drawn = static_cast<double>(random_.next() >> 11) / 9007199254740992.0;
  if (!has_room && drawn >= chance) return;
  Details details(*marker_, static_cast<double>(clock_.now_ms()) / 1000);
  if (observed.operation == RequestKind::query) {
    describe_query(observed, details);
  } else if (describe) {
    describe(details);
  }
  Kept kept{.t = now_s, .shape = number, .ru = observed.ru, .members = details.json()};
  if (kept.members.size() > kMaxRequestBytes) kept.members.clear();
  if (has_room) {
    hour.requests.push_back(std::move(kept));
  } else {
    hour.requests[random_.below(hour.requests.size())] = std::move(kept);
  }
}

std::string Recorder::lines(uint32_t container, const RecordedContainer& about,
                            bool with_secret) const {
  const MutexLock lock(mutex_);
  const auto found = recordings_.find(container);
  static const Recording kNothing;
  const Recording& recording = found == recordings_.end() ? kNothing : found->second;
  size_t sampled = 0;
  for (const auto& [hour, one] : recording.hours) sampled += one.requests.size();
  std::string out = fmt::format(
      "{{\"k\":\"head\",\"v\":1,\"container\":{},\"throughput\":{},\"partitionKey\":{},\"items\":{}"
      ","
      "\"bytes\":{},\"ttl_s\":{},\"from\":{},\"to\":{},\"requests\":{:.0f},\"sampled\":{},"
      "\"hash\":\"hmac-sha256-64\",\"key\":{}}}\n",
      quoted(about.name), about.throughput, list_json(about.partition_key), about.items,
      about.bytes, about.ttl_s > 0 ? fmt::format("{}", about.ttl_s) : "null", recording.from_s,
      recording.last_s, recording.requests, sampled,
      with_secret ? quoted(to_hex_upper(secret_)) : "null");
  for (size_t i = 0; i < recording.shapes.size(); ++i) {
    const Shape& shape = recording.shapes[i];
    out += fmt::format(
        "{{\"k\":\"shape\",\"shape\":{},\"op\":\"{}\",\"text\":{},\"eq\":{},\"in\":{},\"range\":{},"
        "\"count\":{:.0f},\"ru\":{:.2f},\"asked\":{:.2f},\"pages\":1}}\n",
        i, to_text(shape.operation), shape.text.empty() ? "null" : quoted(shape.text),
        list_json(shape.equal), list_json(shape.in), list_json(shape.range), shape.count, shape.ru,
        shape.count > 0 ? shape.asked / shape.count : 1);
  }
  for (const auto& [t, sums] : recording.buckets) {
    out += fmt::format(
        "{{\"k\":\"time\",\"t\":{},\"s\":{},\"requests\":{:.0f},\"ru\":{:.2f},"
        "\"throttled\":{:.0f}}}\n",
        t, kBucketS, sums.requests, sums.ru, sums.throttled);
  }
  for (const auto& [path, updates] : recording.updates) {
    out += fmt::format("{{\"k\":\"change\",\"path\":{},\"replaced\":{},\"changed\":{}}}\n",
                       quoted(path), updates.seen, updates.changed);
  }
  for (const auto& [at, hour] : recording.hours) {
    for (const Kept& kept : hour.requests) {
      out += fmt::format("{{\"k\":\"req\",\"t\":{},\"shape\":{},\"ru\":{:.2f}{}}}\n", kept.t,
                         kept.shape, kept.ru, kept.members);
    }
  }
  return out;
}

}  // namespace orrery::advise
