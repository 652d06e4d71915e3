// See test_patience.h.
#include "cli/test_patience.h"

#include <algorithm>
#include <cstdlib>

#include "base/log.h"
#include "volume/objects/text_number.h"

namespace orrery::cli {
namespace {

int64_t patience() {
  const char* text = std::getenv("ORRERY_TEST_PATIENCE");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return 1;
  log::warn("ORRERY_TEST_PATIENCE is set: nodes that fail are noticed late");
  return std::clamp<int64_t>(volume::number_of<int64_t>(text).value_or(1), 1, 100);
}

}  // namespace

volume::LeaseTimes lease_times() {
  volume::LeaseTimes times;
  const int64_t factor = patience();
  times.lease_us *= factor;
  times.revoke_wait_us *= factor;  // renewals stay as frequent
  return times;
}

nodes::NodeTimes node_times() {
  nodes::NodeTimes times;
  const int64_t factor = patience();
  times.unreachable_us *= factor;
  times.unheard_us *= factor;
  times.deaf_us *= factor;
  times.newcomer_us *= factor;
  return times;
}

}  // namespace orrery::cli
