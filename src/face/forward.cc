// See forward.h.
#include "face/forward.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>

#include "face/face.h"

namespace orrery::face {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kThreads = 4;
// For a copy of the catalog that is behind another node's; it is usually 0.2 s behind at most.
constexpr milliseconds kCatalogWaitMax{2000};
constexpr milliseconds kStopNoticedWithin{100};
constexpr milliseconds kPauseFirst{5};
// How soon it is noticed that a client has gone.
constexpr milliseconds kUnwantedEvery{100};
constexpr milliseconds kPauseMax{750};
// For so long an owner that gives no answer is asked again. One that is cut off is replaced by
// then.
constexpr milliseconds kAskAgainFor{5000};

std::string random_key() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}-", random(), random());
}

// A request that was received, kept until it is answered.
class Received final : public net::ResponseSink {
 public:
  Received(peer::IncomingRequest incoming, peer::ForwardDone done, cluster::Placement& placement,
           std::atomic<uint64_t>& moved)
      : incoming_(std::move(incoming)),
        done_(std::move(done)),
        placement_(placement),
        moved_(moved) {
    request_.method = incoming_.method;
    request_.target = incoming_.target;
    request_.headers.reserve(incoming_.headers.size());
    for (const auto& [name, value] : incoming_.headers) request_.headers.push_back({name, value});
    request_.body = incoming_.body;
    request_.tls = incoming_.tls;
    request_.peer = incoming_.client;
  }
  const net::Request& request() const { return request_; }
  Forwarded forwarded() const {
    return {incoming_.principal, incoming_.request_id, incoming_.deadline};
  }

  void send(net::Response&& response) noexcept override {
    peer::ForwardAnswer answer;
    answer.moved = response.status == kMovedStatus;
    if (answer.moved) moved_.fetch_add(1, std::memory_order_relaxed);
    answer.status = static_cast<uint32_t>(response.status);
    answer.headers = std::move(response.headers);
    answer.body = std::move(response.body);
    answer.catalog_lsn = placement_.catalog_lsn();
    done_(std::move(answer));
  }
  bool is_gone() const override {
    return incoming_.is_cancelled && incoming_.is_cancelled->load(std::memory_order_relaxed);
  }
  void abandon() noexcept override {
    done_ = nullptr;  // which tells the sender
  }

 private:
  const peer::IncomingRequest incoming_;
  net::Request request_;
  peer::ForwardDone done_;
  cluster::Placement& placement_;
  std::atomic<uint64_t>& moved_;
};

}  // namespace

Forwarder::Forwarder(cluster::Placement& placement)
    : placement_(placement),
      own_keys_(random_key()),
      pool_("forwarder", kThreads),
      timer_("forwarder timer", 1) {
  timer_.post([this] { run_timer(); });
}

Forwarder::~Forwarder() {
  stop();
}

void Forwarder::stop() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  timer_.stop();
  pool_.stop();
}

void Forwarder::send(const std::string& address, peer::OutgoingRequest request, TimePoint deadline,
                     std::function<bool()> is_wanted, peer::ForwardDone done) {
  request.catalog_lsn = placement_.catalog_lsn();
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
  if (left <= milliseconds(0)) {
    return done(fail(Code::overloaded,
                     fmt::format("the request's time was over before it was sent to {}", address)));
  }
  UnderWay under_way{address, std::move(is_wanted), {}};
  const std::stop_token stop = under_way.stop.get_token();
  uint64_t number = 0;
  {
    MutexLock lock(mutex_);
    number = ++last_sent_;
    under_way_.emplace(number, std::move(under_way));
    if (under_way_.size() == 1) wake_.notify_all();
  }
  link_->forward(
      address, request, left, stop,
      [this, number, done = std::move(done)](Result<peer::ForwardAnswer> answer) mutable {
        auto& count = answer ? (answer->moved ? counts_.moved : counts_.answered)
                      : answer.error().code == Code::internal ? counts_.unknown
                                                              : counts_.not_run;
        count.fetch_add(1, std::memory_order_relaxed);
        {
          MutexLock lock(mutex_);
          under_way_.erase(number);
        }
        done(std::move(answer));
      });
}

void Forwarder::tell_apart(Sending& sending, peer::OutgoingRequest& request) {
  const auto now = steady_clock::now();
  if (sending.key.empty()) {
    sending = {.key = fmt::format("{}{}", own_keys_, ++last_key_), .first_sent = now};
  } else {
    // 0 would be one that is sent for the first time.
    request.sent_before = std::max(
        milliseconds(1), std::chrono::duration_cast<milliseconds>(now - sending.first_sent));
  }
  request.sending = sending.key;
}

std::optional<milliseconds> Forwarder::ask_again(Sending& sending, const std::string& address,
                                                 TimePoint deadline) const {
  const auto pause = pause_before(sending.asked_again + 3);
  const auto then = steady_clock::now() + pause;
  if (then >= deadline || then - sending.first_sent > kAskAgainFor) return std::nullopt;
  // A node that stops has no link any more: every question would fail at once.
  if (is_stopping() || !placement_.has_node(address)) return std::nullopt;
  ++sending.asked_again;
  return pause;
}

milliseconds Forwarder::pause_before(int tries) {
  return std::min(kPauseMax, kPauseFirst * (1 << std::min(tries, 10)));
}

void Forwarder::later(milliseconds pause, uint64_t catalog_lsn, WorkerPool::Job job) {
  WorkerPool::Job whole = [this, catalog_lsn, job = std::move(job)]() mutable {
    wait_for_catalog(catalog_lsn);
    job();
  };
  if (pause > milliseconds(0)) {
    MutexLock lock(mutex_);
    if (!stopping_) {
      timed_.emplace(steady_clock::now() + pause, std::move(whole));
      wake_.notify_all();
      return;
    }
  }
  pool_.post(std::move(whole));
}

