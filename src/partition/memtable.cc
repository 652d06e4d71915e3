// See memtable.h.
//
// An entry is what RocksDB makes it: the size of the internal key as a varint, the internal key,
// the size of the value, the value. An internal key is the key and 8 bytes, little-endian: the
// number of the write in its upper 7, which is what orders the writes of a key, and its kind.
//
// A node is one piece of the memtable's arena: its head, a link for each level, the entry. It goes
// with the arena.
#include "partition/memtable.h"

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

// Of a node on one level one in four is on the next.
constexpr unsigned kBranchingBits = 2;
constexpr size_t kHeightMax = 12;  // 16 million entries
constexpr size_t kMarkBytes = 8;

struct Key {
  std::string_view bytes;
  uint64_t mark;  // number and kind of the write
};

Key key_of_internal(const rocksdb::Slice& internal) {
  const size_t size = internal.size() - kMarkBytes;
  return {{internal.data(), size}, load_u64_le(internal.data() + size)};
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
  const size_t common = a.bytes.size() < b.bytes.size() ? a.bytes.size() : b.bytes.size();
  const int order = std::memcmp(a.bytes.data(), b.bytes.data(), common);
  if (order != 0) return order;
  if (a.bytes.size() != b.bytes.size()) return a.bytes.size() < b.bytes.size() ? -1 : 1;
  return a.mark > b.mark ? -1 : a.mark < b.mark ? 1 : 0;
}

class alignas(void*) Node {
 public:
  using Link = std::atomic<Node*>;

  explicit Node(size_t height) : height_(static_cast<uint8_t>(height)) {
    for (size_t level = 0; level < height; ++level) new (links() + level) Link(nullptr);
  }
  static size_t bytes_before_entry(size_t height) { return sizeof(Node) + height * sizeof(Link); }

  size_t height() const { return height_; }
  char* entry() { return reinterpret_cast<char*>(this) + bytes_before_entry(height_); }
  const char* entry() const { return const_cast<Node*>(this)->entry(); }
  // Once the entry is there: what a comparison needs lies in the same cache line then.
  void note_key() {
    const Key key = key_of_entry(entry());
    key_size_ = static_cast<uint32_t>(key.bytes.size());
    key_at_ = static_cast<uint8_t>(key.bytes.data() - reinterpret_cast<const char*>(this));
  }
  Key key() const {
    const char* at = reinterpret_cast<const char*>(this) + key_at_;
    return {{at, key_size_}, load_u64_le(at + key_size_)};
  }
  Node* next(size_t level) const { return links()[level].load(std::memory_order_acquire); }
  // Before readers can reach the node.
  void prepare_next(size_t level, Node* next) {
    links()[level].store(next, std::memory_order_relaxed);
  }
  // Readers may follow it from now on.
  void set_next(size_t level, Node* next) { links()[level].store(next, std::memory_order_release); }

 private:
  Link* links() const {
    return reinterpret_cast<Link*>(reinterpret_cast<char*>(const_cast<Node*>(this)) + sizeof(Node));
  }

  uint32_t key_size_ = 0;
  uint8_t height_;
  uint8_t key_at_ = 0;  // behind the links, and the size of the key: 5 bytes at most
};
static_assert(sizeof(Node) + kHeightMax * sizeof(Node::Link) + 5 <= UINT8_MAX);

// Asks for what a comparison reads of a node: most nodes are in no cache, and keys lie in two
// lines.
void ask_for(const Node* node) {
  constexpr size_t kCacheLineBytes = 64;
  __builtin_prefetch(node);
  __builtin_prefetch(reinterpret_cast<const char*>(node) + kCacheLineBytes);
}

// Room from one of RocksDB's arenas, whose interface is not public; that of a table, which takes
// its room from one, is.
class Room final : public rocksdb::MemTableRep {
 public:
  explicit Room(rocksdb::Allocator* allocator) : MemTableRep(allocator) {}
  // Aligned for any pointer.
  void* take(size_t bytes) {
    char* made = nullptr;
    MemTableRep::Allocate(bytes + alignof(void*) - 1, &made);
    const auto at = reinterpret_cast<uintptr_t>(made);
    return made + (alignof(void*) - at % alignof(void*)) % alignof(void*);
  }

