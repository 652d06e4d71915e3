// See bulk_writer.h.
#include "transfer/bulk_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "client/retry.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr size_t kGroupBytes = 200ULL << 10;  // the clients of the vendor send about as much
constexpr size_t kBytesMax = 48ULL << 20;
constexpr size_t kOperationsMax = 50'000;
constexpr int64_t kRangesAgainMs = 100;
constexpr int64_t kLeastWaitMs = 2;
// Of one operation that a server is not able to do (503, 449): with waits of up to 5 s, minutes.
constexpr uint32_t kMaxRepeats = 100;

int64_t number(const Node& object, std::string_view name) {
  const Node* found = object.find(name);
  return found != nullptr && found->type == Type::number ? static_cast<int64_t>(found->number) : 0;
}

// Headers are ASCII: what is not is escaped.
std::string ascii_json(std::string_view json) {
  std::string out;
  for (size_t at = 0; at < json.size();) {
    const auto c = static_cast<unsigned char>(json[at]);
    if (c < 0x80) {
      out += json[at++];
      continue;
    }
    const size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
    uint32_t point = c & (0xffU >> (size + 1));
    for (size_t i = 1; i < size && at + i < json.size(); ++i) {
      point = point << 6 | (static_cast<unsigned char>(json[at + i]) & 0x3fU);
    }
    at += size;
    if (point >= 0x10000) {
      point -= 0x10000;
      out += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (point >> 10), 0xdc00 + (point & 0x3ff));
    } else {
      out += fmt::format("\\u{:04x}", point);
    }
  }
  return out;
}

}  // namespace

Result<WriteMode> parse_write_mode(std::string_view text) {
  if (text == "upsert") return WriteMode::upsert;
  if (text == "create") return WriteMode::create;
  if (text == "skip") return WriteMode::skip;
  return fail(Code::invalid,
              fmt::format("'{}' is no mode: there are upsert, create and skip", text));
}

BulkWriter::BulkWriter(client::Client& client, client::ContainerInfo container,
                       std::vector<client::KeyRange> ranges, WriteMode mode, size_t requests_max,
                       Done done)
    : client_(client),
      container_(std::move(container)),
      mode_(mode),
      requests_max_(requests_max),
      done_(std::move(done)),
      alive_(std::make_shared<BulkWriter*>(this)),
      ranges_(std::move(ranges)) {}

BulkWriter::~BulkWriter() {
  *alive_ = nullptr;
}

Result<std::unique_ptr<BulkWriter>> BulkWriter::open(client::Client& client,
                                                     client::ContainerInfo container,
                                                     WriteMode mode, size_t requests_max,
                                                     Done done) {
  auto ranges = client::read_ranges(client, container.name);
  if (!ranges) return pass(ranges.error());
  return std::unique_ptr<BulkWriter>(new BulkWriter(
      client, std::move(container), std::move(*ranges), mode, requests_max, std::move(done)));
}

bool BulkWriter::has_room() const {
  return !failed_ && bytes_ < kBytesMax && operations_ < kOperationsMax;
}

void BulkWriter::put(PreparedItem item, uint64_t ticket) {
  Operation operation;
  operation.ticket = ticket;
  operation.json =
      fmt::format("{{\"operationType\":\"{}\"{}{},\"resourceBody\":",
                  mode_ == WriteMode::upsert ? "Upsert" : "Create",
                  item.key_json.empty() ? "" : ",\"partitionKey\":",
                  item.key_json.empty() ? std::string() : value::quoted(item.key_json));
  operation.body_at = operation.json.size();
  operation.json += item.body;
  operation.json += '}';
  operation.id = std::move(item.id);
  operation.key_json = std::move(item.key_json);
  operation.key_hex = std::move(item.key_hex);
  add(std::move(operation));
}

