// See stop_signals.h.
#include "transfer/stop_signals.h"

#include <csignal>

namespace orrery::transfer {
namespace {

volatile std::sig_atomic_t stop_asked = 0;
volatile std::sig_atomic_t cut_over_asked = 0;

void handle(int signal) {
  if (signal == SIGUSR1) {
    cut_over_asked = 1;
  } else {
    stop_asked = 1;
  }
}

}  // namespace

void install_stop_signals() {
  struct sigaction action{};
  action.sa_handler = handle;
  // The second one ends the process.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_flags = 0;
  sigaction(SIGUSR1, &action, nullptr);
  // A server or a reader of standard output that is gone is an error, and no reason to die.
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_was_asked() {
  return stop_asked != 0;
}

bool cut_over_was_asked() {
  return cut_over_asked != 0;
}

}  // namespace orrery::transfer
