// A partition as queries read it: one snapshot, restricted to the placement keys of one stretch
// [min, max). Gives items and index entries by their stored keys, the placement key as ordered
// bytes followed by the row, so that a caller compares and passes on keys without taking them
// apart.
//
// Invariants
//  - Everything that a view gives is of one moment; what is written later is not seen.
//  - What a split has left of its sibling in the files is never given.
//  - Expired items are not given. Their index entries are, until the items are collected.
//
// Threading: one thread at a time. A view keeps old data on disk, and the partition from being
// opened again after a disk failure, for as long as it lives: one page of a query. Cursors must not
// outlive their view.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "partition/item.h"
#include "partition/partition.h"

namespace orrery::partition {

// The index entries of a range of terms, one after the other.
class EntryCursor {
 public:
  ~EntryCursor();
  EntryCursor(const EntryCursor&) = delete;
  EntryCursor& operator=(const EntryCursor&) = delete;

  // Moves to the next one; the first call moves to the first. False after the last one, and from
  // then on.
  Result<bool> next();
  // Of where it stands; valid until it moves.
  std::string_view term() const { return entry_.substr(0, term_size_); }
  std::string_view key() const { return entry_.substr(term_size_); }
  // Moves to the first entry of the term it stands in whose key is not before this one, or, when
  // there is none, to the entry after. Only forwards: it stays where it is when it is there
  // already. Not for descending cursors. Before the first next() it stands in the first term of its
  // range.
  Result<bool> seek(std::string_view key);

 private:
  friend class View;
  struct State;
  explicit EntryCursor(std::unique_ptr<State> state);
  Result<bool> settle();
  Result<bool> end();
  void step();
  void jump(std::string_view key);

  std::unique_ptr<State> state_;
  std::string_view entry_;
  size_t term_size_ = 0;
};

// Items in the order of their keys. Those that are not to be seen are passed over, but only so many
// in one step: then it stands at one of them, with an empty body, so that its user can stop there.
class ItemCursor {
 public:
  ~ItemCursor();
  ItemCursor(const ItemCursor&) = delete;
  ItemCursor& operator=(const ItemCursor&) = delete;

  Result<bool> next();
  std::string_view key() const { return key_; }
  std::string_view body() const { return body_; }

 private:
  friend class View;
  struct State;
  explicit ItemCursor(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
  std::string_view key_;
  std::string_view body_;
};

class View {
 public:
  // The part of [min, max) that the partition has. The schema decides what has expired, and which
  // index rules entries must have been made by.
  static Result<std::unique_ptr<View>> open(std::shared_ptr<const Partition> partition,
                                            std::string_view min, std::string_view max,
                                            const Schema& schema, Reach reach = Reach::files);
  // Of a partition that has no files yet.
  static std::unique_ptr<View> of_nothing();
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  // The partition's newest LSN when the view was made.
  uint64_t lsn() const;
  // Whether every item has the terms that the schema's rules give it. When not, only items() and
  // fetch() may be used.
  bool is_indexed() const;
  // Whether every entry is that of an item that a read would find. (Not where items expire, or
  // while some are being purged.)
  bool entries_are_items() const;
  // How many items there are in the stretch, expired ones included: exact when the stretch is the
  // whole partition or one placement key; otherwise not less than there are.
  uint64_t items_at_most() const;
  // How many entries have terms in [from, to): exact below some hundred, beyond that about, from
  // what is known without reading them. May include those of other stretches of the partition. Not
  // 0 when it fails, which is told by what is read next.
  uint64_t estimate(std::string_view from, std::string_view to) const;

  // The entries with terms in [from, to) whose keys are in the stretch; only those after the place
  // in the cursor's direction when one is given. The bounds need not be whole terms.
  struct Place {
    std::string_view term;
    std::string_view key;
  };
  Result<std::unique_ptr<EntryCursor>> entries(std::string_view from, std::string_view to,
                                               bool descending, const Place* after) const;
  // The shape terms of the items that lack a path, which has no array step.
  ShapesWithout shapes_without(std::string_view term_path) const;

  // All items, those after `after` (or at it, when `inclusive`) when it is given.
  Result<std::unique_ptr<ItemCursor>> items(const std::string* after, bool inclusive) const;
  // The bodies of some items, in the order of `keys`, which need not be sorted. An item that is not
  // to be seen gives an empty body. The bodies are valid until the next fetch.
  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys);

 private:
  friend class EntryCursor;
  friend class ItemCursor;
  struct State;
  explicit View(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;  // null: there is nothing
};

}  // namespace orrery::partition
