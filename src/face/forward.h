// Requests between nodes, for all faces: a face finds out what a request concerns, and has it sent
// to the node that has that. There the same face runs it as already authorized. A server alone has
// no Forwarder.
//
// One hop: a node that gets a request and does not have what it concerns answers `moved`
// (kMovedStatus), and the sender looks again where it is to go. That is safe to repeat, and so is
// what was not sent at all. A request that was sent and has no answer may have been run. A read is
// repeated all the same. About a write its owner is asked again, which remembers what it answered
// (remembered_answers.h); when the owner is gone, nobody can tell.
//
// What was sent to a node whose lease is over is not waited for: it may never answer.
//
// Threading: any thread. `done` and handle_forwarded() run on threads of the network and must not
// block; jobs of later() may.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "cluster/placement.h"
#include "face/metric_families.h"
#include "face/remembered_answers.h"
#include "net/http.h"
#include "peer/forward.h"
#include "peer/link.h"

namespace orrery::face {

class Face;

// The status of a response by which a face says that this node does not have what a forwarded
// request concerns, and that it has done nothing.
inline constexpr int kMovedStatus = 0;
// How often a request is sent before its sender gives up; with the pauses in between that is longer
// than a node's partitions take to be served elsewhere.
inline constexpr int kForwardTriesMax = 16;
inline constexpr std::chrono::seconds kForwardTimeMax{30};

// Of a request that another node sent.
struct Forwarded {
  std::string_view principal;  // by what the sender authorized it; empty: this node is to do that
  std::string_view request_id;
  std::chrono::steady_clock::time_point deadline;
};

// One sending of a write, for as long as nobody knows what came of it.
struct Sending {
  std::string key;  // empty: not sent yet, or known not to have been run
  std::chrono::steady_clock::time_point first_sent;
  int asked_again = 0;
};

class Forwarder final : public peer::ForwardReceiver {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit Forwarder(cluster::Placement& placement);
  ~Forwarder() override;

  // Before faces are made. Both outlive the requests. `calls`: for what faces ask other nodes
  // beside requests; null: nothing is asked.
  void set_link(peer::ForwardLink& link, peer::Link* calls = nullptr) {
    link_ = &link;
    calls_ = calls;
  }
  peer::Link* calls() const { return calls_; }
  void add_face(Face& face) { faces_.push_back(&face); }

  cluster::Placement& placement() const { return placement_; }

  // Sends a request, which is told as of which catalog it comes. Errors are those of
  // peer::ForwardLink. `is_wanted` is asked now and then, until `done` is called, whether anybody
  // still wants the answer; it must not block.
  void send(const std::string& address, peer::OutgoingRequest request, TimePoint deadline,
            std::function<bool()> is_wanted, peer::ForwardDone done);
  // Waits until this node's copy of the catalog is as of `catalog_lsn`, but not for long, and runs
  // the job after `pause`.
  void later(std::chrono::milliseconds pause, uint64_t catalog_lsn, WorkerPool::Job job);
  // Of the next request that is a write: makes it one that can be asked for again.
  void tell_apart(Sending& sending, peer::OutgoingRequest& request);
  // About a write whose answer was lost: whether its owner is to be asked again, and then after
  // which pause.
  std::optional<std::chrono::milliseconds> ask_again(Sending& sending, const std::string& address,
                                                     TimePoint deadline) const;
  // How long to wait before a request is sent for the nth time.
  static std::chrono::milliseconds pause_before(int tries);

  void receive(peer::IncomingRequest request, peer::ForwardDone done) override;

  void add_metrics(MetricFamilies& all) const;
  // Runs what waits, without its pause and without waiting for a newer catalog. After the link was
  // stopped: nothing is received or answered any more.
  void stop();

 private:
  void dispatch(peer::IncomingRequest request, peer::ForwardDone done);
  void wait_for_catalog(uint64_t lsn);
  bool is_stopping() const;
  void run_timer();
  void stop_unwanted() ORRERY_REQUIRES(mutex_);

  cluster::Placement& placement_;
  peer::ForwardLink* link_ = nullptr;
  peer::Link* calls_ = nullptr;
  std::vector<Face*> faces_;
  struct Counts {
    std::atomic<uint64_t> answered{0};
    std::atomic<uint64_t> moved{0};
    std::atomic<uint64_t> not_run{0};
    std::atomic<uint64_t> unknown{0};
    std::atomic<uint64_t> received{0};
    std::atomic<uint64_t> received_moved{0};
  };
  Counts counts_;
  const std::string own_keys_;  // what keys of this process begin with
  std::atomic<uint64_t> last_key_{0};
  RememberedAnswers remembered_;

  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ ORRERY_GUARDED_BY(mutex_) = false;
  struct UnderWay {
    std::string address;
    std::function<bool()> is_wanted;
    std::stop_source stop;
  };
  uint64_t last_sent_ ORRERY_GUARDED_BY(mutex_) = 0;
  std::map<uint64_t, UnderWay> under_way_ ORRERY_GUARDED_BY(mutex_);
  std::multimap<TimePoint, WorkerPool::Job> timed_ ORRERY_GUARDED_BY(mutex_);
  WorkerPool pool_;   // for what may block
  WorkerPool timer_;  // last: its one job uses the rest
};

}  // namespace orrery::face
