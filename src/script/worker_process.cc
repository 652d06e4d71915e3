// Starting, killing and reaping a worker. It inherits one socket, no other open file, no signal
// handling and next to no environment.
#include "script/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <vector>

#include "base/clock.h"
#include "base/fault.h"
#include "script/sanitizer.h"
#include "script/worker.h"

namespace orrery::script {
namespace {

constexpr int64_t kStartUs = 30'000'000;

std::string system_error(int error) {
  return std::system_category().message(error);
}

class SpawnSettings {
 public:
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// 0 or an errno.
int spawn(const std::string& program, int socket, pid_t& pid) {
  SpawnSettings settings;
  int error = 0;
  // The report of a sanitizer is to be seen, so its worker keeps the server's stderr.
  constexpr int kClosed = kHasSanitizer ? 2 : 3;
  for (int standard = 0; standard < kClosed && error == 0; ++standard) {
    error = posix_spawn_file_actions_addopen(&settings.actions, standard, "/dev/null", O_RDWR, 0);
  }
  if (error == 0) {
    error = posix_spawn_file_actions_adddup2(&settings.actions, socket, kWorkerSocket);
  }
  if (error == 0) {
    error = posix_spawn_file_actions_addclosefrom_np(&settings.actions, kWorkerSocket + 1);
  }
  // Its own process group: what a terminal sends to the server is not for it.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::string name = "orrery";
  std::string command(kWorkerCommand);
  char* arguments[] = {name.data(), command.data(), nullptr};
  // Dates are in UTC, and no file is looked at for that.
  std::string zone = "TZ=UTC";
  std::string libraries;
  std::vector<char*> environment = {zone.data()};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing sets variables after the start
  if (const char* path = getenv("LD_LIBRARY_PATH")) {
    libraries = fmt::format("LD_LIBRARY_PATH={}", path);
    environment.push_back(libraries.data());
  }
  environment.push_back(nullptr);
  if (error != 0) return error;
  return posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes, arguments,
                     environment.data());
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string& program,
                                                            const WorkerLimits& grant) {
  int sockets[2];
  const bool injected = !fault::point("script.worker");
  if (injected || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return fail(Code::overloaded,
                "a socket for a script worker: " + system_error(injected ? EMFILE : errno));
  }
  // dup2 of a descriptor onto itself would leave it marked to be closed.
  if (sockets[1] == kWorkerSocket) {
    const int other = fcntl(sockets[1], F_DUPFD_CLOEXEC, kWorkerSocket + 1);
    close(sockets[1]);
    sockets[1] = other;
  }
  pid_t pid = 0;
  const int error = spawn(program, sockets[1], pid);
  close(sockets[1]);
  if (error != 0) {
    close(sockets[0]);
    return fail(Code::internal,
                fmt::format("starting a script worker ({}): {}", program, system_error(error)));
  }
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess(pid, sockets[0], grant.message_bytes));
  const int64_t deadline_us = RealClock().steady_us() + kStartUs;
  Status status = worker->channel_.send(grant, deadline_us);
  if (status) {
    const auto ready = worker->channel_.receive(deadline_us);
    if (!ready) {
      status = pass(ready.error());
    } else if (!std::holds_alternative<Loaded>(*ready)) {
      status = fail(Code::internal, "it answered with something else");
    }
  }
  if (!status) {
    return fail(Code::internal, fmt::format("a script worker did not start: {} ({})",
                                            status.error().message, worker->end()));
  }
  return worker;
}

WorkerProcess::~WorkerProcess() {
  end();
}

std::string WorkerProcess::end() {
  if (pid_ == 0) return "ended before";
  int status = 0;
  // It may have ended by itself, and how is worth knowing.
  if (waitpid(pid_, &status, WNOHANG) == 0) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = 0;
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace orrery::script
