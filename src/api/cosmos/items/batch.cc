// Several operations on items in one request: POST …/docs as a batch.
//
// An atomic batch is one transaction over one partition key. The partition's writer runs it whole
// and in order: its reads see its own writes, nobody sees a part of it, and when one operation
// fails none takes effect. In a bulk request each operation is a transaction of its own, with its
// own key. Those of one partition are queued together, run in order, and mostly share a commit.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/service.h"
#include "api/cosmos/wire/batch_body.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/etag.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

using partition::Write;

bool is_read(const BatchOperation& operation) {
  return operation.request.verb == ItemVerb::read;
}

// Whether the client said that it has the item in this state. Clients differ in which of the two
// conditions they send with a read.
bool is_known(const ItemRequest& read, const partition::Version& version) {
  const std::string_view condition =
      read.if_none_match.empty() ? read.if_match : read.if_none_match;
  if (condition.empty()) return false;
  auto known = parse_etag_condition(condition);
  return !known || *known == version;
}

BatchResult done_result(const BatchOperation& operation, bool minimal, partition::Written& written,
                        double charge) {
  BatchResult result;
  result.status = success_status(operation.request.verb, written.replaced);
  result.charge = charge;
  if (operation.request.verb == ItemVerb::remove) return result;
  result.version = written.version;
  if (is_read(operation) && is_known(operation.request, written.version)) {
    result.status = 304;
  } else if (is_read(operation) || !(minimal || operation.minimal)) {
    result.body = std::move(written.item.body);
  }
  return result;
}

void answer(Call& call, const std::vector<BatchResult>& results) {
  call.reply(batch_status(results), batch_json(results));
}

std::vector<BatchResult> all_but_one_skipped(size_t count, size_t failed, BatchResult why) {
  std::vector<BatchResult> results(count, skipped_result());
  results[failed] = std::move(why);
  return results;
}

}  // namespace

// A bulk request at work. Completions of its operations may come from several threads; each has its
// own place in `results` and `receipts`, and the last one answers.
struct Service::Bulk {
  Bulk(CallPtr call_in, cluster::RoutingPtr routing_in, BatchRequest request_in)
      : call(std::move(call_in)),
        routing(std::move(routing_in)),
        request(std::move(request_in)),
        writes(request.operations.size()),
        results(request.operations.size(), skipped_result()),
        receipts(request.operations.size()) {}

  CallPtr call;
  cluster::RoutingPtr routing;
  BatchRequest request;
  cluster::ReadTerms reads;
  uint64_t body_bytes_max = 0;
  std::vector<std::optional<Write>> writes;  // empty: refused before it began, see `results`
  std::vector<BatchResult> results;
  std::vector<std::optional<cluster::Receipt>> receipts;
  std::atomic<uint64_t> body_bytes{0};
  std::atomic<size_t> left{0};

  void complete(size_t i, cluster::WriteReply reply) {
    receipts[i] = reply.receipt;
    const BatchOperation& operation = request.operations[i];
    if (reply.error) {
      results[i] = failed_result(*reply.error, reply.receipt.charge);
      return;
    }
    results[i] = done_result(operation, wants_minimal(call->headers), reply.written.front(),
                             reply.receipt.charge);
    const uint64_t bytes = results[i].body.size();
    if (bytes == 0 || body_bytes.fetch_add(bytes) + bytes <= body_bytes_max) return;
    if (is_read(operation)) {
      results[i] = failed_result({.code = Code::too_large,
                                  .message = fmt::format("the answer would have more than {} bytes "
                                                         "with this item: read it again",
                                                         body_bytes_max)},
                                 reply.receipt.charge, kSubstatusAnswerTooLarge);
    } else {
      results[i].body.clear();
    }
  }

  void stop_after(size_t i) {
    std::fill(results.begin() + static_cast<long>(i) + 1, results.end(), skipped_result());
    finish();
  }

  void finish() {
    std::vector<cluster::Receipt> ranges;
    for (const auto& receipt : receipts) {
      if (!receipt) continue;
      auto same = std::ranges::find(ranges, receipt->range, &cluster::Receipt::range);
      if (same == ranges.end()) {
        ranges.push_back(*receipt);
        continue;
      }
      same->lsn = std::max(same->lsn, receipt->lsn);
      same->charge += receipt->charge;
      same->would_throttle_ms = std::max(same->would_throttle_ms, receipt->would_throttle_ms);
    }
    if (ranges.empty()) {
      call->charge(0);
    } else {
      call->receipt(ranges, *routing);
    }
    answer(*call, results);
  }
};

void Service::batch_items(CallPtr call) {
  cluster::RoutingPtr routing = container_of(call);
  if (!routing) return;
  auto request = parse_batch(call->body, engine_.limits());
  if (!request) return call->fail(request.error());
  cluster::ReadTerms reads;
  if (std::ranges::any_of(request->operations, is_read)) {
    auto demand = demand_of(call->headers.session_token);
    if (!demand) return call->fail(demand.error());
    auto factor = consistency_factor(call->headers.consistency, options_.consistency);
    if (!factor) return call->fail(factor.error());
    reads = {std::move(*demand), *factor};
  }
  if (is_true(call->headers.batch_atomic)) {
    call->operation = Operation::item_batch;
    return transact(std::move(call), std::move(routing), std::move(*request), std::move(reads));
  }
  call->operation = Operation::item_bulk;
  auto bulk = std::make_shared<Bulk>(std::move(call), std::move(routing), std::move(*request));
  bulk->reads = std::move(reads);
  bulk->body_bytes_max = engine_.limits().response_bytes;
  begin_bulk(bulk);
}

