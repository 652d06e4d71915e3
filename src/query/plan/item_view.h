// What a query reads: a snapshot of items and their index entries, of one range of placement keys
// within one partition. Implemented over partitions by the faces, and over maps by tests.
//
// Items are sorted by key: the placement key as ordered bytes (value/ordered.h), then the row.
// Terms are defined in value/terms.h. An index entry is a term and the key of an item that has it.
// No term is a prefix of another, so entries sort by term, then by key.
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
#include "value/codec.h"
#include "value/terms.h"

namespace orrery::query {

// A cursor over index entries. After next() has returned false or an error it must not be used.
class EntryCursor {
 public:
  virtual ~EntryCursor() = default;
  // The first call moves to the first entry. False at the end.
  virtual Result<bool> next() = 0;
  // Valid until the cursor moves.
  virtual std::string_view term() const = 0;
  virtual std::string_view key() const = 0;
  // Moves to the first entry of the current term with a key >= `key`, or, when there is none, to
  // the first entry of the next term. Only forwards, and only in ascending cursors. Before the
  // first next() the current term is the first one in the range.
  virtual Result<bool> seek(std::string_view key) = 0;
};

class ItemCursor {
 public:
  virtual ~ItemCursor() = default;
  virtual Result<bool> next() = 0;
  virtual std::string_view key() const = 0;
  virtual std::string_view body() const = 0;  // empty: the item is not to be seen
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

  // Whether every item is indexed by the current policy. Not during re-indexing: then only items()
  // and fetch() may be used.
  virtual bool is_indexed() const = 0;
  // Whether every entry is that of a visible item, so that entries can be counted without reading
  // items. (Not where items expire.)
  virtual bool entries_are_items() const = 0;
  // The number of items in the view: exact when entries_are_items() and the view is a whole
  // partition or one placement key, otherwise an upper bound.
  virtual uint64_t items_at_most() const = 0;
  // The estimated number of entries in the range. It is exact up to some hundred, and 0 only if
  // there are none. It may include entries of the partition outside of the view.
  virtual uint64_t estimate(const TermRange& range) const = 0;

  // The entries of a range whose keys are in the view; with `after`, only those after it in the
  // cursor's direction.
  struct Place {
    std::string term;
    std::string key;
  };
  virtual Result<std::unique_ptr<EntryCursor>> entries(const TermRange& range, bool descending,
                                                       const Place* after) const = 0;
  // The shapes (value/terms.h) of the items without a value at the path. Every such item has one of
  // these shape terms. An item with a shape in `lacking` has no value there; one with `others`, the
  // shape that all rare shapes share, may have one.
  struct Shapes {
    std::vector<std::string> lacking;  // shape terms
    std::optional<std::string> others;
  };
  virtual Shapes shapes_without(std::string_view term_path) const = 0;

  // All items in key order; with `after`, from there on (`inclusive`: with the item at it).
  virtual Result<std::unique_ptr<ItemCursor>> items(const std::string* after,
                                                    bool inclusive) const = 0;
  // The same from the last one on; with `before`, of those before it. Queries do not ask for it.
  virtual Result<std::unique_ptr<ItemCursor>> items_descending(
      const std::string* /*before*/) const {
    return fail(Code::unsupported, "these items are read in ascending order only");
  }
  // The bodies of the items with these keys, in the order of `keys`, which need not be sorted. The
  // body of an item that has expired is empty. Valid until the next fetch.
  virtual Result<std::vector<std::string_view>> fetch(std::span<const std::string> keys) = 0;
};

// Everything that a query may read: views, in key order.
class ItemSpace {
 public:
  virtual ~ItemSpace() = default;
  // Opens the first view that reaches beyond this placement key (empty: the first of all), or null
  // at the end. `end` is set to where the next view starts.
  virtual Result<std::unique_ptr<ItemView>> open(std::string_view from_placement,
                                                 std::string& end) = 0;
  // The index policy of the views for which is_indexed() is true; null: there are none.
  virtual const value::IndexPolicy* policy() const { return nullptr; }
  // The same items in parts, in key order, from this placement key on (empty: all). Each part may
  // be read by another thread, while this space is not read. It has a view where this space would
  // have one. None: the space is not to be divided.
  struct Part {
    std::string start;  // a placement key: nothing before it is in the part
    std::unique_ptr<ItemSpace> space;
  };
  // `stop` is in the place of the one that this space was made with, and for any thread.
  virtual std::vector<Part> divide(std::string_view /*from_placement*/,
                                   const std::function<bool()>& /*stop*/) {
    return {};
  }
  // A part was read, as if it had been through this space. Called in the order of the parts.
  virtual void was_read(const ItemSpace& /*part*/) {}
  // The encoding of the items' bodies, and of the rows that are made of them.
  virtual const value::Codec& codec() const { return *value::json_codec(); }
};

}  // namespace orrery::query
