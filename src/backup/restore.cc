// See restore.h.
#include "backup/restore.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "partition/import.h"

namespace orrery::backup {
namespace {

std::unexpected<Error> was_stopped() {
  return fail(Code::would_wait, "stopped");
}

// The commits of one partition from the archive, up to a time.
class ArchivedCommits {
 public:
  ArchivedCommits(const Folder& folder, const Replay& replay, const BackedUpPartition& one)
      : archive_(folder), at_ms_(replay.at_ms), volume_name_(one.volume_name), has_(one.sequence) {
    const auto found = replay.looks.find(one.volume_name);
    if (found != replay.looks.end()) looks_ = found->second;
  }

  Result<std::optional<partition::CommitBatch>> next() {
    for (;;) {
      while (at_ < batches_.size()) {
        partition::CommitBatch& batch = batches_[at_++];
        if (batch.last <= has_) continue;
        if (batch.time_ms > at_ms_) return std::nullopt;
        has_ = batch.last;
        return std::move(batch);
      }
      if (look_ == looks_.size()) return std::nullopt;
      auto look = archive_.read(looks_[look_++]);
      if (!look) return pass(look.error());
      batches_.clear();
      at_ = 0;
      for (ArchivedSection& section : look->sections) {
        if (section.volume_name == volume_name_) batches_ = std::move(section.batches);
      }
    }
  }

 private:
  const Archive archive_;
  const int64_t at_ms_;
  const std::string volume_name_;
  uint64_t has_;
  std::vector<std::string> looks_;
  size_t look_ = 0;
  std::vector<partition::CommitBatch> batches_;
  size_t at_ = 0;
};

Status put_file(const Folder& folder, const BackedUpFile& file, partition::Import& import,
                const RestoreOptions& options) {
  const std::string path = folder.path_of(file.sha256);
  if (options.link_tables && !file.mark.empty()) {
    std::error_code error;
    std::filesystem::create_hard_link(path, import.directory() + "/" + file.name, error);
    if (!error) return {};  // otherwise it is copied
  }
  auto reader = CheckedReader::open(path, file);
  if (!reader) return pass(reader.error());
  return import.put(file.name, [&]() -> Result<std::string> {
    if (options.stopped()) return was_stopped();
    return (*reader)->next();
  });
}

Status restore_partition(const Folder& folder, const BackedUpPartition& one,
                         const partition::Shared& shared, const RestoreOptions& options,
                         RestoreStanding& standing, const Replay* replay,
                         partition::Import& import) {
  for (const BackedUpFile& file : one.files) {
    if (options.stopped()) return was_stopped();
    if (auto put = put_file(folder, file, import, options); !put) return put;
    standing.bytes_done += file.size;
    options.progress(standing);
  }
  std::optional<ArchivedCommits> commits;
  if (replay != nullptr) commits.emplace(folder, *replay, one);
  auto lsn =
      commits ? import.finish(shared, [&] { return commits->next(); }) : import.finish(shared);
  if (!lsn) {
    return fail(lsn.error().code, fmt::format("partition {} of the backup: {}", one.volume_name,
                                              lsn.error().message));
  }
  if (*lsn < one.lsn || (!commits && *lsn > one.lsn)) {
    return fail(Code::corrupt, fmt::format("partition {} of the backup should have commits up to "
                                           "{} and has them up to {}",
                                           one.volume_name, one.lsn, *lsn));
  }
  ++standing.done;
  options.progress(standing);
  return {};
}

}  // namespace

Status restore(const Folder& folder, const Manifest& manifest, volume::Volume& volume,
               const partition::Shared& shared, const RestoreOptions& options,
               const Replay* replay) {
  auto names = volume.list();
  if (!names) return pass(names.error());
  for (const std::string& name : *names) {
    if (!volume.exists(name)) continue;
    return fail(Code::conflict,
                fmt::format("there are data already, in {}: a backup is restored into a new "
                            "folder or volume. If they are what a restore that was broken off "
                            "left, remove them",
                            volume.place(name)));
  }
  RestoreStanding standing;
  standing.partitions = manifest.partitions.size() + 1;
  standing.bytes = manifest.file_bytes();
  auto catalog = partition::Import::begin(volume, manifest.catalog.volume_name);
  if (!catalog) return pass(catalog.error());
  for (const BackedUpPartition& one : manifest.partitions) {
    auto import = partition::Import::begin(volume, one.volume_name);
    if (!import) return pass(import.error());
    if (auto done = restore_partition(folder, one, shared, options, standing, replay, *import);
        !done) {
      return done;
    }
  }
  // A change of the catalog makes a new backup: at that time it was as it is in this one.
  return restore_partition(folder, manifest.catalog, shared, options, standing, nullptr, *catalog);
}

Status check_files(const Folder& folder, const Manifest& manifest, const RestoreOptions& options,
                   const std::function<void(const std::string& what)>& bad) {
  RestoreStanding standing;
  standing.partitions = manifest.partitions.size() + 1;
  standing.bytes = manifest.file_bytes();
  std::set<std::string> checked;  // partitions share files
  const auto check = [&](const BackedUpPartition& one) -> Status {
    for (const BackedUpFile& file : one.files) {
      if (checked.insert(file.sha256).second) {
        auto reader = CheckedReader::open(folder.path_of(file.sha256), file);
        Status good = reader ? Status() : pass(reader.error());
        while (good) {
          if (options.stopped()) return was_stopped();
          auto piece = (*reader)->next();
          if (!piece) good = pass(piece.error());
          if (!piece || piece->empty()) break;
        }
        if (!good && good.error().code != Code::corrupt) return good;
        if (!good) {
          bad(fmt::format("{}: {}, which is {} of partition {}", manifest.name,
                          good.error().message, file.name, one.volume_name));
        }
      }
      standing.bytes_done += file.size;
      options.progress(standing);
    }
    ++standing.done;
    return {};
  };
  for (const BackedUpPartition& one : manifest.partitions) {
    if (auto done = check(one); !done) return done;
  }
  return check(manifest.catalog);
}

}  // namespace orrery::backup
