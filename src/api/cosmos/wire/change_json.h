// Changes as the change feed returns them. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "partition/partition.h"
#include "value/placement.h"

namespace orrery::cosmos {

// How latest versions are written. Clients ask for `separate` by naming its version in
// x-ms-cosmos-changefeed-wire-format-version.
enum class ChangeFormat : uint8_t {
  plain,     // the item with its LSN as `_lsn`, which only this feed shows
  separate,  // {"current":ITEM,"metadata":{"lsn":…,"crts":…}}, as all versions and deletes are
             // written
};
inline constexpr std::string_view kSeparateFormatVersion = "2021-09-15";

// Latest version. It does not say whether the item was created or replaced: it may have been both.
void append_change(std::string& json, const partition::Change& change, ChangeFormat format);

// All versions and deletes: {"current":…,"previous":…,"metadata":{…}}. `current` is empty for a
// delete; its metadata name the item. `previous` is there when the item was.
Status append_event(std::string& json, const partition::Event& event,
                    const value::KeyDefinition& key);

}  // namespace orrery::cosmos
