// See store.h.
#include "partition/store.h"

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/file_system.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/log.h"
#include "partition/file_reads.h"
#include "partition/rocksdb_log.h"
#include "partition/store_options.h"
#include "value/ordered.h"

namespace orrery::partition {
namespace {

// What the system says of EMFILE.
constexpr std::string_view kTooManyFiles = "Too many open files";

}  // namespace

Shared::Shared(const Limits& limits_in, const Clock& clock_in, bool sync_commits_in)
    : limits(limits_in),
      clock(clock_in),
      sync_commits(sync_commits_in),
      // An item that is read often is found without its block, and so are the entries of a term; a
      // quarter of the memory is for those, and a sixteenth for these. A 64th is for the sizes of
      // logical partitions that are written.
      caches(std::make_unique<Caches>(limits_in.block_cache_bytes / 4,
                                      limits_in.block_cache_bytes / 16,
                                      limits_in.block_cache_bytes / 64)),
      writers("writer", 4) {
  caches->blocks = rocksdb::NewLRUCache(limits.block_cache_bytes / 64 * 43);
  caches->write_buffers = std::make_shared<rocksdb::WriteBufferManager>(limits.write_buffer_bytes);
  caches->log = std::make_shared<RocksDbLog>(clock);
  rocksdb::Env::Default()->SetBackgroundThreads(2, rocksdb::Env::LOW);
  rocksdb::Env::Default()->SetBackgroundThreads(2, rocksdb::Env::HIGH);
}

Shared::~Shared() = default;

Result<std::unique_ptr<Store>> Store::open(const Shared& shared, volume::Volume& volume,
                                           std::unique_ptr<volume::Claim> claim,
                                           const PartitionRecord& fresh) {
  std::unique_ptr<Store> store(new Store(shared, volume));
  store->claim_ = std::move(claim);
  store->compactions_ =
      std::make_unique<CompactionGuard>(store->claim_->file_system(), volume, shared.clock);
  store->logs_ =
      std::make_unique<LogWatch>(store->compactions_->file_system(), store->claim_->directory());
  store->env_ = rocksdb::NewCompositeEnv(watch_reads(store->logs_->file_system()));
  store->terms_filter_ = make_terms_filter(store->filter_);
  store->changes_filter_ = make_changes_filter(store->filter_);
  store->history_filter_ = make_history_filter(store->filter_);
  if (auto checked = store->check_head(); !checked) return pass(checked.error());
  auto found = store->open_database();
  if (!found) return pass(found.error());
  if (!*found && store->db().GetLatestSequenceNumber() > 0) {
    return fail(Code::corrupt, fmt::format("the files in {} have lost their partition record",
                                           store->claim_->directory()));
  }
  if (auto checked = store->check_not_behind(*found); !checked) return pass(checked.error());
  if (*found) {
    store->record_ = std::move(**found);
  } else if (store->mode_ == Mode::read_only) {
    return fail(Code::read_only, store->read_only_reason_);
  } else {
    if (auto put = store->put_record(fresh); !put) return pass(put.error());
  }
  store->committed_lsn_ = store->record_.lsn;
  store->opened_ = true;
  return store;
}

Status Store::check_not_behind(const std::optional<PartitionRecord>& found) const {
  const uint64_t lsn = found ? found->lsn : 0;
  if (lsn >= claim_->noted_lsn()) return {};
  return fail(Code::corrupt,
              fmt::format("the files in {} have lost commits: they should be at {} and are at {}. "
                          "Restore this partition's files from a copy",
                          claim_->directory(), claim_->noted_lsn(), lsn));
}

void Store::note(uint64_t lsn, volume::Claim::NoteIs note) {
  // Without it a loss may go unnoticed, but nothing is lost by that.
  try {
    if (auto noted = claim_->note_lsn(lsn, note); !noted) {
      log::debug("cannot note how far a partition has got", {{"error", noted.error().message}});
    }
  } catch (const std::bad_alloc&) {
    return;
  }
}

void Store::committed(uint64_t lsn) {
  committed_lsn_ = lsn;
  if (shared_.sync_commits) note(lsn, volume::Claim::NoteIs::quick);
}

// CURRENT is the first thing that a new database has and the last that it may lose: without it
// RocksDB would make a new, empty one over data that is still there.
Status Store::check_head() const {
  std::vector<std::string> names;
  const rocksdb::IOStatus listed = claim_->file_system()->GetChildren(
      claim_->directory(), rocksdb::IOOptions(), &names, nullptr);
  if (listed.IsNotFound() || listed.IsPathNotFound()) return {};
  if (!listed.ok()) return pass(translate(listed, "listing the partition's files"));
  bool data = false;
  if (std::ranges::find(names, kBeingImported) != names.end()) {
    return fail(Code::corrupt,
                fmt::format("a backup was being restored into {} and this was broken off: remove "
                            "the data and restore it again",
                            claim_->directory()));
  }
  for (const std::string& name : names) {
    if (name == "CURRENT") return {};
    data = data || name.ends_with(".sst") || name.ends_with(".log");
  }
  if (!data) return {};
  return fail(Code::corrupt,
              fmt::format("the files in {} have lost CURRENT, which says where they begin: restore "
                          "this partition's files from a copy",
                          claim_->directory()));
}

// From the way that asks most of the disk to the one that asks nothing of it.
Result<std::optional<PartitionRecord>> Store::open_database() {
  const bool room = volume_.room(volume::Need::compaction).has_value();
  std::optional<Error> first;
  for (const Mode mode : {Mode::write, Mode::sparing, Mode::read_only}) {
    if (mode == Mode::write && !room) continue;
    const rocksdb::Status opened = open_in(mode);
    if (opened.ok()) {
      mode_ = mode;
      read_only_reason_ = mode == Mode::read_only && first ? first->message : "";
      if (mode != Mode::read_only) acknowledge();
      return load();
    }
    if (!first) first = translate(opened, "opening the partition's files");
    // Another way helps only against a disk that does not take what this one writes.
    if (first->code != Code::read_only || opened.IsIOFenced()) break;
  }
  return pass(*first);
}

rocksdb::Status Store::open_in(Mode mode) {
  rocksdb::ColumnFamilyOptions terms = family_options(shared_, mode, Lookup::by_term);
  terms.compaction_filter = terms_filter_.get();
  rocksdb::ColumnFamilyOptions changes = family_options(shared_, mode, Lookup::in_order);
  changes.compaction_filter = changes_filter_.get();
  rocksdb::ColumnFamilyOptions history = family_options(shared_, mode, Lookup::in_order);
  history.compaction_filter = history_filter_.get();
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {rocksdb::kDefaultColumnFamilyName, family_options(shared_, mode, Lookup::by_key)},
      {"items", family_options(shared_, mode, Lookup::by_key)},
      {"terms", terms},
      {"changes", changes},
      {"history", history},
  };
  const rocksdb::DBOptions options = database_options(shared_, mode, env_.get());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened =
      mode == Mode::follow
          // The second directory would be for RocksDB's own log, which is the program's.
          ? rocksdb::DB::OpenAsSecondary(options, directory(), "/none", families, &handles, &db)
          : mode == Mode::read_only
                ? rocksdb::DB::OpenForReadOnly(options, directory(), families, &handles, &db)
                : rocksdb::DB::Open(options, directory(), families, &handles, &db);
  if (!opened.ok()) return opened;
  db_.reset(db);
  db->DestroyColumnFamilyHandle(handles[0]);  // DefaultColumnFamily() serves for it
  items_ = handles[1];
  terms_ = handles[2];
  changes_ = handles[3];
  history_ = handles[4];
  return opened;
}

