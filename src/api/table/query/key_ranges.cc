// See key_ranges.h.
#include "api/table/query/key_ranges.h"

#include <algorithm>
#include <utility>

#include "partition/format.h"

namespace orrery::table {
namespace {

// The smallest text after this one.
std::string next_text(std::string text) {
  return text += '\0';
}

TextRange intersect(const TextRange& a, const TextRange& b) {
  TextRange both = a;
  if (b.low > both.low || (b.low == both.low && b.low_open)) {
    both.low = b.low;
    both.low_open = b.low_open;
  }
  if (b.high && (!both.high || *b.high < *both.high || (*b.high == *both.high && b.high_open))) {
    both.high = b.high;
    both.high_open = b.high_open;
  }
  return both;
}

// Everything between the least and the greatest of both.
TextRange hull(const TextRange& a, const TextRange& b) {
  TextRange both = a;
  if (b.low < both.low || (b.low == both.low && !b.low_open)) {
    both.low = b.low;
    both.low_open = b.low_open;
  }
  if (!b.high) {
    both.high.reset();
  } else if (both.high && (*b.high > *both.high || (*b.high == *both.high && !b.high_open))) {
    both.high = b.high;
    both.high_open = b.high_open;
  }
  return both;
}

std::vector<TextRange> ranges_of(Comparison comparison, const std::string& text) {
  switch (comparison) {
    case Comparison::eq:
      return {{.low = text, .high = text}};
    case Comparison::ne:
      return {{.low = "", .high = text, .high_open = true}, {.low = text, .low_open = true}};
    case Comparison::gt:
      return {{.low = text, .low_open = true}};
    case Comparison::ge:
      return {{.low = text}};
    case Comparison::lt:
      return {{.low = "", .high = text, .high_open = true}};
    case Comparison::le:
      return {{.low = "", .high = text}};
  }
  return {{}};
}

void bound(std::vector<KeyBox>& boxes) {
  if (boxes.size() <= kKeyBoxesMax) return;
  KeyBox all = boxes.front();
  for (const KeyBox& box : boxes) {
    all.partition = hull(all.partition, box.partition);
    all.row = hull(all.row, box.row);
  }
  boxes.assign(1, std::move(all));
}

std::vector<KeyBox> boxes_of(const Filter& filter, bool is_negated);

std::vector<KeyBox> boxes_of_comparison(const Filter& filter, bool is_negated) {
  const bool is_partition = filter.name == kPartitionKey;
  if (!is_partition && filter.name != kRowKey) return {{}};
  // Keys are strings: with another type it is never true, and its negation always.
  if (filter.literal.value.type != Edm::string) {
    return is_negated ? std::vector<KeyBox>{{}} : std::vector<KeyBox>{};
  }
  std::vector<KeyBox> boxes;
  for (TextRange& range : ranges_of(is_negated ? negated(filter.comparison) : filter.comparison,
                                    filter.literal.text)) {
    KeyBox box;
    (is_partition ? box.partition : box.row) = std::move(range);
    boxes.push_back(std::move(box));
  }
  return boxes;
}

std::vector<KeyBox> boxes_of_any(const Filter& filter, bool is_negated) {
  std::vector<KeyBox> all;
  for (const Filter& part : filter.parts) {
    for (KeyBox& box : boxes_of(part, is_negated)) all.push_back(std::move(box));
    bound(all);
  }
  return all;
}

std::vector<KeyBox> boxes_of_all(const Filter& filter, bool is_negated) {
  std::vector<KeyBox> all = {{}};
  for (const Filter& part : filter.parts) {
    const std::vector<KeyBox> next = boxes_of(part, is_negated);
    std::vector<KeyBox> both;
    for (const KeyBox& a : all) {
      for (const KeyBox& b : next) {
        KeyBox box{intersect(a.partition, b.partition), intersect(a.row, b.row)};
        if (!box.partition.is_empty() && !box.row.is_empty()) both.push_back(std::move(box));
      }
    }
    bound(both);
    all = std::move(both);
  }
  return all;
}

std::vector<KeyBox> boxes_of(const Filter& filter, bool is_negated) {
  switch (filter.kind) {
    case Filter::Kind::constant:
      return filter.constant != is_negated ? std::vector<KeyBox>{{}} : std::vector<KeyBox>{};
    case Filter::Kind::compare:
      return boxes_of_comparison(filter, is_negated);
    case Filter::Kind::all_of:
      return is_negated ? boxes_of_any(filter, true) : boxes_of_all(filter, false);
    case Filter::Kind::any_of:
      return is_negated ? boxes_of_all(filter, true) : boxes_of_any(filter, false);
    case Filter::Kind::negation:
      return boxes_of(filter.parts.front(), !is_negated);
  }
  return {{}};
}

Stretch whole_table() {
  Stretch all;
  all.min = value::placement_min();
  all.max = value::placement_max();
  all.from = partition::items_from(all.min);
  all.to = partition::items_from(all.max);
  return all;
}

Stretch rows_of(const value::KeyDefinition& key, const std::string& partition_key,
                const TextRange& rows) {
  Stretch stretch;
  stretch.min = place_partition(key, partition_key);
  stretch.max = next_text(stretch.min);
  stretch.from = partition::item_key(stretch.min, rows.low_open ? next_text(rows.low) : rows.low);
  stretch.to = rows.high ? partition::item_key(stretch.min,
                                               rows.high_open ? *rows.high : next_text(*rows.high))
                         : partition::items_from(stretch.max);
  return stretch;
}

Stretch partitions_of(const value::KeyDefinition& key, const TextRange& partitions) {
  Stretch stretch = whole_table();
  if (!partitions.low.empty() || partitions.low_open) {
    stretch.min = place_partition(key, partitions.low);
    if (partitions.low_open) stretch.min = next_text(stretch.min);
  }
  if (partitions.high) {
    stretch.max = place_partition(key, *partitions.high);
    if (!partitions.high_open) stretch.max = next_text(stretch.max);
  }
  stretch.from = partition::items_from(stretch.min);
  stretch.to = partition::items_from(stretch.max);
  return stretch;
}

// What a grant lets be seen, between two pairs of keys, as a filter has it: within the partitions,
// and in the first and the last of them only some rows.
std::vector<KeyBox> boxes_of(const KeyRange& granted) {
  KeyBox all;
  if (granted.first) all.partition.low = granted.first->partition;
  if (granted.last) all.partition.high = granted.last->partition;
  if (all.partition.is_empty()) return {};
  const bool cuts_first = granted.first && granted.first->row && !granted.first->row->empty();
  const bool cuts_last = granted.last && granted.last->row;
  std::vector<KeyBox> boxes;
  if (all.partition.is_point()) {
    if (cuts_first) all.row.low = *granted.first->row;
    if (cuts_last) all.row.high = *granted.last->row;
    if (!all.row.is_empty()) boxes.push_back(std::move(all));
    return boxes;
  }
  if (cuts_first) {
    boxes.push_back({.partition = {.low = all.partition.low, .high = all.partition.low},
                     .row = {.low = *granted.first->row}});
    all.partition.low_open = true;
  }
  if (cuts_last) {
    boxes.push_back({.partition = {.low = *all.partition.high, .high = all.partition.high},
                     .row = {.low = "", .high = granted.last->row}});
    all.partition.high_open = true;
  }
  if (!all.partition.is_empty()) boxes.push_back(std::move(all));
  return boxes;
}

// Sorted, and those that touch made one.
std::vector<Stretch> joined(std::vector<Stretch> all) {
  std::ranges::sort(all, {}, &Stretch::from);
  std::vector<Stretch> result;
  for (Stretch& one : all) {
    if (one.from >= one.to) continue;
    if (!result.empty() && one.from <= result.back().to) {
      Stretch& last = result.back();
      if (one.to > last.to) last.to = std::move(one.to);
      if (one.max > last.max) last.max = std::move(one.max);
      continue;
    }
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace

std::string place_partition(const value::KeyDefinition& key, std::string_view partition_key) {
  value::KeyPart part;
  part.type = value::Type::string;
  part.text = partition_key;
  return value::place(key, {std::move(part)});
}

std::vector<KeyBox> key_boxes(const Filter& filter) {
  return boxes_of(filter, false);
}

std::vector<Stretch> stretches_of(const Filter& filter, const KeyRange& granted,
                                  const value::KeyDefinition& key) {
  const bool is_ordered = key.placement == value::Placement::range;
  std::vector<Stretch> all;
  const std::vector<KeyBox> seen = boxes_of(granted);
  for (const KeyBox& box : key_boxes(filter)) {
    for (const KeyBox& allowed : seen) {
      const TextRange partitions = intersect(box.partition, allowed.partition);
      const TextRange rows = intersect(box.row, allowed.row);
      if (partitions.is_empty() || rows.is_empty()) continue;
      if (partitions.is_point()) {
        all.push_back(rows_of(key, partitions.low, rows));
      } else {
        all.push_back(is_ordered ? partitions_of(key, partitions) : whole_table());
      }
    }
  }
  return joined(std::move(all));
}

}  // namespace orrery::table
