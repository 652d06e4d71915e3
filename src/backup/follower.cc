// See follower.h.
#include "backup/follower.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <utility>

#include "cluster/exporting/export_messages.h"

namespace orrery::backup {
namespace {

using cluster::ExportRequest;
using Operation = ExportRequest::Operation;

// A look that brought nothing is written at least so often: it says that nothing happened.
constexpr int64_t kQuietUs = 60'000'000;
constexpr int64_t kSliceMs = 100;

bool will_pass(const Error& error) {
  return error.code == Code::overloaded || error.code == Code::moved ||
         error.code == Code::elsewhere;
}

}  // namespace

Status Follower::attach() {
  auto answer = source_.ask(cluster::encode(ExportRequest{.operation = Operation::open_catalog}));
  if (!answer) return pass(answer.error());
  auto catalog = cluster::decode_opened_export(*answer);
  if (!catalog) return pass(catalog.error());
  static_cast<void>(source_.ask(
      cluster::encode(ExportRequest{.operation = Operation::close, .id = catalog->id})));
  for (const catalog::ExportedRange& range : catalog->ranges) {
    if (!range.has_files) continue;
    // The answer does not matter: the backup says from where on commits are wanted.
    static_cast<void>(
        source_.ask(cluster::encode(ExportRequest{.operation = Operation::read_commits,
                                                  .container = range.container,
                                                  .range = range.range,
                                                  .volume_name = range.volume_name})));
  }
  return {};
}

Status Follower::make_backup() {
  if (auto attached = attach(); !attached && !will_pass(attached.error())) return attached;
  BackupRun run(folder_, source_, clock_, options_.run);
  auto manifest = run.run();
  if (!manifest) return pass(manifest.error());
  followed_.clear();
  for (const BackedUpPartition& one : manifest->partitions) {
    followed_[one.volume_name] = {
        .container = one.container, .range = one.range, .sequence = one.sequence};
  }
  catalog_lsn_ = manifest->catalog.lsn;
  options_.made(*manifest);
  return {};
}

Result<bool> Follower::read_commits(const std::string& volume_name, Followed& one,
                                    ArchivedSection& into) {
  into.volume_name = volume_name;
  into.after = one.sequence;
  into.sequence = one.sequence;
  for (bool more = true; more;) {
    auto answer = source_.ask(cluster::encode(ExportRequest{.operation = Operation::read_commits,
                                                            .container = one.container,
                                                            .range = one.range,
                                                            .volume_name = volume_name,
                                                            .id = into.sequence}));
    if (!answer) {
      if (answer.error().code == Code::precondition_failed || answer.error().code == Code::moved) {
        return false;
      }
      return pass(answer.error());
    }
    auto page = cluster::decode_commit_page(*answer);
    if (!page) return pass(page.error());
    std::ranges::move(page->batches, std::back_inserter(into.batches));
    into.sequence = page->sequence;
    into.until_ms = page->until_ms;
    more = page->more;
  }
  return true;
}

Result<bool> Follower::look() {
  auto answer = source_.ask(cluster::encode(ExportRequest{.operation = Operation::open_catalog}));
  if (!answer) return pass(answer.error());
  auto catalog = cluster::decode_opened_export(*answer);
  if (!catalog) return pass(catalog.error());
  static_cast<void>(source_.ask(
      cluster::encode(ExportRequest{.operation = Operation::close, .id = catalog->id})));
  bool is_whole = catalog->info.lsn == *catalog_lsn_;
  ArchivedLook look;
  look.catalog_lsn = catalog->info.lsn;
  look.catalog_until_ms = catalog->now_ms - 1;
  bool has_commits = false;
  for (auto& [volume_name, one] : followed_) {
    ArchivedSection section;
    auto read = read_commits(volume_name, one, section);
    if (!read) return pass(read.error());
    if (!*read) {
      is_whole = false;
      continue;
    }
    has_commits = has_commits || !section.batches.empty();
    look.sections.push_back(std::move(section));
  }
  const int64_t now_us = clock_.steady_us();
  if (has_commits || !is_whole || options_.run.stopped() || now_us - written_us_ >= kQuietUs) {
    if (auto written = archive_.write(look); !written) return pass(written.error());
    written_us_ = now_us;
  }
  // Only now: what is not archived is read again.
  for (const ArchivedSection& section : look.sections) {
    followed_[section.volume_name].sequence = section.sequence;
  }
  options_.looked(look);
  return is_whole;
}

Result<bool> Follower::step() {
  if (!catalog_lsn_) {
    if (auto made = make_backup(); !made) return pass(made.error());
  }
  auto whole = look();
  if (!whole) return whole;
  if (!*whole) catalog_lsn_.reset();
  return !*whole;
}

Status Follower::run() {
  for (bool last = false; !last;) {
    last = options_.run.stopped();
    auto again = step();
    if (!again && !will_pass(again.error())) {
      if (options_.run.stopped()) return {};
      return pass(again.error());
    }
    if (again && *again && !last) continue;
    for (int64_t waited = 0; waited < options_.interval_ms && !options_.run.stopped() && !last;
         waited += kSliceMs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(kSliceMs));
    }
  }
  return {};
}

}  // namespace orrery::backup