// If it does not come in time, or this node stops, whoever looks finds what there is.
void Forwarder::wait_for_catalog(uint64_t lsn) {
  const auto until = steady_clock::now() + kCatalogWaitMax;
  while (lsn > placement_.catalog_lsn() && !is_stopping()) {
    const auto now = steady_clock::now();
    if (now >= until) return;
    (void)placement_.wait_for_catalog(lsn, std::min(until, now + kStopNoticedWithin));
  }
}

bool Forwarder::is_stopping() const {
  const MutexLock lock(mutex_);
  return stopping_;
}

void Forwarder::run_timer() {
  MutexLock lock(mutex_);
  while (!stopping_ || !timed_.empty()) {
    const auto now = steady_clock::now();
    while (!timed_.empty() && (stopping_ || timed_.begin()->first <= now)) {
      pool_.post(std::move(timed_.begin()->second));
      timed_.erase(timed_.begin());
    }
    if (stopping_) return;
    stop_unwanted();
    if (!timed_.empty()) {
      wake_.wait_for(mutex_,
                     std::min<steady_clock::duration>(timed_.begin()->first - now, kUnwantedEvery));
    } else if (!under_way_.empty()) {
      wake_.wait_for(mutex_, kUnwantedEvery);
    } else {
      wake_.wait(mutex_);
    }
  }
}

// They are told without the lock: the end of a request takes it.
void Forwarder::stop_unwanted() {
  std::vector<std::stop_source> unwanted;
  for (const auto& [number, one] : under_way_) {
    if (one.stop.stop_requested()) continue;
    if (!one.is_wanted() || !placement_.has_node(one.address)) unwanted.push_back(one.stop);
  }
  if (unwanted.empty()) return;
  mutex_.unlock();
  for (std::stop_source& one : unwanted) one.request_stop();
  mutex_.lock();
}

void Forwarder::receive(peer::IncomingRequest request, peer::ForwardDone done) {
  counts_.received.fetch_add(1, std::memory_order_relaxed);
  if (!request.sending.empty()) {
    done = remembered_.begin(request.sending, request.sent_before, std::move(done));
    if (!done) return;
  }
  // The sender knows of something in the catalog that this node has not heard of yet.
  if (const uint64_t wanted = request.catalog_lsn; wanted > placement_.catalog_lsn()) {
    return later(milliseconds(0), wanted,
                 [this, request = std::move(request), done = std::move(done)]() mutable {
                   dispatch(std::move(request), std::move(done));
                 });
  }
  dispatch(std::move(request), std::move(done));
}

void Forwarder::dispatch(peer::IncomingRequest request, peer::ForwardDone done) {
  const auto found = std::ranges::find(faces_, std::string_view(request.face), &Face::name);
  if (found == faces_.end()) {
    return done(fail(Code::unsupported,
                     fmt::format("this node has no face '{}' to run a request of: start all nodes "
                                 "with the same faces",
                                 request.face)));
  }
  auto received = std::make_shared<Received>(std::move(request), std::move(done), placement_,
                                             counts_.received_moved);
  const Forwarded forwarded = received->forwarded();
  const net::Request& shown = received->request();
  (*found)->handle_forwarded(shown, forwarded, net::Responder(std::move(received)));
}

void Forwarder::add_metrics(MetricFamilies& all) const {
  using prometheus::MetricType;
  auto sent = family("orrery_forwarded_requests_total",
                     "Requests sent to other nodes, by what came of it.", MetricType::Counter);
  const auto add = [&](const char* outcome, const std::atomic<uint64_t>& count) {
    add_line(sent, {{"outcome", outcome}}, static_cast<double>(count.load()));
  };
  add("answered", counts_.answered);
  add("moved", counts_.moved);
  add("not_run", counts_.not_run);
  add("unknown", counts_.unknown);
  all.push_back(std::move(sent));
  auto received = family("orrery_forwarded_received_total", "Requests received from other nodes.",
                         MetricType::Counter);
  add_line(received, {}, static_cast<double>(counts_.received.load()));
  all.push_back(std::move(received));
  auto moved =
      family("orrery_forwarded_received_moved_total",
             "Of these, sent back: what they concern is not at this node.", MetricType::Counter);
  add_line(moved, {}, static_cast<double>(counts_.received_moved.load()));
  all.push_back(std::move(moved));
  const peer::NodeCounts peers = link_->counts();
  const auto one = [&](const char* name, const char* help, MetricType type, uint64_t count) {
    auto made = family(name, help, type);
    add_line(made, {}, static_cast<double>(count));
    all.push_back(std::move(made));
  };
  one("orrery_peer_calls_sent_total", "Calls to other nodes, forwarded requests included.",
      MetricType::Counter, peers.sent);
  one("orrery_peer_calls_failed_total", "Of these, without an answer.", MetricType::Counter,
      peers.sent_failed);
  one("orrery_peer_calls_sent_now", "Calls to other nodes under way.", MetricType::Gauge,
      peers.sent_under_way);
  one("orrery_peer_calls_received_total", "Calls of other nodes.", MetricType::Counter,
      peers.received);
  one("orrery_peer_calls_refused_total", "Of these, refused: too many were under way.",
      MetricType::Counter, peers.refused);
  one("orrery_peer_calls_received_now", "Calls of other nodes under way.", MetricType::Gauge,
      peers.received_under_way);
  one("orrery_peer_channels", "Nodes that this one has a channel to.", MetricType::Gauge,
      peers.channels);
}

}  // namespace orrery::face
