// See probes.h.
#include "nodes/probes.h"

#include <algorithm>
#include <utility>

#include "nodes/messages.h"

namespace orrery::nodes {

void Probes::send(const Member& to) {
  {
    MutexLock lock(shared_->mutex);
    Probe& probe = shared_->probes[to.incarnation];
    if (std::exchange(probe.is_sent, true)) return;
  }
  const int64_t sent_us = clock_();
  link_.call(to.address, kPingKind, to.incarnation, kDeadline,
             [shared = shared_, incarnation = to.incarnation, sent_us](Result<std::string> answer) {
               MutexLock lock(shared->mutex);
               const auto found = shared->probes.find(incarnation);
               if (found == shared->probes.end()) return;
               Probe& probe = found->second;
               probe.is_sent = false;
               if (answer) {
                 probe.failures = 0;
                 probe.answered_us = sent_us;
               } else if (probe.failures++ == 0) {
                 probe.first_failed_us = sent_us;
               }
             });
}

bool Probes::is_unreachable(const std::string& incarnation) const {
  const int64_t now_us = clock_();
  MutexLock lock(shared_->mutex);
  const auto found = shared_->probes.find(incarnation);
  return found != shared_->probes.end() && found->second.failures >= kFailuresLeast &&
         now_us - found->second.first_failed_us >= times_.unreachable_us;
}

bool Probes::has_answered_since(const std::string& incarnation, int64_t since_us) const {
  MutexLock lock(shared_->mutex);
  const auto found = shared_->probes.find(incarnation);
  return found != shared_->probes.end() && found->second.answered_us >= since_us;
}

void Probes::keep_only(const std::vector<Member>& members) {
  MutexLock lock(shared_->mutex);
  std::erase_if(shared_->probes, [&](const auto& probe) {
    return std::ranges::find(members, probe.first, &Member::incarnation) == members.end();
  });
}

}  // namespace orrery::nodes
