// A bulk request at work: each of its operations is a transaction of its own, with its own key.
// Those of one partition are queued together, run in order, and mostly share a commit.
//
// Threading: completions of the operations may come from several threads; each has its own place in
// `results_` and `receipts_`, and the last one answers. The completions keep the object alive.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/cosmos/call.h"
#include "api/cosmos/wire/batch_body.h"
#include "cluster/engine.h"

namespace orrery::cosmos {

class Bulk : public std::enable_shared_from_this<Bulk> {
  struct Private {};  // made by begin() alone

 public:
  // Answers the call when all operations are done, or before any when the request is wrong.
  static void begin(cluster::Engine& engine, CallPtr call, cluster::RoutingPtr routing,
                    BatchRequest request, cluster::ReadTerms reads);

  Bulk(Private, cluster::Engine& engine, CallPtr call, cluster::RoutingPtr routing,
       BatchRequest request, cluster::ReadTerms reads);

 private:
  // False: the call was refused and answered.
  bool make_writes();
  // One operation; `then` is called when it is complete.
  void submit(size_t i, std::move_only_function<void()> then);
  void submit_all_from(size_t from);
  // One after the other from this one on, until one fails.
  void submit_in_turn(size_t i);
  void complete(size_t i, cluster::WriteReply reply);
  void stop_after(size_t i);
  void answer();

  cluster::Engine& engine_;
  const CallPtr call_;
  const cluster::RoutingPtr routing_;
  BatchRequest request_;
  const cluster::ReadTerms reads_;
  const uint64_t body_bytes_max_;
  std::vector<std::optional<partition::Write>> writes_;  // empty: refused, see `results_`
  std::vector<BatchResult> results_;
  std::vector<std::optional<cluster::Receipt>> receipts_;
  std::atomic<uint64_t> body_bytes_{0};
  std::atomic<size_t> left_{0};
};

}  // namespace orrery::cosmos
