// What a person sends to a transfer that runs: SIGINT and SIGTERM to stop it in good order (a
// second one ends it at once), SIGUSR1 to cut a copy over. A process has one set of signals: the
// first call installs them.
#pragma once

namespace orrery::transfer {

void install_stop_signals();
bool stop_was_asked();
bool cut_over_was_asked();

}  // namespace orrery::transfer
