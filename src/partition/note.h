// A note that a write leaves: bytes of a face's own, committed with the write in one batch, and
// kept for a while. So whoever finds the write done finds its note too, after a crash, a split or a
// move. Notes are no items: no reader of items, changes or history sees them, and no size or count
// includes them. docs/formats/partition.md has their bytes.
//
// Notes are found by their owner and number. Those of lower numbers of the same owner, and those
// whose time is over, are removed by the notes that follow, some by each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::partition {

struct Note {
  std::string owner;
  uint64_t number = 0;
  uint32_t part = 0;  // tells apart those of one number
  std::string body;
  uint32_t life_s = 0;  // how long it is kept
};

// A note that is there, and the placement of the write that left it.
struct KeptNote {
  std::string placement;
  uint32_t part = 0;
  std::string body;
};

inline constexpr std::string_view kNotes = "n";  // what their keys start with
// Of the notes of an owner from this number on.
std::string notes_from(std::string_view owner, uint64_t number);
std::string note_key(const Note& note, std::string_view placement);
// The placement in a note's key.
Result<std::string_view> placement_of_note(std::string_view key);
std::string encode_note(std::string_view body, int64_t until_s);
// Until when it is kept, and its body, which is a part of `value`.
struct StoredNote {
  int64_t until_s = 0;
  std::string_view body;
};
Result<StoredNote> decode_note(std::string_view value);

}  // namespace orrery::partition
