// See client.h. Requests wait in a queue until a connection is free, are handed to libcurl's multi
// interface, and come back through its messages; those to be repeated wait in a heap by time.
#include "client/client.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "account/keys.h"
#include "base/clock.h"
#include "client/curl_handles.h"
#include "client/exchange.h"
#include "client/retry.h"

namespace orrery::client {
namespace {

constexpr int kStopLookMs = 100;  // how often a call looks whether it was stopped

using Multi = std::unique_ptr<CURLM, Freer<curl_multi_cleanup>>;

struct Job {
  Request request;
  Client::Done done;
  Attempts attempts;
  Exchange exchange;
};
using JobPtr = std::unique_ptr<Job>;

struct Later {
  int64_t at_ms;
  uint64_t order;
  JobPtr job;
  bool operator<(const Later& other) const {  // the earliest is the top of the heap
    return std::pair(at_ms, order) > std::pair(other.at_ms, other.order);
  }
};

}  // namespace

struct Client::Impl {
  Impl(Endpoint its_endpoint, ClientOptions its_options, account::KeyRing its_signer,
       Multi its_multi)
      : endpoint(std::move(its_endpoint)),
        options(std::move(its_options)),
        signer(std::move(its_signer)),
        multi(std::move(its_multi)) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (const auto& [handle, job] : active) curl_multi_remove_handle(multi.get(), handle);
  }

  Endpoint endpoint;
  ClientOptions options;
  account::KeyRing signer;
  ClientCounts counts;
  RealClock clock;
  std::minstd_rand random{std::random_device{}()};
  bool has_answered = false;
  uint64_t order = 0;

  std::deque<JobPtr> queued;
  std::vector<Later> waiting;  // a heap
  std::vector<Curl> idle;      // used handles, for reuse
  // Before `active`, whose handles must leave it first.
  Multi multi;
  std::unordered_map<CURL*, JobPtr> active;

  int64_t now_ms() const { return clock.steady_us() / 1000; }

  void start(JobPtr job) {
    Curl handle;
    if (!idle.empty()) {
      handle = std::move(idle.back());
      idle.pop_back();
    } else {
      handle.reset(curl_easy_init());
    }
    Status ready = job->exchange.prepare(std::move(handle), endpoint, signer, job->request,
                                         {.answer_ms = static_cast<long>(options.answer_ms),
                                          .answer_bytes_max = options.answer_bytes_max});
    if (!ready) return job->done(pass(ready.error()));
    CURL* const added = job->exchange.handle();
    if (curl_multi_add_handle(multi.get(), added) != CURLM_OK) return job->done(no_curl());
    active.emplace(added, std::move(job));
  }

  void start_all() {
    const int64_t now = now_ms();
    while (!waiting.empty() && waiting.front().at_ms <= now) {
      std::pop_heap(waiting.begin(), waiting.end());
      queued.push_front(std::move(waiting.back().job));
      waiting.pop_back();
    }
    while (!queued.empty() && active.size() < options.connections) {
      JobPtr job = std::move(queued.front());
      queued.pop_front();
      start(std::move(job));
    }
  }

  void wait_and_repeat(JobPtr job, int64_t wait_ms) {
    // A handle is good for one exchange.
    auto again = std::make_unique<Job>();
    again->request = std::move(job->request);
    again->done = std::move(job->done);
    again->attempts = job->attempts;
    waiting.push_back({.at_ms = now_ms() + wait_ms, .order = ++order, .job = std::move(again)});
    std::push_heap(waiting.begin(), waiting.end());
  }

