// See key_values.h.
#include "advise/key_values.h"

#include <algorithm>
#include <cmath>

#include "advise/sketches.h"

namespace orrery::advise {
namespace {

constexpr uint64_t kUnseenSalt = 0x756E7365656EULL;

std::string string_bytes(std::string_view text) {
  std::string out(1, '\x08');
  out.append(text);
  out.push_back('\xFF');
  return out;
}

// One string out of the parts, as the client would make it.
std::optional<std::string> joined(const std::vector<std::optional<std::string>>& parts) {
  std::string text;
  for (const auto& part : parts) {
    if (!part) return std::nullopt;
    if (!text.empty()) text += "-";
    text += value_text(*part);
  }
  return string_bytes(text);
}

}  // namespace

KeyValues::KeyValues(const Facts& facts, const KeyExpression& key) : facts_(facts) {
  for (const KeyLevel& level : key.levels) {
    Level& mine = levels_.emplace_back();
    mine.suffix = level.suffix;
    for (const KeyPart& part : level.parts) {
      mine.parts.push_back({facts.place_of(part.path).value_or(facts.id), part.period});
    }
  }
}

KeyValues::Chosen KeyValues::item_level(const FactItem& item, const Level& level,
                                        bool with_bytes) const {
  Chosen out{.known = true, .values = 1, .hash = 0, .bytes = {}};
  std::vector<std::optional<std::string>> parts;
  for (const Part& part : level.parts) {
    const double time = item.times[part.place];
    if (part.period != Period::none && !std::isnan(time)) {
      const int64_t period = period_of(time, part.period);
      out.hash = mix(out.hash, static_cast<uint64_t>(period));
      if (with_bytes) parts.emplace_back(string_bytes(period_text(period, part.period)));
      continue;
    }
    const uint32_t value = item.values[part.place];
    out.hash = mix(out.hash, value);
    if (with_bytes) parts.emplace_back(std::string(facts_.values.bytes(value)));
  }
  if (level.suffix != 0) {
    const uint64_t suffix = facts_.values.mark(item.values[facts_.id]) % level.suffix;
    out.hash = mix(out.hash, suffix);
    if (with_bytes) parts.emplace_back(string_bytes(std::to_string(suffix)));
  }
  if (with_bytes) out.bytes = parts.size() == 1 ? parts.front() : joined(parts);
  return out;
}

KeyValues::Chosen KeyValues::request_part(const FactRequest& request,
                                          const std::vector<uint32_t>& values, const Part& part,
                                          uint64_t salt, bool with_bytes) const {
  Chosen out;
  if (part.period != Period::none && !std::isnan(request.times[part.place])) {
    const double newest = request.times[part.place];
    const double width = request.widths[part.place];
    out.known = true;
    out.values = width > 0 ? 1 + width / period_seconds(part.period) : 1;
    const double back =
        width > 0 ? width * static_cast<double>(mix(salt, 1) >> 11) / 9007199254740992.0 : 0;
    const int64_t period = period_of(newest - back, part.period);
    out.hash = static_cast<uint64_t>(period);
    if (with_bytes) out.bytes = string_bytes(period_text(period, part.period));
    return out;
  }
  uint32_t value = values[part.place];
  if (value == FactRequest::kNotKnown) {
    const auto list =
        std::ranges::find(request.lists, part.place, [](const auto& one) { return one.first; });
    if (list == request.lists.end()) return out;
    out.values = static_cast<double>(list->second.size());
    value = list->second[mix(salt, 2) % list->second.size()];
  }
  out.known = true;
  if (value == FactRequest::kUnseen) {
    out.hash = mix(kUnseenSalt, salt);
    return out;
  }
  if (part.period != Period::none) {
    // The value itself tells the time, when it is not only a mark.
    const auto known = key_part(facts_.values.bytes(value));
    std::optional<TimeValue> time;
    if (known && known->type == value::Type::string) time = parse_time(known->text);
    if (known && known->type == value::Type::number) time = parse_time(known->number);
    if (time) {
      const int64_t period = period_of(time->s, part.period);
      out.hash = static_cast<uint64_t>(period);
      if (with_bytes) out.bytes = string_bytes(period_text(period, part.period));
      return out;
    }
  }
  out.hash = value;
  if (with_bytes && !facts_.values.bytes(value).empty()) {
    out.bytes = std::string(facts_.values.bytes(value));
  }
  return out;
}

KeyValues::Chosen KeyValues::request_level(const FactRequest& request,
                                           const std::vector<uint32_t>& values, const Level& level,
                                           uint64_t salt, bool with_bytes) const {
  Chosen out{.known = true, .values = 1, .hash = 0, .bytes = {}};
  std::vector<std::optional<std::string>> parts;
  for (const Part& part : level.parts) {
    Chosen one = request_part(request, values, part, salt, with_bytes);
    if (!one.known) return {};
    out.values *= one.values;
    out.hash = mix(out.hash, one.hash);
    parts.push_back(std::move(one.bytes));
  }
  if (level.suffix != 0) {
    const uint32_t id = values[facts_.id];
    uint64_t suffix = 0;
    if (id == FactRequest::kNotKnown) {
      out.values *= level.suffix;
      suffix = mix(salt, 3) % level.suffix;
    } else if (id == FactRequest::kUnseen) {
      suffix = mix(salt, 4) % level.suffix;
    } else {
      suffix = facts_.values.mark(id) % level.suffix;
    }
    out.hash = mix(out.hash, suffix);
    parts.emplace_back(string_bytes(std::to_string(suffix)));
  }
  if (with_bytes) out.bytes = parts.size() == 1 ? parts.front() : joined(parts);
  return out;
}

LevelHashes KeyValues::of_item(const FactItem& item) const {
  LevelHashes hashes{};
  uint64_t hash = 0;
  for (size_t i = 0; i < levels_.size(); ++i) {
    hash = mix(hash, item_level(item, levels_[i], false).hash);
    hashes[i] = hash;
  }
  return hashes;
}

RequestKey KeyValues::key_of(const FactRequest& request, const std::vector<uint32_t>& values,
                             uint32_t number) const {
  RequestKey key;
  uint64_t hash = 0;
  for (size_t i = 0; i < levels_.size(); ++i) {
    const Chosen level = request_level(request, values, levels_[i], mix(number, i), false);
    if (!level.known) break;
    key.values *= level.values;
    hash = mix(hash, level.hash);
    key.hashes[i] = hash;
    ++key.levels;
  }
  return key;
}

RequestKey KeyValues::of_request(const FactRequest& request, uint32_t number) const {
  return key_of(request, request.values, number);
}

bool KeyValues::keeps_together(const FactRequest& request, uint32_t number) const {
  const LevelHashes first = key_of(request, request.values, number).hashes;
  return std::ranges::all_of(request.batch, [&](const std::vector<uint32_t>& values) {
    return key_of(request, values, number).hashes == first;
  });
}

std::string KeyValues::text_of(const FactItem& item, size_t levels) const {
  std::string text;
  for (size_t i = 0; i < std::min(levels, levels_.size()); ++i) {
    const Chosen level = item_level(item, levels_[i], true);
    text += (i == 0 ? "" : " / ") + (level.bytes ? value_text(*level.bytes) : "?");
  }
  return text;
}

std::string KeyValues::text_of(const FactRequest& request, uint32_t number, size_t levels) const {
  std::string text;
  for (size_t i = 0; i < std::min(levels, levels_.size()); ++i) {
    const Chosen level = request_level(request, request.values, levels_[i], mix(number, i), true);
    if (i > 0) text += " / ";
    if (level.bytes) {
      text += value_text(*level.bytes);
      continue;
    }
    const uint32_t value = request.values[levels_[i].parts.front().place];
    text += value < FactRequest::kUnseen ? facts_.values.text(value) : "?";
  }
  return text;
}

uint32_t KeyValues::place(const Chosen& chosen, uint32_t count) const {
  const auto part = chosen.bytes ? key_part(*chosen.bytes) : std::nullopt;
  if (!part) return static_cast<uint32_t>(mix(chosen.hash, 5) % count);
  const auto placement =
      levels_.size() > 1 ? value::Placement::multi_hash : value::Placement::hash_v2;
  if (boundaries_for_ != count) {
    boundaries_ = value::divide_evenly(placement, count);
    boundaries_for_ = count;
  }
  // A prefix of a hierarchical key begins where its first level's hash does.
  value::KeyDefinition definition{.placement = placement, .paths = {}};
  definition.paths.resize(levels_.size());
  const value::KeyScope scope = value::place_prefix(definition, {*part});
  const std::string_view effective = value::effective_key(definition, scope.min);
  const auto after = std::ranges::upper_bound(boundaries_, effective, [](auto a, auto b) {
    return std::string_view(a) < std::string_view(b);
  });
  return static_cast<uint32_t>(after - boundaries_.begin());
}

uint32_t KeyValues::place(const FactItem& item, uint32_t count) const {
  return place(item_level(item, levels_.front(), true), count);
}

uint32_t KeyValues::place(const FactRequest& request, uint32_t number, uint32_t count) const {
  return place(request_level(request, request.values, levels_.front(), mix(number, 0), true),
               count);
}

}  // namespace orrery::advise
