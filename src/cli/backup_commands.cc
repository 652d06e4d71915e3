// See backup_commands.h. Here is what the commands are called and take, and backup itself.
#include "cli/backup_commands.h"

#include <fmt/format.h>

#include "backup/backup_run.h"
#include "backup/folder.h"
#include "backup/follower.h"
#include "base/clock.h"
#include "cli/byte_progress.h"
#include "cli/export_source.h"
#include "cli/server_options.h"
#include "cli/terminal_text.h"
#include "transfer/progress.h"
#include "transfer/stop_signals.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

constexpr int kStopped = 3;

void add_volume_options(CLI::App& command, VolumeOptions& volume) {
  command.add_option("--volume", volume.volume, "Where the data are to be, as for serve")
      ->capture_default_str()
      ->type_name("WHERE");
  command
      .add_option("--ceph-conf", volume.ceph_conf, "Of a volume in Ceph: its configuration file")
      ->capture_default_str()
      ->type_name("FILE");
  command.add_option("--ceph-user", volume.ceph_user, "Of a volume in Ceph: the user")
      ->capture_default_str()
      ->type_name("NAME");
}

void add_output_options(CLI::App& command, bool& json, bool& quiet) {
  command.add_flag("--json", json, "Print the result as JSON");
  command.add_flag("--quiet", quiet, "Show no progress");
}

void print_result(const BackupOptions& options, const backup::Manifest& made,
                  const backup::Standing& standing, double seconds) {
  if (options.json) {
    fmt::print(
        R"({{"backup":{},"folder":{},"partitions":{},"items":{},"fileBytes":{},"copiedBytes":{},"sharedBytes":{},"catalogLsn":{},"begunMs":{},"endedMs":{},"seconds":{:.3f}}})"
        "\n",
        value::quoted(made.name), value::quoted(options.to), made.partitions.size(), made.items(),
        made.file_bytes(), standing.bytes_copied, standing.bytes_shared, made.catalog.lsn,
        made.begun_ms, made.ended_ms, seconds);
    return;
  }
  fmt::print("backup {} in {}: {} items in {} partitions; {} copied, {} were there already; {}\n",
             made.name, printable(options.to), number_text(static_cast<double>(made.items())),
             made.partitions.size(), size_text(static_cast<double>(standing.bytes_copied)),
             size_text(static_cast<double>(standing.bytes_shared)),
             transfer::duration_text(static_cast<int64_t>(seconds)));
}

void sweep(backup::Folder& folder) {
  // What earlier, interrupted ones left.
  if (auto swept = folder.sweep(); !swept) {
    fmt::print(stderr,
               "orrery backup: the backup is made, but what interrupted ones left is not removed: "
               "{}\n",
               printable(swept.error().message));
  }
}

int follow(const BackupOptions& options, backup::Folder& folder, backup::Source& source,
           const Clock& clock, ByteProgress& progress) {
  backup::FollowOptions how;
  how.run.program = options.version;
  how.run.stopped = transfer::stop_was_asked;
  how.run.progress = [&](const backup::Standing& now) {
    progress.show("copying", now.copied, now.partitions, now.bytes_copied + now.bytes_shared, 0);
  };
  how.interval_ms = int64_t{options.interval_s} * 1000;
  how.made = [&](const backup::Manifest& made) {
    progress.finish();
    sweep(folder);
    if (options.json) {
      fmt::print(R"({{"backup":{},"items":{}}})"
                 "\n",
                 value::quoted(made.name), made.items());
    } else if (!options.quiet) {
      fmt::print("backup {}: {} items in {} partitions; archiving what follows\n", made.name,
                 number_text(static_cast<double>(made.items())), made.partitions.size());
    }
    std::fflush(stdout);
  };
  how.looked = [&](const backup::ArchivedLook& look) {
    if (!options.json) return;
    size_t commits = 0;
    int64_t until_ms = look.catalog_until_ms;
    for (const backup::ArchivedSection& section : look.sections) {
      commits += section.batches.size();
      until_ms = std::min(until_ms, section.until_ms);
    }
    fmt::print(R"({{"archivedUntil":"{}","commits":{}}})"
               "\n",
               backup::time_text(until_ms), commits);
    std::fflush(stdout);
  };
  auto ended = backup::Follower(folder, source, clock, std::move(how)).run();
  progress.finish();
  return ended ? 0 : complain("backup", ended.error());
}

}  // namespace

