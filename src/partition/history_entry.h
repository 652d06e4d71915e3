// The format of the column family `history`: every write of a container that keeps a history, until
// its retention time is over. Pure. docs/formats/partition.md says the same in prose.
//
//   key    lsn (8), range that took the write (4), step (2), all big-endian: a write that also
//          evicts expired items has an entry for each of them, before its own
//   value  operation (1), time (4), lsn before (8), then with their lengths (4) in front: item key,
//          body, body before
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "partition/partition.h"

namespace orrery::partition {

std::string history_key(uint64_t lsn, uint32_t range = 0, uint16_t step = 0);
Result<uint64_t> lsn_of_history_key(std::string_view key);

struct HistoryEntry {
  EventKind operation = EventKind::create;
  uint32_t time_s = 0;
  uint64_t previous_lsn = 0;            // 0: the item was not there
  std::string_view item_key = {};       // as in `items`
  std::string_view body = {};           // empty after a removal
  std::string_view previous_body = {};  // empty when it was not there
};
std::string encode_history(const HistoryEntry& entry);
// Views into `value`.
Result<HistoryEntry> decode_history(std::string_view value);

}  // namespace orrery::partition
