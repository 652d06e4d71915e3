// See backup_run.h.
#include "backup/backup_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "catalog/catalog.h"

namespace orrery::backup {
namespace {

using cluster::ExportRequest;
using cluster::OpenedExport;
using Operation = ExportRequest::Operation;

// Splits and changes of containers make a round more; who makes them all the time has to pause.
constexpr int kRoundsMax = 100;
// A node that dies is replaced within seconds.
constexpr int kTriesMax = 120;
constexpr int64_t kWaitMs = 500;

}  // namespace

BackupRun::BackupRun(Folder& folder, Source& source, const Clock& clock, RunOptions options)
    : folder_(folder), source_(source), clock_(clock), options_([&] {
        if (!options.sleep) {
          options.sleep = [](int64_t ms) {
            std::this_thread::sleep_for(std::chrono::milliseconds(ms));
          };
        }
        return std::move(options);
      }()) {}

Status BackupRun::check_stopped() const {
  if (!options_.stopped()) return {};
  return fail(Code::would_wait, "stopped; nothing that was there before is changed");
}

Result<std::string> BackupRun::ask(const ExportRequest& request) {
  if (auto going = check_stopped(); !going) return pass(going.error());
  return source_.ask(cluster::encode(request));
}

bool BackupRun::wait_for(const Error& error, int tries) const {
  if (error.code != Code::overloaded && error.code != Code::moved &&
      error.code != Code::elsewhere) {
    return false;
  }
  if (tries >= kTriesMax) return false;
  if (error.code != Code::moved || tries > 0) options_.sleep(kWaitMs);
  return true;
}

Result<OpenedExport> BackupRun::open(const ExportRequest& request) {
  auto answer = ask(request);
  if (!answer) return pass(answer.error());
  return cluster::decode_opened_export(*answer);
}

void BackupRun::close(const OpenedExport& opened) {
  // Should it not be answered, the server lets go of the files by itself.
  static_cast<void>(
      source_.ask(cluster::encode(ExportRequest{.operation = Operation::close, .id = opened.id})));
}

Status BackupRun::copy_table(const OpenedExport& opened, BackedUpFile& file) {
  uint64_t at = 0;
  auto hash = folder_.put([&]() -> Result<std::string> {
    const uint64_t size = std::min(file.size - at, cluster::kExportReadMax);
    if (size == 0) return std::string();
    auto piece =
        ask({.operation = Operation::read, .id = opened.id, .pieces = {{file.name, at, size}}});
    if (!piece) return piece;
    if (piece->size() != size) {
      return fail(Code::internal, "the server gave another number of bytes than was asked for");
    }
    at += size;
    standing_.bytes_copied += size;
    options_.progress(standing_);
    return piece;
  });
  if (!hash) return pass(hash.error());
  file.sha256 = std::move(*hash);
  return {};
}

// Several in one request: an account may have thousands of partitions with little in them.
Status BackupRun::copy_small(const OpenedExport& opened, std::vector<BackedUpFile*> files) {
  ExportRequest request{.operation = Operation::read, .id = opened.id};
  for (const BackedUpFile* file : files) request.pieces.push_back({file->name, 0, file->size});
  auto bytes = ask(request);
  if (!bytes) return pass(bytes.error());
  std::string_view left = *bytes;
  for (BackedUpFile* file : files) {
    if (left.size() < file->size) {
      return fail(Code::internal, "the server gave fewer bytes than were asked for");
    }
    bool given = false;
    auto hash = folder_.put([&]() -> Result<std::string> {
      if (std::exchange(given, true)) return std::string();
      return std::string(left.substr(0, file->size));
    });
    if (!hash) return pass(hash.error());
    file->sha256 = std::move(*hash);
    left.remove_prefix(file->size);
    standing_.bytes_copied += file->size;
  }
  options_.progress(standing_);
  return {};
}

Result<BackedUpPartition> BackupRun::copy(const OpenedExport& opened) {
  const partition::ExportInfo& info = opened.info;
  BackedUpPartition made;
  made.lsn = info.lsn;
  made.time_s = info.time_s;
  made.sequence = info.sequence;
  made.exported_ms = opened.now_ms;
  made.items = info.usage.items;
  made.bytes = info.usage.bytes;
  for (const partition::ExportedFile& file : info.files) {
    made.files.push_back({.name = file.name, .size = file.size, .sha256 = {}, .mark = file.mark});
  }
  std::vector<BackedUpFile*> small;
  uint64_t small_bytes = 0;
  const auto copy_gathered = [&]() -> Status {
    if (small.empty()) return {};
    small_bytes = 0;
    return copy_small(opened, std::exchange(small, {}));
  };
  for (BackedUpFile& file : made.files) {
    file.sha256 = folder_.find(file.size, file.mark);
    if (!file.sha256.empty()) {
      standing_.bytes_shared += file.size;
      continue;
    }
    if (file.size > cluster::kExportReadMax) {
      if (auto copied = copy_table(opened, file); !copied) return pass(copied.error());
      continue;
    }
    if (small_bytes + file.size > cluster::kExportReadMax) {
      if (auto copied = copy_gathered(); !copied) return pass(copied.error());
    }
    small.push_back(&file);
    small_bytes += file.size;
  }
  if (auto copied = copy_gathered(); !copied) return pass(copied.error());
  options_.progress(standing_);
  return made;
}

Result<bool> BackupRun::copy_range(const catalog::ExportedRange& range) {
  for (int tries = 0;; ++tries) {
    const Standing before = standing_;
    auto opened = open({.operation = Operation::open_range,
                        .container = range.container,
                        .range = range.range,
                        .volume_name = range.volume_name});
    // It was split, or its container dropped: the next catalog says which.
    if (!opened && opened.error().code == Code::moved) return false;
    Result<BackedUpPartition> made;
    if (!opened) {
      made = pass(opened.error());
    } else if (opened->has_files) {
      made = copy(*opened);
      close(*opened);
    }
    if (made) {
      made->volume_name = range.volume_name;
      made->container = range.container;
      made->range = range.range;
      copied_[range.volume_name] = {.partition = std::move(*made),
                                    .has_files = opened->has_files,
                                    .index_version = range.index_version,
                                    .indexed_version = range.indexed_version};
      return true;
    }
    standing_ = before;
    if (!wait_for(made.error(), tries)) return pass(made.error());
  }
}

Result<bool> BackupRun::copy_missing(const OpenedExport& catalog) {
  std::vector<const catalog::ExportedRange*> missing;
  size_t with_files = 0;
  for (const catalog::ExportedRange& range : catalog.ranges) {
    if (!range.has_files) continue;  // nothing was ever acknowledged in it
    ++with_files;
    const auto found = copied_.find(range.volume_name);
    if (found == copied_.end() || !found->second.has_files ||
        found->second.index_version != range.index_version ||
        found->second.indexed_version != range.indexed_version) {
      missing.push_back(&range);
    }
  }
  standing_.partitions = with_files;
  standing_.copied = with_files - missing.size();
  options_.progress(standing_);
  for (const catalog::ExportedRange* range : missing) {
    auto copied = copy_range(*range);
    if (!copied) return pass(copied.error());
    if (*copied) ++standing_.copied;
    options_.progress(standing_);
  }
  return missing.empty();
}

Result<Manifest> BackupRun::run() {
  Manifest manifest;
  manifest.begun_ms = clock_.now_ms();
  manifest.program = options_.program;
  int tries = 0;
  for (int round = 0; round < kRoundsMax;) {
    auto catalog = open({.operation = Operation::open_catalog});
    Result<bool> whole = false;
    Result<BackedUpPartition> files;
    if (!catalog) {
      whole = pass(catalog.error());
    } else {
      ++round;
      whole = copy_missing(*catalog);
      if (whole && *whole) files = copy(*catalog);
      close(*catalog);
      if (whole && !files) whole = pass(files.error());
    }
    if (!whole) {
      if (!wait_for(whole.error(), tries++)) return pass(whole.error());
      continue;
    }
    if (!*whole) continue;
    manifest.catalog = std::move(*files);
    manifest.catalog.volume_name = catalog::kCatalogVolumeName;
    for (const catalog::ExportedRange& range : catalog->ranges) {
      if (range.has_files) {
        manifest.partitions.push_back(std::move(copied_[range.volume_name].partition));
      }
    }
    if (auto going = check_stopped(); !going) return pass(going.error());
    manifest.ended_ms = clock_.now_ms();
    auto name = folder_.new_name(manifest.begun_ms);
    if (!name) return pass(name.error());
    manifest.name = std::move(*name);
    if (auto finished = folder_.finish(manifest); !finished) return pass(finished.error());
    return manifest;
  }
  return fail(Code::overloaded,
              fmt::format("the account's partitions changed in each of {} attempts to copy it: try "
                          "again when there are fewer splits and changes of containers",
                          kRoundsMax));
}

}  // namespace orrery::backup
