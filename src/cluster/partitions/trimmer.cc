// See trimmer.h.
#include "cluster/partitions/trimmer.h"

#include "base/log.h"

namespace orrery::cluster {

void Trimmer::trim_later(const std::shared_ptr<Slot>& slot) {
  pool_.post([this, slot] {
    auto partition = slot->opened();
    if (!partition || stop_.is_set()) return;
    if (auto trimmed = partition->trim(); !trimmed) {
      log::warn("trimming after a split failed and will be done when it is next opened",
                {{"range", partition->identity().range}, {"error", trimmed.error().message}});
    }
  });
}

}  // namespace orrery::cluster
