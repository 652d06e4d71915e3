// See memtable.h.
//
// An entry is what RocksDB makes it: the size of the internal key as a varint, the internal key,
// the size of the value, the value. An internal key is the key and 8 bytes, little-endian: the
// number of the write in its upper 7, which alone orders the writes of a key, and its kind.
//
// A node is an entry with a link to the next: all of them are a list in their order. A tree of
// blocks says where in the list a key is. Nodes and blocks are pieces of the memtable's arena, and
// go with it.
#include "partition/memtable.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace orrery::partition {
namespace {

constexpr size_t kMarkBytes = 8;
constexpr size_t kCacheLineBytes = 64;

struct Key {
  std::string_view bytes;
  uint64_t number;  // of the write
};

uint64_t number_at(const char* mark) {
  return load_u64_le(mark) >> 8;
}

Key key_of_internal(const rocksdb::Slice& internal) {
  const size_t size = internal.size() - kMarkBytes;
  return {{internal.data(), size}, number_at(internal.data() + size)};
}

Key key_of_entry(const char* entry) {
  uint32_t size = 0;
  for (unsigned shift = 0;; shift += 7, ++entry) {
    const auto byte = static_cast<unsigned char>(*entry);
    size |= static_cast<uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  return key_of_internal({entry + 1, size});
}

int compare(const Key& a, const Key& b) {
  const size_t common = std::min(a.bytes.size(), b.bytes.size());
  const int order = std::memcmp(a.bytes.data(), b.bytes.data(), common);
  if (order != 0) return order;
  if (a.bytes.size() != b.bytes.size()) return a.bytes.size() < b.bytes.size() ? -1 : 1;
  return a.number > b.number ? -1 : a.number < b.number ? 1 : 0;
}

size_t common_bytes(const Key& a, const Key& b) {
  return static_cast<size_t>(std::ranges::mismatch(a.bytes, b.bytes).in1 - a.bytes.begin());
}

// The bytes of a key from `skip` on as a number, zeros behind its end: ordered as keys are that
// begin alike.
uint32_t head_of(const Key& key, size_t skip) {
  std::array<unsigned char, 4> bytes = {};
  if (skip < key.bytes.size()) {
    std::memcpy(bytes.data(), key.bytes.data() + skip,
                std::min(bytes.size(), key.bytes.size() - skip));
  }
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

class Node {
 public:
  static constexpr size_t kBytesBeforeEntry = 13;

  char* entry() { return reinterpret_cast<char*>(this) + kBytesBeforeEntry; }
  const char* entry() const { return const_cast<Node*>(this)->entry(); }
  // Once the entry is there.
  void note_key() {
    const Key key = key_of_entry(entry());
    key_size_ = static_cast<uint32_t>(key.bytes.size());
    key_at_ = static_cast<uint8_t>(key.bytes.data() - reinterpret_cast<const char*>(this));
  }
  Key key() const {
    const char* at = reinterpret_cast<const char*>(this) + key_at_;
    return {{at, key_size_}, number_at(at + key_size_)};
  }
  Node* next() const { return next_.load(std::memory_order_acquire); }
  // Before readers can reach the node.
  void prepare_next(Node* next) { next_.store(next, std::memory_order_relaxed); }
  // Readers may follow it from now on.
  void set_next(Node* next) { next_.store(next, std::memory_order_release); }
  // Asks for what a comparison reads: most nodes are in no cache, and keys lie in two lines.
  void ask_for() const {
    __builtin_prefetch(this);
    __builtin_prefetch(reinterpret_cast<const char*>(this) + kCacheLineBytes);
  }

 private:
  std::atomic<Node*> next_ = nullptr;
  uint32_t key_size_ = 0;
  uint8_t key_at_ = 0;  // behind the size of the key, which is 5 bytes at most
};

// Some nodes in their order. Those of a leaf are all that there are between two places in the list,
// those of a branch are the first ones of its children.
//
// The keys of a block begin with the same `skip` bytes, and a head is what follows these. A search
// reads the heads, which lie together, and the key of one node, to see whether the key that is
// looked for begins with these bytes too.
//
// What a reader finds while the writer changes the block may be wrong. But whatever it finds is a
// node of the list: whether that is before its key it sees from the node's own.
class Block {
 public:
  static constexpr size_t kNodesMax = 32;

  explicit Block(bool is_leaf) : is_leaf_(is_leaf) {}

  bool is_leaf() const { return is_leaf_; }
  size_t size() const { return size_.load(std::memory_order_acquire); }
  Node* node(size_t at) const { return nodes_[at].load(std::memory_order_acquire); }
  Block* child(size_t at) const;

  // How many nodes are before the key.
  size_t find(const Key& key) const {
    const size_t size = this->size();
    if (size == 0) return 0;
    const size_t skip = skip_.load(std::memory_order_relaxed);
    const uint32_t wanted = head_of(key, skip);
    size_t from = 0;
    for (size_t left = size; left > 0;) {
      const size_t half = left / 2;
      const bool is_before = head(from + half) < wanted;
      from = is_before ? from + half + 1 : from;
      left = is_before ? left - half - 1 : half;
    }
    // Of a leaf the one before the place, which is read anyway; of a branch always the same, which
    // is in a cache.
    const Key known = node(is_leaf_ && from > 0 ? from - 1 : 0)->key();
    const size_t common = std::min({skip, key.bytes.size(), known.bytes.size()});
    const int order = std::memcmp(key.bytes.data(), known.bytes.data(), common);
    if (order != 0) return order < 0 ? 0 : size;
    if (key.bytes.size() < skip) return 0;
    size_t to = from;
    while (to < size && head(to) == wanted) ++to;
    while (from < to) {
      const size_t middle = from + (to - from) / 2;
      if (compare(node(middle)->key(), key) < 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }
  // False: the node at this place has another key.
  bool may_have(size_t at, const Key& key) const {
    return head(at) == head_of(key, skip_.load(std::memory_order_relaxed));
  }

  // Asks for what a search reads, and an insert writes.
  void ask_for() const {
    for (size_t at = 0; at < sizeof(Block); at += kCacheLineBytes) {
      __builtin_prefetch(reinterpret_cast<const char*>(this) + at);
    }
  }

  // There is room. Of a branch with the child that begins with the node.
  void insert(size_t at, Node* node, Block* child = nullptr) {
    const Key key = node->key();
    const size_t size = this->size();
    const size_t common = size > 0 ? common_bytes(key, this->node(0)->key()) : 0;
    if (size <= 1 || common < skip_.load(std::memory_order_relaxed)) set_skip(common);
    for (size_t i = size; i > at; --i) copy(*this, i - 1, i);
    put(at, head_of(key, skip_.load(std::memory_order_relaxed)), node, child);
    set_size(size + 1);
  }
  // Of a branch: its first child begins with another node now, which is before the one that it had.
  void set_first(Node* node) {
    if (node == this->node(0)) return;
    const Key key = node->key();
    const size_t common = common_bytes(key, this->node(0)->key());
    if (common < skip_.load(std::memory_order_relaxed)) set_skip(common);
    put(0, head_of(key, skip_.load(std::memory_order_relaxed)), node, child(0));
  }
  // The nodes from `from` on, into an empty block of the same kind. They stay until this is cut.
  void copy_to(Block& other, size_t from) const {
    const size_t size = this->size();
    other.skip_.store(skip_.load(std::memory_order_relaxed), std::memory_order_relaxed);
    for (size_t i = from; i < size; ++i) other.copy(*this, i, i - from);
    other.set_size(size - from);
    other.skip_what_is_common();
  }
  void cut(size_t size) {
    set_size(size);
    skip_what_is_common();
  }

 private:
  uint32_t head(size_t at) const { return heads_[at].load(std::memory_order_relaxed); }
  void set_size(size_t size) {
    size_.store(static_cast<uint32_t>(size), std::memory_order_release);
  }
  void put(size_t at, uint32_t head, Node* node, Block* child);
  void copy(const Block& from, size_t at, size_t to) {
    put(to, from.head(at), from.node(at), is_leaf_ ? nullptr : from.child(at));
  }
  void set_skip(size_t skip) {
    skip_.store(static_cast<uint32_t>(skip), std::memory_order_relaxed);
    for (size_t i = 0; i < size(); ++i) {
      heads_[i].store(head_of(node(i)->key(), skip), std::memory_order_relaxed);
    }
  }
  // Reading all keys again, so only when half of a head is the same for all.
  void skip_what_is_common() {
    if (size() == 0) return;
    const size_t common = common_bytes(node(0)->key(), node(size() - 1)->key());
    if (common >= skip_.load(std::memory_order_relaxed) + sizeof(uint32_t) / 2) set_skip(common);
  }

  const bool is_leaf_;
  std::atomic<uint32_t> size_ = 0;
  std::atomic<uint32_t> skip_ = 0;
  std::array<std::atomic<uint32_t>, kNodesMax> heads_ = {};
  std::array<std::atomic<Node*>, kNodesMax> nodes_ = {};
};

struct Branch final : Block {
  Branch() : Block(false) {}
  std::array<std::atomic<Block*>, kNodesMax> children = {};
};

Block* Block::child(size_t at) const {
  return static_cast<const Branch*>(this)->children[at].load(std::memory_order_acquire);
}

void Block::put(size_t at, uint32_t head, Node* node, Block* child) {
  heads_[at].store(head, std::memory_order_relaxed);
  nodes_[at].store(node, std::memory_order_release);
  if (!is_leaf_) {
    static_cast<Branch*>(this)->children[at].store(child, std::memory_order_release);
  }
}

// Room from one of RocksDB's arenas, whose interface is not public; that of a table, which takes
// its room from one, is.
class Room final : public rocksdb::MemTableRep {
 public:
  explicit Room(rocksdb::Allocator* allocator) : MemTableRep(allocator) {}
  void* take(size_t bytes, size_t alignment = alignof(void*)) {
    char* made = nullptr;
    MemTableRep::Allocate(bytes + alignment - 1, &made);
    const auto at = reinterpret_cast<uintptr_t>(made);
    return made + (alignment - at % alignment) % alignment;
  }

 private:
  void Insert(rocksdb::KeyHandle) override {}
  bool Contains(const char*) const override { return false; }
  size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(rocksdb::Arena*) override { return nullptr; }
};

// Invariants
//  - Every entry of the list is in one leaf, and the leaves have them in the list's order.
//  - What a branch has for a child is the child's first node. For its first child it may be a later
//    one than that: whatever is before its second node belongs to the first child.
class Tree {
 public:
  explicit Tree(rocksdb::Allocator* allocator)
      : room_(allocator), head_(make(0)), root_(make_block(/*is_leaf=*/true)) {}

  // Room for an entry.
  Node* make(size_t entry_bytes) {
    const size_t bytes = std::max(sizeof(Node), Node::kBytesBeforeEntry + entry_bytes);
    return new (room_.take(bytes)) Node();
  }

  // False: it is there already.
  bool insert(Node* node) {
    node->note_key();
    const Key key = node->key();
    Path path;
    Block* leaf = root_.load(std::memory_order_relaxed);
    while (!leaf->is_leaf()) {
      const size_t at = child_of(*leaf, key);
      path.steps[path.size++] = {leaf, at};
      leaf = leaf->child(at);
      leaf->ask_for();
    }
    const size_t at = leaf->find(key);
    Node* const before = at > 0 ? leaf->node(at - 1) : head_;
    Node* const after = before->next();
    const bool may_be_there = at == leaf->size() || leaf->may_have(at, key);
    if (may_be_there && after != nullptr && compare(after->key(), key) == 0) return false;
    take_spares(path, *leaf);
    node->prepare_next(after);
    before->set_next(node);
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    add(path, leaf, at, node);
    return true;
  }

  // The first that is not before the key; null: there is none.
  Node* find(const Key& key) const {
    Node* next = before(key)->next();
    while (next != nullptr && compare(next->key(), key) < 0) next = next->next();
    return next;
  }
  // The last before the key; null: there is none.
  Node* find_before(const Key& key) const {
    Node* last = before(key);
    for (Node* next = last->next(); next != nullptr && compare(next->key(), key) < 0;
         next = next->next()) {
      last = next;
    }
    return last == head_ ? nullptr : last;
  }
  Node* first() const { return head_->next(); }
  Node* last() const {
    const Block* block = root_.load(std::memory_order_acquire);
    while (!block->is_leaf()) block = block->child(block->size() - 1);
    Node* at = block->size() > 0 ? block->node(block->size() - 1) : head_;
    while (Node* next = at->next()) at = next;
    return at == head_ ? nullptr : at;
  }
  // About how many are before the key: as if the children of a branch had as many each.
  uint64_t count_before(const Key& key) const {
    double share = 0;
    double width = static_cast<double>(count_.load(std::memory_order_relaxed));
    for (const Block* block = root_.load(std::memory_order_acquire); block->size() > 0;) {
      const size_t at = block->is_leaf() ? block->find(key) : child_of(*block, key);
      width /= static_cast<double>(block->size());
      share += width * static_cast<double>(at);
      if (block->is_leaf()) break;
      block = block->child(at);
    }
    return static_cast<uint64_t>(share);
  }

 private:
  // Blocks are half full at least, but for the last one of each height: more than there is memory.
  static constexpr size_t kBranchesMax = 15;
  // The branches above a block, from the root, and which of their children were taken.
  struct Path {
    struct Step {
      Block* branch = nullptr;
      size_t at = 0;
    };
    std::array<Step, kBranchesMax> steps;
    size_t size = 0;
    // Blocks for those of the path that are full, from the leaf upwards, and for another root.
    std::array<Block*, kBranchesMax + 2> spares;
    size_t spares_taken = 0;
  };

  Block* make_block(bool is_leaf) {
    if (is_leaf) return new (room_.take(sizeof(Block), kCacheLineBytes)) Block(true);
    return new (room_.take(sizeof(Branch), kCacheLineBytes)) Branch();
  }

  // Where the last node before the key is, if there is one.
  static size_t child_of(const Block& branch, const Key& key) {
    const size_t before = branch.find(key);
    return before > 0 ? before - 1 : 0;
  }

  // Before anything is changed: what has begun needs no more memory.
  void take_spares(Path& path, const Block& leaf) {
    if (leaf.size() < Block::kNodesMax) return;
    size_t taken = 0;
    path.spares[taken++] = make_block(/*is_leaf=*/true);
    for (size_t above = path.size; above-- > 0;) {
      if (path.steps[above].branch->size() < Block::kNodesMax) return;
      path.spares[taken++] = make_block(/*is_leaf=*/false);
    }
    path.spares[taken++] = make_block(/*is_leaf=*/false);
  }

  // Puts a node into the block at the end of a path, with the child that begins with it. A block
  // that is full is divided. It keeps what the new block has until readers can reach that:
  // otherwise they would go there along the list.
  void add(Path& path, Block* block, size_t at, Node* node, Block* child = nullptr) {
    if (block->size() < Block::kNodesMax) return block->insert(at, node, child);
    const bool is_last =
        std::all_of(path.steps.begin(), path.steps.begin() + path.size,
                    [](const Path::Step& step) { return step.at + 1 == step.branch->size(); });
    // Keys that come in their order leave full blocks behind.
    const bool is_appended = is_last && at == Block::kNodesMax;
    const size_t keep = is_appended ? Block::kNodesMax : Block::kNodesMax / 2;
    Block* const right = path.spares[path.spares_taken++];
    block->copy_to(*right, keep);
    const bool goes_right = is_appended || at > keep;
    if (goes_right) right->insert(at - keep, node, child);
    if (path.size == 0) {
      Block* const root = path.spares[path.spares_taken++];
      root->insert(0, block->node(0), block);
      root->insert(1, right->node(0), right);
      root_.store(root, std::memory_order_release);
    } else {
      const Path::Step above = path.steps[--path.size];
      if (above.at == 0) above.branch->set_first(block->node(0));
      add(path, above.branch, above.at + 1, right->node(0), right);
    }
    block->cut(keep);
    if (!goes_right) block->insert(at, node, child);
  }

  // The last node before the key, as far as blocks say. Some before it when they are being changed;
  // the list's head when there is none.
  Node* before(const Key& key) const {
    for (;;) {
      const Block* block = root_.load(std::memory_order_acquire);
      bool is_first = true;  // of its height
      while (!block->is_leaf()) {
        const size_t at = child_of(*block, key);
        is_first = is_first && at == 0;
        block = block->child(at);
        block->ask_for();
      }
      const size_t at = block->find(key);
      if (at == 0 && is_first) return head_;
      if (at == 0) continue;  // it was being changed
      Node* const found = block->node(at - 1);
      if (compare(found->key(), key) < 0) return found;
    }
  }

  Room room_;
  Node* const head_;  // before all entries
  std::atomic<Block*> root_;
  std::atomic<uint64_t> count_ = 0;
};

class Cursor : public rocksdb::MemTableRep::Iterator {
 public:
  explicit Cursor(const Tree& tree) : tree_(tree) {}
  bool Valid() const override { return at_ != nullptr; }
  const char* key() const override { return at_->entry(); }
  void Next() override {
    at_ = at_->next();
    const Node* const next = at_ != nullptr ? at_->next() : nullptr;
    if (next != nullptr) next->ask_for();
  }
  void Prev() override { at_ = tree_.find_before(at_->key()); }
  void Seek(const rocksdb::Slice& internal_key, const char* entry) override {
    at_ = tree_.find(asked(internal_key, entry));
  }
  void SeekForPrev(const rocksdb::Slice& internal_key, const char* entry) override {
    const Key key = asked(internal_key, entry);
    at_ = tree_.find(key);
    if (at_ == nullptr) at_ = tree_.last();
    // More than one when others come meanwhile.
    while (at_ != nullptr && compare(at_->key(), key) > 0) Prev();
  }
  void SeekToFirst() override { at_ = tree_.first(); }
  void SeekToLast() override { at_ = tree_.last(); }

 private:
  static Key asked(const rocksdb::Slice& internal_key, const char* entry) {
    return entry != nullptr ? key_of_entry(entry) : key_of_internal(internal_key);
  }

  const Tree& tree_;
  const Node* at_ = nullptr;
};

// One that nobody has to free, and that nobody frees by mistake.
class ThreadsCursor final : public Cursor {
 public:
  using Cursor::Cursor;
  static void operator delete(void*) {}
};

class Memtable final : public rocksdb::MemTableRep {
 public:
  explicit Memtable(rocksdb::Allocator* allocator) : MemTableRep(allocator), tree_(allocator) {}

  rocksdb::KeyHandle Allocate(const size_t bytes, char** entry) override {
    Node* const node = tree_.make(bytes);
    *entry = node->entry();
    return node;
  }
  void Insert(rocksdb::KeyHandle handle) override { InsertKey(handle); }
  bool InsertKey(rocksdb::KeyHandle handle) override {
    return tree_.insert(static_cast<Node*>(handle));
  }
  bool Contains(const char* entry) const override {
    const Key key = key_of_entry(entry);
    const Node* const found = tree_.find(key);
    return found != nullptr && compare(found->key(), key) == 0;
  }
  uint64_t ApproximateNumEntries(const rocksdb::Slice& from, const rocksdb::Slice& to) override {
    const uint64_t before = tree_.count_before(key_of_internal(from));
    const uint64_t until = tree_.count_before(key_of_internal(to));
    return until > before ? until - before : 0;
  }
  size_t ApproximateMemoryUsage() override { return 0; }  // all is the arena's
  // In an arena, which frees it without a call of delete; an arena is an allocator first of all.
  Iterator* GetIterator(rocksdb::Arena* arena) override {
    if (arena == nullptr) return new Cursor(tree_);
    Room room(reinterpret_cast<rocksdb::Allocator*>(arena));
    return new (room.take(sizeof(Cursor))) Cursor(tree_);
  }
  // Without an arena it is asked for by MemTableRep::Get alone, to look for one key, and
  // RocksDB 7.8 forgets to free it. So each thread has one.
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    if (arena != nullptr) return GetIterator(arena);
    alignas(ThreadsCursor) thread_local std::array<std::byte, sizeof(ThreadsCursor)> room;
    return ::new (room.data()) ThreadsCursor(tree_);
  }

 private:
  Tree tree_;
};

// Whether the database orders entries as this file does: whatever is to come of RocksDB, a wrong
// order must not be written.
bool has_our_order(const rocksdb::MemTableRep::KeyComparator& comparator) {
  const auto entry_of = [](std::string_view key, uint64_t mark) {
    std::array<char, kMarkBytes> end;
    store_u64_le(end.data(), mark);
    std::string entry(1, static_cast<char>(key.size() + kMarkBytes));
    return entry.append(key).append(end.data(), end.size());
  };
  std::array<std::string, 12> sorted;
  size_t count = 0;
  for (const std::string_view key : {"", "a", "ab", "\xFF"}) {
    for (const uint64_t mark : {uint64_t{0x0201}, uint64_t{0x0200}, uint64_t{0x0101}}) {
      sorted[count++] = entry_of(key, mark);
    }
  }
  const auto sign = [](int order) { return order < 0 ? -1 : order > 0 ? 1 : 0; };
  for (const std::string& a : sorted) {
    for (const std::string& b : sorted) {
      const int ours = sign(compare(key_of_entry(a.data()), key_of_entry(b.data())));
      if (sign(comparator(a.data(), b.data())) != ours) return false;
    }
  }
  return true;
}

class Factory final : public rocksdb::MemTableRepFactory {
 public:
  const char* Name() const override { return "orrery.memtable"; }
  bool CanHandleDuplicatedKey() const override { return true; }
  using MemTableRepFactory::CreateMemTableRep;
  rocksdb::MemTableRep* CreateMemTableRep(const rocksdb::MemTableRep::KeyComparator& comparator,
                                          rocksdb::Allocator* allocator,
                                          const rocksdb::SliceTransform* prefixes,
                                          rocksdb::Logger* logger) override {
    if (has_our_order(comparator)) return new Memtable(allocator);
    return rocksdb::SkipListFactory().CreateMemTableRep(comparator, allocator, prefixes, logger);
  }
};

}  // namespace

std::shared_ptr<rocksdb::MemTableRepFactory> memtable_factory() {
  return std::make_shared<Factory>();
}

}  // namespace orrery::partition
