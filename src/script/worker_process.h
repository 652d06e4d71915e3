// The server's side of one worker: a child process and the channel to it. For one thread at a time.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "script/channel.h"

namespace orrery::script {

class WorkerProcess {
 public:
  // Starts the program (see worker.h) and waits until it is ready.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::string& program,
                                                      const WorkerLimits& grant);
  ~WorkerProcess();  // kills it
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  Channel& channel() { return channel_; }
  pid_t pid() const { return pid_; }
  // Whether it is alive and waits for work.
  bool is_idle() const { return channel_.is_quiet(); }
  // Kills it, if it has not ended, and says how it ended: "signal 11", "exit status 3".
  std::string end();

 private:
  WorkerProcess(pid_t pid, int socket, uint64_t message_bytes)
      : pid_(pid), channel_(socket, message_bytes) {}

  pid_t pid_;  // 0 after its end
  Channel channel_;
};

}  // namespace orrery::script
