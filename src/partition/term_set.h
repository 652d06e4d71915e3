// The distinct terms of one item, sorted: its index entries.
//
// A draft is made from a body before the write is queued, on the caller's thread. The writer adds
// some members later (Finisher); the draft has placeholders for their terms. A set is a draft with
// its placeholders filled in, which needs no parsing and no sorting: no other term has the path of
// a placeholder, so its position is known in advance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "value/document.h"
#include "value/terms.h"

namespace orrery::partition {

class TermDraft {
 public:
  TermDraft() = default;
  // `added`: the names of the members that the item will get, all of them scalars at its root. The
  // body must not have them. Nothing when the terms take more than `bytes_max`.
  static std::optional<TermDraft> make(const value::Node& body, const value::IndexPolicy& policy,
                                       std::span<const std::string_view> added,
                                       size_t bytes_max = SIZE_MAX);

  // Of the whole item; nothing when it is too large, or when items of this policy have none.
  const std::optional<std::string>& shape() const { return shape_; }

 private:
  friend class TermSet;
  static constexpr int32_t kNone = -1;
  // A term, or what one starts with: then the value of an added member comes after it, or the
  // pieces of a composite.
  struct Entry {
    size_t at = 0;  // in bytes_
    size_t size = 0;
    int32_t added = kNone;
    int32_t composite = kNone;
  };
  // The components of a composite term one of whose parts is added: each after what is before it.
  struct Piece {
    std::string before;
    size_t added = 0;
    bool descending = false;
  };
  struct OpenComposite {
    std::vector<Piece> pieces;
    std::string end;
  };
  std::string_view text(const Entry& entry) const { return {bytes_.data() + entry.at, entry.size}; }
  void add(std::string_view term);
  void add_composite(const value::CompositeIndex& composite, std::string_view prefix,
                     const value::Node& body, value::ValueOrder order,
                     std::span<const std::string_view> added);
  void sort();

  std::vector<char> bytes_;  // moving it moves no byte
  std::vector<Entry> entries_;
  std::vector<OpenComposite> composites_;
  std::optional<std::string> shape_;
};

class TermSet {
 public:
  TermSet() = default;
  // Of an item that is complete.
  static TermSet of(const value::Node& item, const value::IndexPolicy& policy);
  // `added`: the values of the added members as terms have them (value/term_value.h), in the order
  // of their names in the draft, which must outlive the set.
  static TermSet complete(const TermDraft& draft, std::span<const std::string_view> added);

  const std::vector<std::string_view>& terms() const { return terms_; }
  const std::optional<std::string>& shape() const { return draft_.shape_; }  // after of()
  void add_shape(uint64_t hash);

 private:
  void fill(const TermDraft& draft, std::span<const std::string_view> added);

  TermDraft draft_;          // if it owns one
  std::vector<char> extra_;  // what was filled in, and the shape; never grows beyond its room
  std::vector<std::string_view> terms_;
};

}  // namespace orrery::partition