Result<std::optional<PartitionRecord>> Store::load() {
  auto stored = get(ledger(), kRecordKey);
  if (!stored) return pass(stored.error());
  if (!*stored) return std::nullopt;
  auto record = decode_record(**stored);
  if (!record) return pass(record.error());
  if (auto loaded = load_index_ledger(); !loaded) return pass(loaded.error());
  if (auto loaded = load_purges(*record); !loaded) return pass(loaded.error());
  return std::move(*record);
}

Status Store::load_index_ledger() {
  std::vector<std::pair<std::string, std::string>> stored;
  for (std::string_view kind : {kDefinitions, kShapes}) {
    const std::string upper = value::after_prefix(kind);
    const rocksdb::Slice upper_bound = upper;
    rocksdb::ReadOptions options = read_options();
    options.iterate_upper_bound = &upper_bound;
    std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, ledger()));
    for (it->Seek(kind); it->Valid(); it->Next()) {
      stored.emplace_back(it->key().ToString(), it->value().ToString());
    }
    if (!it->status().ok()) return pass(translate(it->status(), "reading the index's ledger"));
  }
  return index_ledger_.load(stored);
}

Status Store::load_purges(const PartitionRecord& record) {
  const std::string upper = purge_key(record.max);
  const rocksdb::Slice upper_bound = upper;
  rocksdb::ReadOptions options = read_options();
  options.iterate_upper_bound = &upper_bound;
  std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(options, ledger()));
  auto marks = std::make_shared<PurgeMarks>();
  for (it->Seek(purge_key(record.min)); it->Valid(); it->Next()) {
    auto lsn = decode_purge(it->value().ToStringView());
    if (!lsn) return pass(lsn.error());
    marks->emplace(it->key().ToStringView().substr(kPurges.size()), *lsn);
  }
  if (!it->status().ok()) return pass(translate(it->status(), "reading purges"));
  purges_.set(std::move(marks));
  return {};
}

