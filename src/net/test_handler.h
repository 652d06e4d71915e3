// The handler that the tests of this folder serve: what it does is chosen by the request's target.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/http.h"
#include "net/server.h"

namespace orrery::net {

class TestHandler : public Handler {
 public:
  ~TestHandler() override { join(); }

  void join() {
    std::vector<std::thread> threads;
    {
      const std::lock_guard lock(mutex_);
      threads.swap(threads_);
    }
    for (std::thread& thread : threads) thread.join();
  }

  std::optional<Response> refuse(const Request& head) override {
    ++heads_seen_;
    if (head.target != "/refused") return std::nullopt;
    Response response;
    response.status = 401;
    return response;
  }
  size_t heads_seen() const { return heads_seen_; }
  size_t requests_seen() const { return requests_seen_; }

  void handle(const Request& request, Responder responder) override {
    ++requests_seen_;
    const std::string_view target = request.target;
    Response response;
    response.add("Content-Type", "text/plain");
    if (target.starts_with("/echo")) {
      response.body = std::string(request.method) + " " + std::string(target) + " " +
                      std::string(request.body) + (request.tls ? " tls" : "");
    } else if (target == "/deferred") {
      // The views must hold until the response is sent, on whichever thread.
      const std::lock_guard lock(mutex_);
      threads_.emplace_back([&request, late = std::move(responder)]() mutable {
        Response answer;
        answer.body = "late " + std::string(request.body);
        late.send(std::move(answer));
      });
      return;
    } else if (target == "/held") {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(responder));
      changed_.notify_all();
      return;
    } else if (target == "/unsent") {
      return;
    } else if (target == "/throws") {
      throw std::runtime_error("on purpose");
    } else if (target.starts_with("/large")) {
      response.body.assign(10'000'000, 'L');
      response.body.back() = '.';
    } else if (target.starts_with("/status/")) {
      response.status = std::stoi(std::string(target.substr(8)));
      response.body = "x";
    } else if (target == "/refused") {
      response.status = 401;
    } else if (target == "/close") {
      response.close = true;
    } else if (target == "/peer") {
      response.body = request.peer;
    }
    responder.send(std::move(response));
  }

  // The oldest Responder that "/held" has kept; waits for one.
  Responder take_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_.empty(); });
    Responder responder = std::move(held_.front());
    held_.erase(held_.begin());
    return responder;
  }

 private:
  std::atomic<size_t> heads_seen_{0};
  std::atomic<size_t> requests_seen_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Responder> held_;
  std::vector<std::thread> threads_;
};

inline std::string get(std::string_view target, std::string_view headers = "") {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: h\r\n" + std::string(headers) + "\r\n";
}

// Waits for a count that another thread will bring about. False after ten seconds.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace orrery::net
