// A live copy of a container into another: by the change feed from its beginning, then following it
// until the cut-over, then a check that both sides are equal.
//
// The change feed tells the newest state of every item that is there, and nothing of those that
// were deleted. So items that the source no longer has, or has under another key of the target, are
// found by the check and removed from the target: only what this copy can have written is removed,
// since it begins with an empty target.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "client/resources.h"
#include "transfer/compare.h"
#include "transfer/feed_source.h"
#include "transfer/progress.h"
#include "transfer/pump.h"

namespace orrery::transfer {

struct CopySettings {
  std::string what;
  std::string checkpoint_path;
  std::string rejects_path;
  size_t requests_max = 100;
  bool follow = false;  // until cut_over() says so; otherwise until it has caught up
  bool check = true;
  bool remove_extra = true;  // false: the target had items of its own, which stay
  std::function<bool()> stopped;
  std::function<bool()> cut_over;
};

struct CopyResult {
  Ending ending = Ending::complete;
  TransferCounts counts;
  uint64_t throttled = 0;
  std::string rejects_path;
  bool is_checked = false;
  bool is_equal = false;
  uint64_t source_items = 0;
  uint64_t target_items = 0;
  uint64_t differences = 0;
  std::vector<std::string> examples;  // of differences, in words
};

// An error is in the result's place only when nothing can be said of the copy; `result` has what
// was done in any case.
Status copy_container(client::Client& from, const client::ContainerName& source, client::Client& to,
                      client::ContainerInfo target, const CopySettings& settings,
                      Progress& progress, CopyResult& result);

}  // namespace orrery::transfer
