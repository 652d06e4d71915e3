// A stored body as a tree that can be walked, whatever its encoding (codec.h).
//
// A Document owns its nodes and what they point to; moving it keeps them valid. It is not changed
// once it is made, so several threads may read it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include "value/type.h"

namespace orrery::value {

// How deep arrays and objects may nest. Every codec keeps to it: what walks over nodes recurses.
inline constexpr int kMaxDepth = 128;

struct Node {
  Type type = Type::undefined;
  bool boolean = false;
  uint8_t detail = 0;   // a number's NumberKind; the subtype of binary and code
  bool is_json = true;  // false: `raw` is of another encoding
  uint32_t count = 0;   // members or elements; set_integer() and set_date() use it too
  union {
    double number = 0;  // a number's value, or the double nearest to it
    int64_t integer;    // a date's milliseconds, a timestamp's bits
  };
  std::string_view text;        // a string's value, unescaped; a scalar's bytes (Value::bytes)
  std::string_view name;        // the property's name if this is a member, unescaped
  std::string_view raw_name;    // of JSON: the same as written, without its quotes
  std::string_view raw;         // the value as written (JSON: minified)
  const Node* first = nullptr;  // first member or element
  const Node* next = nullptr;   // next sibling

  // The member with this name, or null.
  const Node* find(std::string_view member) const;

  // For codecs: what a scalar is that JSON does not have. Bytes must live as long as the node.
  void set_integer(int64_t value, NumberKind kind);
  void set_decimal(std::string_view bytes);  // 16
  void set_date(Date date);
  void set_timestamp(uint64_t bits);
  void set_bytes(Type bytes_type, std::string_view bytes, uint8_t subtype = 0);
};

// Nodes that never move and are freed together. Memory becomes nodes one at a time, so that the
// unused end of a chunk costs nothing.
class NodeArena {
 public:
  explicit NodeArena(size_t body_bytes)
      : next_size_(std::clamp(body_bytes / 16, kMinNodesInChunk, kMaxNodesInChunk)) {}

  size_t bytes() const { return bytes_; }
  Node* add() {
    if (free_ == end_) grow();
    std::byte* const at = free_;
    free_ += sizeof(Node);
    return new (at) Node;
  }

 private:
  static constexpr size_t kMinNodesInChunk = 8;
  static constexpr size_t kMaxNodesInChunk = 1024;
  static_assert(std::is_trivially_destructible_v<Node>);
  static_assert(alignof(Node) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

  void grow();

  size_t next_size_;
  size_t bytes_ = 0;
  std::byte* free_ = nullptr;
  std::byte* end_ = nullptr;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
};

class Document {
 public:
  // What a codec makes: nodes, and whatever they point to.
  struct Tree {
    virtual ~Tree() = default;
    const Node* root = nullptr;
    virtual size_t memory() const = 0;  // bytes that it keeps
  };

  explicit Document(std::unique_ptr<const Tree> tree) : tree_(std::move(tree)) {}
  const Node& root() const { return *tree_->root; }
  size_t memory() const { return tree_->memory(); }

 private:
  std::unique_ptr<const Tree> tree_;
};

}  // namespace orrery::value