int back_up(const BackupOptions& options) {
  transfer::install_stop_signals();
  const RealClock clock;
  // Who follows looks once more after the signal; a second one ends the command at once.
  auto source = ExportSource::open(
      options.server, [follow = options.follow] { return !follow && transfer::stop_was_asked(); });
  if (!source) return complain("backup", source.error());
  auto folder = backup::Folder::open_to_write(options.to);
  if (!folder) return complain("backup", folder.error());
  ByteProgress progress(options.quiet || options.json);
  backup::BackupRun run(*folder, **source, clock,
                        {.program = options.version,
                         .stopped = transfer::stop_was_asked,
                         .progress =
                             [&](const backup::Standing& now) {
                               progress.show("copying", now.copied, now.partitions,
                                             now.bytes_copied + now.bytes_shared, 0);
                             },
                         .sleep = {}});
  if (options.follow) return follow(options, *folder, **source, clock, progress);
  auto made = run.run();
  const double seconds = progress.seconds();
  progress.finish();
  if (!made) {
    if (transfer::stop_was_asked()) {
      fmt::print(stderr,
                 "orrery backup: stopped; what was copied is used by the next one only if "
                 "it is copied again, and the backups that were there are whole\n");
      return kStopped;
    }
    return complain("backup", made.error());
  }
  sweep(*folder);
  print_result(options, *made, run.standing(), seconds);
  return 0;
}

BackupCommands::BackupCommands(CLI::App& app, std::string version) {
  backup_.version = std::move(version);
  backup_command_ = app.add_subcommand(
      "backup", "Copy the account of a running server into a folder, while it serves");
  backup_command_
      ->add_option("--to", backup_.to,
                   "The folder; made when it is not there. Files that are in it already are not "
                   "copied again")
      ->required()
      ->type_name("FOLDER");
  backup_command_->add_flag("--follow", backup_.follow,
                            "Go on archiving what is written, for restore --at, until a signal");
  backup_command_
      ->add_option("--interval", backup_.interval_s, "With --follow: seconds between two looks")
      ->capture_default_str()
      ->check(CLI::Range(1, 60))
      ->type_name("SECONDS");
  add_output_options(*backup_command_, backup_.json, backup_.quiet);
  add_server_options(*backup_command_, backup_.server);
  backup_command_->footer(
      "All that was acknowledged before it begins is in the backup, each transaction wholly or not "
      "at all. Keys are not: see docs/guides/backup-and-restore.md.\n"
      "\n"
      "Ends with 0: the backup is made, or with --follow a signal came; 1: failed; 3: stopped by a "
      "signal.");

  restore_command_ = app.add_subcommand("restore", "Make a data folder or a volume from a backup");
  restore_command_->add_option("--from", restore_.from, "The folder of backups")
      ->required()
      ->type_name("FOLDER");
  restore_command_->add_option("--backup", restore_.backup, "Which one [the newest]")
      ->type_name("NAME");
  restore_command_
      ->add_option("--at", restore_.at,
                   "As it was at this time, from what backup --follow archived [as the backup is]")
      ->type_name("TIME");
  restore_command_
      ->add_option("--data", restore_.data,
                   "The data folder of the new server; one that has data is refused")
      ->required()
      ->type_name("FOLDER");
  add_volume_options(*restore_command_, restore_.volume);
  add_output_options(*restore_command_, restore_.json, restore_.quiet);
  restore_command_->footer(
      "Every file is checked. The server makes new keys at its first start; to keep the old ones, "
      "put keys.json and secret of the old data folder into the new one before that.\n"
      "\n"
      "Ends with 0: restored; 1: failed; 3: stopped by a signal. What a restore that did not end "
      "with 0 left is refused by serve, and is to be removed.");

  verify_command_ =
      app.add_subcommand("verify", "Check backups: every file, and every item in them");
  verify_command_->add_option("--from", verify_.from, "The folder of backups")
      ->required()
      ->type_name("FOLDER");
  verify_command_->add_option("--backup", verify_.backup, "Which one [all]")->type_name("NAME");
  verify_command_
      ->add_option("--scratch", verify_.scratch,
                   "A folder to open the backup in; on the same disk it takes little space [the "
                   "folder of backups]")
      ->type_name("FOLDER");
  add_output_options(*verify_command_, verify_.json, verify_.quiet);
  verify_command_->footer(
      "Ends with 0: all is well; 1: it could not be checked; 3: something is wrong; 4: stopped by "
      "a signal.");
}

std::optional<int> BackupCommands::run() const {
  if (backup_command_->parsed()) return back_up(backup_);
  if (restore_command_->parsed()) return restore_backup(restore_);
  if (verify_command_->parsed()) return verify_backups(verify_);
  return std::nullopt;
}

}  // namespace orrery::cli
