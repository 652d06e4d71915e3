// See bulk.h.
#include "api/cosmos/items/bulk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/cosmos/items/batch_results.h"
#include "api/cosmos/wire/error_body.h"
#include "api/cosmos/wire/feed_bounds.h"
#include "base/bytes.h"

namespace orrery::cosmos {

void Bulk::begin(cluster::Engine& engine, CallPtr call, cluster::RoutingPtr routing,
                 BatchRequest request, cluster::ReadTerms reads) {
  const auto bulk = std::make_shared<Bulk>(Private{}, engine, std::move(call), std::move(routing),
                                           std::move(request), std::move(reads));
  if (!bulk->make_writes()) return;
  if (equals_ignore_case(bulk->call_->headers.batch_continue_on_error, "false")) {
    return bulk->submit_in_turn(0);
  }
  const auto& writes = bulk->writes_;
  const auto first =
      std::ranges::find_if(writes, [](const auto& write) { return write.has_value(); });
  if (first == writes.end()) return bulk->answer();
  // The first one alone: it opens the partition's files when nobody did, which the others could
  // overtake one another in waiting for.
  const auto i = static_cast<size_t>(first - writes.begin());
  bulk->submit(i, [bulk, i] { bulk->submit_all_from(i + 1); });
}

Bulk::Bulk(Private, cluster::Engine& engine, CallPtr call, cluster::RoutingPtr routing,
           BatchRequest request, cluster::ReadTerms reads)
    : engine_(engine),
      call_(std::move(call)),
      routing_(std::move(routing)),
      request_(std::move(request)),
      reads_(std::move(reads)),
      body_bytes_max_(engine.limits().response_bytes),
      writes_(request_.operations.size()),
      results_(request_.operations.size(), skipped_result()),
      receipts_(request_.operations.size()) {}

bool Bulk::make_writes() {
  Call& call = *call_;
  // The range that the client believes all of it to be in; a header with a key narrows it.
  auto bounds = bounds_of(call.headers, *routing_->container, engine_.limits());
  if (!bounds) {
    call.fail(bounds.error());
    return false;
  }
  for (size_t i = 0; i < writes_.size(); ++i) {
    ItemRequest& request = request_.operations[i].request;
    if (request.key.empty()) request.key = call.headers.partition_key;
    request.may_rename = true;
    auto write = make_write(request, *routing_, engine_.limits());
    if (!write) {
      results_[i] = failed_result(write.error().error, 0, write.error().substatus);
      continue;
    }
    if (!bounds->has(write->placement)) {
      call.fail({.code = Code::moved,
                 .message = fmt::format("operation {} has the partition key {}, which is "
                                        "not in the range that the request names: read the "
                                        "partition key ranges again",
                                        i + 1, write->key_text)},
                kSubstatusRangeGone);
      return false;
    }
    writes_[i] = std::move(*write);
  }
  return true;
}

void Bulk::submit(size_t i, std::move_only_function<void()> then) {
  std::vector<partition::Write> transaction;
  transaction.push_back(std::move(*writes_[i]));
  engine_.write(
      routing_, std::move(transaction),
      [bulk = shared_from_this(), i, then = std::move(then)](cluster::WriteReply reply) mutable {
        bulk->complete(i, std::move(reply));
        then();
      },
      reads_);
}

void Bulk::submit_all_from(size_t from) {
  // One more than there are, so that nobody answers before all are queued.
  left_ = writes_.size() - from + 1;
  const auto one_done = [](Bulk& bulk) {
    if (bulk.left_.fetch_sub(1) == 1) bulk.answer();
  };
  for (size_t i = from; i < writes_.size(); ++i) {
    if (writes_[i]) {
      submit(i, [bulk = shared_from_this(), one_done] { one_done(*bulk); });
    } else {
      one_done(*this);
    }
  }
  one_done(*this);
}

void Bulk::submit_in_turn(size_t i) {
  if (i == writes_.size()) return answer();
  if (!writes_[i]) return stop_after(i);
  submit(i, [bulk = shared_from_this(), i] {
    if (bulk->results_[i].status >= 400) return bulk->stop_after(i);
    bulk->submit_in_turn(i + 1);
  });
}

void Bulk::complete(size_t i, cluster::WriteReply reply) {
  receipts_[i] = reply.receipt;
  const BatchOperation& operation = request_.operations[i];
  if (reply.error) {
    results_[i] = failed_result(*reply.error, reply.receipt.charge);
    return;
  }
  results_[i] = done_result(operation, wants_minimal(call_->headers), reply.written.front(),
                            reply.receipt.charge);
  const uint64_t bytes = results_[i].body.size();
  if (bytes == 0 || body_bytes_.fetch_add(bytes) + bytes <= body_bytes_max_) return;
  if (is_read(operation)) {
    results_[i] = failed_result({.code = Code::too_large,
                                 .message = fmt::format("the answer would have more than {} bytes "
                                                        "with this item: read it again",
                                                        body_bytes_max_)},
                                reply.receipt.charge, kSubstatusAnswerTooLarge);
  } else {
    results_[i].body.clear();
  }
}

void Bulk::stop_after(size_t i) {
  std::fill(results_.begin() + static_cast<long>(i) + 1, results_.end(), skipped_result());
  answer();
}

void Bulk::answer() {
  std::vector<cluster::Receipt> ranges;
  for (const auto& receipt : receipts_) {
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
    call_->charge(0);
  } else {
    call_->receipt(ranges, *routing_);
  }
  constexpr int kThrottled = 429;
  call_->record_throttled(
      static_cast<size_t>(std::ranges::count(results_, kThrottled, &BatchResult::status)));
  answer_results(*call_, request_.form, results_);
}

}  // namespace orrery::cosmos
