// What a process can no longer do in the sandbox, tried in a child.
#include "script/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace orrery::script {
namespace {

// Enters the sandbox in a child and says what `act` returned there, or minus its signal.
int inside(const std::function<int()>& act) {
  const pid_t pid = fork();
  if (pid == 0) {
    if (!enter_sandbox(256 << 20)) _exit(99);
    _exit(act());
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

constexpr int kRefused = 1;
constexpr int kDone = 2;

int refused(bool is_refused) {
  return is_refused ? kRefused : kDone;
}

TEST(SandboxTest, NoFiles) {
  EXPECT_EQ(inside([] { return refused(open("/etc/passwd", O_RDONLY) < 0); }), kRefused);
  EXPECT_EQ(inside([] { return refused(open("/tmp/orrery-sandbox", O_CREAT | O_RDWR, 0600) < 0); }),
            kRefused);
  EXPECT_EQ(inside([] { return refused(unlink("/tmp/orrery-sandbox") != 0 && errno == EPERM); }),
            kRefused);
  EXPECT_EQ(inside([] { return refused(dup(0) < 0); }), kRefused);
}

TEST(SandboxTest, NoNetwork) {
  EXPECT_EQ(inside([] { return refused(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM); }),
            kRefused);
  EXPECT_EQ(inside([] { return refused(socket(AF_UNIX, SOCK_STREAM, 0) < 0); }), kRefused);
}

TEST(SandboxTest, NoProcesses) {
  EXPECT_EQ(inside([] { return refused(fork() < 0); }), kRefused);
  EXPECT_EQ(inside([] {
              char name[] = "/bin/true";
              char* arguments[] = {name, nullptr};
              execv(name, arguments);
              return refused(errno == EPERM);
            }),
            kRefused);
  EXPECT_EQ(inside([] { return refused(kill(getppid(), 0) != 0); }), kRefused);
  EXPECT_EQ(inside([] { return refused(ptrace(PTRACE_ATTACH, getppid(), 0, 0) != 0); }), kRefused);
}

TEST(SandboxTest, WhatAWorkerNeedsWorks) {
  EXPECT_EQ(inside([] {
              pollfd none{.fd = 0, .events = POLLIN, .revents = 0};
              void* page =
                  mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return poll(&none, 1, 0) >= 0 && page != MAP_FAILED &&
                             mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0
                         ? kDone
                         : kRefused;
            }),
            kDone);
  EXPECT_EQ(inside([]() -> int { abort(); }), -SIGABRT);
}

TEST(SandboxTest, MemoryIsBounded) {
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers allocate for themselves";
#endif
#endif
  EXPECT_EQ(inside([] {
              return refused(mmap(nullptr, 512 << 20, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
            }),
            kRefused);
}

}  // namespace
}  // namespace orrery::script
