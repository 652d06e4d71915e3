// The index metadata of a partition: the definition of each index version, and the shapes
// (value/shape.h) that its items have. Stored in the ledger (column family `default`), with a copy
// here in memory.
//
// Invariants
//  - An index version always means the same definition, which is written with the first item of
//    that version. So the terms of an item can always be derived again from its body and version,
//    to delete its index entries.
//  - The shapes of a version are only ever added, up to kMaxShapes; later ones are `others`.
//    Whether a shape is remembered never changes once an item has it. So the shape term of an item
//    can always be derived again too.
//  - The copy in memory is a superset of what any reader can see on disk: the writer adds to it
//    before it commits. After a failed commit it may have more, until the database is reopened,
//    which happens before the next write.
//
// Threading: load() while nobody else uses it, add() by the writer; the rest from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "value/shape.h"
#include "value/terms.h"

namespace orrery::partition {

inline constexpr size_t kMaxShapes = 1000;

// The shape terms of the items that lack a path. Items of `others` may or may not have it.
struct ShapesWithout {
  std::vector<std::string> lacking;
  std::optional<std::string> others;
};

// One addition: a version's definition, or one of its shapes.
struct IndexLedgerEntry {
  uint32_t version = 0;
  std::optional<value::IndexPolicy> policy;  // a definition
  uint64_t shape_hash = 0;                   // or else a shape, or kOtherShapes
  std::string shape;

  bool is_shape_of(uint32_t of_version) const {
    return !policy && version == of_version && shape_hash != value::kOtherShapes;
  }
};

class IndexLedger {
 public:
  // Forgets what it holds and takes these entries: keys and values of the ledger.
  Status load(std::span<const std::pair<std::string, std::string>> stored);
  void add(std::span<const IndexLedgerEntry> entries);

  // The definition of a version; nothing when no item was ever written with it.
  std::optional<value::IndexPolicy> policy(uint32_t version) const;
  // Whether a shape is remembered; `never`: its hash collides with that of another one that is.
  enum class Remembered : uint8_t { no, yes, never };
  Remembered find_shape(uint32_t version, uint64_t hash, std::string_view shape) const;
  // How many shapes a version has, not counting the one for all others.
  size_t shapes(uint32_t version) const;
  bool has_other_shapes(uint32_t version) const;

  // `term_path` has no array step. For a reader that has its snapshot already.
  ShapesWithout shapes_without(uint32_t version, std::string_view term_path) const;

 private:
  struct Version {
    std::optional<value::IndexPolicy> policy;
    std::unordered_map<uint64_t, std::shared_ptr<const std::string>> shapes;
    bool has_others = false;
  };
  Status load_one(std::string_view key, std::string_view stored) ORRERY_REQUIRES(mutex_);
  void put(IndexLedgerEntry entry) ORRERY_REQUIRES(mutex_);
  const Version* find_version(uint32_t version) const ORRERY_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<uint32_t, Version> versions_ ORRERY_GUARDED_BY(mutex_);
};

// What a run will add to the ledger. Used by the writer.
class IndexLedgerDraft {
 public:
  explicit IndexLedgerDraft(const IndexLedger& ledger) : ledger_(ledger) {}

  // The definition of a version, as in the ledger with this draft in it.
  std::optional<value::IndexPolicy> policy(uint32_t version) const;
  // To be called with the definition before an item is given terms by it.
  void use_policy(uint32_t version, const value::IndexPolicy& policy);
  // The name that an item of this shape has been given: its hash, or kOtherShapes. (Nothing: a
  // shape that is too large.)
  uint64_t name_of(uint32_t version, const std::optional<std::string>& shape) const;
  // The name that an item of this shape is given now.
  uint64_t give_name(uint32_t version, const std::optional<std::string>& shape);

  const std::vector<IndexLedgerEntry>& entries() const { return entries_; }
  void roll_back(size_t entries) { entries_.resize(entries); }

 private:
  IndexLedger::Remembered find_shape(uint32_t version, uint64_t hash, std::string_view shape) const;
  size_t shapes(uint32_t version) const;
  bool has_other_shapes(uint32_t version) const;

  const IndexLedger& ledger_;
  std::vector<IndexLedgerEntry> entries_;
};

}  // namespace orrery::partition
