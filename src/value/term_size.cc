// Walking over an encoded term without decoding it: what a reader of the index does to reach the
// key behind it.
#include <optional>

#include "value/shape.h"
#include "value/terms.h"

namespace orrery::value {
namespace {

std::unexpected<Error> malformed() {
  return fail(Code::corrupt, "an index entry does not have the form of a term");
}

// Skips ordered bytes (see ordered.h), up to and including their end, and gives the mark that ends
// them: 01, or 02 when a term's text was cut. Nothing when they have no end.
std::optional<char> skip_ordered_bytes(std::string_view& in) {
  for (;;) {
    size_t zero = in.find('\0');
    if (zero == std::string_view::npos || zero + 1 >= in.size()) return std::nullopt;
    char mark = in[zero + 1];
    in.remove_prefix(zero + 2);
    if (mark == '\x01' || mark == '\x02') return mark;
    if (mark != '\xFF') return std::nullopt;
  }
}

bool skip(std::string_view& in, size_t count) {
  if (in.size() < count) return false;
  in.remove_prefix(count);
  return true;
}

}  // namespace

Result<size_t> term_size(std::string_view key) {
  std::string_view in = key;
  if (in.starts_with(kShapeLead)) {
    if (!skip(in, kShapeTermBytes)) return malformed();
    return kShapeTermBytes;
  }
  for (bool path = true; path;) {
    if (in.empty()) return malformed();
    const char step = in.front();
    in.remove_prefix(1);
    switch (step) {
      case '\x01':
        path = false;
        break;
      case '\x02':
        if (skip_ordered_bytes(in) != '\x01') return malformed();
        break;
      case '\x03':
        break;
      default:
        return malformed();
    }
  }
  if (in.empty()) return malformed();
  const char kind = in.front();
  in.remove_prefix(1);
  bool ok = true;
  switch (kind) {
    case '\x01':
    case '\x02':
    case '\x03':
    case '\x07':
    case '\x08':
      break;
    case '\x04':
      ok = skip(in, 8);
      break;
    case '\x05': {
      const auto mark = skip_ordered_bytes(in);
      ok = mark && (*mark == '\x01' || skip(in, 8));
      break;
    }
    default:
      ok = false;
  }
  if (!ok) return malformed();
  return key.size() - in.size();
}

}  // namespace orrery::value
