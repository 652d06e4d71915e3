// A second kind of session for the tests of this folder: every line is answered with itself, but
// for some that ask for more.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "net/stream.h"

namespace orrery::net {

// What the sessions of a listener share with the test.
class Lines {
 public:
  ~Lines() {
    for (std::thread& thread : threads_) thread.join();
  }

  SessionFactory sessions();

  std::atomic<size_t> seen{0};
  std::atomic<size_t> closed{0};
  std::atomic<size_t> stopping{0};  // sessions that were told

  // For "stop": keeps the loop's thread until go_on().
  void stop_here() {
    std::unique_lock lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !stopped_; });
  }
  void wait_until_stopped() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopped_; });
  }
  void go_on() {
    const std::lock_guard lock(mutex_);
    stopped_ = false;
    changed_.notify_all();
  }

  using Answer = std::move_only_function<void(std::string)>;
  // For "hold": the answers that tests give.
  void hold(Answer answer) {
    const std::lock_guard lock(mutex_);
    held_.push_back(std::move(answer));
    changed_.notify_all();
  }
  Answer take_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_.empty(); });
    Answer answer = std::move(held_.front());
    held_.erase(held_.begin());
    return answer;
  }
  // For "later".
  void answer_on_a_thread(Answer answer) {
    const std::lock_guard lock(mutex_);
    threads_.emplace_back([late = std::move(answer)]() mutable { late("late"); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::vector<Answer> held_;
  std::vector<std::thread> threads_;
};

class LineSession final : public Session {
 public:
  LineSession(Stream& stream, Lines& lines) : Session(stream), lines_(lines) {}

  Next on_input(InputBuffer& input) override {
    const void* feed = input.size() > 0 ? std::memchr(input.data(), '\n', input.size()) : nullptr;
    if (feed == nullptr) {
      if (stream_.stopping() && input.size() == 0) stream_.end();
      return {};
    }
    const auto size = static_cast<size_t>(static_cast<const char*>(feed) - input.data());
    const std::string line(input.data(), size);
    input.consume(size + 1);
    stream_.release_memory();
    LoopCounters::count(stream_.counters().requests);
    ++lines_.seen;
    if (line == "throw") throw std::runtime_error("on purpose");
    if (line == "stop") lines_.stop_here();
    if (line == "later" || line == "hold") {
      auto answer = [self = stream_.shared_from_this(), this](const std::string& text) {
        self->post([this, text] {
          stream_.output().text().append(text).append("\n");
          stream_.resume();
        });
      };
      line == "hold" ? lines_.hold(std::move(answer))
                     : lines_.answer_on_a_thread(std::move(answer));
      return {.kind = Next::Kind::wait};
    }
    stream_.output().text().append(line).append(stream_.tls() ? " by TLS\n" : "\n");
    if (line == "quit") stream_.end();
    return {.kind = Next::Kind::again};
  }

  void on_refused() override {
    stream_.output().text().append("full\n");
    stream_.end();
  }
  void on_stopping() override {
    ++lines_.stopping;
    if (stream_.idle() && !stream_.has_unread()) stream_.close();
  }
  void on_closed() noexcept override { ++lines_.closed; }

 private:
  Lines& lines_;
};

inline SessionFactory Lines::sessions() {
  return [this](Stream& stream) { return std::make_unique<LineSession>(stream, *this); };
}

}  // namespace orrery::net