void Service::transact(CallPtr call, cluster::RoutingPtr routing, BatchRequest request,
                       cluster::ReadTerms reads) {
  const std::string_view key = call->headers.partition_key;
  if (auto placement = place_key(key, routing->container->spec.key, engine_.limits()); !placement) {
    return call->fail(placement.error());
  }
  std::vector<Write> transaction;
  transaction.reserve(request.operations.size());
  for (size_t i = 0; i < request.operations.size(); ++i) {
    request.operations[i].request.key = key;
    request.operations[i].request.may_rename = true;
    auto write = make_write(request.operations[i].request, *routing, engine_.limits());
    if (!write) {
      call->charge(0);
      return answer(*call, all_but_one_skipped(
                               request.operations.size(), i,
                               failed_result(write.error().error, 0, write.error().substatus)));
    }
    transaction.push_back(std::move(*write));
  }
  engine_.write(
      routing, std::move(transaction),
      [call = std::move(call), routing,
       request = std::move(request)](cluster::WriteReply reply) mutable {
        call->receipt(reply.receipt, *routing);
        if (reply.error && !reply.failed_write) return call->fail(*reply.error);
        const size_t count = request.operations.size();
        if (reply.error) {
          return answer(*call,
                        all_but_one_skipped(count, *reply.failed_write,
                                            failed_result(*reply.error, reply.receipt.charge)));
        }
        std::vector<BatchResult> results;
        results.reserve(count);
        for (size_t i = 0; i < count; ++i) {
          results.push_back(done_result(request.operations[i], wants_minimal(call->headers),
                                        reply.written[i], reply.charges[i]));
        }
        answer(*call, results);
      },
      std::move(reads));
}

void Service::begin_bulk(const std::shared_ptr<Bulk>& bulk) {
  Call& call = *bulk->call;
  // The range that the client believes all of it to be in; a header with a key narrows it.
  auto bounds = bounds_of(call.headers, *bulk->routing->container, engine_.limits());
  if (!bounds) return call.fail(bounds.error());
  for (size_t i = 0; i < bulk->writes.size(); ++i) {
    ItemRequest& request = bulk->request.operations[i].request;
    if (request.key.empty()) request.key = call.headers.partition_key;
    request.may_rename = true;
    auto write = make_write(request, *bulk->routing, engine_.limits());
    if (!write) {
      bulk->results[i] = failed_result(write.error().error, 0, write.error().substatus);
      continue;
    }
    if (!bounds->has(write->placement)) {
      return call.fail({.code = Code::moved,
                        .message = fmt::format("operation {} has the partition key {}, which is "
                                               "not in the range that the request names: read the "
                                               "partition key ranges again",
                                               i + 1, write->key_text)},
                       kSubstatusRangeGone);
    }
    bulk->writes[i] = std::move(*write);
  }
  if (equals_ignore_case(call.headers.batch_continue_on_error, "false")) {
    return go_on_with_bulk(bulk, 0);
  }
  const auto first =
      std::ranges::find_if(bulk->writes, [](const auto& write) { return write.has_value(); });
  if (first == bulk->writes.end()) return bulk->finish();
  // The first one alone: it opens the partition's files when nobody did, which the others could
  // overtake one another in waiting for.
  const auto i = static_cast<size_t>(first - bulk->writes.begin());
  submit_of_bulk(bulk, i, [this, bulk, i] { submit_rest_of_bulk(bulk, i + 1); });
}

void Service::submit_of_bulk(const std::shared_ptr<Bulk>& bulk, size_t i,
                             std::move_only_function<void()> then) {
  std::vector<Write> transaction;
  transaction.push_back(std::move(*bulk->writes[i]));
  engine_.write(
      bulk->routing, std::move(transaction),
      [bulk, i, then = std::move(then)](cluster::WriteReply reply) mutable {
        bulk->complete(i, std::move(reply));
        then();
      },
      bulk->reads);
}

void Service::submit_rest_of_bulk(const std::shared_ptr<Bulk>& bulk, size_t from) {
  // One more than there are, so that nobody answers before all are queued.
  bulk->left = bulk->writes.size() - from + 1;
  auto one_done = [](Bulk& done) {
    if (done.left.fetch_sub(1) == 1) done.finish();
  };
  for (size_t i = from; i < bulk->writes.size(); ++i) {
    if (bulk->writes[i]) {
      submit_of_bulk(bulk, i, [bulk, one_done] { one_done(*bulk); });
    } else {
      one_done(*bulk);
    }
  }
  one_done(*bulk);
}

// One after the other, until one fails.
void Service::go_on_with_bulk(const std::shared_ptr<Bulk>& bulk, size_t i) {
  if (i == bulk->writes.size()) return bulk->finish();
  if (!bulk->writes[i]) return bulk->stop_after(i);
  submit_of_bulk(bulk, i, [this, bulk, i] {
    if (bulk->results[i].status >= 400) return bulk->stop_after(i);
    go_on_with_bulk(bulk, i + 1);
  });
}

}  // namespace orrery::cosmos
