// Limits, no privileges, and a filter that lets few system calls through. Everything else fails
// with EPERM: libraries that probe for something go on without it.
#include "script/sandbox.h"

#include <fmt/format.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <vector>

#include "script/sanitizer.h"

namespace orrery::script {
namespace {

constexpr uid_t kNobody = 65'534;

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "name this processor's AUDIT_ARCH"
#endif

// Memory, time, threads that are there already, the socket, and the end.
constexpr std::array kAllowed = {
    __NR_read,
    __NR_write,
    __NR_recvfrom,
    __NR_sendto,
    __NR_ppoll,

    __NR_mmap,
    __NR_munmap,
    __NR_mprotect,
    __NR_mremap,
    __NR_madvise,
    __NR_brk,
    __NR_futex,
    __NR_sched_yield,
    __NR_membarrier,
    __NR_rseq,
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_gettimeofday,
    __NR_clock_nanosleep,
    __NR_nanosleep,
    __NR_getrandom,
    __NR_getpid,
    __NR_gettid,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_sigaltstack,
    __NR_restart_syscall,
    __NR_getrusage,
    __NR_set_robust_list,
    __NR_exit,
    __NR_exit_group,
#if defined(__NR_poll)
    __NR_poll,
#endif
};

Status system_failure(const char* what) {
  return fail(Code::internal, fmt::format("{}: {}", what, std::system_category().message(errno)));
}

Status limit(int resource, uint64_t most) {
  const rlimit value{.rlim_cur = most, .rlim_max = most};
  if (setrlimit(static_cast<__rlimit_resource>(resource), &value) != 0) {
    return system_failure("setrlimit");
  }
  return {};
}

Status filter_system_calls() {
  std::vector<sock_filter> program;
  const auto statement = [&](uint16_t code, uint32_t value) {
    program.push_back(sock_filter{.code = code, .jt = 0, .jf = 0, .k = value});
  };
  // Goes on with the next statement if equal, else skips it.
  const auto if_equal = [&](uint32_t value) {
    program.push_back(sock_filter{.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 1, .k = value});
  };
  constexpr uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS;
  constexpr uint16_t kReturn = BPF_RET | BPF_K;
  statement(kLoad, offsetof(seccomp_data, arch));
  // Another numbering of calls (32 bits) is another way in.
  program.push_back(
      sock_filter{.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 1, .jf = 0, .k = kArchitecture});
  statement(kReturn, SECCOMP_RET_KILL_PROCESS);
  statement(kLoad, offsetof(seccomp_data, nr));
  const auto allow = [&](int call) {
    if_equal(static_cast<uint32_t>(call));
    statement(kReturn, SECCOMP_RET_ALLOW);
  };
  for (const int call : kAllowed) allow(call);
  if (kHasSanitizer) {
    // They try through a pipe whether memory can be read.
    for (const int call : {__NR_pipe2, __NR_close}) allow(call);
  }
  // A signal, to itself alone: how abort() ends a process.
  program.push_back(
      sock_filter{.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = 3, .k = __NR_tgkill});
  statement(kLoad, offsetof(seccomp_data, args[0]));
  if_equal(static_cast<uint32_t>(getpid()));
  statement(kReturn, SECCOMP_RET_ALLOW);
  statement(kReturn, SECCOMP_RET_ERRNO | EPERM);

  const sock_fprog filter{.len = static_cast<unsigned short>(program.size()),
                          .filter = program.data()};
  if (syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) != 0) {
    return system_failure("seccomp");
  }
  return {};
}

}  // namespace

Status enter_sandbox(uint64_t memory_bytes) {
  if (geteuid() == 0) {
    if (setgroups(0, nullptr) != 0 || setresgid(kNobody, kNobody, kNobody) != 0 ||
        setresuid(kNobody, kNobody, kNobody) != 0) {
      return system_failure("giving up root");
    }
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) {
    return system_failure("prctl");
  }
  for (const int resource :
       {RLIMIT_CORE, RLIMIT_FSIZE, RLIMIT_NPROC, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE}) {
    if (auto status = limit(resource, 0); !status) return status;
  }
  // poll(2) takes no more entries than files may be open; all numbers below this are taken.
  if (auto status = limit(RLIMIT_NOFILE, kHasSanitizer ? 64 : 1); !status) return status;
  if (!kHasSanitizer) {
    if (auto status = limit(RLIMIT_DATA, memory_bytes); !status) return status;
  }
  return filter_system_calls();
}

}  // namespace orrery::script