void BulkWriter::remove(std::string id, std::string key_json, std::string key_hex,
                        uint64_t ticket) {
  Operation operation;
  operation.ticket = ticket;
  operation.json = fmt::format("{{\"operationType\":\"Delete\",\"id\":{}{}{}}}", value::quoted(id),
                               key_json.empty() ? "" : ",\"partitionKey\":",
                               key_json.empty() ? std::string() : value::quoted(key_json));
  operation.id = std::move(id);
  operation.key_json = std::move(key_json);
  operation.key_hex = std::move(key_hex);
  add(std::move(operation));
}

void BulkWriter::add(Operation operation) {
  ++operations_;
  bytes_ += operation.bytes();
  const auto [item, is_new] = items_.try_emplace(operation.identity());
  if (is_new) {
    route(std::move(operation));
  } else {
    item->second.push_back(std::move(operation));
  }
}

// Into the lane of its range.
void BulkWriter::route(Operation operation) {
  if (ranges_are_old_) {
    unrouted_.push_back(std::move(operation));
    return;
  }
  auto range = std::ranges::upper_bound(ranges_, operation.key_hex, {}, &client::KeyRange::min);
  if (range != ranges_.begin()) --range;
  Lane& lane = lanes_[range->id];
  lane.bytes += operation.json.size() + 1;
  const uint64_t ticket = operation.ticket;
  lane.waiting.emplace(ticket, std::move(operation));
}

void BulkWriter::flush() {
  flushes_ = true;
}

BulkWriter::Group BulkWriter::next_group(Lane& lane, const std::string& range) {
  Group group{.range = range, .operations = {}};
  size_t bytes = 0;
  while (!lane.waiting.empty() && group.operations.size() < lane.operations_max) {
    Operation& next = lane.waiting.begin()->second;
    const size_t more = next.json.size() + 1;
    if (!group.operations.empty() && (next.alone || bytes + more > kGroupBytes)) break;
    bytes += more;
    lane.bytes -= more;
    const bool alone = next.alone;
    group.operations.push_back(std::move(next));
    lane.waiting.erase(lane.waiting.begin());
    if (alone) break;
  }
  return group;
}

void BulkWriter::send_all() {
  const int64_t now = now_ms();
  for (auto& [range, lane] : lanes_) {
    if (lane.not_before_ms > now) continue;
    const double allowed = std::min(lane.allowed, static_cast<double>(requests_max_));
    while (!lane.waiting.empty() && static_cast<double>(lane.sending) < allowed &&
           sending_ < requests_max_) {
      const bool is_full = lane.waiting.size() >= lane.operations_max || lane.bytes >= kGroupBytes;
      // Rather one that is not full than none.
      if (!is_full && !flushes_ && lane.sending > 0) break;
      send(next_group(lane, range));
    }
  }
  flushes_ = false;
}

void BulkWriter::send(Group group) {
  client::Request request = client::container_request(container_.name, "POST", "docs");
  request.headers = {{"content-type", "application/json"},
                     {"x-ms-cosmos-is-batch-request", "True"},
                     {"x-ms-cosmos-batch-atomic", "False"},
                     {"x-ms-cosmos-batch-continue-on-error", "True"},
                     {"x-ms-documentdb-partitionkeyrangeid", group.range},
                     {"prefer", "return=minimal"}};
  request.body = "[";
  for (const Operation& operation : group.operations) {
    if (request.body.size() > 1) request.body += ',';
    request.body += operation.json;
  }
  request.body += ']';
  ++sending_;
  ++lanes_[group.range].sending;
  ++counts_.requests;
  client_.submit(std::move(request), [alive = alive_, group = std::move(group)](
                                         Result<client::Response> response) mutable {
    if (*alive != nullptr) (*alive)->answer(std::move(group), std::move(response));
  });
}

