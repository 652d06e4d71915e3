// What a partition's root says of one file: where its bytes are.
//
// There are three kinds:
//  - inline_bytes: a small file, within the entry itself.
//  - stripes: a table. Its bytes are in objects of kStripeBytes each, FILE.0 to FILE.n. Bytes that
//    were synced never change. Stripe 0 has the attribute `refs`: the tokens of all entries, in any
//    root, that name the file. Whoever removes the last token removes the stripes.
//  - log: a write-ahead log or a manifest, in extents that are appended to. An extent has the
//    attribute `epoch` of the owner that may append, until a later owner seals it.
//
// An entry is text, so that an operator can read it with Ceph's own tools:
//
//   inline MADE_S\nBYTES
//   stripes MADE_S SIZE FILE TOKEN
//   log MADE_S FILE SIZE|open SIZE|open ...      FILE.0, FILE.1, ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::volume {

constexpr uint64_t kStripeBytes = 4ULL << 20;
constexpr uint64_t kExtentBytes = 32ULL << 20;  // a log goes on in a new extent from here on
constexpr uint64_t kInlineBytesMax = 32ULL << 10;

struct FileEntry {
  enum class Kind : uint8_t { inline_bytes, stripes, log };
  Kind kind = Kind::inline_bytes;
  int64_t made_s = 0;
  std::string bytes = {};  // inline_bytes
  uint64_t size = 0;       // stripes: what is synced
  std::string file = {};   // stripes, log: the objects' names without their numbers
  std::string token = {};  // stripes
  // log: the size of each extent; unset while it may still be appended to.
  std::vector<std::optional<uint64_t>> extents = {};

  std::string object(uint64_t number) const;
};

std::string encode(const FileEntry& entry);
// Nothing when these bytes are no entry.
std::optional<FileEntry> decode_file_entry(std::string_view text);

}  // namespace orrery::volume
