// See item_sample.h.
#include "advise/item_sample.h"
#include "advise/sequences.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/bytes.h"
#include "value/json.h"

namespace orrery::advise {
namespace {

using value::Node;
using value::Type;

constexpr uint64_t kSeed = 2;
constexpr size_t kMaxFoundPaths = 1'024;
constexpr size_t kMaxKeptBytes = SpaceSaving::kMaxValueBytes;
// Properties that the service adds to each item.
constexpr std::string_view kSystemNames[] = {"_rid",         "_self", "_etag",
                                             "_attachments", "_ts",   "_lsn"};

struct FoundPath {
  size_t items = 0;
  std::unordered_set<uint64_t> values;
  size_t bytes = 0;
};

void find_paths(const Node& object, value::Path& prefix,
                std::map<std::string, std::pair<value::Path, FoundPath>>& found) {
  if (object.count > ItemReader::kMaxNames) return;
  for (const Node* member = object.first; member != nullptr; member = member->next) {
    if (prefix.steps.empty() && contains(kSystemNames, member->name)) continue;
    prefix.steps.push_back({.name = std::string(member->name)});
    if (member->type == Type::object) {
      if (prefix.steps.size() < ItemReader::kMaxDepth) find_paths(*member, prefix, found);
    } else if (member->type != Type::array) {
      const std::string name = to_string(prefix);
      auto at = found.find(name);
      if (at == found.end() && found.size() < kMaxFoundPaths) {
        at = found.emplace(name, std::pair(prefix, FoundPath{})).first;
      }
      if (at != found.end()) {
        const std::string bytes = placement_bytes(*member);
        ++at->second.second.items;
        at->second.second.values.insert(hash_of(bytes));
        at->second.second.bytes += bytes.size();
      }
    }
    prefix.steps.pop_back();
  }
}

// A long value in the sample, told from others by its hash: it makes a poor key, and is not placed.
std::string cut(std::string value) {
  if (value.size() <= kMaxKeptBytes) return value;
  const uint64_t hash = hash_of(value);
  value.resize(kMaxKeptBytes);
  store_u64_le(value.data() + kMaxKeptBytes - sizeof hash, hash);
  return value;
}

}  // namespace

ItemReader::ItemReader(PathTable& paths, std::vector<uint32_t> wanted)
    : paths_(paths), wanted_(std::move(wanted)), reservoir_(kSample, kSeed) {}

void ItemReader::add(const Node& item, size_t bytes) {
  if (chosen_) {
    count(item, bytes);
    return;
  }
  first_.push_back({std::string(item.raw), bytes});
  if (first_.size() == kFirstItems) choose_paths();
}

void ItemReader::choose_paths() {
  chosen_ = true;
  std::map<std::string, std::pair<value::Path, FoundPath>> found;
  std::vector<value::JsonDocument> documents;
  for (const FirstItem& item : first_) {
    auto document = value::JsonDocument::parse(item.json);
    if (!document) continue;  // it was read before
    value::Path prefix;
    find_paths(document->root(), prefix, found);
    documents.push_back(std::move(*document));
  }
  std::vector<uint32_t> tracked;
  const auto track = [&](uint32_t path) {
    if (tracked.size() < kTracked && !contains(tracked, path)) {
      tracked.push_back(path);
    }
  };
  track(paths_.add(value::Path{.steps = {{.name = "id"}}}));
  for (const uint32_t path : wanted_) track(path);
  std::vector<const std::pair<value::Path, FoundPath>*> rest;
  for (const auto& [name, path] : found) {
    const auto items = static_cast<double>(path.second.items);
    if (items >= kLeastShare * static_cast<double>(first_.size())) rest.push_back(&path);
  }
  // Long texts make no keys, and names in order make the choice the same each time.
  sort_stable(rest, std::ranges::greater(), [](const auto* path) {
    const bool is_long = path->second.bytes > 100 * path->second.items;
    return std::tuple(!is_long, path->second.values.size());
  });
  for (const auto* path : rest) track(paths_.add(path->first));
  for (const uint32_t path : tracked) sample_.paths.emplace_back().path = path;
  sample_.changed.resize(tracked.size());
  for (size_t i = 0; i < documents.size(); ++i) count(documents[i].root(), first_[i].bytes);
  first_.clear();
}

void ItemReader::count(const Node& item, size_t bytes) {
  const auto weight = static_cast<double>(bytes);
  ++sample_.count;
  ++sample_.read;
  sample_.bytes += weight;
  const Node* ts = item.find("_ts");
  double t = sample_.count;
  if (ts != nullptr && ts->type == Type::number) {
    t = ts->number;
    if (!sample_.has_times || t < sample_.from) sample_.from = t;
    sample_.to = sample_.has_times ? std::max(sample_.to, t) : t;
    sample_.has_times = true;
  }
  const size_t place = reservoir_.offer();
  SampledItem* kept = nullptr;
  if (place != Reservoir::kNone) {
    if (place == sample_.items.size()) sample_.items.emplace_back();
    kept = &sample_.items[place];
    kept->values.clear();
    kept->times.clear();
    kept->t = t;
    kept->bytes = weight;
    kept->id.clear();
    const Node* id = item.find("id");
    const Node* rid = item.find("_rid");
    if (id != nullptr) kept->id = id->raw;
    if (rid != nullptr) kept->id += rid->raw;
  }
  for (PathStatistics& path : sample_.paths) {
    const Node* node = value::find(item, paths_.path(path.path));
    std::string value = node == nullptr ? std::string(kUndefinedBytes) : placement_bytes(*node);
    double time = std::numeric_limits<double>::quiet_NaN();
    if (node != nullptr) {
      ++path.present;
      path.nulls += node->type == Type::null ? 1 : 0;
      path.numbers += node->type == Type::number ? 1 : 0;
      path.strings += node->type == Type::string ? 1 : 0;
      path.booleans += node->type == Type::boolean ? 1 : 0;
      path.containers += value.empty() ? 1 : 0;
      path.longest = std::max(path.longest, static_cast<double>(value.size()));
      if (const auto parsed = parse_time(*node)) {
        ++path.times;
        path.form = std::min(path.form, parsed->form);
        time = parsed->s;
      }
    }
    if (!value.empty()) {
      const uint64_t hash = hash_of(value);
      path.distinct.add(hash);
      path.heaviest.add(hash, value, weight);
    }
    if (kept != nullptr) {
      kept->times.push_back(time);
      kept->values.push_back(cut(std::move(value)));
    }
  }
}

ItemSample ItemReader::finish() {
  if (!chosen_) choose_paths();
  auto& items = sample_.items;
  sort_stable(items, std::less(), &SampledItem::t);
  // The newest version of an item stays; what differs from the one before has changed.
  std::unordered_map<std::string, size_t> newest;
  std::vector<bool> replaced(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].id.empty()) continue;
    const auto [at, added] = newest.try_emplace(items[i].id, i);
    if (added) continue;
    const SampledItem& before = items[at->second];
    ++sample_.updates;
    for (size_t p = 0; p < sample_.paths.size(); ++p) {
      if (before.values[p] != items[i].values[p]) ++sample_.changed[p];
    }
    replaced[at->second] = true;
    at->second = i;
  }
  size_t kept = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (replaced[i]) continue;
    if (kept != i) items[kept] = std::move(items[i]);
    ++kept;
  }
  if (kept < items.size()) {
    const double share = static_cast<double>(kept) / static_cast<double>(items.size());
    sample_.count *= share;
    sample_.bytes *= share;
    items.resize(kept);
  }
  return std::move(sample_);
}

}  // namespace orrery::advise
