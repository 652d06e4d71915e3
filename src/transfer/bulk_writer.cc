// See bulk_writer.h.
#include "transfer/bulk_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::transfer {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr int64_t kRangesAgainMs = 100;

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

BulkWriter::BulkWriter(client::Client& client, client::ContainerInfo container,
                       std::vector<client::KeyRange> ranges, WriteMode mode, size_t requests_max,
                       Done done)
    : GroupWriter(client, mode, requests_max, std::move(done)),
      container_(std::move(container)),
      ranges_(std::move(ranges)) {}

Result<std::unique_ptr<BulkWriter>> BulkWriter::open(client::Client& client,
                                                     client::ContainerInfo container,
                                                     WriteMode mode, size_t requests_max,
                                                     Done done) {
  auto ranges = client::read_ranges(client, container.name);
  if (!ranges) return pass(ranges.error());
  return std::unique_ptr<BulkWriter>(new BulkWriter(
      client, std::move(container), std::move(*ranges), mode, requests_max, std::move(done)));
}

MakeWriter bulk_into(client::Client& client, client::ContainerInfo container, WriteMode mode,
                     size_t requests_max) {
  return [&client, container = std::move(container), mode,
          requests_max](GroupWriter::Done done) -> Result<std::unique_ptr<GroupWriter>> {
    return BulkWriter::open(client, container, mode, requests_max, std::move(done));
  };
}

Status BulkWriter::take(std::string_view record, std::string_view id_seed, uint64_t ticket) {
  auto item = prepare_item(record, container_.key, id_seed);
  if (!item) return pass(item.error());
  put(std::move(*item), ticket);
  return {};
}

void BulkWriter::put(PreparedItem item, uint64_t ticket) {
  PendingWrite operation;
  operation.ticket = ticket;
  operation.text =
      fmt::format("{{\"operationType\":\"{}\"{}{},\"resourceBody\":",
                  mode() == WriteMode::upsert ? "Upsert" : "Create",
                  item.key_json.empty() ? "" : ",\"partitionKey\":",
                  item.key_json.empty() ? std::string() : value::quoted(item.key_json));
  operation.body_at = operation.text.size();
  operation.body_size = item.body.size();
  operation.text += item.body;
  operation.text += '}';
  operation.id = std::move(item.id);
  operation.key = std::move(item.key_json);
  operation.placement = std::move(item.key_hex);
  add(std::move(operation));
}

void BulkWriter::remove(std::string id, std::string key_json, std::string key_hex,
                        uint64_t ticket) {
  PendingWrite operation;
  operation.ticket = ticket;
  operation.text = fmt::format("{{\"operationType\":\"Delete\",\"id\":{}{}{}}}", value::quoted(id),
                               key_json.empty() ? "" : ",\"partitionKey\":",
                               key_json.empty() ? std::string() : value::quoted(key_json));
  operation.id = std::move(id);
  operation.key = std::move(key_json);
  operation.placement = std::move(key_hex);
  add(std::move(operation));
}

// Into the lane of its range.
void BulkWriter::route(PendingWrite operation) {
  if (ranges_are_old_) {
    unrouted_.push_back(std::move(operation));
    return;
  }
  auto range = std::ranges::upper_bound(ranges_, operation.placement, {}, &client::KeyRange::min);
  if (range != ranges_.begin()) --range;
  wait_in(range->id, {}, std::move(operation));
}

client::Request BulkWriter::request_of(const Group& group) const {
  client::Request request = client::container_request(container_.name, "POST", "docs");
  request.headers = {{"content-type", "application/json"},
                     {"x-ms-cosmos-is-batch-request", "True"},
                     {"x-ms-cosmos-batch-atomic", "False"},
                     {"x-ms-cosmos-batch-continue-on-error", "True"},
                     {"x-ms-documentdb-partitionkeyrangeid", group.lane},
                     {"prefer", "return=minimal"}};
  request.body = "[";
  for (const PendingWrite& operation : group.operations) {
    if (request.body.size() > 1) request.body += ',';
    request.body += operation.text;
  }
  request.body += ']';
  return request;
}

void BulkWriter::answer(Group group, client::Response response) {
  if (response.is_success()) return results(std::move(group), response);
  if (response.status == 410) return read_ranges_again(std::move(group.operations));
  const bool may_be_one = response.status == 400 || response.status == 413;
  if (may_be_one && group.operations.size() == 1) {
    return finish(group.operations.front(), Outcome::rejected,
                  fmt::format("the server refuses it: {}", response.message()));
  }
  if (may_be_one) return each_alone(std::move(group));
  stop(client::succeeded(std::move(response), client().endpoint().where()).error());
}

void BulkWriter::results(Group group, const client::Response& response) {
  auto document = JsonDocument::parse(response.body);
  if (!document || document->root().type != Type::array ||
      document->root().count != group.operations.size()) {
    return stop({Code::internal,
                 fmt::format("the answer of {} to a bulk request has not one result for each "
                             "operation",
                             client().endpoint().where())});
  }
  size_t at = 0;
  size_t throttled = 0;
  int64_t wait_ms = 0;
  for (const Node* one = document->root().first; one != nullptr; one = one->next) {
    PendingWrite& operation = group.operations[at++];
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
  if (throttled == 0) return speed_up(group.lane);
  count_throttled(throttled);
  slow_down(group.lane, at - throttled, wait_ms);
}

bool BulkWriter::moves_on(PendingWrite& operation, int status) {
  if (status != 410) return false;
  std::vector<PendingWrite> one;
  one.push_back(std::move(operation));
  read_ranges_again(std::move(one));
  return true;
}

client::Request BulkWriter::read_request(const PendingWrite& operation) const {
  client::Request request;
  request.target =
      fmt::format("{}/docs/{}", container_.name.target(), percent_encode(operation.id));
  request.type = "docs";
  request.link = fmt::format("{}/docs/{}", container_.name.link(), operation.id);
  if (!operation.key.empty()) {
    request.headers.emplace_back("x-ms-documentdb-partitionkey", ascii_json(operation.key));
  }
  return request;
}

bool BulkWriter::says_the_same(std::string_view theirs, std::string_view ours) const {
  auto first = JsonDocument::parse(theirs);
  auto second = JsonDocument::parse(ours);
  return first && second && content_hash(first->root()) == content_hash(second->root());
}

void BulkWriter::read_ranges_again(std::vector<PendingWrite> unrouted) {
  if (!ranges_are_old_) {
    ranges_are_old_ = true;
    ask_ranges_ms_ = now_ms() + kRangesAgainMs;
    // What waits for ranges that may be gone is sorted anew.
    unrouted_ = take_waiting();
  }
  std::ranges::move(unrouted, std::back_inserter(unrouted_));
}

void BulkWriter::before_turn() {
  if (!ranges_are_old_ || is_asking_ranges_ || now_ms() < ask_ranges_ms_) return;
  is_asking_ranges_ = true;
  submit<BulkWriter>(client::container_request(container_.name, "GET", "pkranges"),
                     [](BulkWriter& self, Result<client::Response> response) {
                       self.is_asking_ranges_ = false;
                       auto ranges =
                           client::ranges_of(std::move(response), self.client().endpoint().where(),
                                             self.container_.name);
                       if (!ranges) return self.stop(ranges.error());
                       self.ranges_ = std::move(*ranges);
                       self.ranges_are_old_ = false;
                       for (PendingWrite& one : std::exchange(self.unrouted_, {}))
                         self.route(std::move(one));
                     });
}

}  // namespace orrery::transfer
