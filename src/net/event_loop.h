// One event loop: an epoll descriptor waited on by one thread, the streams that belong to it, of
// whichever listener, and one coarse timer for all their time limits.
//
// One turn of the loop:
// 1. wait for events;
// 2. dispatch each event to its watcher;
// 3. continue streams that used up their share of the last turn;
// 4. let streams write the answers that resulted (written together, they wake their reader once and
//    not once for each);
// 5. run posted work, and write what results from it;
// 6. check deadlines, and the memory that slow readers hold.
//
// Descriptors are registered once, edge-triggered, for reading and writing. So a request needs no
// system calls but those that move its bytes. During its events a watcher may end itself but no
// other; anything that ends others is posted.
//
// Threading: everything here is for the loop's own thread, but for post(), look_for_notified() and
// on_thread().
//
// Lifetime: streams hold their loop, because another thread may hold a session, and so its stream,
// longer than the server lives. The loop holds its streams until they close. finish() breaks that
// cycle.
#pragma once

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "net/server_state.h"
#include "net/slow_readers.h"

namespace orrery::net {

class Stream;

// Is told what happens to a descriptor: epoll's event bits.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_events(uint32_t events) = 0;
  // It threw.
  virtual void on_failure() noexcept = 0;
};

class EventLoop : public std::enable_shared_from_this<EventLoop> {
 public:
  // `number`: among the loops of its server.
  static Result<std::shared_ptr<EventLoop>> create(std::shared_ptr<ServerState> server,
                                                   size_t number);
  ~EventLoop();

  // The thread's body: returns after finish(), when nothing is left to run.
  void run();
  // What run() repeats, for tests that are the loop's thread themselves.
  void begin_on_this_thread();
  void turn(int wait_ms);

  // From any thread. False, and `work` is dropped, if the loop has finished.
  bool post(std::move_only_function<void()> work);
  // From any thread: some stream was notified. Takes no memory.
  void look_for_notified() noexcept;
  bool on_thread() const {
    return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed);
  }

  // The rest: on the loop's thread, or before it runs.
  ServerState& server() { return *server_; }
  size_t number() const { return number_; }
  bool stopping() const { return stopping_; }
  // As of this turn: exact enough for time limits.
  SteadyTime now() const { return now_; }
  std::string_view date_line();

  // The watcher stays in place until its descriptor is closed, which ends the watching.
  Status watch(int fd, Watcher& watcher);
  // Runs `work` once, when the time has come. For the listeners: one at a time for each.
  void after(std::chrono::milliseconds delay, std::move_only_function<void()> work);

  // True while watchers are told of events, or posted work is run: the stream is then asked to
  // write at their end.
  bool write_later(const std::shared_ptr<Stream>& stream);
  // The stream goes on in the next turn, after all that have events by then.
  void go_on_later(const std::shared_ptr<Stream>& stream);
  SlowReaders& slow_readers() { return slow_readers_; }

  // A connection of the listener. `refused`: over the limit; is told so and closed.
  void adopt(FileDescriptor fd, ListenerState& listener, bool refused);
  void remove(Stream& stream);

  void begin_stop();  // closes what is idle, and finishes when the last stream has closed
  void close_all();   // closes the rest

 private:
  struct Delayed {
    SteadyTime due;
    std::move_only_function<void()> work;
  };

  EventLoop(std::shared_ptr<ServerState> server, size_t number, FileDescriptor poll,
            FileDescriptor wake);

  void finish();
  int wait_limit_ms() const;
  void wake() noexcept;
  void visit_notified() noexcept;
  void run_posted();
  void write_answers();
  void run_due();
  void tick();
  void close_slow_readers();

  std::shared_ptr<ServerState> server_;
  const size_t number_;
  FileDescriptor poll_;
  FileDescriptor
      wake_;  // an eventfd: written when something is posted to a loop that may be waiting
  SteadyTime now_;
  SteadyTime next_tick_;
  std::chrono::milliseconds tick_interval_;
  std::vector<Delayed> delayed_;
  bool telling_ = false;
  std::vector<std::shared_ptr<Stream>> writers_;   // of this turn
  std::vector<std::shared_ptr<Stream>> yielded_;   // for the next turn
  std::vector<std::shared_ptr<Stream>> going_on_;  // yielded in the turn before
  SlowReaders slow_readers_;
  bool stopping_ = false;
  std::list<std::shared_ptr<Stream>> streams_;
  std::time_t date_second_ = 0;
  std::string date_line_;
  std::atomic<std::thread::id> thread_id_;
  std::atomic<bool> notified_{false};

  std::mutex mutex_;
  std::vector<std::move_only_function<void()>> posted_;  // under mutex_
  bool finished_ = false;                                // under mutex_
};

}  // namespace orrery::net
