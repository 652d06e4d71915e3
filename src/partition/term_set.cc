// See term_set.h.
#include "partition/term_set.h"

#include <algorithm>

#include "value/composite.h"
#include "value/path.h"
#include "value/shape.h"
#include "value/term_value.h"

namespace orrery::partition {
namespace {

// Room at once for the terms of an item of about a kilobyte.
constexpr size_t kUsualBytes = 2048;
constexpr size_t kUsualTerms = 48;

std::optional<size_t> place_of(const value::Path& path, std::span<const std::string_view> added) {
  if (path.steps.size() != 1) return std::nullopt;
  const auto found = std::ranges::find(added, path.steps.front().name);
  if (found == added.end()) return std::nullopt;
  return static_cast<size_t>(found - added.begin());
}

}  // namespace

void TermDraft::add(std::string_view term) {
  entries_.push_back({.at = bytes_.size(), .size = term.size()});
  bytes_.insert(bytes_.end(), term.begin(), term.end());
}

void TermDraft::add_composite(const value::CompositeIndex& composite, std::string_view prefix,
                              const value::Node& body, value::ValueOrder order,
                              std::span<const std::string_view> added) {
  const auto is_added = [&](const auto& part) { return place_of(part.path, added).has_value(); };
  if (std::ranges::none_of(composite.parts, is_added)) {
    std::string term(prefix);
    value::CompositeTerms::append(term, composite, body, order);
    return add(term);
  }
  OpenComposite open;
  for (const value::CompositeIndex::Part& part : composite.parts) {
    if (const auto place = place_of(part.path, added)) {
      open.pieces.push_back({std::move(open.end), *place, part.descending});
      open.end.clear();
    } else {
      value::CompositeTerms::append_part(open.end, part, body, order);
    }
  }
  open.end += value::kCompositeEnd;
  add(prefix);
  entries_.back().composite = static_cast<int32_t>(composites_.size());
  composites_.push_back(std::move(open));
}

void TermDraft::sort() {
  std::ranges::sort(entries_, {}, [this](const Entry& entry) { return text(entry); });
  const auto repeated =
      std::ranges::unique(entries_, {}, [this](const Entry& entry) { return text(entry); });
  entries_.erase(repeated.begin(), repeated.end());
}

std::optional<TermDraft> TermDraft::make(const value::Node& body, const value::IndexPolicy& policy,
                                         std::span<const std::string_view> added,
                                         size_t bytes_max) {
  TermDraft draft;
  draft.bytes_.reserve(kUsualBytes);
  draft.entries_.reserve(kUsualTerms);
  const bool is_all = policy.each_path_term(body, [&](std::string_view term) {
    draft.add(term);
    return draft.bytes_.size() + draft.entries_.size() * sizeof(Entry) <= bytes_max;
  });
  if (!is_all) return std::nullopt;
  for (size_t i = 0; i < added.size(); ++i) {
    if (!policy.covers_member(added[i])) continue;
    draft.add(value::term_path_of_member(added[i]));
    draft.entries_.back().added = static_cast<int32_t>(i);
  }
  const auto& composites = policy.definition().composites;
  for (size_t i = 0; i < composites.size(); ++i) {
    draft.add_composite(composites[i], policy.composite_prefix(i), body, policy.definition().order,
                        added);
  }
  draft.sort();
  if (policy.has_shapes()) {
    std::vector<std::string_view> terms;
    terms.reserve(draft.entries_.size());
    for (const Entry& entry : draft.entries_) terms.push_back(draft.text(entry));
    draft.shape_ = value::shape_of(terms);
  }
  return draft;
}

TermSet TermSet::of(const value::Node& item, const value::IndexPolicy& policy) {
  TermSet set;
  set.draft_ = std::move(*TermDraft::make(item, policy, {}));
  set.fill(set.draft_, {});
  return set;
}

TermSet TermSet::complete(const TermDraft& draft, std::span<const std::string_view> added) {
  TermSet set;
  set.fill(draft, added);
  return set;
}

void TermSet::fill(const TermDraft& draft, std::span<const std::string_view> added) {
  const auto value_of = [&](int32_t place) { return added[static_cast<size_t>(place)]; };
  size_t room = value::kShapeTermBytes;
  for (const TermDraft::Entry& entry : draft.entries_) {
    if (entry.added != TermDraft::kNone) room += entry.size + value_of(entry.added).size();
    if (entry.composite == TermDraft::kNone) continue;
    const auto& open = draft.composites_[static_cast<size_t>(entry.composite)];
    room += entry.size + open.end.size();
    for (const auto& piece : open.pieces) room += piece.before.size() + added[piece.added].size();
  }
  extra_.reserve(room);
  terms_.reserve(draft.entries_.size() + 1);
  const auto append = [this](std::string_view bytes) {
    extra_.insert(extra_.end(), bytes.begin(), bytes.end());
  };
  for (const TermDraft::Entry& entry : draft.entries_) {
    if (entry.added == TermDraft::kNone && entry.composite == TermDraft::kNone) {
      terms_.push_back(draft.text(entry));
      continue;
    }
    const size_t at = extra_.size();
    append(draft.text(entry));
    if (entry.added != TermDraft::kNone) {
      append(value_of(entry.added));
    } else {
      const auto& open = draft.composites_[static_cast<size_t>(entry.composite)];
      for (const auto& piece : open.pieces) {
        append(piece.before);
        const size_t from = extra_.size();
        append(added[piece.added]);
        if (!piece.descending) continue;
        for (size_t i = from; i < extra_.size(); ++i) extra_[i] = static_cast<char>(~extra_[i]);
      }
      append(open.end);
    }
    terms_.emplace_back(extra_.data() + at, extra_.size() - at);
  }
}

void TermSet::add_shape(uint64_t hash) {
  const size_t at = extra_.size();
  const std::string term = value::shape_term(hash);
  extra_.insert(extra_.end(), term.begin(), term.end());
  const std::string_view shape(extra_.data() + at, term.size());
  terms_.insert(std::ranges::lower_bound(terms_, shape), shape);
}

}  // namespace orrery::partition
