// What an object volume reads of its own: the entries of a root, and the row of a lease. Whatever
// the bytes are, what is taken for an entry is written as the same one.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "volume/objects/file_entry.h"
#include "volume/objects/lease.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::volume;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto entry = decode_file_entry(text)) {
    const auto again = decode_file_entry(encode(*entry));
    if (!again || encode(*again) != encode(*entry)) std::abort();
  }
  if (const auto row = decode_lease_row(text)) {
    const auto again = decode_lease_row(encode(*row));
    if (!again || again->counter != row->counter || again->name != row->name) std::abort();
  }
  return 0;
}
