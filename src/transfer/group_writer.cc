// See group_writer.h.
#include "transfer/group_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/retry.h"

namespace orrery::transfer {
namespace {

constexpr size_t kGroupBytes = 200ULL << 10;  // the clients of the vendor send about as much
constexpr size_t kBytesMax = 48ULL << 20;
constexpr size_t kOperationsMax = 50'000;
constexpr int64_t kLeastWaitMs = 2;
// Of one operation that a server is not able to do (503, 449): with waits of up to 5 s, minutes.
constexpr uint32_t kMaxRepeats = 100;

}  // namespace

Result<WriteMode> parse_write_mode(std::string_view text) {
  if (text == "upsert") return WriteMode::upsert;
  if (text == "create") return WriteMode::create;
  if (text == "skip") return WriteMode::skip;
  return fail(Code::invalid,
              fmt::format("'{}' is no mode: there are upsert, create and skip", text));
}

GroupWriter::GroupWriter(client::Client& client, WriteMode mode, size_t requests_max, Done done)
    : client_(client),
      mode_(mode),
      requests_max_(requests_max),
      done_(std::move(done)),
      alive_(std::make_shared<GroupWriter*>(this)) {}

GroupWriter::~GroupWriter() {
  *alive_ = nullptr;
}

bool GroupWriter::has_room() const {
  return !failed_ && bytes_ < kBytesMax && operations_ < kOperationsMax;
}

void GroupWriter::add(PendingWrite operation) {
  ++operations_;
  bytes_ += operation.bytes();
  const auto [item, is_new] = items_.try_emplace(operation.identity());
  if (is_new) {
    route(std::move(operation));
  } else {
    item->second.push_back(std::move(operation));
  }
}

void GroupWriter::wait_in(const std::string& name, std::string partition, PendingWrite operation) {
  Lane& lane = lanes_[name];
  lane.bytes += operation.text.size() + 1;
  Lane::Place place(std::move(partition), operation.ticket);
  lane.waiting.emplace(std::move(place), std::move(operation));
}

std::vector<GroupWriter::PendingWrite> GroupWriter::take_waiting() {
  std::vector<PendingWrite> all;
  for (auto& [name, lane] : std::exchange(lanes_, {})) {
    for (auto& [place, operation] : lane.waiting) all.push_back(std::move(operation));
  }
  return all;
}

GroupWriter::Group GroupWriter::next_group(Lane& lane, const std::string& name) {
  Group group{.lane = name, .operations = {}};
  size_t bytes = 0;
  auto next = lane.waiting.upper_bound({lane.last_partition, UINT64_MAX});
  if (next == lane.waiting.end()) next = lane.waiting.begin();
  lane.last_partition = next->first.first;
  while (next != lane.waiting.end() && next->first.first == lane.last_partition &&
         group.operations.size() < lane.operations_max) {
    PendingWrite& operation = next->second;
    const size_t more = operation.text.size() + 1;
    if (!group.operations.empty() && (operation.alone || bytes + more > kGroupBytes)) break;
    bytes += more;
    lane.bytes -= more;
    const bool alone = operation.alone;
    group.operations.push_back(std::move(operation));
    next = lane.waiting.erase(next);
    if (alone) break;
  }
  return group;
}

void GroupWriter::send_all() {
  const int64_t now = now_ms();
  for (auto& [name, lane] : lanes_) {
    if (lane.not_before_ms > now) continue;
    const double allowed = std::min(lane.allowed, static_cast<double>(requests_max_));
    while (!lane.waiting.empty() && static_cast<double>(lane.sending) < allowed &&
           sending_ < requests_max_) {
      const bool is_full = lane.waiting.size() >= lane.operations_max || lane.bytes >= kGroupBytes;
      // Rather one that is not full than none.
      if (!is_full && !flushes_ && lane.sending > 0) break;
      send(next_group(lane, name));
    }
  }
  flushes_ = false;
}

void GroupWriter::send(Group group) {
  client::Request request = request_of(group);
  ++sending_;
  ++lanes_[group.lane].sending;
  ++counts_.requests;
  submit<GroupWriter>(
      std::move(request),
      [group = std::move(group)](GroupWriter& self, Result<client::Response> response) mutable {
        --self.sending_;
        // The lane may be gone, if the range is.
        if (const auto lane = self.lanes_.find(group.lane);
            lane != self.lanes_.end() && lane->second.sending > 0) {
          --lane->second.sending;
        }
        if (!response) return self.stop(response.error());
        self.answer(std::move(group), std::move(*response));
      });
}

void GroupWriter::each_alone(Group group) {
  for (PendingWrite& operation : group.operations) {
    operation.alone = true;
    route(std::move(operation));
  }
}

void GroupWriter::slow_down(const std::string& name, size_t done, int64_t wait_ms) {
  const auto found = lanes_.find(name);
  if (found == lanes_.end()) return;
  Lane& lane = found->second;
  lane.not_before_ms = std::max(lane.not_before_ms, now_ms() + std::max(wait_ms, kLeastWaitMs));
  lane.allowed = std::max(1.0, lane.allowed / 2);
  lane.operations_max = std::clamp<size_t>(done, 1, kGroupOperations);
}

void GroupWriter::speed_up(const std::string& name) {
  const auto found = lanes_.find(name);
  if (found == lanes_.end()) return;
  Lane& lane = found->second;
  lane.allowed = std::min(static_cast<double>(requests_max_), lane.allowed + 1);
  lane.operations_max = std::min(kGroupOperations, lane.operations_max * 2);
}

void GroupWriter::result(PendingWrite operation, int status, int substatus, std::string message) {
  if (status >= 200 && status < 300) return finish(operation, Outcome::written, {});
  if (moves_on(operation, status)) return;
  switch (status) {
    case 404:
      if (operation.is_removal()) return finish(operation, Outcome::written, {});
      break;
    case 409:
      if (mode_ == WriteMode::skip) return finish(operation, Outcome::present, {});
      if (mode_ == WriteMode::create) return compare(std::move(operation));
      break;
    case 401:
      return stop({Code::unauthorized, std::move(message)});
    case 408:
    case 424:
    case 449:
    case 500:
    case 503:
      return repeat_later(std::move(operation), status, message);
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
void GroupWriter::compare(PendingWrite operation) {
  client::Request request = read_request(operation);
  submit<GroupWriter>(
      std::move(request), [operation = std::move(operation)](
                              GroupWriter& self, Result<client::Response> response) mutable {
        if (!response) return self.stop(response.error());
        if (response->is_success() && self.says_the_same(response->body, operation.body())) {
          return self.finish(operation, Outcome::present, {});
        }
        self.finish(operation, Outcome::rejected,
                    response->is_success()
                        ? "an item with this id and key is there already, and is another"
                        : "an item with this id or a unique value of it is there already");
      });
}

void GroupWriter::finish(const PendingWrite& operation, Outcome outcome, std::string reason) {
  --operations_;
  bytes_ -= operation.bytes();
  const auto item = items_.find(operation.identity());
  if (item->second.empty()) {
    items_.erase(item);
  } else {
    PendingWrite next = std::move(item->second.front());
    item->second.pop_front();
    route(std::move(next));
  }
  done_(operation.ticket, outcome, operation.body(), std::move(reason));
}

void GroupWriter::repeat_later(PendingWrite operation, int status, std::string_view message) {
  if (++operation.repeats > kMaxRepeats) {
    return stop(
        {Code::overloaded, fmt::format("{} answers {} to the same write again and again: {}",
                                       client_.endpoint().where(), status, message)});
  }
  const int64_t wait_ms = client::backoff_ms(operation.repeats, operation.ticket);
  later_.emplace(now_ms() + wait_ms, std::move(operation));
}

void GroupWriter::take_due() {
  const int64_t now = now_ms();
  while (!later_.empty() && later_.begin()->first <= now) {
    route(std::move(later_.extract(later_.begin()).mapped()));
  }
}

int GroupWriter::wait_until_due(int wait_ms) const {
  const int64_t now = now_ms();
  int64_t due = now + wait_ms;
  if (!later_.empty()) due = std::min(due, later_.begin()->first);
  for (const auto& [name, lane] : lanes_) {
    if (!lane.waiting.empty() && lane.not_before_ms > now) due = std::min(due, lane.not_before_ms);
  }
  return static_cast<int>(std::max<int64_t>(0, due - now));
}

void GroupWriter::stop(Error error) {
  if (!failed_) failed_ = std::move(error);
}

Status GroupWriter::turn(int wait_ms) {
  if (failed_) return pass(*failed_);
  before_turn();
  take_due();
  send_all();
  client_.turn(wait_until_due(wait_ms));
  if (failed_) return pass(*failed_);
  return {};
}

}  // namespace orrery::transfer
