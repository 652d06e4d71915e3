// See follower.h. A store that follows one of another process: RocksDB's secondary mode over the
// same files.
//
// What it shows is a state that the owner had: everything up to some commit. RocksDB alone does not
// promise that. It reads the manifest, then lists the logs, then reads these; and the owner may
// flush one of the column families, begin a log or delete one in between. And after a flush of the
// owner's it keeps its own memtables, whose entries hide or outlive what the new tables have. So
// the names of the logs, and the manifest with its size, are looked at before and after: the shape.
// Only while that stays is a log read on. Otherwise the database is opened anew, before a reader
// may look.
//
// A commit may be read here before its writer was answered. It is in the log then, which is never
// cut behind it, so it stays.
#include "partition/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"
#include "partition/file_reads.h"
#include "partition/store.h"
#include "partition/writer.h"
#include "volume/objects/object_volume.h"

namespace orrery::partition {
namespace {

// A flush takes some steps, each of which makes one more necessary.
constexpr int kReadsAtMost = 20;

}  // namespace

Result<std::shared_ptr<Partition>> follow(Shared& shared, volume::Volume& volume,
                                          std::string_view volume_name,
                                          const Partition::Identity& identity) {
  auto files = volume::follow(volume, volume_name);
  if (!files) return pass(files.error());
  auto store = Store::follow(shared, volume, std::move(*files));
  if (!store) return pass(store.error());
  const PartitionRecord& record = (*store)->record();
  if (record.range != identity.range || record.min != identity.min || record.max != identity.max) {
    return fail(Code::corrupt, fmt::format("the files of '{}' belong to range {}, not to range {}",
                                           volume_name, record.range, identity.range));
  }
  return Writer::make_follower(shared, volume, identity, std::move(*store));
}

Status catch_up(Partition& partition) {
  return Writer::of(partition).catch_up();
}

bool is_whole(const Partition& partition) {
  return Writer::of(partition).is_whole();
}

std::shared_ptr<Partition> Writer::make_follower(Shared& shared, volume::Volume& volume,
                                                 const Partition::Identity& identity,
                                                 std::unique_ptr<Store> store) {
  return std::shared_ptr<Partition>(new Partition(shared, volume, identity, std::move(store)));
}

Status Writer::catch_up() {
  return store_.catch_up([this] {
    MutexLock lock(mutex_);
    set_record(store_.record());
  });
}

bool Writer::is_whole() const {
  return !store_.has_lost_files();
}

Store::Moment::Moment(const Store& store) {
  if (!store.is_follower()) snapshot_ = managed_.emplace(&store.db()).snapshot();
}

Result<std::unique_ptr<Store>> Store::follow(const Shared& shared, volume::Volume& volume,
                                             std::unique_ptr<volume::FollowedFiles> files) {
  std::unique_ptr<Store> store(new Store(shared, volume));
  store->followed_ = std::move(files);
  store->env_ = rocksdb::NewCompositeEnv(watch_reads(store->followed_->file_system()));
  if (auto caught_up = store->catch_up_closed(); !caught_up) return pass(caught_up.error());
  store->opened_ = true;
  return store;
}

Status Store::catch_up(const std::function<void()>& has_caught_up) {
  gate_.close();
  Status caught_up = catch_up_closed();
  if (caught_up) has_caught_up();
  gate_.open();
  return caught_up;
}

Status Store::catch_up_closed() {
  readings_.drop();
  if (lost_files_.exchange(false)) close_database();
  if (auto refreshed = followed_->refresh(); !refreshed) return refreshed;
  auto before = shape();
  for (int read = 0; read < kReadsAtMost; ++read) {
    if (!before) return pass(before.error());
    if (*before != shape_) close_database();
    if (!db_) {
      shape_ = *before;
      if (const rocksdb::Status opened = open_in(Mode::follow); !opened.ok()) {
        return pass(translate(opened, "following the partition's files"));
      }
      mode_ = Mode::follow;
    } else if (const rocksdb::Status read_on = db_->TryCatchUpWithPrimary(); !read_on.ok()) {
      log::debug("a replica is opened again", {{"error", read_on.ToString()}});
      close_database();
      continue;
    }
    if (auto refreshed = followed_->refresh(); !refreshed) return refreshed;
    auto after = shape();
    if (after && *after == *before) {
      auto found = load();
      if (!found) {
        close_database();
        return pass(found.error());
      }
      if (!*found) {
        close_database();
        return fail(Code::not_found, "the partition's owner has not made its record yet");
      }
      record_ = std::move(**found);
      return {};
    }
    before = std::move(after);
  }
  close_database();
  return fail(Code::overloaded, fmt::format("the files in {} change faster than they can be read",
                                            followed_->directory()));
}

Result<std::vector<std::string>> Store::shape() const {
  const auto& files = followed_->file_system();
  std::vector<std::string> names;
  rocksdb::IOStatus status =
      files->GetChildren(followed_->directory(), rocksdb::IOOptions(), &names, nullptr);
  if (!status.ok()) return pass(translate(status, "listing the partition's files"));
  std::erase_if(names, [](const std::string& name) {
    return !name.ends_with(".log") && !name.starts_with("MANIFEST-");
  });
  std::ranges::sort(names);
  const size_t count = names.size();
  for (size_t i = 0; i < count; ++i) {
    if (names[i].ends_with(".log")) continue;
    uint64_t size = 0;
    status = files->GetFileSize(followed_->directory() + "/" + names[i], rocksdb::IOOptions(),
                                &size, nullptr);
    // Deleted since it was listed: it is another shape then.
    if (!status.ok() && !status.IsPathNotFound()) {
      return pass(translate(status, "looking at the partition's files"));
    }
    names.push_back(fmt::format("{} {}", size, status.ok()));
  }
  return names;
}

}  // namespace orrery::partition