 private:
  void Insert(rocksdb::KeyHandle) override {}
  bool Contains(const char*) const override { return false; }
  size_t ApproximateMemoryUsage() override { return 0; }
  Iterator* GetIterator(rocksdb::Arena*) override { return nullptr; }
};

class SkipList {
 public:
  explicit SkipList(rocksdb::Allocator* allocator) : room_(allocator), head_(make(kHeightMax, 0)) {
    path_.fill(head_);
  }

  // Room for an entry.
  Node* make(size_t entry_bytes) { return make(random_height(), entry_bytes); }

  // False: it is there already.
  bool insert(Node* node) {
    node->note_key();
    const Key key = node->key();
    if (!find_path(key)) {
      last_ = nullptr;  // the path is of a key that was not inserted
      return false;
    }
    size_t top = height_.load(std::memory_order_relaxed);
    if (node->height() > top) height_.store(top = node->height(), std::memory_order_relaxed);
    for (size_t level = 0; level < node->height(); ++level) {
      node->prepare_next(level, path_[level]->next(level));
      path_[level]->set_next(level, node);
      path_[level] = node;
    }
    last_ = node;
    return true;
  }

  // The first that is not before the key; null: there is none.
  Node* find(const Key& key) const {
    Node* before = nullptr;
    return descend(key, before);
  }
  // The last before the key; null: there is none.
  Node* find_before(const Key& key) const {
    Node* before = nullptr;
    descend(key, before);
    return before == head_ ? nullptr : before;
  }
  Node* first() const { return head_->next(0); }
  Node* last() const {
    Node* at = head_;
    for (size_t level = height_.load(std::memory_order_relaxed); level-- > 0;) {
      while (Node* next = at->next(level)) at = next;
    }
    return at == head_ ? nullptr : at;
  }
  // About how many are before the key.
  uint64_t count_before(const Key& key) const {
    uint64_t count = 0;
    const Node* at = head_;
    for (size_t level = height_.load(std::memory_order_relaxed); level-- > 0;) {
      count <<= kBranchingBits;
      for (const Node* next = at->next(level); next != nullptr && compare(next->key(), key) < 0;
           next = at->next(level)) {
        at = next;
        ++count;
      }
    }
    return count;
  }

 private:
  Node* make(size_t height, size_t entry_bytes) {
    return new (room_.take(Node::bytes_before_entry(height) + entry_bytes)) Node(height);
  }

  size_t random_height() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    size_t height = 1;
    for (uint64_t bits = random_ >> 8; height < kHeightMax && bits % (1U << kBranchingBits) == 0;
         bits >>= kBranchingBits) {
      ++height;
    }
    return height;
  }

  // Sets path_ to the last nodes before the key. False: the key is in the list.
  bool find_path(const Key& key) {
    // The nodes of the path are not after the last one that was inserted.
    bool follows = last_ != nullptr && compare(last_->key(), key) < 0;
    Node* before = head_;
    const Node* not_before = nullptr;  // known to be after the key, or the same
    int order = 1;                     // which of these
    for (size_t level = kHeightMax; level-- > 0;) {
      if (level >= height_.load(std::memory_order_relaxed)) {
        path_[level] = head_;
        continue;
      }
      if (follows) before = path_[level];
      Node* next = before->next(level);
      while (next != nullptr && next != not_before) {
        // The comparison waits for memory: whichever of these two comes next is on its way then.
        if (level > 0) ask_for(before->next(level - 1));
        ask_for(next->next(level));
        const int found = compare(next->key(), key);
        if (found >= 0) {
          order = found;
          break;
        }
        follows = false;
        before = next;
        next = before->next(level);
      }
      not_before = next;
      path_[level] = before;
    }
    return not_before == nullptr || order != 0;
  }

  Node* descend(const Key& key, Node*& before) const {
    before = head_;
    Node* not_before = nullptr;
    for (size_t level = height_.load(std::memory_order_relaxed); level-- > 0;) {
      Node* next = before->next(level);
      while (next != nullptr && next != not_before) {
        if (level > 0) ask_for(before->next(level - 1));
        ask_for(next->next(level));
        if (compare(next->key(), key) >= 0) break;
        before = next;
        next = before->next(level);
      }
      not_before = next;
    }
    return not_before;
  }

  Room room_;
  Node* const head_;
  std::atomic<size_t> height_ = 1;
  // The writer's: where the last insert was.
  std::array<Node*, kHeightMax> path_ = {};
  const Node* last_ = nullptr;
  uint64_t random_ = 0x9E3779B97F4A7C15;
};

