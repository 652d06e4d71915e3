// The worker's side: the process that runs scripts. The program starts itself as
// `orrery script-worker` for it.
#pragma once

#include <string_view>

namespace orrery::script {

// The first argument that makes the program a worker.
inline constexpr std::string_view kWorkerCommand = "script-worker";
// The socket to the server, in every worker.
inline constexpr int kWorkerSocket = 3;
// The exit status of a worker that ended because a script did not stop when its time was up.
inline constexpr int kWorkerOutOfTime = 3;

// Serves until the server is gone. The process has one thread when this is called, and ends when it
// returns, with what it returns.
int run_worker();

// Ends the process as a worker, if its command line says that it is one.
void run_if_worker(int argc, char** argv);

}  // namespace orrery::script
