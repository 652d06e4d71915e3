// See history_entry.h.
#include "partition/history_entry.h"

#include "base/bytes.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

constexpr size_t kHeadBytes = 13;
constexpr size_t kKeyBytes = 14;

std::unexpected<Error> damaged() {
  return fail(Code::corrupt, "a stored entry of the history does not have the form it should");
}

void append_counted(std::string& out, std::string_view text) {
  char size[4];
  store_u32_le(size, static_cast<uint32_t>(text.size()));
  out.append(size, sizeof size).append(text);
}

bool take_text(std::string_view& in, std::string_view& out) {
  if (in.size() < 4) return false;
  const uint32_t size = load_u32_le(in.data());
  in.remove_prefix(4);
  if (in.size() < size) return false;
  out = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

}  // namespace

std::string history_key(uint64_t lsn, uint32_t range, uint16_t step) {
  std::string key;
  value::append_u64(key, lsn);
  char bytes[6];
  store_u32_be(bytes, range);
  store_u16_be(bytes + 4, step);
  return key.append(bytes, sizeof bytes);
}

Result<uint64_t> lsn_of_history_key(std::string_view key) {
  if (key.size() != kKeyBytes) return damaged();
  return value::take_u64(key);
}

std::string encode_history(const HistoryEntry& entry) {
  std::string out(kHeadBytes, '\0');
  out.reserve(kHeadBytes + 12 + entry.item_key.size() + entry.body.size() +
              entry.previous_body.size());
  out[0] = static_cast<char>(entry.operation);
  store_u32_le(out.data() + 1, entry.time_s);
  store_u64_le(out.data() + 5, entry.previous_lsn);
  append_counted(out, entry.item_key);
  append_counted(out, entry.body);
  append_counted(out, entry.previous_body);
  return out;
}

Result<HistoryEntry> decode_history(std::string_view stored) {
  if (stored.size() < kHeadBytes) return damaged();
  HistoryEntry entry;
  const auto operation = static_cast<uint8_t>(stored[0]);
  if (operation < static_cast<uint8_t>(EventKind::create) ||
      operation > static_cast<uint8_t>(EventKind::edit)) {
    return damaged();
  }
  entry.operation = static_cast<EventKind>(operation);
  entry.time_s = load_u32_le(stored.data() + 1);
  entry.previous_lsn = load_u64_le(stored.data() + 5);
  stored.remove_prefix(kHeadBytes);
  if (!take_text(stored, entry.item_key) || !take_text(stored, entry.body) ||
      !take_text(stored, entry.previous_body) || !stored.empty()) {
    return damaged();
  }
  return entry;
}

}  // namespace orrery::partition
