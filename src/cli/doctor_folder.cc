// The data of a server that does not run: the catalog, the files in the volume, and every partition
// from end to end (partition/verify.h). Partitions are opened one at a time, as the server does:
// what a crash left in their logs is replayed, nothing else is changed.
#include <fmt/format.h>

#include <filesystem>
#include <unordered_set>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "catalog/catalog.h"
#include "cli/data_folder.h"
#include "cli/descriptors.h"
#include "cli/doctor_command.h"
#include "cli/terminal_text.h"
#include "partition/partition.h"
#include "partition/verify.h"

namespace orrery::cli {
namespace {

constexpr const char* kRestore =
    "restore the whole folder from a copy (docs/configuration.md, Backup and restore)";
constexpr const char* kCopyOut =
    "restore the folder from a copy, or write the container's items into a new container, which "
    "makes these anew";

class FolderExamination {
 public:
  FolderExamination(volume::Volume& volume, const Limits& limits, bool progress)
      : volume_(volume), shared_(limits, clock_), progress_(progress) {}

  Result<Diagnosis> run() {
    found_.checked = {
        "the catalog", "files of partitions that nothing names, or that are missing",
        "partition maps: no gap, no overlap",
        "every item: readable, with its index terms and no others, its change, its unique values",
        "sizes of partition keys and of partitions against their items"};
    auto names = volume_.list();
    if (!names) return pass(names.error());
    if (names->empty()) {
      found_.findings.push_back(
          {.where = "volume",
           .what = "there is nothing in it: nothing was ever made, or the data are elsewhere",
           .advice = "name the place with --volume, as for serve, if they are",
           .is_warning = true});
      return std::move(found_);
    }
    if (!volume_.exists(catalog::kCatalogVolumeName)) {
      note("catalog", "its files are missing, though there are files of partitions", kRestore);
      return std::move(found_);
    }
    auto catalog = catalog::Catalog::open(shared_, volume_);
    if (!catalog) {
      if (catalog.error().code != Code::corrupt) return pass(catalog.error());
      note("catalog", catalog.error().message, kRestore);
      return std::move(found_);
    }
    check_files(**catalog, *names);
    for (const catalog::ContainerPtr& container : (*catalog)->all_containers()) {
      check_container(**catalog, *container);
    }
    if (progress_) fmt::print(stderr, "\r\x1b[K");
    return std::move(found_);
  }

 private:
  void note(std::string where, std::string what, std::string advice) {
    found_.findings.push_back(
        {.where = std::move(where), .what = std::move(what), .advice = std::move(advice)});
  }

  void check_files(const catalog::Catalog& catalog, const std::vector<std::string>& names) {
    std::unordered_set<std::string> known = {std::string(catalog::kCatalogVolumeName)};
    for (const catalog::ContainerPtr& container : catalog.all_containers()) {
      for (const auto& range : container->map->ranges) known.insert(range.volume_name);
    }
    for (const catalog::Removal& removal : catalog.removals()) known.insert(removal.volume_name);
    for (const std::string& name : names) {
      if (known.contains(name) || !volume_.exists(name)) continue;
      note(volume_.place(name),
           "the catalog does not know these files: it is older than they are, or they are another "
           "server's",
           fmt::format(
               "restore {} from a copy as new as they are; to do without them, move them away",
               volume_.place(catalog::kCatalogVolumeName)));
    }
  }

  void check_container(const catalog::Catalog& catalog, const catalog::Container& container) {
    const auto database = catalog.database(container.database);
    const std::string name =
        fmt::format("{}/{}", database ? database->name : "(no database)", container.spec.name);
    ++found_.containers;
    if (!database) note(name, "its database is not in the catalog", kRestore);
    if (!catalog::covers_everything(*container.map)) {
      note(name, "its partition map has a gap or an overlap", kRestore);
    }
    partition::Schema schema;
    if (!container.spec.encoding.empty())
      schema.codec = value::unknown_codec(container.spec.encoding);
    schema.unique_keys = container.spec.unique_keys;
    for (const catalog::PartitionRange& range : container.map->ranges) {
      ++found_.partitions;
      check_range(catalog, range, schema, fmt::format("{} range {}", name, range.id));
    }
  }

  void check_range(const catalog::Catalog& catalog, const catalog::PartitionRange& range,
                   const partition::Schema& schema, const std::string& where) {
    if (!volume_.exists(range.volume_name)) {
      if (catalog.has_files(range)) {
        note(
            where,
            fmt::format("its files are missing: they were in {}", volume_.place(range.volume_name)),
            kRestore);
      }
      return;  // nothing was ever written to it
    }
    auto opened =
        partition::Partition::open(shared_, volume_, range.volume_name,
                                   {.range = range.id, .min = range.min, .max = range.max});
    if (!opened) return note(where, opened.error().message, kRestore);
    auto verified = (*opened)->verify(schema, [&](uint64_t items) {
      if (progress_)
        fmt::print(stderr, "\r\x1b[K{}: {} items", printable(where),
                   number_text(static_cast<double>(items)));
    });
    if (!verified) return note(where, verified.error().message, kRestore);
    found_.items += verified->usage.items;
    found_.bytes += verified->usage.bytes;
    found_.terms += verified->terms;
    for (const partition::Flaw& flaw : verified->flaws) {
      note(where, flaw.what, flaw.kind == partition::Flaw::Kind::item ? kRestore : kCopyOut);
    }
    if (verified->more_flaws > 0)
      note(where, fmt::format("and {} more", verified->more_flaws), kCopyOut);
  }

  const RealClock clock_;
  volume::Volume& volume_;
  partition::Shared shared_;
  const bool progress_;
  Diagnosis found_;
};

}  // namespace

Result<Diagnosis> examine_volume(volume::Volume& volume, const Limits& limits, bool progress) {
  return FolderExamination(volume, limits, progress).run();
}

Result<Diagnosis> examine_folder(const std::string& folder, const VolumeOptions& volume_options,
                                 bool progress) {
  // Its lock would make the folder.
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    return fail(Code::not_found,
                fmt::format("there is no data folder {}: name it with --data", folder));
  }
  auto lock = FolderLock::take(folder);
  if (!lock) return pass(lock.error());
  log::configure(log::Level::warn, log::Format::text);
  Limits limits;
  const uint64_t descriptors = raise_descriptor_limit();
  if (auto fitted = fit_descriptors(descriptors, 1, 1, limits); !fitted)
    return pass(fitted.error());
  auto store = open_store(volume_options);
  if (!store) return pass(store.error());
  auto opened = open_volume(std::move(*store), {}, folder, limits);
  if (!opened) return pass(opened.error());
  return examine_volume(*opened->volume, limits, progress);
}

}  // namespace orrery::cli
