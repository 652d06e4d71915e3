// See index_ledger.h.
#include "partition/index_ledger.h"

#include <algorithm>

#include "base/bytes.h"
#include "partition/format.h"
#include "value/shape.h"

namespace orrery::partition {

Status IndexLedger::load(std::span<const std::pair<std::string, std::string>> stored) {
  MutexLock lock(mutex_);
  versions_.clear();
  for (const auto& [key, bytes] : stored) {
    if (auto loaded = load_one(key, bytes); !loaded) return loaded;
  }
  return {};
}

Status IndexLedger::load_one(std::string_view key, std::string_view stored) {
  constexpr size_t kDefinitionKeyBytes = 5;
  constexpr size_t kShapeKeyBytes = 13;
  if (key.starts_with(kDefinitions) && key.size() == kDefinitionKeyBytes) {
    auto definition = decode_definition(stored);
    if (!definition) return pass(definition.error());
    put({.version = load_u32_be(key.data() + 1),
         .policy = value::IndexPolicy(std::move(*definition)),
         .shape_hash = 0,
         .shape = {}});
    return {};
  }
  if (key.starts_with(kShapes) && key.size() == kShapeKeyBytes) {
    if (auto paths = value::shape_paths(stored); !paths) return pass(paths.error());
    put({.version = load_u32_be(key.data() + 1),
         .policy = std::nullopt,
         .shape_hash = load_u64_be(key.data() + 5),
         .shape = std::string(stored)});
    return {};
  }
  return fail(Code::corrupt, "the partition's ledger has an entry of an unknown kind");
}

void IndexLedger::add(std::span<const IndexLedgerEntry> entries) {
  MutexLock lock(mutex_);
  for (const IndexLedgerEntry& entry : entries) put(entry);
}

void IndexLedger::put(IndexLedgerEntry entry) {
  Version& version = versions_[entry.version];
  if (entry.policy) {
    version.policy = std::move(entry.policy);
  } else if (entry.shape_hash == value::kOtherShapes) {
    version.has_others = true;
  } else {
    version.shapes.emplace(entry.shape_hash,
                           std::make_shared<const std::string>(std::move(entry.shape)));
  }
}

const IndexLedger::Version* IndexLedger::find_version(uint32_t version) const {
  auto found = versions_.find(version);
  return found == versions_.end() ? nullptr : &found->second;
}

std::optional<value::IndexPolicy> IndexLedger::policy(uint32_t version) const {
  MutexLock lock(mutex_);
  const Version* found = find_version(version);
  return found == nullptr ? std::nullopt : found->policy;
}

IndexLedger::Remembered IndexLedger::find_shape(uint32_t version, uint64_t hash,
                                                std::string_view shape) const {
  MutexLock lock(mutex_);
  const Version* found = find_version(version);
  if (found == nullptr) return Remembered::no;
  auto at = found->shapes.find(hash);
  if (at == found->shapes.end()) return Remembered::no;
  return *at->second == shape ? Remembered::yes : Remembered::never;
}

size_t IndexLedger::shapes(uint32_t version) const {
  MutexLock lock(mutex_);
  const Version* found = find_version(version);
  return found == nullptr ? 0 : found->shapes.size();
}

bool IndexLedger::has_other_shapes(uint32_t version) const {
  MutexLock lock(mutex_);
  const Version* found = find_version(version);
  return found != nullptr && found->has_others;
}

ShapesWithout IndexLedger::shapes_without(uint32_t version, std::string_view term_path) const {
  ShapesWithout without;
  std::vector<std::pair<uint64_t, std::shared_ptr<const std::string>>> shapes;
  {
    MutexLock lock(mutex_);
    const Version* found = find_version(version);
    if (found == nullptr) return without;
    shapes.assign(found->shapes.begin(), found->shapes.end());
    if (found->has_others) without.others = value::shape_term(value::kOtherShapes);
  }
  for (const auto& [hash, shape] : shapes) {
    const auto paths = value::shape_paths(*shape);
    if (paths && !std::ranges::binary_search(*paths, term_path)) {
      without.lacking.push_back(value::shape_term(hash));
    }
  }
  std::ranges::sort(without.lacking);
  return without;
}

std::optional<value::IndexPolicy> IndexLedgerDraft::policy(uint32_t version) const {
  for (const IndexLedgerEntry& entry : entries_) {
    if (entry.policy && entry.version == version) return entry.policy;
  }
  return ledger_.policy(version);
}

void IndexLedgerDraft::use_policy(uint32_t version, const value::IndexPolicy& policy) {
  if (this->policy(version)) return;
  entries_.push_back({.version = version, .policy = policy, .shape_hash = 0, .shape = {}});
}

IndexLedger::Remembered IndexLedgerDraft::find_shape(uint32_t version, uint64_t hash,
                                                     std::string_view shape) const {
  for (const IndexLedgerEntry& entry : entries_) {
    if (entry.is_shape_of(version) && entry.shape_hash == hash) {
      return entry.shape == shape ? IndexLedger::Remembered::yes : IndexLedger::Remembered::never;
    }
  }
  return ledger_.find_shape(version, hash, shape);
}

size_t IndexLedgerDraft::shapes(uint32_t version) const {
  const auto drafted = std::ranges::count_if(
      entries_, [&](const IndexLedgerEntry& entry) { return entry.is_shape_of(version); });
  return ledger_.shapes(version) + static_cast<size_t>(drafted);
}

bool IndexLedgerDraft::has_other_shapes(uint32_t version) const {
  return ledger_.has_other_shapes(version) ||
         std::ranges::any_of(entries_, [&](const IndexLedgerEntry& entry) {
           return !entry.policy && entry.version == version &&
                  entry.shape_hash == value::kOtherShapes;
         });
}

uint64_t IndexLedgerDraft::name_of(uint32_t version,
                                   const std::optional<std::string>& shape) const {
  if (!shape) return value::kOtherShapes;
  const uint64_t hash = value::shape_hash(*shape);
  return find_shape(version, hash, *shape) == IndexLedger::Remembered::yes ? hash
                                                                           : value::kOtherShapes;
}

uint64_t IndexLedgerDraft::give_name(uint32_t version, const std::optional<std::string>& shape) {
  if (shape) {
    const uint64_t hash = value::shape_hash(*shape);
    const IndexLedger::Remembered remembered = find_shape(version, hash, *shape);
    if (remembered == IndexLedger::Remembered::yes) return hash;
    if (remembered == IndexLedger::Remembered::no && shapes(version) < kMaxShapes) {
      entries_.push_back(
          {.version = version, .policy = std::nullopt, .shape_hash = hash, .shape = *shape});
      return hash;
    }
  }
  if (!has_other_shapes(version)) {
    entries_.push_back({.version = version,
                        .policy = std::nullopt,
                        .shape_hash = value::kOtherShapes,
                        .shape = {}});
  }
  return value::kOtherShapes;
}

}  // namespace orrery::partition