void BulkWriter::answer(Group group, Result<client::Response> response) {
  --sending_;
  // The lane may be gone, if the range is.
  if (const auto lane = lanes_.find(group.range);
      lane != lanes_.end() && lane->second.sending > 0) {
    --lane->second.sending;
  }
  if (!response) return stop(response.error());
  if (response->is_success()) return results(std::move(group), *response);
  if (response->status == 410) return read_ranges_again(std::move(group.operations));
  const bool may_be_one = response->status == 400 || response->status == 413;
  if (may_be_one && group.operations.size() == 1) {
    return finish(group.operations.front(), Outcome::rejected,
                  fmt::format("the server refuses it: {}", response->message()));
  }
  if (may_be_one) {
    // One of them is refused with all the others: each on its own tells which.
    for (Operation& operation : group.operations) {
      operation.alone = true;
      route(std::move(operation));
    }
    return;
  }
  stop(client::succeeded(std::move(response), client_.endpoint().where()).error());
}

void BulkWriter::results(Group group, const client::Response& response) {
  auto document = JsonDocument::parse(response.body);
  if (!document || document->root().type != Type::array ||
      document->root().count != group.operations.size()) {
    return stop({Code::internal,
                 fmt::format("the answer of {} to a bulk request has not one result for each "
                             "operation",
                             client_.endpoint().where())});
  }
  size_t at = 0;
  size_t throttled = 0;
  int64_t wait_ms = 0;
  for (const Node* one = document->root().first; one != nullptr; one = one->next) {
    Operation& operation = group.operations[at++];
    const int status = static_cast<int>(number(*one, "statusCode"));
    if (status == 429) {
      ++throttled;
      wait_ms = std::max(wait_ms, number(*one, "retryAfterMilliseconds"));
      route(std::move(operation));
      continue;
    }
    const Node* message = one->find("message");
    result(std::move(operation), status, static_cast<int>(number(*one, "subStatusCode")),
           message == nullptr ? std::string() : std::string(message->text));
  }
  counts_.throttled += throttled;
  const auto lane = lanes_.find(group.range);
  if (lane == lanes_.end()) return;
  if (throttled > 0) {
    slow_down(lane->second, at - throttled, std::max(wait_ms, kLeastWaitMs));
  } else {
    lane->second.allowed = std::min(static_cast<double>(requests_max_), lane->second.allowed + 1);
    lane->second.operations_max = std::min(kGroupOperations, lane->second.operations_max * 2);
  }
}

void BulkWriter::result(Operation operation, int status, int substatus, std::string message) {
  if (status >= 200 && status < 300) return finish(operation, Outcome::written, {});
  switch (status) {
    case 404:
      if (operation.is_removal()) return finish(operation, Outcome::written, {});
      break;
    case 409:
      if (mode_ == WriteMode::skip) return finish(operation, Outcome::present, {});
      if (mode_ == WriteMode::create) return compare(std::move(operation));
      break;
    case 410:
      return read_ranges_again([&] {
        std::vector<Operation> one;
        one.push_back(std::move(operation));
        return one;
      }());
    case 401:
      return stop({Code::unauthorized, std::move(message)});
    case 408:
    case 424:
    case 449:
    case 500:
    case 503: {
      if (++operation.repeats > kMaxRepeats) {
        return stop(
            {Code::overloaded, fmt::format("{} answers {} to the same write again and again: {}",
                                           client_.endpoint().where(), status, message)});
      }
      const int64_t wait = client::backoff_ms(operation.repeats, operation.ticket);
      return repeat_later(std::move(operation), wait);
    }
    default:
      break;
  }
  const std::string code =
      substatus == 0 ? std::to_string(status) : fmt::format("{}/{}", status, substatus);
  finish(
      operation, Outcome::rejected,
      fmt::format("the server refuses it with {}{}{}", code, message.empty() ? "" : ": ", message));
}

