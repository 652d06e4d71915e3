// One physical partition: the items whose placement key lies in [min, max), their index terms,
// their changes, and what they weigh.
//
// Invariants
//  - One writer: transactions wait in a bounded queue; a worker takes a run of them, validates each
//    in order against the state that the ones before it leave, commits the run as one synced write,
//    and only then completes the callers. An acknowledged write is on disk.
//  - Every write takes the partition's next LSN. No LSN is ever given twice, across splits either:
//    children go on from their parent's.
//  - A transaction is applied whole or not at all. Its reads see what its writes before them did.
//  - Readers never wait for the writer, and see committed states only.
//  - After a write fails on the disk, the partition takes no writes (Code::read_only) until the
//    disk takes them again; it never answers success for what it could not keep, and what failed
//    is not there when writes go on. (Only if the process ends before that can a restart find such
//    a write in the log.)
//  - Once a split has been published the partition answers every further write with Code::moved.
//
// Threading: all public functions may be called from any thread. Completions run on a worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/limits.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "base/worker_pool.h"
#include "partition/index_ledger.h"
#include "partition/item.h"
#include "partition/term_cache.h"
#include "partition/work.h"
#include "value/placement.h"
#include "value/value.h"
#include "volume/volume.h"

namespace orrery::partition {

class Export;
class Store;
class Writer;
struct KeptNote;  // note.h
struct Note;      // the same
struct Verification;

// Whether a read may wait for the disk.
enum class Reach : uint8_t {
  files,   // waits for the disk where it has to
  memory,  // fails with Code::would_wait instead
};

// What partitions of one process share: caches, background threads, the pool that runs writers.
class Shared {
 public:
  Shared(const Limits& limits, const Clock& clock, bool sync_commits = true);
  ~Shared();