void Store::close_database() {
  if (!db_) return;
  readings_.drop();
  rocksdb::CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  for (rocksdb::ColumnFamilyHandle* handle : {items_, terms_, changes_, history_}) {
    if (handle != nullptr) db_->DestroyColumnFamilyHandle(handle);
  }
  items_ = terms_ = changes_ = history_ = nullptr;
  rocksdb::Status closed = db_->Close();
  // A deposed owner has nothing left to write.
  if (!closed.ok() && !closed.IsIOFenced())
    log::warn("closing a partition's files", {{"error", closed.ToString()}});
  db_.reset();
}

Store::Store(const Shared& shared, volume::Volume& volume) : shared_(shared), volume_(volume) {
  shared_.stores_open.fetch_add(1);
}

Store::~Store() {
  // What is in memory is in the log too, but reading a long log makes the next opening slow. Should
  // this fail, the log is there.
  constexpr uint64_t kWorthFlushing = 1ULL << 20;
  uint64_t unflushed = 0;
  if (db_ && claim_ &&
      db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &unflushed) &&
      unflushed > kWorthFlushing) {
    static_cast<void>(flush());
  }
  if (db_ && opened_ && claim_ && (shared_.sync_commits || db_->SyncWAL().ok())) {
    note(committed_lsn_, volume::Claim::NoteIs::synced);
  }
  close_database();
  shared_.stores_open.fetch_sub(1);
}

Status Store::Use::ok() const {
  if (shard_) return store_.is_open();
  if (store_.is_follower()) {
    return fail(Code::elsewhere, "the replica is catching up: its owner is asked instead");
  }
  return std::unexpected(Error{.code = Code::overloaded,
                               .message = "the partition's files are being opened again after the "
                                          "disk reported errors: try again",
                               .retry_after_ms = 100});
}

const std::string& Store::directory() const {
  static const std::string nowhere = "?";
  if (claim_) return claim_->directory();
  return followed_ ? followed_->directory() : nowhere;
}

Status Store::is_open() const {
  if (db_) return {};
  if (is_follower()) return fail(Code::elsewhere, "the replica is closed: ask the owner");
  return fail(Code::read_only, "the partition's files cannot be opened: the disk reports errors");
}

Status Store::probe() {
  const std::string path = claim_->directory() + "/PROBE";
  const std::string bytes(64ULL << 10, '\0');
  const std::shared_ptr<rocksdb::FileSystem>& files = claim_->file_system();
  std::unique_ptr<rocksdb::FSWritableFile> file;
  rocksdb::IOStatus status =
      files->NewWritableFile(path, rocksdb::FileOptions(), &file, /*dbg=*/nullptr);
  const rocksdb::IOOptions options;
  if (status.ok()) status = file->Append(bytes, options, nullptr);
  if (status.ok()) status = file->Sync(options, nullptr);
  if (status.ok()) status = file->Close(options, nullptr);
  rocksdb::IOStatus deleted = files->DeleteFile(path, options, nullptr);
  if (status.ok()) status = deleted;
  if (!status.ok()) return pass(translate(status, "trying the disk"));
  return {};
}

