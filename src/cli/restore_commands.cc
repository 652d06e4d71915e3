// `orrery restore` and `orrery verify`: see backup_commands.h.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "backup/archive.h"
#include "backup/folder.h"
#include "backup/restore.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "cli/backup_commands.h"
#include "cli/byte_progress.h"
#include "cli/data_folder.h"
#include "cli/descriptors.h"
#include "cli/doctor_command.h"
#include "cli/terminal_text.h"
#include "partition/partition.h"
#include "transfer/progress.h"
#include "transfer/stop_signals.h"
#include "value/json_quoted.h"
#include "volume/local/local_volume.h"

namespace orrery::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kRestoreStopped = 3;
constexpr int kDamaged = 3;
constexpr int kVerifyStopped = 4;

Result<backup::Manifest> find_manifest(const backup::Folder& folder, const std::string& name) {
  if (!name.empty()) return folder.read(name);
  auto names = folder.names();
  if (!names) return pass(names.error());
  if (names->empty()) {
    return fail(Code::not_found, fmt::format("there is no whole backup in {}", folder.path()));
  }
  return folder.read(names->back());
}

Result<Limits> fitting_limits() {
  Limits limits;
  const uint64_t descriptors = raise_descriptor_limit();
  if (auto fitted = fit_descriptors(descriptors, 1, 1, limits); !fitted)
    return pass(fitted.error());
  return limits;
}

Result<backup::Manifest> restore_into(const RestoreCommandOptions& options,
                                      ByteProgress& progress) {
  auto folder = backup::Folder::open_to_read(options.from);
  if (!folder) return pass(folder.error());
  std::optional<backup::Replay> replay;
  Result<backup::Manifest> manifest;
  if (options.at.empty()) {
    manifest = find_manifest(*folder, options.backup);
  } else if (!options.backup.empty()) {
    return fail(Code::invalid, "--at finds the backup by itself: leave --backup out");
  } else {
    auto at_ms = backup::parse_time(options.at);
    if (!at_ms) return pass(at_ms.error());
    auto point = backup::find_point(*folder, *at_ms);
    if (!point) return pass(point.error());
    manifest = std::move(point->manifest);
    replay = std::move(point->replay);
  }
  if (!manifest) return manifest;
  auto limits = fitting_limits();
  if (!limits) return pass(limits.error());
  auto lock = FolderLock::take(options.data);
  if (!lock) return pass(lock.error());
  auto store = open_store(options.volume);
  if (!store) return pass(store.error());
  auto opened = open_volume(std::move(*store), {}, options.data, *limits);
  if (!opened) return pass(opened.error());
  const RealClock clock;
  const partition::Shared shared(*limits, clock);
  backup::RestoreOptions how;
  how.stopped = transfer::stop_was_asked;
  how.progress = [&](const backup::RestoreStanding& now) {
    progress.show("restoring", now.done, now.partitions, now.bytes_done, now.bytes);
  };
  if (auto done = backup::restore(*folder, *manifest, *opened->volume, shared, how,
                                  replay ? &*replay : nullptr);
      !done) {
    return pass(done.error());
  }
  return manifest;
}

