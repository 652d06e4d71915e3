// See shape.h.
#include "value/shape.h"

#include "base/bytes.h"
#include "base/hash.h"
#include "value/ordered.h"

namespace orrery::value {
namespace {

// How many bytes at the front are a path; 0 when they are none, or one with an array step.
size_t plain_path_size(std::string_view term) {
  size_t at = 0;
  while (at < term.size() && term[at] == '\x02') {
    for (;;) {
      const size_t zero = term.find('\0', at + 1);
      if (zero == std::string_view::npos || zero + 1 >= term.size()) return 0;
      at = zero + 1;
      if (term[at] == '\x01') break;
    }
    ++at;
  }
  return at < term.size() && term[at] == '\x01' ? at + 1 : 0;
}

}  // namespace

std::optional<std::string> shape_of(std::span<const std::string_view> terms) {
  std::string shape;
  shape.reserve(512);
  size_t paths = 0;
  for (std::string_view term : terms) {
    const size_t size = plain_path_size(term);
    if (size == 0) continue;
    if (++paths > kMaxShapePaths || shape.size() + size > kMaxShapeBytes) return std::nullopt;
    shape.append(term, 0, size);
  }
  return shape;
}

uint64_t shape_hash(std::string_view shape) {
  const auto bytes = murmur3_x64_128(shape, 0);
  const uint64_t hash = load_u64_le(bytes.data());
  return hash == kOtherShapes ? 0 : hash;
}

std::string shape_term(uint64_t hash) {
  std::string term(1, kShapeLead);
  append_u64(term, hash);
  return term;
}

Result<std::vector<std::string_view>> shape_paths(std::string_view shape) {
  std::vector<std::string_view> paths;
  while (!shape.empty()) {
    const size_t size = plain_path_size(shape);
    if (size == 0) return fail(Code::corrupt, "a stored shape does not have the form it should");
    paths.push_back(shape.substr(0, size));
    shape.remove_prefix(size);
  }
  return paths;
}

}  // namespace orrery::value
