// See batch.h.
#include "api/cosmos/items/batch.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/cosmos/items/batch_results.h"
#include "api/cosmos/items/bulk.h"
#include "api/cosmos/items/read_terms.h"
#include "api/cosmos/resources/lookup.h"
#include "api/cosmos/wire/batch_body.h"

namespace orrery::cosmos {
namespace {

std::vector<BatchResult> all_but_one_skipped(size_t count, size_t failed, BatchResult why) {
  std::vector<BatchResult> results(count, skipped_result());
  results[failed] = std::move(why);
  return results;
}

void answer_transaction(Call& call, const cluster::Routing& routing, const BatchRequest& request,
                        cluster::WriteReply reply) {
  call.receipt(reply.receipt, routing);
  if (reply.error && !reply.failed_write) return call.fail(*reply.error);
  const size_t count = request.operations.size();
  if (reply.error) {
    return answer_results(call, request.form,
                          all_but_one_skipped(count, *reply.failed_write,
                                              failed_result(*reply.error, reply.receipt.charge)));
  }
  std::vector<BatchResult> results;
  results.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    results.push_back(done_result(request.operations[i], wants_minimal(call.headers),
                                  reply.written[i], reply.charges[i]));
  }
  answer_results(call, request.form, results);
}

void transact(const HandlerContext& context, CallPtr call, cluster::RoutingPtr routing,
              BatchRequest request, cluster::ReadTerms reads) {
  const Limits& limits = context.engine.limits();
  const std::string_view key = call->headers.partition_key;
  if (auto placement = place_key(key, routing->container->spec.key, limits); !placement) {
    return call->fail(placement.error());
  }
  std::vector<partition::Write> transaction;
  transaction.reserve(request.operations.size());
  for (size_t i = 0; i < request.operations.size(); ++i) {
    request.operations[i].request.key = key;
    request.operations[i].request.may_rename = true;
    auto write = make_write(request.operations[i].request, *routing, limits);
    if (!write) {
      call->charge(0);
      return answer_results(
          *call, request.form,
          all_but_one_skipped(request.operations.size(), i,
                              failed_result(write.error().error, 0, write.error().substatus)));
    }
    transaction.push_back(std::move(*write));
  }
  context.engine.write(
      routing, std::move(transaction),
      [call = std::move(call), routing,
       request = std::move(request)](cluster::WriteReply reply) mutable {
        answer_transaction(*call, *routing, request, std::move(reply));
      },
      std::move(reads));
}

}  // namespace

void handle_batch(const HandlerContext& context, CallPtr call) {
  if (has_triggers(call->headers)) {
    return call->fail(Error{.code = Code::invalid,
                            .message =
                                "One of the specified inputs is invalid: a batch runs no triggers. "
                                "Leave them out, or send its operations one by one"});
  }
  cluster::RoutingPtr routing = container_of(context, call);
  if (!routing) return;
  auto request = parse_batch(call->body, context.engine.limits());
  if (!request) return call->fail(request.error());
  cluster::ReadTerms reads;
  if (std::ranges::any_of(request->operations, is_read)) {
    auto terms = read_terms_of(call->headers, context.options.consistency);
    if (!terms) return call->fail(terms.error());
    reads = std::move(*terms);
  }
  if (is_true(call->headers.batch_atomic)) {
    call->operation = Operation::item_batch;
    return transact(context, std::move(call), std::move(routing), std::move(*request),
                    std::move(reads));
  }
  call->operation = Operation::item_bulk;
  Bulk::begin(context.engine, std::move(call), std::move(routing), std::move(*request),
              std::move(reads));
}

}  // namespace orrery::cosmos
