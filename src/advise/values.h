// Paths and values of items and requests, as small numbers.
//
// A value is known by its mark: 64 bits over the bytes that the placement hash reads. Items have
// bytes; a recorded request has only marks, made under a secret. With the secret, the mark of an
// item's value is the same, and the two meet here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "account/hmac.h"
#include "base/result.h"
#include "value/document.h"
#include "value/path.h"
#include "value/placement.h"

namespace orrery::advise {

// Property paths, numbered in the order of their first use.
class PathTable {
 public:
  // The path's number. `spelling` is how it is printed; that of the first call counts.
  Result<uint32_t> add(std::string_view spelling);
  uint32_t add(const value::Path& path);
  std::optional<uint32_t> find(const value::Path& path) const;
  const value::Path& path(uint32_t number) const { return paths_[number].path; }
  const std::string& name(uint32_t number) const { return paths_[number].spelling; }
  size_t size() const { return paths_.size(); }

 private:
  struct Entry {
    value::Path path;
    std::string spelling;
  };
  uint32_t add(value::Path path, std::string spelling);
  std::vector<Entry> paths_;
  std::map<std::string, uint32_t, std::less<>> numbers_;  // by the path in its one canonical form
};

// The bytes of a scalar that the placement hash reads: tag and value. Empty for an array or object.
std::string placement_bytes(const value::Node& node);
inline constexpr std::string_view kUndefinedBytes{"\0", 1};
// The other way round. Nothing for other bytes.
std::optional<value::KeyPart> key_part(std::string_view placement_bytes);
// As a person would write it.
std::string value_text(std::string_view placement_bytes);

// How marks are made.
class Marker {
 public:
  Marker() = default;  // without a secret: a plain hash
  static Result<Marker> create(std::string_view secret);
  uint64_t mark(std::string_view placement_bytes) const;

 private:
  std::shared_ptr<const account::HmacKey> key_;  // null: none
};

class ValueTable {
 public:
  // Their numbers in every table.
  static constexpr uint32_t kUndefined = 0;  // an item without the property
  static constexpr uint32_t kNull = 1;

  explicit ValueTable(Marker marker);
  uint32_t add_bytes(std::string_view placement_bytes);
  uint32_t add_mark(uint64_t mark);

  uint64_t mark(uint32_t value) const { return values_[value].mark; }
  // Empty when only the mark is known.
  std::string_view bytes(uint32_t value) const { return values_[value].bytes; }
  std::string text(uint32_t value) const;

 private:
  struct Entry {
    uint64_t mark = 0;
    std::string bytes;
  };
  Marker marker_;
  std::vector<Entry> values_;
  std::unordered_map<uint64_t, uint32_t> numbers_;  // by mark
};

}  // namespace orrery::advise