class Cursor : public rocksdb::MemTableRep::Iterator {
 public:
  explicit Cursor(const SkipList& list) : list_(list) {}
  bool Valid() const override { return at_ != nullptr; }
  const char* key() const override { return at_->entry(); }
  void Next() override {
    at_ = at_->next(0);
    if (at_ != nullptr) ask_for(at_->next(0));
  }
  void Prev() override { at_ = list_.find_before(at_->key()); }
  void Seek(const rocksdb::Slice& internal_key, const char* entry) override {
    at_ = list_.find(asked(internal_key, entry));
  }
  void SeekForPrev(const rocksdb::Slice& internal_key, const char* entry) override {
    const Key key = asked(internal_key, entry);
    at_ = list_.find(key);
    if (at_ == nullptr) {
      at_ = list_.last();
    } else if (compare(at_->key(), key) > 0) {
      Prev();
    }
  }
  void SeekToFirst() override { at_ = list_.first(); }
  void SeekToLast() override { at_ = list_.last(); }

 private:
  static Key asked(const rocksdb::Slice& internal_key, const char* entry) {
    return entry != nullptr ? key_of_entry(entry) : key_of_internal(internal_key);
  }

  const SkipList& list_;
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
  explicit Memtable(rocksdb::Allocator* allocator) : MemTableRep(allocator), list_(allocator) {}

  rocksdb::KeyHandle Allocate(const size_t bytes, char** entry) override {
    Node* const node = list_.make(bytes);
    *entry = node->entry();
    return node;
  }
  void Insert(rocksdb::KeyHandle handle) override { InsertKey(handle); }
  bool InsertKey(rocksdb::KeyHandle handle) override {
    return list_.insert(static_cast<Node*>(handle));
  }
  bool Contains(const char* entry) const override {
    const Key key = key_of_entry(entry);
    const Node* const found = list_.find(key);
    return found != nullptr && compare(found->key(), key) == 0;
  }
  uint64_t ApproximateNumEntries(const rocksdb::Slice& from, const rocksdb::Slice& to) override {
    const uint64_t before = list_.count_before(key_of_internal(from));
    const uint64_t until = list_.count_before(key_of_internal(to));
    return until > before ? until - before : 0;
  }
  size_t ApproximateMemoryUsage() override { return 0; }  // all is the arena's
  // In an arena, which frees it without a call of delete; an arena is an allocator first of all.
  Iterator* GetIterator(rocksdb::Arena* arena) override {
    if (arena == nullptr) return new Cursor(list_);
    Room room(reinterpret_cast<rocksdb::Allocator*>(arena));
    return new (room.take(sizeof(Cursor))) Cursor(list_);
  }
  // Without an arena it is asked for by MemTableRep::Get alone, to look for one key, and
  // RocksDB 7.8 forgets to free it. So each thread has one.
  Iterator* GetDynamicPrefixIterator(rocksdb::Arena* arena) override {
    if (arena != nullptr) return GetIterator(arena);
    alignas(ThreadsCursor) thread_local std::array<std::byte, sizeof(ThreadsCursor)> room;
    return ::new (room.data()) ThreadsCursor(list_);
  }

 private:
  SkipList list_;
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
  std::array<std::string, 8> sorted;
  size_t count = 0;
  for (const std::string_view key : {"", "a", "ab", "\xFF"}) {
    for (const uint64_t mark : {uint64_t{0x0201}, uint64_t{0x0101}}) {
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
