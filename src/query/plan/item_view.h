// What a query reads: items and their index entries, as they were at one moment, in one stretch of
// placement keys within one partition. Implemented over partitions by the faces, and over plain
// maps by tests.
//
// A key is what items are sorted by: the placement key as ordered bytes (value/ordered.h), then the
// row. A term is what value/terms.h says; each index entry is one term and the key of one item that
// has it. Terms do not start one another, so entries sort by term, then by key.
//
// Threading: one thread at a time. A view keeps old data on disk: it lives for one page at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/terms.h"

namespace orrery::query {

// Entries, or items, one after the other. After next() has given false, or an error, it is over.
class EntryCursor {
 public:
  virtual ~EntryCursor() = default;
  // Moves to the next one; the first call moves to the first. False after the last one.
  virtual Result<bool> next() = 0;
  // Of where it stands; valid until it moves.
  virtual std::string_view term() const = 0;
  virtual std::string_view key() const = 0;
  // Moves to the first entry of the term it stands in whose key is not before this one, or, when
  // there is none, to the entry after. Only forwards, and only in ascending cursors. Before the
  // first next() it stands in the first term of its range that has an entry.
  virtual Result<bool> seek(std::string_view key) = 0;
};

class ItemCursor {
 public:
  virtual ~ItemCursor() = default;
  virtual Result<bool> next() = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view body() const = 0;  // JSON; empty: the item is not to be seen
};

// Terms from `from` up to but not including `to`.
struct TermRange {
  std::string from;
  std::string to;
  bool operator==(const TermRange&) const = default;
};

class ItemView {
 public:
  virtual ~ItemView() = default;

  // Whether every item has the terms that the current policy gives it. While it is re-indexed it
  // has not, and only items() and fetch() may be used.
  virtual bool is_indexed() const = 0;
  // Whether every entry is that of an item that a read would find, so that entries can be counted
  // without looking at items. (Not where items expire.)
  virtual bool entries_are_items() const = 0;
  // How many items there are in the stretch: exact when entries_are_items() and the stretch is the
  // whole partition or one placement key; otherwise not less than there are.
  virtual uint64_t items_at_most() const = 0;
  // How many entries there are in the range: exact up to some hundred, beyond that about, from what
  // is known without reading them; 0 only if there are none. May include those of other stretches
  // of the partition.
  virtual uint64_t estimate(const TermRange& range) const = 0;

  // The entries of a range whose keys are in the stretch; only those after (term, key) in the
  // cursor's direction when `after` is given.
  struct Place {
    std::string term;
    std::string key;
  };
  virtual Result<std::unique_ptr<EntryCursor>> entries(const TermRange& range, bool descending,
                                                       const Place* after) const = 0;
  // The shapes (value/terms.h) that lack a path: items without it have one of these shape terms,
  // and an item of one of these shapes lacks it, unless the shape is the one for all others, which
  // may or may not.
  struct Shapes {
    std::vector<std::string> lacking;  // shape terms
    std::optional<std::string> others;
  };
  virtual Shapes shapes_without(std::string_view term_path) const = 0;

  // All items in key order, those after `after` (or at it, when `inclusive`) when it is given.
  virtual Result<std::unique_ptr<ItemCursor>> items(const std::string* after,
                                                    bool inclusive) const = 0;
  // The bodies of some items, in the order of `keys`, which need not be sorted. An item that is no
  // longer to be seen (it has expired) gives an empty body. The bodies are valid until the next
  // fetch.
  virtual Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) = 0;
};

// All that a query may touch, as views in the order of their keys.
class ItemSpace {
 public:
  virtual ~ItemSpace() = default;
  // The first view that reaches beyond this placement key (empty: the first of all); null when
  // there is none. `end`, when a view is given, is where the next one starts.
  virtual Result<std::unique_ptr<ItemView>> open(std::string_view from_placement,
                                                 std::string& end) = 0;
  // By which the views that say is_indexed() are indexed; null: none is.
  virtual const value::IndexPolicy* policy() const { return nullptr; }
};

}  // namespace orrery::query