  void complete(CURL* handle, CURLcode code) {
    auto found = active.find(handle);
    if (found == active.end()) return;
    JobPtr job = std::move(found->second);
    active.erase(found);
    curl_multi_remove_handle(multi.get(), handle);
    auto response = job->exchange.finish(code);
    idle.push_back(job->exchange.release());
    if (response) {
      has_answered = true;
      ++counts.requests;
      counts.charge += response->charge();
      if (response->is_throttled()) ++counts.throttled;
      if (const auto wait = wait_after(*response, job->attempts, options.throttled_ms,
                                       options.away_ms, now_ms(), random())) {
        if (!response->is_throttled()) ++counts.repeated;
        return wait_and_repeat(std::move(job), *wait);
      }
    } else if (has_answered && may_pass(code) && (job->request.repeatable || never_left(code))) {
      if (const auto wait =
              wait_after_failure(job->attempts, options.away_ms, now_ms(), random())) {
        ++counts.repeated;
        return wait_and_repeat(std::move(job), *wait);
      }
    }
    job->done(std::move(response));
  }

  size_t pending() const { return queued.size() + waiting.size() + active.size(); }

  void turn(int wait_ms) {
    start_all();
    int running = 0;
    curl_multi_perform(multi.get(), &running);
    if (!take_messages() && wait_ms > 0) {
      if (!waiting.empty()) {
        const int64_t until = std::max<int64_t>(0, waiting.front().at_ms - now_ms());
        wait_ms = static_cast<int>(std::min<int64_t>(wait_ms, until));
      }
      curl_multi_poll(multi.get(), nullptr, 0, wait_ms, nullptr);
      curl_multi_perform(multi.get(), &running);
      take_messages();
    }
    start_all();
  }

  // Whether there were any.
  bool take_messages() {
    bool any = false;
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      any = true;
      complete(message->easy_handle, message->data.result);
    }
    return any;
  }
};

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

Result<std::unique_ptr<Client>> Client::open(Endpoint endpoint, ClientOptions options) {
  auto signer = account::KeyRing::create({endpoint.key, "", "", ""});
  if (!signer) {
    return fail(Code::invalid, endpoint.key.empty()
                                   ? "no key for " + endpoint.where() + " is given: say it with " +
                                         endpoint.option_prefix + "key"
                                   : "the key for " + endpoint.where() + " is not base64");
  }
  Multi multi(curl_is_ready() ? curl_multi_init() : nullptr);
  if (!multi) return no_curl();
  const long connections = static_cast<long>(options.connections);
  if (curl_multi_setopt(multi.get(), CURLMOPT_MAXCONNECTS, connections) != CURLM_OK ||
      curl_multi_setopt(multi.get(), CURLMOPT_MAX_TOTAL_CONNECTIONS, connections) != CURLM_OK) {
    return no_curl();
  }
  return std::unique_ptr<Client>(new Client(std::make_unique<Impl>(
      std::move(endpoint), std::move(options), std::move(*signer), std::move(multi))));
}

const Endpoint& Client::endpoint() const {
  return impl_->endpoint;
}

const ClientCounts& Client::counts() const {
  return impl_->counts;
}

void Client::submit(Request request, Done done) {
  auto job = std::make_unique<Job>();
  job->request = std::move(request);
  job->done = std::move(done);
  impl_->queued.push_back(std::move(job));
}

size_t Client::pending() const {
  return impl_->pending();
}

void Client::turn(int wait_ms) {
  impl_->turn(wait_ms);
}

bool Client::finish() {
  while (pending() > 0) {
    if (impl_->options.stopped && impl_->options.stopped()) return false;
    turn(kStopLookMs);
  }
  return true;
}

Result<Response> Client::call(Request request) {
  // Shared: when the call is given up, the request may still be under way.
  auto answer = std::make_shared<std::optional<Result<Response>>>();
  submit(std::move(request),
         [answer](Result<Response> response) { answer->emplace(std::move(response)); });
  while (!answer->has_value()) {
    if (impl_->options.stopped && impl_->options.stopped()) {
      return fail(Code::would_wait, "stopped");
    }
    turn(kStopLookMs);
  }
  return std::move(**answer);
}

}  // namespace orrery::client