Status Store::reopen(uint64_t lsn) {
  if (auto probed = probe(); !probed) return probed;
  if (!maintenance_.try_lock()) {
    return fail(Code::read_only, "the partition is being split or trimmed: trying again later");
  }
  gate_.close();
  {
    MutexLock lock(snapshots_mutex_);
    for (const rocksdb::Snapshot* snapshot : snapshots_) db_->ReleaseSnapshot(snapshot);
    snapshots_.clear();
    ++generation_;
  }
  close_database();
  Status status;
  if (const rocksdb::IOStatus cut = logs_->cut_back(); !cut.ok()) {
    status = pass(translate(cut, "cutting a failed commit off the log"));
  }
  // Should it fail, the store stays closed, which Use::ok tells.
  auto found = status ? open_database() : pass(status.error());
  if (!found) {
    status = pass(found.error());
    log::error("cannot open a partition again", {{"error", status.error().message}});
  } else if (!*found || (*found)->lsn != lsn) {
    status = fail(Code::corrupt,
                  fmt::format("{} has lost commits: it should be at {} and is at {}",
                              claim_->directory(), lsn, *found ? (*found)->lsn : uint64_t{0}));
  } else if (mode_ == Mode::read_only) {
    status = fail(Code::read_only, read_only_reason_);
  } else {
    record_ = std::move(**found);
  }
  if (!status && db_ && mode_ != Mode::read_only) {
    close_database();
    if (open_in(Mode::read_only).ok()) mode_ = Mode::read_only;
  }
  gate_.open();
  maintenance_.unlock();
  return status;
}

rocksdb::Status Store::write(const rocksdb::WriteOptions& options, rocksdb::WriteBatch& batch) {
  rocksdb::Status written = db_->Write(options, &batch);
  if (!written.ok() || !has_tail_.load(std::memory_order_acquire)) return written;
  const MutexLock lock(tail_mutex_);
  std::erase_if(tails_, [&](const std::weak_ptr<CommitTail>& one) {
    const auto tail = one.lock();
    // RocksDB has put the number of its first entry at its beginning.
    if (tail) tail->add(load_u64_le(batch.Data().data()), batch.Count(), batch.Data());
    return tail == nullptr;
  });
  if (tails_.empty()) has_tail_ = false;
  return written;
}

void Store::add_tail(const std::shared_ptr<CommitTail>& tail) {
  const MutexLock lock(tail_mutex_);
  tails_.push_back(tail);
  has_tail_.store(true, std::memory_order_release);
}

Status Store::load_ledger() {
  if (auto loaded = load_index_ledger(); !loaded) return loaded;
  return load_purges(record_);
}

Status Store::put_record(const PartitionRecord& record) {
  rocksdb::WriteOptions options;
  options.sync = true;
  rocksdb::WriteBatch batch;
  rocksdb::Status put = batch.Put(ledger(), kRecordKey, encode_record(record));
  if (put.ok()) put = write(options, batch);
  if (!put.ok()) return pass(translate(put, "writing the partition's record"));
  acknowledge();
  record_ = record;
  note(record.lsn, volume::Claim::NoteIs::quick);
  return {};
}

Result<std::optional<std::string>> Store::get(rocksdb::ColumnFamilyHandle* family,
                                              std::string_view key,
                                              const rocksdb::Snapshot* snapshot,
                                              Reach reach) const {
  rocksdb::ReadOptions options;
  options.snapshot = snapshot;
  rocksdb::PinnableSlice stored;
  auto found = get(options, family, key, stored, reach, "reading");
  if (!found) return pass(found.error());
  if (!*found) return std::nullopt;
  return std::string(stored.data(), stored.size());
}

Result<bool> Store::get(rocksdb::ReadOptions options, rocksdb::ColumnFamilyHandle* family,
                        std::string_view key, rocksdb::PinnableSlice& stored, Reach reach,
                        std::string_view doing) const {
  if (reach == Reach::memory) options.read_tier = rocksdb::kBlockCacheTier;
  const rocksdb::Status got = db_->Get(options, family, key, &stored);
  if (got.IsNotFound()) return false;
  // Where a table's file is not open, RocksDB gives an empty value and says that all is well.
  // Nothing that is stored is empty.
  if (reach == Reach::memory && (got.IsIncomplete() || (got.ok() && stored.empty()))) {
    return pass(would_wait());
  }
  if (!got.ok()) return pass(translate(got, doing));
  return true;
}