  const Limits limits;
  const Clock& clock;
  const bool sync_commits;
  struct Caches;
  const std::unique_ptr<Caches> caches;
  mutable std::atomic<size_t> stores_open{0};  // partitions that have their files open
  WorkerPool writers;                          // last: its jobs use the rest until it has ended
};

// Completes an item's body with what depends on the write (its version), for faces that keep such
// things inside the body. Called by the writer.
class Finisher {
 public:
  virtual ~Finisher() = default;
  // `body` is an object; returns the body to store.
  virtual std::string finish(std::string_view body, const Version& version,
                             const Origin& origin) const = 0;
  // The members that finish() adds to the object, all of them scalars: their names, which are
  // always the same, and their values, in that order.
  virtual std::span<const std::string_view> added_names() const = 0;
  virtual void each_added(const Version& version, const Origin& origin,
                          const std::function<void(const value::Value&)>& take) const = 0;
};

// Makes an item's next body out of its current one, or refuses to. Called by the writer, with
// others waiting: it is quick and waits for nothing. A write that comes to a partition which has
// moved is sent on, so it may be called again.
class Editor {
 public:
  virtual ~Editor() = default;
  struct Edited {
    std::string body;  // without what the finisher adds; nothing of a removal
    Lifetime lifetime;
    std::shared_ptr<const Note> note = nullptr;  // that is left in the place of Write::note
  };
  virtual Result<Edited> edit(const Item& current) const = 0;
};

enum class Verb : uint8_t {
  read,     // must be there; nothing is written
  create,   // must not be there
  upsert,   // either
  replace,  // must be there
  remove,   // must be there
  expire,   // remove if it has expired or was purged; otherwise nothing
  reindex,  // give it the terms of the schema's rules, as it is; nothing if it has them
  indexed,  // of no item: notes that every item has the terms of the schema's rules
  purge,    // of no item: all that the placement key has now are gone (purge_marks.h)
  purged,   // of no item: notes that none of them is left in the files
};

struct PreparedTerms;  // prepared_terms.h
struct Written;

// Hears what a transaction has stored, before its LSN can be seen: whoever follows the partition by
// LSNs and is told by it misses nothing. Called by the writer, with others waiting: it is quick and
// waits for nothing.
class Witness {
 public:
  virtual ~Witness() = default;
  // One for each write.
  virtual void stored(std::span<const Written> written) = 0;
};

struct Write {
  Verb verb = Verb::create;
  std::string placement;
  std::string row;
  std::string from;      // for replace: the row that the item leaves, if it gets another
  std::string body;      // for create, upsert, replace
  std::string key_text;  // the partition key as people write it
  Lifetime lifetime;
  std::optional<Version> if_version;  // it must be in this state
  bool if_absent = false;             // it must not be there (an upsert too)
  bool needs_room = true;             // false: written on a full disk too, so that it can be freed
  bool wants_before = false;          // the answer is to have the body that was there
  bool wants_item = true;             // the answer is to have the item as it is stored
  bool is_edit = false;               // for replace: the history tells it as an edit
  std::optional<uint64_t>
      seen_lsn;            // a transaction read it at this LSN (0: saw that it was not there)
  uint64_t purge_lsn = 0;  // for purged: of which purge
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const Finisher> finisher;  // null: the body is stored as it is
  // For replace, in the place of `body` and `lifetime`. For remove: it may refuse.
  std::shared_ptr<const Editor> editor;
  // Of `body` and what the finisher adds; null: the writer makes the terms from the stored body.
  std::shared_ptr<const PreparedTerms> prepared;
  std::shared_ptr<const Note> note;  // of a write to an item: left with it
  std::shared_ptr<Witness> witness;  // of the whole transaction, with its first write
};

// What a write did, or what a read found.
struct Written {
  Version version;
  Item item;           // as stored, if it was wanted; empty body after a removal
  std::string before;  // the body that was there, if it was wanted and the item was live
  bool replaced = false;
  uint64_t old_bytes = 0;  // of the item that was there
  uint64_t new_bytes = 0;
  uint32_t terms_added = 0;
  uint32_t terms_removed = 0;
};

struct Outcome {
  std::optional<Error> error = {};
  std::optional<size_t> failed_write = {};  // the one that the error is about; unset: all of them
  std::vector<Written> written = {};        // one for each write, when there is none
  uint64_t lsn = 0;                         // the newest that the transaction made or saw
  std::vector<Write> returned = {};  // the transaction, untouched, when the error is Code::moved
};
using Completion = std::move_only_function<void(Outcome)>;

struct Page {
  std::vector<std::pair<ItemKey, Item>> items;
  bool more = false;
  std::optional<ItemKey> last = {};  // that it has looked at: go on after this one
  uint64_t lsn = 0;                  // everything up to this LSN was visible
};

// Which changes to read: those of placements in [min, max) that were written after `after`.
struct ChangeQuery {
  std::string_view min = value::placement_min();
  std::string_view max = value::placement_max();
  uint64_t after = 0;
  size_t items_max = SIZE_MAX;
  size_t bytes_max = SIZE_MAX;  // of bodies; the page ends once they pass it
};

struct Change {
  uint64_t lsn = 0;
  ItemKey key;
  Item item;
};
struct ChangePage {
  std::vector<Change> changes;
  bool more = false;  // also with an empty page, when many changes of others were passed over
  uint64_t lsn = 0;   // go on after this one; never more than the partition's
};

// Expired items that one page of a feed passes over at most.
inline constexpr size_t kExpiredPassedMax = 10'000;

// `edit` is a replacement that changes parts of the item (Write::is_edit).
enum class EventKind : uint8_t { create = 1, replace = 2, remove = 3, expire = 4, edit = 5 };

// A write as the history has it.
struct Event {
  uint64_t lsn = 0;
  uint32_t time_s = 0;
  EventKind operation = EventKind::create;
  ItemKey key = {};
  std::string body = {};      // empty after a removal
  uint64_t previous_lsn = 0;  // 0: the item was not there
  std::string previous_body = {};
};
struct EventPage {
  std::vector<Event> events;
  bool more = false;  // as in ChangePage
  uint64_t lsn = 0;
};

struct Usage {
  uint64_t bytes = 0;
  uint64_t items = 0;
};

// A place to cut the partition in two: left gets the placements below `at`.
struct Cut {
  std::string at;
  Usage left;
  Usage right;
};

enum class CutBy : uint8_t {
  bytes,   // halves the bytes: for a partition that is full
  middle,  // halves the range, whatever is in it: for throughput, so that ranges stay even
  load,    // at a key: for throughput, where ranges follow the order of keys
};

struct ChildSpec {
  uint32_t range = 0;
  std::string volume_name;
};

class Partition : public std::enable_shared_from_this<Partition> {
 public:
  struct Identity {
    uint32_t range = 0;
    std::string min;
    std::string max;
  };
  enum class Opening : uint8_t {
    claim,      // Code::moved when it has a living owner
    take_over,  // deposes that one
  };
  // Opens the partition's files, making them when there are none.
  static Result<std::shared_ptr<Partition>> open(Shared& shared, volume::Volume& volume,
                                                 std::string_view volume_name,
                                                 const Identity& identity,
                                                 Opening opening = Opening::claim);
  // The LSN of the newest commit in the files under a name, whatever range they are of, without
  // serving them. They must be there.
  static Result<uint64_t> stored_lsn(const Shared& shared, volume::Volume& volume,
                                     std::string_view volume_name);
  ~Partition();