// A folder that is gone when this is.
class Scratch {
 public:
  static Result<Scratch> make(const std::string& within) {
    Scratch made(fmt::format("{}/staging-{}", within, ::getpid()));
    std::error_code error;
    fs::create_directories(made.path_, error);
    if (error) {
      return fail(Code::invalid, fmt::format("cannot make {}: {}. Name a folder with --scratch",
                                             made.path_, error.message()));
    }
    return made;
  }
  Scratch(Scratch&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  explicit Scratch(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

struct Verified {
  std::string name;
  Diagnosis opened;
  std::vector<std::string> wrong;
};

// First every byte; what is opened afterwards is whole.
Result<Verified> verify_one(const VerifyOptions& options, const backup::Folder& folder,
                            const std::string& name, ByteProgress& progress) {
  Verified verified;
  verified.name = name;
  const auto wrong = [&](const std::string& what) { verified.wrong.push_back(what); };
  auto manifest = folder.read(name);
  if (!manifest) {
    if (manifest.error().code != Code::corrupt) return pass(manifest.error());
    wrong(manifest.error().message);
    return verified;
  }
  backup::RestoreOptions how;
  how.stopped = transfer::stop_was_asked;
  how.progress = [&](const backup::RestoreStanding& now) {
    progress.show(fmt::format("checking {}", name), now.done, now.partitions, now.bytes_done,
                  now.bytes);
  };
  if (auto checked = backup::check_files(folder, *manifest, how, wrong); !checked) {
    return pass(checked.error());
  }
  if (!verified.wrong.empty()) return verified;
  auto limits = fitting_limits();
  if (!limits) return pass(limits.error());
  auto scratch = Scratch::make(options.scratch.empty() ? options.from : options.scratch);
  if (!scratch) return pass(scratch.error());
  auto volume = volume::open_local_volume(scratch->path());
  if (!volume) return pass(volume.error());
  {
    const RealClock clock;
    const partition::Shared shared(*limits, clock);
    how.link_tables = true;
    if (auto staged = backup::restore(folder, *manifest, **volume, shared, how); !staged) {
      if (staged.error().code != Code::corrupt) return pass(staged.error());
      wrong(staged.error().message);
      return verified;
    }
  }
  auto opened = examine_volume(**volume, *limits, false);
  if (!opened) return pass(opened.error());
  verified.opened = std::move(*opened);
  for (const Finding& one : verified.opened.findings) {
    if (!one.is_warning) wrong(fmt::format("{}: {}", one.where, one.what));
  }
  if (verified.opened.items != manifest->items()) {
    wrong(fmt::format("it has {} items, and should have {}", verified.opened.items,
                      manifest->items()));
  }
  return verified;
}

// What was archived for restore --at.
Result<Verified> verify_archive(const backup::Folder& folder) {
  Verified verified;
  verified.name = "archive";
  const backup::Archive archive(folder);
  auto names = archive.names();
  if (!names) return pass(names.error());
  for (const std::string& name : *names) {
    auto look = archive.read(name);
    if (!look) verified.wrong.push_back(look.error().message);
  }
  return verified;
}

std::string json_of(const Verified& one) {
  std::string json = fmt::format(
      R"({{"backup":{},"containers":{},"partitions":{},"items":{},"bytes":{},"wrong":[)",
      value::quoted(one.name), one.opened.containers, one.opened.partitions, one.opened.items,
      one.opened.bytes);
  for (const std::string& what : one.wrong) {
    json += fmt::format("{}{}", json.back() == '[' ? "" : ",", value::quoted(printable(what)));
  }
  return json + "]}";
}

void print_one(const Verified& one) {
  if (one.wrong.empty()) {
    fmt::print("{}: whole; {} containers, {} partitions, {} items, {}\n", printable(one.name),
               one.opened.containers, one.opened.partitions,
               number_text(static_cast<double>(one.opened.items)),
               size_text(static_cast<double>(one.opened.bytes)));
    return;
  }
  fmt::print("{}: WRONG\n", printable(one.name));
  for (const std::string& what : one.wrong) fmt::print("  {}\n", printable(what));
}

}  // namespace

int restore_backup(const RestoreCommandOptions& options) {
  transfer::install_stop_signals();
  log::configure(log::Level::warn, log::Format::text);
  ByteProgress progress(options.quiet || options.json);
  auto restored = restore_into(options, progress);
  const double seconds = progress.seconds();
  progress.finish();
  if (!restored) {
    if (transfer::stop_was_asked()) {
      fmt::print(stderr, "orrery restore: stopped; remove what it has left in {}\n",
                 printable(options.data));
      return kRestoreStopped;
    }
    return complain("restore", restored.error());
  }
  if (options.json) {
    fmt::print(
        R"({{"backup":{},"data":{},"partitions":{},"items":{},"fileBytes":{},"seconds":{:.3f}}})"
        "\n",
        value::quoted(restored->name), value::quoted(options.data), restored->partitions.size(),
        restored->items(), restored->file_bytes(), seconds);
  } else {
    fmt::print("restored {} into {}: {} items in {} partitions, {}; {}\n", restored->name,
               printable(options.data), number_text(static_cast<double>(restored->items())),
               restored->partitions.size(), size_text(static_cast<double>(restored->file_bytes())),
               transfer::duration_text(static_cast<int64_t>(seconds)));
  }
  return 0;
}

int verify_backups(const VerifyOptions& options) {
  transfer::install_stop_signals();
  log::configure(log::Level::off, log::Format::text);  // what is wrong is told below
  auto folder = backup::Folder::open_to_read(options.from);
  if (!folder) return complain("verify", folder.error());
  std::vector<std::string> names = {options.backup};
  if (options.backup.empty()) {
    auto all = folder->names();
    if (!all) return complain("verify", all.error());
    names = std::move(*all);
  }
  if (names.empty()) {
    return complain("verify",
                    {.code = Code::not_found,
                     .message = fmt::format("there is no whole backup in {}", options.from)});
  }
  bool all_well = true;
  std::string json;
  for (const std::string& name : names) {
    ByteProgress progress(options.quiet || options.json);
    auto verified = verify_one(options, *folder, name, progress);
    progress.finish();
    if (!verified) {
      if (!transfer::stop_was_asked()) return complain("verify", verified.error());
      fmt::print(stderr, "orrery verify: stopped\n");
      return kVerifyStopped;
    }
    all_well = all_well && verified->wrong.empty();
    if (options.json) {
      json += (json.empty() ? "" : ",") + json_of(*verified);
    } else {
      print_one(*verified);
    }
  }
  auto archive = verify_archive(*folder);
  if (!archive) return complain("verify", archive.error());
  all_well = all_well && archive->wrong.empty();
  if (options.json) {
    fmt::print("{{\"backups\":[{}],\"archive\":{},\"whole\":{}}}\n", json, json_of(*archive),
               all_well);
  } else if (!archive->wrong.empty()) {
    print_one(*archive);
  }
  return all_well ? 0 : kDamaged;
}

}  // namespace orrery::cli