Error Store::would_wait() {
  return {.code = Code::would_wait, .message = "not all of it is in memory"};
}

Store::SnapshotId Store::take_snapshot() {
  MutexLock lock(snapshots_mutex_);
  const rocksdb::Snapshot* snapshot = db_->GetSnapshot();
  if (snapshot != nullptr) snapshots_.insert(snapshot);
  return {snapshot, generation_};
}

const rocksdb::Snapshot* Store::find(const SnapshotId& id) const {
  MutexLock lock(snapshots_mutex_);
  return id.generation == generation_ ? id.snapshot : nullptr;
}

uint64_t Store::generation() const {
  MutexLock lock(snapshots_mutex_);
  return generation_;
}

void Store::release(const SnapshotId& id) {
  Use use(*this);
  MutexLock lock(snapshots_mutex_);
  if (id.generation != generation_ || snapshots_.erase(id.snapshot) == 0) return;
  db_->ReleaseSnapshot(id.snapshot);
}

Status Store::flush() {
  rocksdb::FlushOptions options;
  options.allow_write_stall = true;
  const uint64_t lsn = committed_lsn_;
  rocksdb::Status flushed = db_->Flush(options, {ledger(), items_, terms_, changes_, history_});
  if (!flushed.ok()) return pass(translate(flushed, "flushing"));
  note(lsn, volume::Claim::NoteIs::synced);
  return {};
}

void Store::flush_removals() {
  uint64_t removals = 0;
  if (!db_ || mode_ != Mode::write || !volume_.room(volume::Need::compaction) ||
      !db_->GetIntProperty(items_, rocksdb::DB::Properties::kNumDeletesActiveMemTable, &removals) ||
      removals == 0) {
    return;
  }
  rocksdb::FlushOptions options;
  options.allow_write_stall = true;
  options.wait = false;
  // Should it fail, the next commit does too and recovers.
  db_->Flush(options, {ledger(), items_, terms_, changes_, history_}).PermitUncheckedError();
  compactions_->try_again();
}

Status Store::clone_to(const std::string& directory) {
  rocksdb::Checkpoint* made = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(db_.get(), &made);
  std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  if (status.ok()) status = checkpoint->CreateCheckpoint(directory, /*log_size_for_flush=*/0);
  if (!status.ok()) return pass(translate(status, "cloning the partition's files"));
  return {};
}

Error Store::translate(const rocksdb::Status& status, std::string_view doing) const {
  Code code = Code::internal;
  std::string_view advice = "see the server's log";
  if (status.IsCorruption()) {
    code = Code::corrupt;
    advice = "stored bytes are damaged: restore this partition's files from a copy";
  } else if (status.IsIOFenced()) {
    code = Code::read_only;
    advice = "this process no longer serves the partition";
  } else if (status.IsNoSpace() || status.subcode() == rocksdb::Status::kNoSpace ||
             status.subcode() == rocksdb::Status::kSpaceLimit) {
    code = Code::read_only;
    advice = "the disk is full: free space and writes go on by themselves";
  } else if (status.subcode() == rocksdb::Status::kMemoryLimit) {
    code = Code::read_only;
    advice = "the server is out of memory; writes are tried again by themselves";
  } else if (status.IsIOError() && status.ToString().contains(kTooManyFiles)) {
    code = Code::overloaded;
    advice = "raise the limit of open files (ulimit -n)";
  } else if (status.IsIOError() || status.IsAborted() || status.IsIncomplete()) {
    code = Code::read_only;
    advice = "the disk reports errors: check it; writes are tried again by themselves";
  }
  if (is_follower()) {
    // The owner has deleted files that this one still knew. Who owns them can answer.
    note_lost_files();
    code = Code::elsewhere;
    advice = "the partition's owner is asked instead";
  }
  return Error{
      .code = code,
      .message = fmt::format("{} in {}: {} ({})", doing, directory(), status.ToString(), advice)};
}

}  // namespace orrery::partition