  const Identity& identity() const { return identity_; }
  uint64_t epoch() const;  // of the claim that it is opened by
  // A number that this claim has not used yet: with the epoch it tells apart all attempts to split.
  uint64_t next_split_attempt() { return split_attempts_.fetch_add(1) + 1; }
  uint64_t lsn() const;  // of the newest commit
  Usage usage() const;
  uint32_t index_version() const;  // the newest that a write came with; 0: there was none
  // Why it takes no writes, or empty.
  std::string read_only_reason() const;

  // Queues a transaction. `done` is called exactly once, possibly before this returns (queue full,
  // moved).
  void submit(std::vector<Write> transaction, Completion done);

  // The item, expired or not, unless it was purged. Code::moved when the placement is not in
  // [min, max).
  Result<std::optional<Item>> read(std::string_view placement, std::string_view row,
                                   Reach reach = Reach::files) const;
  // A page of the live items with placement in [min, max), in key order, after `after` when given.
  // It ends at `items_max`, once the bodies exceed `bytes_max`, or after many expired items were
  // skipped. So a page can be empty and still have `more`.
  Result<Page> scan(std::string_view min, std::string_view max, const ItemKey* after,
                    size_t items_max, size_t bytes_max, const Schema& schema) const;
  // The newest write of every item that was written after a position and has not expired, in LSN
  // order. A position taken in a partition is good in its children.
  Result<ChangePage> changes(const ChangeQuery& query, const Schema& schema) const;
  // The position before everything that was written at `time_s` or later.
  Result<uint64_t> position_at(int64_t time_s) const;
  // Every write after a position, in LSN order, of containers that keep a history. Code::invalid
  // when it does not go back that far.
  Result<EventPage> history(const ChangeQuery& query) const;
  // As position_at(), of every write that the history has.
  Result<uint64_t> history_position_at(int64_t time_s) const;
  // Drops what the history has of writes before `before_s`.
  Status forget_history(int64_t before_s);
  // The notes that writes have left under an owner and a number.
  Result<std::vector<KeptNote>> notes(std::string_view owner, uint64_t number) const;
  // What the index takes on the disk and in memory, about.
  uint64_t index_bytes() const;
  // The key of the item that has this index term.
  Result<std::optional<ItemKey>> find_by_term(std::string_view term) const;
  // All index entries, for tests and tools: term and key.
  Result<std::vector<std::pair<std::string, ItemKey>>> all_terms() const;
  // Whether items, index, sizes and changes agree (verify.h). Reads everything: for tools. Writes
  // go on meanwhile.
  Result<Verification> verify(const Schema& schema,
                              const std::function<void(uint64_t items)>& progress) const;
  // The shape terms of the items that lack a path, among those whose terms are of this index
  // version. The path has no array step. To go with a snapshot, ask after taking it.
  ShapesWithout shapes_without(uint32_t index_version, std::string_view term_path) const;
  // Logical partitions by size, largest first, at most `count`.
  struct LogicalPartition {
    std::string key_text;
    Usage usage;
  };
  Result<std::vector<LogicalPartition>> largest(size_t count) const;

  // Removes expired items in key order, resuming where the last call stopped. `examine_max` bounds
  // the items it looks at, and `charge_max` the estimated charge of the removals, by size alone.
  // `pay` is called later with the actual charge. `prices` must be a constant. Returns how many
  // removals it queued.
  Result<size_t> collect_expired(const std::shared_ptr<const Schema>& schema, const Prices& prices,
                                 size_t examine_max, double charge_max,
                                 const std::function<void(double)>& pay);

  // The same for purged items. A purge without remaining items is ended. Returns how many items
  // were removed and how many purges ended.
  struct Collected {
    size_t items = 0;
    size_t purges = 0;
  };
  Result<Collected> collect_purged(const std::shared_ptr<const Schema>& schema,
                                   const Prices& prices, size_t examine_max, double charge_max,
                                   const std::function<void(double)>& pay);
  // How many purges are not finished.
  size_t purges_pending() const;

  // Whether every item has the terms of the schema's index rules; and the percentage that has, as
  // far as known: 100 exactly when all have.
  bool is_indexed(const Schema& schema) const;
  uint32_t indexed_percent(const Schema& schema) const;
  // Re-indexes some items: looks at up to `examine_max`, gives those that lack them the terms of
  // the schema's rules, and waits until that is durable. True when none are left. Code::moved when
  // the partition was split, or when there are newer rules. One thread at a time.
  Result<bool> reindex(const std::shared_ptr<const Schema>& schema, size_t examine_max);

