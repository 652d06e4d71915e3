// See compare.h.
#include "transfer/compare.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "transfer/feed_source.h"
#include "transfer/item.h"
#include "value/json.h"

namespace orrery::transfer {
namespace {

constexpr int kCompareWaitMs = 50;
// Of items that are compared one by one at a time: some 200 bytes each.
constexpr uint64_t kEntriesMax = 1'000'000;

struct Identified {
  std::string id;
  std::string key_json;
  std::string key_hex;
  ContentHash hash{};
  size_t bucket = 0;
};

std::optional<Identified> identify(std::string_view json, const value::KeyDefinition& key) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return std::nullopt;
  const value::Node& root = document->root();
  const value::Node* id = root.find("id");
  auto values = value::extract_key(root, key);
  if (id == nullptr || !values) return std::nullopt;
  Identified item;
  item.id = id->text;
  if (!key.paths.empty()) {
    item.key_json = key_json_of(*values);
    item.key_hex = to_hex_upper(value::effective_key(key, value::place(key, *values)));
  }
  item.hash = content_hash(root);
  const auto bytes = murmur3_x64_128(item.key_json + "/" + item.id, 0);
  item.bucket = load_u64_le(bytes.data()) % kBuckets;
  return item;
}

}  // namespace

std::string to_string(const Difference& difference) {
  const std::string item =
      difference.key_json.empty()
          ? fmt::format("the item '{}'", difference.id)
          : fmt::format("the item '{}' of the key {}", difference.id, difference.key_json);
  switch (difference.kind) {
    case Difference::Kind::missing:
      return item + " is missing in the target";
    case Difference::Kind::extra:
      return item + " is in the target only";
    case Difference::Kind::changed:
      return item + " is not the same in both";
    case Difference::Kind::collided:
      break;
  }
  return item +
         " stands for several items of the source, which have the same id and would have "
         "the same key";
}

Comparison::Comparison(Side first, Side second, value::KeyDefinition key,
                       std::function<bool()> stopped, Progress& progress)
    : sides_{std::move(first), std::move(second)},
      key_(std::move(key)),
      stopped_(std::move(stopped)),
      progress_(progress) {}

Status Comparison::scan(const Side& side, std::string_view phase, const TakeItem& take) {
  auto info = client::read_container(*side.client, side.name);
  if (!info) return pass(info.error());
  auto source = FeedSource::open(
      *side.client,
      {.name = side.name, .kind = client::FeedKind::items, .query = {}, .parameters_json = {}},
      info->documents);
  if (!source) return pass(source.error());
  uint64_t records = 0;
  while (true) {
    if (stopped_ && stopped_()) return fail(Code::would_wait, "stopped");
    Record record;
    auto pulled = (*source)->pull(record);
    if (!pulled) return pass(pulled.error());
    if (*pulled == RecordSource::Pull::end) return {};
    if (*pulled == RecordSource::Pull::wait) {
      (*source)->turn(kCompareWaitMs);
    } else {
      if (Status taken = take(record.text); !taken) return taken;
      (*source)->passed(record.mark);
      ++records;
    }
    progress_.show({.records = records,
                    .charge = (*source)->charge(),
                    .fraction = (*source)->fraction(),
                    .phase = phase});
  }
}

Status Comparison::read(size_t which) {
  Fingerprint print;
  Status done = scan(sides_[which], which == 0 ? "checking the source" : "checking the target",
                     [&](std::string_view json) -> Status {
                       ++print.items;
                       const auto item = identify(json, key_);
                       if (!item) {
                         ++print.unplaced;
                         return {};
                       }
                       Fingerprint::Sum& sum = print.buckets[item->bucket];
                       ++sum.items;
                       sum.low += item->hash[0];
                       sum.high += item->hash[1];
                       return {};
                     });
  if (!done) return done;
  prints_[which] = std::move(print);
  is_read_[which] = true;
  return {};
}

Result<bool> Comparison::are_equal() {
  for (const size_t which : {0U, 1U}) {
    if (is_read_[which]) continue;
    if (Status done = read(which); !done) return pass(done.error());
  }
  return prints_[0] == prints_[1];
}

Status Comparison::compare_buckets(const std::vector<bool>& chosen,
                                   const std::function<Status(const Difference&)>& take) {
  struct Entry {
    Identified item;
    uint32_t first = 0;   // how many of the first side
    bool second = false;  // whether the second side has it
    bool same = true;
  };
  std::unordered_map<std::string, Entry> entries;
  for (const size_t which : {0U, 1U}) {
    Status done =
        scan(sides_[which], "looking for differences", [&](std::string_view json) -> Status {
          auto item = identify(json, key_);
          if (!item || !chosen[item->bucket]) return {};
          auto [found, is_new] = entries.try_emplace(item->key_json + "/" + item->id);
          Entry& entry = found->second;
          if (is_new) {
            entry.item = std::move(*item);
          } else {
            entry.same = entry.same && entry.item.hash == item->hash;
          }
          if (which == 0) {
            ++entry.first;
          } else {
            entry.second = true;
          }
          return {};
        });
    if (!done) return done;
  }
  for (auto& [name, entry] : entries) {
    using enum Difference::Kind;
    if (entry.first == 1 && entry.second && entry.same) continue;
    const Difference::Kind kind = entry.first > 1    ? collided
                                  : entry.first == 0 ? extra
                                  : !entry.second    ? missing
                                                     : changed;
    Status taken = take({.kind = kind,
                         .id = std::move(entry.item.id),
                         .key_json = std::move(entry.item.key_json),
                         .key_hex = std::move(entry.item.key_hex)});
    if (!taken) return taken;
  }
  return {};
}

Status Comparison::each_difference(const std::function<Status(const Difference&)>& take) {
  std::vector<bool> chosen(kBuckets, false);
  uint64_t entries = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const Fingerprint::Sum& first = prints_[0].buckets[bucket];
    const Fingerprint::Sum& second = prints_[1].buckets[bucket];
    if (first == second) continue;
    const uint64_t more = first.items + second.items;
    if (entries > 0 && entries + more > kEntriesMax) {
      if (Status done = compare_buckets(chosen, take); !done) return done;
      chosen.assign(kBuckets, false);
      entries = 0;
    }
    chosen[bucket] = true;
    entries += more;
  }
  return entries == 0 ? Status() : compare_buckets(chosen, take);
}

}  // namespace orrery::transfer
