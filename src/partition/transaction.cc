// See transaction.h.
#include "partition/transaction.h"

#include <fmt/format.h>

#include <algorithm>

#include "partition/precondition.h"
#include "partition/store.h"
#include "partition/writer.h"

namespace orrery::partition {
namespace {

std::unexpected<Error> outdated() {
  return fail(Code::retry, "the partition was opened again under the transaction: run it again");
}

}  // namespace

struct Transaction::Snapshot {
  explicit Snapshot(Store& of) : store(of), id(of.take_snapshot()) {}
  ~Snapshot() { store.release(id); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  Store& store;
  const Store::SnapshotId id;
};

Transaction::Transaction(std::shared_ptr<Partition> partition, std::shared_ptr<const Schema> schema,
                         size_t bytes_max)
    : partition_(std::move(partition)),
      schema_(std::move(schema)),
      bytes_max_(bytes_max),
      visibility_{schema_->default_life_ms, partition_->shared_.clock.now_ms(),
                  partition_->store_->purges().now()} {}

Transaction::~Transaction() = default;

Result<std::unique_ptr<Transaction>> Transaction::begin(std::shared_ptr<Partition> partition,
                                                        std::shared_ptr<const Schema> schema,
                                                        size_t bytes_max) {
  std::unique_ptr<Transaction> made(
      new Transaction(std::move(partition), std::move(schema), bytes_max));
  Store& store = *made->partition_->store_;
  Store::Use use(store);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  made->lsn_ = made->partition_->lsn();  // before the snapshot, so never more than it shows
  made->snapshot_ = std::make_unique<Snapshot>(store);
  return made;
}

bool Transaction::is_outdated() const {
  if (!snapshot_) return false;
  const Store& store = *partition_->store_;
  const Store::Use use(store);
  return use.ok() && store.find(snapshot_->id) == nullptr;
}

Result<std::optional<Item>> Transaction::read_snapshot(std::string_view placement,
                                                       std::string_view row) const {
  if (!snapshot_) return fail(Code::internal, "the transaction has ended");
  const Partition::Identity& identity = partition_->identity();
  if (placement < identity.min || placement >= identity.max) {
    return fail(Code::moved, "the key belongs to another partition");
  }
  Store& store = *partition_->store_;
  Store::Use use(store);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  const rocksdb::Snapshot* snapshot = store.find(snapshot_->id);
  if (snapshot == nullptr) return outdated();
  const std::string key = item_key(placement, row);
  auto stored = store.get(store.items(), key, snapshot);
  if (!stored) return pass(stored.error());
  if (!*stored) return std::nullopt;
  auto item = decode_item(**stored);
  if (!item) return pass(item.error());
  if (!visibility_.sees(key, *item)) return std::nullopt;
  return std::move(*item);
}

Result<std::optional<Item>> Transaction::read(std::string_view placement,
                                              std::string_view row) const {
  auto staged = view_.find({std::string(placement), std::string(row)});
  if (staged != view_.end()) return staged->second.item;
  return read_snapshot(placement, row);
}

// Merges the snapshot's rows with the staged ones, which win.
Result<Page> Transaction::scan(std::string_view placement, const std::string* after_row,
                               size_t items_max, size_t bytes_max) const {
  if (!snapshot_) return fail(Code::internal, "the transaction has ended");
  const Partition::Identity& identity = partition_->identity();
  if (placement < identity.min || placement >= identity.max) {
    return fail(Code::moved, "the key belongs to another partition");
  }
  Store& store = *partition_->store_;
  Store::Use use(store);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  rocksdb::ReadOptions options = read_options();
  options.snapshot = store.find(snapshot_->id);
  if (options.snapshot == nullptr) return outdated();
  const std::string prefix = items_from(placement);
  const std::string upper = items_from(std::string(placement) + '\0');
  const rocksdb::Slice upper_bound = upper;
  options.iterate_upper_bound = &upper_bound;
  std::unique_ptr<rocksdb::Iterator> it(store.db().NewIterator(options, store.items()));
  it->Seek(after_row != nullptr ? prefix + *after_row + '\0' : prefix);
  const std::string key(placement);
  auto staged = after_row != nullptr ? view_.upper_bound({key, *after_row})
                                     : view_.lower_bound({key, std::string()});

  Page page;
  page.lsn = lsn_;
  size_t bytes = 0;
  size_t passed = 0;  // removed by the transaction, or expired
  for (;;) {
    const bool has_stored = it->Valid();
    const bool has_staged = staged != view_.end() && staged->first.first == placement;
    if (!has_stored && !has_staged) break;
    const std::string_view stored_row =
        has_stored ? it->key().ToStringView().substr(prefix.size()) : std::string_view();
    const bool take_staged =
        has_staged && (!has_stored || std::string_view(staged->first.second) <= stored_row);
    std::optional<Item> item;
    std::string row;
    if (take_staged) {
      row = staged->first.second;
      item = staged->second.item;
      if (has_stored && stored_row == row) it->Next();
      ++staged;
    } else {
      row = stored_row;
      auto decoded = decode_item(it->value().ToStringView());
      if (!decoded) return pass(decoded.error());
      if (visibility_.sees(it->key().ToStringView(), *decoded)) item = std::move(*decoded);
      it->Next();
    }
    const bool is_over = page.items.size() >= items_max || bytes >= bytes_max;
    if (item && is_over) {
      page.more = true;
      break;
    }
    if (!item) {
      if (++passed < kExpiredPassedMax) continue;
      page.more = true;
      page.last = ItemKey{key, std::move(row)};
      break;
    }
    page.last = ItemKey{key, row};
    bytes += item->body.size();
    page.items.emplace_back(ItemKey{key, std::move(row)}, std::move(*item));
  }
  if (!it->status().ok()) return pass(store.translate(it->status(), "reading items"));
  return page;
}

Status Transaction::stage(Write write) {
  if (write.verb == Verb::expire || write.verb == Verb::read || write.verb == Verb::reindex ||
      write.verb == Verb::indexed || write.verb == Verb::purge || write.verb == Verb::purged ||
      write.editor) {
    return fail(Code::internal, "upkeep, reads and edits cannot be staged");
  }
  if (writes_.size() >= kWritesMax) {
    return fail(Code::too_large,
                fmt::format("a transaction has at most {} writes: use several", kWritesMax));
  }
  if (write.body.size() > bytes_max_ - bytes_) {
    return fail(Code::too_large,
                fmt::format("the transaction's items have more than {} bytes together: use several "
                            "transactions",
                            bytes_max_));
  }
  std::pair<std::string, std::string> key(write.placement, write.row);
  const auto before = view_.find(key);
  const bool staged = before != view_.end();
  Result<std::optional<Item>> seen = staged ? Result<std::optional<Item>>(before->second.item)
                                            : read_snapshot(write.placement, write.row);
  if (!seen) return pass(seen.error());
  if (auto checked = check_precondition(write, *seen ? &**seen : nullptr, !staged); !checked) {
    return checked;
  }

  // The first touch says which state it built on; further ones build on the first.
  if (!staged) write.seen_lsn = *seen ? (*seen)->version.lsn : 0;
  if (!write.schema) write.schema = schema_;
  bytes_ += write.body.size();
  Staged next;
  if (write.verb != Verb::remove) {
    Item& item = next.item.emplace();
    if (*seen) {
      item.version = (*seen)->version;
      item.origin = (*seen)->origin;
    }
    item.expiry = expiry_of(write.lifetime, static_cast<uint32_t>(visibility_.now_ms / 1000));
    item.index_version = write.schema->index_version;
    item.body = write.body;
  }
  view_.insert_or_assign(std::move(key), std::move(next));
  writes_.push_back(std::move(write));
  return {};
}

std::vector<Write> Transaction::take() {
  snapshot_.reset();
  view_.clear();
  return std::exchange(writes_, {});
}

void Transaction::commit(Completion done) {
  if (!snapshot_) {
    done(Outcome{.error = Error{.code = Code::internal, .message = "the transaction has ended"}});
    return;
  }
  std::vector<Write> writes = take();
  if (writes.empty()) {
    done(Outcome{.lsn = lsn_});
    return;
  }
  partition_->submit(std::move(writes), std::move(done));
}

}  // namespace orrery::partition
