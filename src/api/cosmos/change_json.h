// Changes as the change feed returns them. Pure; any thread may call.
#pragma once

#include <string>

#include "base/result.h"
#include "partition/partition.h"
#include "value/placement.h"

namespace orrery::cosmos {

// Latest version: the item with its LSN, which only this feed shows.
void append_change(std::string& json, const partition::Change& change);

// All versions and deletes: {"current":…,"previous":…,"metadata":{…}}. `current` is empty for a
// delete; its metadata name the item. `previous` is there when the item was.
Status append_event(std::string& json, const partition::Event& event,
                    const value::KeyDefinition& key);

}  // namespace orrery::cosmos
