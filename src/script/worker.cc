// The worker's loop: a message, its answer, and then tidying up while the server is busy.
#include "script/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <utility>

#include "script/channel.h"
#include "script/runtime.h"
#include "script/sandbox.h"

namespace orrery::script {
namespace {

constexpr int kServerGone = 0;
constexpr int kCannotStart = 1;
constexpr int kConfused = 2;
// The server is trusted: its own limits bound what it sends.
constexpr uint64_t kFrameBytesMax = UINT32_MAX;

// The server's answer to an operation. Without one there is nobody to work for.
Reply ask(Channel& server, ItemOperation operation) {
  if (!server.send(std::move(operation))) _exit(kServerGone);
  auto answer = server.receive();
  if (!answer) _exit(kServerGone);
  if (!std::holds_alternative<Reply>(*answer)) _exit(kConfused);
  return std::get<Reply>(std::move(*answer));
}

}  // namespace

int run_worker() {
  prctl(PR_SET_NAME, "orrery-script", 0, 0, 0);
  Channel server(kWorkerSocket, kFrameBytesMax);
  const auto first = server.receive();
  if (!first || !std::holds_alternative<WorkerLimits>(*first)) return kCannotStart;
  const auto& grant = std::get<WorkerLimits>(*first);

  auto runtime = Runtime::create(
      grant.heap_bytes, grant.message_bytes,
      [&server](ItemOperation operation) { return ask(server, std::move(operation)); });
  if (!runtime) return kCannotStart;
  if (!enter_sandbox(grant.memory_bytes)) return kCannotStart;
  if (!server.send(Loaded{})) return kServerGone;

  while (!runtime->is_spent()) {
    auto message = server.receive();
    if (!message) break;
    Message answer;
    if (const auto* run = std::get_if<Execution>(&*message)) {
      answer = runtime->run(*run);
    } else if (const auto* load = std::get_if<Load>(&*message)) {
      answer = runtime->load(*load);
    } else if (const auto* call = std::get_if<FunctionCall>(&*message)) {
      answer = runtime->call(*call);
    } else if (std::holds_alternative<Unload>(*message)) {
      runtime->unload();
      runtime->tidy();
      continue;
    } else {
      _exit(kConfused);
    }
    if (!server.send(answer)) break;
    // A query's next rows may be on their way: it tidies up after the last of them.
    if (!std::holds_alternative<Results>(answer)) runtime->tidy();
  }
  // Tearing the engine down would take time for nothing.
  _exit(kServerGone);
}

void run_if_worker(int argc, char** argv) {
  if (argc == 2 && argv[1] == kWorkerCommand) _exit(run_worker());
}

}  // namespace orrery::script
