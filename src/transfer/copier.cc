// See copier.h.
#include "transfer/copier.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "transfer/bulk_writer.h"

namespace orrery::transfer {
namespace {

constexpr size_t kExamplesMax = 20;
constexpr int kCopyWaitMs = 20;
// Extra items are removed, and the target is read again, as often as that may be needed: deletes
// can race with a check only while somebody still writes.
constexpr int kChecksMax = 3;

// Removes what the copy wrote and the source has no more.
class Remover {
 public:
  static Result<std::unique_ptr<Remover>> open(client::Client& client,
                                               client::ContainerInfo container,
                                               size_t requests_max) {
    std::unique_ptr<Remover> remover(new Remover);
    auto writer = BulkWriter::open(
        client, std::move(container), WriteMode::upsert, requests_max,
        [self = remover.get()](uint64_t, Outcome outcome, std::string_view, std::string reason) {
          if (outcome != Outcome::rejected) return;
          if (!self->refused_) self->refused_ = std::move(reason);
        });
    if (!writer) return pass(writer.error());
    remover->writer_ = std::move(*writer);
    return remover;
  }

  Status remove(const Difference& extra) {
    while (!writer_->has_room()) {
      if (Status turned = writer_->turn(kCopyWaitMs); !turned) return turned;
    }
    writer_->remove(extra.id, extra.key_json, extra.key_hex, ++count_);
    return {};
  }

  Status finish() {
    while (!writer_->is_idle()) {
      writer_->flush();
      if (Status turned = writer_->turn(kCopyWaitMs); !turned) return turned;
    }
    if (refused_) {
      return fail(Code::invalid, fmt::format("an item that the source has no more cannot be "
                                             "removed from the target: {}",
                                             *refused_));
    }
    return {};
  }

  uint64_t count() const { return count_; }

 private:
  Remover() = default;
  std::unique_ptr<BulkWriter> writer_;
  uint64_t count_ = 0;
  std::optional<std::string> refused_;
};

class Check {
 public:
  Check(Side source, Side target, client::ContainerInfo container, const CopySettings& settings,
        Progress& progress, CopyResult& result)
      : target_(target),
        container_(std::move(container)),
        settings_(settings),
        progress_(progress),
        result_(result),
        comparison_(std::move(source), std::move(target), container_.key, settings.stopped,
                    progress) {}

  Status run() {
    for (int check = 1;; ++check) {
      auto equal = comparison_.are_equal();
      if (!equal) return pass(equal.error());
      result_.is_checked = true;
      result_.is_equal = *equal;
      result_.source_items = comparison_.first().items;
      result_.target_items = comparison_.second().items;
      if (*equal) return {};
      auto removed = remove_extra();
      if (!removed) return pass(removed.error());
      result_.counts.removed += *removed;
      if (!settings_.remove_extra) {
        // Items of the target's own are no difference.
        result_.is_equal = result_.differences == 0 && comparison_.first().unplaced == 0;
        return {};
      }
      if (*removed == 0 || check == kChecksMax) return {};
      progress_.say(fmt::format("removed {} items that the source has no more; checking again",
                                with_commas(*removed)));
      comparison_.reread_second();
    }
  }

 private:
  // How many were removed. Counts the other differences.
  Result<uint64_t> remove_extra() {
    auto remover = Remover::open(*target_.client, container_, settings_.requests_max);
    if (!remover) return pass(remover.error());
    result_.differences = comparison_.first().unplaced;
    result_.examples.clear();
    Status done = comparison_.each_difference([&](const Difference& difference) -> Status {
      if (difference.kind == Difference::Kind::extra) {
        return settings_.remove_extra ? (*remover)->remove(difference) : Status();
      }
      ++result_.differences;
      if (result_.examples.size() < kExamplesMax) {
        result_.examples.push_back(to_string(difference));
      }
      return {};
    });
    if (!done) return pass(done.error());
    if (Status finished = (*remover)->finish(); !finished) return pass(finished.error());
    return (*remover)->count();
  }

  Side target_;
  client::ContainerInfo container_;
  const CopySettings& settings_;
  Progress& progress_;
  CopyResult& result_;
  Comparison comparison_;
};

}  // namespace

Status copy_container(client::Client& from, const client::ContainerName& source, client::Client& to,
                      client::ContainerInfo target, const CopySettings& settings,
                      Progress& progress, CopyResult& result) {
  auto feed = FeedSource::open(
      from, {.name = source, .kind = client::FeedKind::changes, .query = {}, .parameters_json = {}},
      std::nullopt);
  if (!feed) return pass(feed.error());
  PumpOptions options;
  options.what = settings.what;
  options.checkpoint_path = settings.checkpoint_path;
  options.rejects_path = settings.rejects_path;
  options.stopped = settings.stopped;
  options.phase = "copying";
  if (!settings.follow) (*feed)->end();
  Pump* running = nullptr;
  bool has_caught_up = false;
  bool cuts_over = false;
  options.each_round = [&] {
    if (!settings.follow || cuts_over) return;
    if (!has_caught_up && (*feed)->is_caught_up()) {
      has_caught_up = true;
      running->set_phase("following");
      progress.say(
          fmt::format("caught up with {}, and following its changes: stop its writers, "
                      "then cut over (SIGUSR1, or a line on standard input)",
                      source.text()));
    }
    if (settings.cut_over && settings.cut_over()) {
      cuts_over = true;
      running->set_phase("cutting over");
      progress.say("cutting over: reading what is left of the changes");
      (*feed)->end();
    }
  };
  auto pump =
      Pump::open(**feed, to, bulk_into(to, target, WriteMode::upsert, settings.requests_max),
                 std::move(options), progress);
  if (!pump) return pass(pump.error());
  running = pump->get();
  auto ending = (*pump)->run();
  result.counts = (*pump)->counts();
  result.throttled = (*pump)->throttled();
  result.rejects_path = (*pump)->rejects_path();
  if (!ending) return pass(ending.error());
  result.ending = *ending;
  if (*ending == Ending::stopped) return {};
  if (settings.check) {
    Check check({.client = &from, .name = source}, {.client = &to, .name = target.name}, target,
                settings, progress, result);
    if (Status done = check.run(); !done) {
      if (done.error().code != Code::would_wait) return done;
      result.ending = Ending::stopped;
      return {};
    }
  }
  (*pump)->remove_checkpoint();
  return {};
}

}  // namespace orrery::transfer