// Whether what has the id already says the same: then it was written before, by an attempt whose
// answer was lost or by a run that did not get to its checkpoint.
void BulkWriter::compare(Operation operation) {
  client::Request request;
  request.target =
      fmt::format("{}/docs/{}", container_.name.target(), percent_encode(operation.id));
  request.type = "docs";
  request.link = fmt::format("{}/docs/{}", container_.name.link(), operation.id);
  if (!operation.key_json.empty()) {
    request.headers.emplace_back("x-ms-documentdb-partitionkey", ascii_json(operation.key_json));
  }
  client_.submit(std::move(request), [alive = alive_, operation = std::move(operation)](
                                         Result<client::Response> response) mutable {
    if (*alive == nullptr) return;
    BulkWriter& self = **alive;
    if (!response) return self.stop(response.error());
    auto theirs = JsonDocument::parse(response->body);
    auto ours = JsonDocument::parse(operation.body());
    if (response->is_success() && theirs && ours &&
        content_hash(theirs->root()) == content_hash(ours->root())) {
      return self.finish(operation, Outcome::present, {});
    }
    self.finish(operation, Outcome::rejected,
                response->is_success()
                    ? "an item with this id and key is there already, and is another"
                    : "an item with this id or a unique value of it is there already");
  });
}

void BulkWriter::finish(const Operation& operation, Outcome outcome, std::string reason) {
  --operations_;
  bytes_ -= operation.bytes();
  const auto item = items_.find(operation.identity());
  if (item->second.empty()) {
    items_.erase(item);
  } else {
    Operation next = std::move(item->second.front());
    item->second.pop_front();
    route(std::move(next));
  }
  done_(operation.ticket, outcome, operation.body(), std::move(reason));
}

void BulkWriter::repeat_later(Operation operation, int64_t wait_ms) {
  later_.emplace(now_ms() + wait_ms, std::move(operation));
}

void BulkWriter::take_due() {
  const int64_t now = now_ms();
  while (!later_.empty() && later_.begin()->first <= now) {
    route(std::move(later_.extract(later_.begin()).mapped()));
  }
}

void BulkWriter::read_ranges_again(std::vector<Operation> unrouted) {
  if (!ranges_are_old_) {
    ranges_are_old_ = true;
    ask_ranges_ms_ = now_ms() + kRangesAgainMs;
    // What waits for ranges that may be gone is sorted anew.
    for (auto& [range, lane] : std::exchange(lanes_, {})) {
      for (auto& [ticket, operation] : lane.waiting) unrouted_.push_back(std::move(operation));
    }
  }
  std::ranges::move(unrouted, std::back_inserter(unrouted_));
}

void BulkWriter::slow_down(Lane& lane, size_t done, int64_t wait_ms) {
  lane.not_before_ms = std::max(lane.not_before_ms, now_ms() + wait_ms);
  lane.allowed = std::max(1.0, lane.allowed / 2);
  lane.operations_max = std::clamp<size_t>(done, 1, kGroupOperations);
}

int BulkWriter::wait_until_due(int wait_ms) const {
  const int64_t now = now_ms();
  int64_t due = now + wait_ms;
  if (!later_.empty()) due = std::min(due, later_.begin()->first);
  for (const auto& [range, lane] : lanes_) {
    if (!lane.waiting.empty() && lane.not_before_ms > now) due = std::min(due, lane.not_before_ms);
  }
  return static_cast<int>(std::max<int64_t>(0, due - now));
}

void BulkWriter::stop(Error error) {
  if (!failed_) failed_ = std::move(error);
}

Status BulkWriter::turn(int wait_ms) {
  if (failed_) return pass(*failed_);
  if (ranges_are_old_ && !is_asking_ranges_ && now_ms() >= ask_ranges_ms_) {
    is_asking_ranges_ = true;
    client_.submit(client::container_request(container_.name, "GET", "pkranges"),
                   [alive = alive_](Result<client::Response> response) {
                     if (*alive == nullptr) return;
                     BulkWriter& self = **alive;
                     self.is_asking_ranges_ = false;
                     auto ranges =
                         client::ranges_of(std::move(response), self.client_.endpoint().where(),
                                           self.container_.name);
                     if (!ranges) return self.stop(ranges.error());
                     self.ranges_ = std::move(*ranges);
                     self.ranges_are_old_ = false;
                     for (Operation& one : std::exchange(self.unrouted_, {})) {
                       self.route(std::move(one));
                     }
                   });
  }
  take_due();
  send_all();
  client_.turn(wait_until_due(wait_ms));
  if (failed_) return pass(*failed_);
  return {};
}

}  // namespace orrery::transfer
