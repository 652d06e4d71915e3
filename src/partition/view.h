// A partition as queries read it: one snapshot, restricted to a range [min, max) of placement keys,
// the view's stretch. Items and index entries are identified by their stored keys (the placement
// key as ordered bytes, then the row). Callers can compare these and pass them on without decoding
// them.
//
// Invariants
//  - All data from a view is of one snapshot.
//  - Data of a sibling that a split left in the files is never returned.
//  - Expired items are not returned. Their index entries are, until the items are collected.
//
// Threading: one thread at a time. A view pins old data on disk, and the partition cannot be
// reopened after a disk failure while a view lives. So it lives for one page of a query only.
// Cursors must not outlive their view.
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

// A cursor over the index entries of a range of terms.
class EntryCursor {
 public:
  ~EntryCursor();
  EntryCursor(const EntryCursor&) = delete;
  EntryCursor& operator=(const EntryCursor&) = delete;

  // Moves to the next entry; the first call, to the first one. False at the end, and from then on.
  Result<bool> next();
  // The current entry; valid until the cursor moves.
  std::string_view term() const { return entry_.substr(0, term_size_); }
  std::string_view key() const { return entry_.substr(term_size_); }
  // Moves to the first entry of the current term whose key is at or after `key`; when there is
  // none, to the entry that follows the term. Only forwards: stays in place when it is already
  // there. Not for descending cursors. Before the first next() the current term is the first one of
  // the range.
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

// A cursor over items in key order, ascending or descending. It skips items that are not visible,
// but only a bounded number in one step. At that bound it stops on an invisible item, with an empty
// body, so that its user can stop there.
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
  // Whether every index entry belongs to a visible item. (Not where items expire, or while some are
  // being purged.)
  bool entries_are_items() const;
  // Upper bound of the number of items in the stretch, expired ones included. Exact when the
  // stretch is the whole partition or one placement key.
  uint64_t items_at_most() const;
  // Estimated number of entries with terms in [from, to). Small numbers (up to some hundred) are
  // counted and exact. Larger ones are estimated from RocksDB's statistics, and may include entries
  // of other stretches of the partition. On failure the result is not 0, and the next read returns
  // the error.
  uint64_t estimate(std::string_view from, std::string_view to) const;

  // A cursor over the entries with terms in [from, to) whose keys are in the stretch. With `after`,
  // it starts behind that entry, in the cursor's direction. The bounds need not be whole terms.
  struct Place {
    std::string_view term;
    std::string_view key;
  };
  Result<std::unique_ptr<EntryCursor>> entries(std::string_view from, std::string_view to,
                                               bool descending, const Place* after) const;
  // The shape terms of the items that lack a path, which has no array step.
  ShapesWithout shapes_without(std::string_view term_path) const;

  // A cursor over all items; with `after`, over those after it (or from it on, when `inclusive`).
  Result<std::unique_ptr<ItemCursor>> items(const std::string* after, bool inclusive) const;
  // The same from the last one on; with `before`, of those before it.
  Result<std::unique_ptr<ItemCursor>> items_descending(const std::string* before) const;
  // The bodies of some items, in the order of `keys`, which need not be sorted. An item that is not
  // to be seen gives an empty body. The bodies are valid until the next fetch.
  Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys);

 private:
  friend class EntryCursor;
  friend class ItemCursor;
  struct State;
  Result<std::unique_ptr<ItemCursor>> items_between(std::string lower, std::string upper,
                                                    bool descending) const;
  explicit View(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;  // null: there is nothing
};

}  // namespace orrery::partition