  // A split, in three steps; see split.cc. Only one at a time (Code::conflict); one that was begun
  // is finished or abandoned.
  // 1. Chooses the split point: the one that halves the bytes, without dividing a logical partition
  //    and not between keys with the same hash (`keys` tells which part of a placement is the
  //    hash). Code::conflict when all items share one. An empty partition is cut at `middle`, as is
  //    one for which that is asked. In all other cases both sides have items. By load, the split
  //    point is the first possible one at or beyond `key`, else the last one. By bytes, `key` is
  //    the key beyond which most writes go. If nearly all bytes are below it, the partition grows
  //    at its end. Then the left side is made nearly full, and the end gets a partition of its own.
  Result<Cut> begin_split(const value::KeyDefinition& keys, std::string_view middle,
                          CutBy by = CutBy::bytes, std::string_view key = {});
  // 2. Pauses writes, clones the files for both children, opens them, calls `publish` (which makes
  //    the new map durable), and from then on answers Code::moved. On failure the partition goes on
  //    as before and what was made of the children is removed. Their names must be new: a child
  //    whose place is there already is a failure. Blocks; not to be called on a writer thread.
  using Children = std::pair<std::shared_ptr<Partition>, std::shared_ptr<Partition>>;
  struct SplitTimes {
    int64_t pause_us = 0;
  };
  Result<SplitTimes> finish_split(const Cut& cut, const ChildSpec& left, const ChildSpec& right,
                                  const std::function<Status(const Children&)>& publish);
  void abandon_split();
  // 3. In each child, later: drops data out of its range. A new split interrupts it; if that split
  //    fails it must be called again.
  Status trim();

  // The files of its newest state, to be copied while it serves: export.h. Blocks.
  Result<std::unique_ptr<Export>> begin_export();

  // Releases the cached snapshots and iterators of views: they keep old files from being deleted.
  void release_readings() const;
  // On a nearly full disk: flushes tombstones, so that compactions free their space.
  void flush_removals() const;
  // Waits until the queue is empty and nothing is being written.
  void drain();
  // Waits until the files are as compact as they are meant to be: for tools that measure.
  Status settle() const;

 private:
  friend class Export;
  friend class Writer;
  friend class Transaction;
  friend class View;
  Partition(Shared& shared, volume::Volume& volume, Identity identity,
            std::unique_ptr<Store> store);
  static Result<std::shared_ptr<Partition>> open_child(Shared& shared, volume::Volume& volume,
                                                       std::string_view volume_name,
                                                       const Identity& identity,
                                                       const Usage& usage);
  Status commit_and_wait(std::vector<Write> transaction);
  // Queues `expire` writes, some at a time so that many take few places in the queue.
  class Removals;
  Result<bool> cannot_be_cut(const value::KeyDefinition& keys) const;
  Status forget_history_here(int64_t before_s);

  Shared& shared_;
  volume::Volume& volume_;
  const Identity identity_;
  const std::string items_min_;  // between which its items lie in the files
  const std::string items_max_;
  std::unique_ptr<Store> store_;
  const uint64_t cache_owner_;           // in the cache of items
  mutable TermCache::Owner term_owner_;  // in the cache of terms
  std::unique_ptr<Writer> writer_;
  std::atomic<bool> splitting_{false};  // between begin_split and its end
  std::atomic<uint64_t> split_attempts_{0};
  Mutex expiry_mutex_;
  std::string expiry_cursor_ ORRERY_GUARDED_BY(expiry_mutex_);  // where to go on looking
  // How far the removal of each purge's items has come, by what their keys begin with.
  struct PurgeWalk {
    uint64_t lsn = 0;
    std::string from;    // the first key not looked at
    bool found = false;  // since the walk began, which is repeated until there are none
  };
  Mutex purges_mutex_;
  std::map<std::string, PurgeWalk> purge_walks_ ORRERY_GUARDED_BY(purges_mutex_);
  // How far re-indexing has come; it begins at the start again when the partition is opened.
  struct Reindexing {
    uint32_t version = 0;
    std::string from;  // the first key not looked at
    uint64_t examined = 0;
  };
  mutable Mutex reindexing_mutex_;
  Reindexing reindexing_ ORRERY_GUARDED_BY(reindexing_mutex_);
};

}  // namespace orrery::partition
