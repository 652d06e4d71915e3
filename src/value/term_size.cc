// See term_size.h.
#include "value/term_size.h"

#include "value/composite.h"
#include "value/shape.h"
#include "value/spatial.h"
#include "value/terms.h"

namespace orrery::value {
namespace {

// Skips ordered bytes (see ordered.h), up to and including their end; false when they have none.
bool skip_ordered_bytes(std::string_view& in) {
  for (;;) {
    const size_t zero = in.find('\0');
    if (zero == std::string_view::npos || zero + 1 >= in.size()) return false;
    const char mark = in[zero + 1];
    in.remove_prefix(zero + 2);
    if (mark == '\x01') return true;
    if (mark != '\xFF') return false;
  }
}

bool skip(std::string_view& in, size_t count) {
  if (in.size() < count) return false;
  in.remove_prefix(count);
  return true;
}

bool skip_path(std::string_view& in) {
  while (!in.empty()) {
    const char step = in.front();
    in.remove_prefix(1);
    switch (step) {
      case '\x01':
        return true;
      case '\x02':
        if (!skip_ordered_bytes(in)) return false;
        break;
      case '\x03':
        break;
      default:
        return false;
    }
  }
  return false;
}

bool skip_value(std::string_view& in) {
  const size_t size = term_value_size(in);
  // Undefined has a tag, but no term.
  if (size == 0 || type_of_tag(in.front()) == Type::undefined) return false;
  in.remove_prefix(size);
  return true;
}

}  // namespace

size_t term_size_or_0(std::string_view key) {
  if (key.empty()) return 0;
  std::string_view in = key;
  bool ok = true;
  switch (key.front()) {
    case kShapeLead:
      ok = skip(in, kShapeTermBytes);
      break;
    case kCompositeLead:
      return composite_term_size(in);
    case kSpatialLead:
      in.remove_prefix(1);
      ok = skip_path(in) && skip(in, kCellBytes);
      break;
    default:
      ok = skip_path(in) && skip_value(in);
  }
  return ok ? key.size() - in.size() : 0;
}

Result<size_t> term_size(std::string_view key) {
  const size_t size = term_size_or_0(key);
  if (size == 0) return fail(Code::corrupt, "an index entry does not have the form of a term");
  return size;
}

}  // namespace orrery::value
