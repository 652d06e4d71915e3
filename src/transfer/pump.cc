// See pump.h.
#include "transfer/pump.h"

#include <fmt/format.h>

#include <utility>

namespace orrery::transfer {
namespace {

constexpr int64_t kSavePositionEveryUs = 1'000'000;
constexpr size_t kReadAtOnce = 2'000;  // then it is looked what came back
constexpr int kWaitMs = 20;
constexpr int kShortWaitMs = 2;
constexpr int64_t kDrainUs = 10'000'000;  // that writes under way get when it is stopped

}  // namespace

Pump::Pump(RecordSource& source, client::Client& target, PumpOptions options, Progress& progress)
    : source_(source),
      target_(target),
      options_(std::move(options)),
      progress_(progress),
      ledger_([this](const Mark& mark, Outcome outcome, const std::string& line) {
        const bool was_settled = source_.is_settled();
        source_.passed(mark);
        ++counts_.read;
        if (outcome == Outcome::written) ++counts_.written;
        if (outcome == Outcome::present) ++counts_.present;
        if (outcome == Outcome::rejected) {
          ++counts_.rejected;
          if (Status added = rejects_.add(line); !added && !failed_) failed_ = added.error();
        }
        // The end of a page: the last place to go on from, until the next one ends.
        if (!was_settled && source_.is_settled()) note_position();
        if (options_.rejects_max && counts_.rejected > *options_.rejects_max && !failed_) {
          failed_ = Error{Code::invalid,
                          fmt::format("more than {} records are rejected (--max-rejects): see {}",
                                      *options_.rejects_max, rejects_.path())};
        }
      }),
      checkpoint_(options_.checkpoint_path),
      rejects_(options_.rejects_path) {}

Result<std::unique_ptr<Pump>> Pump::open(RecordSource& source, client::Client& target,
                                         const MakeWriter& make_writer, PumpOptions options,
                                         Progress& progress) {
  std::unique_ptr<Pump> pump(new Pump(source, target, std::move(options), progress));
  auto writer = make_writer([self = pump.get()](uint64_t ticket, Outcome outcome,
                                                std::string_view item, std::string reason) {
    if (outcome == Outcome::rejected) return self->reject(ticket, item, reason);
    self->ledger_.done(ticket, outcome);
  });
  if (!writer) return pass(writer.error());
  pump->writer_ = std::move(*writer);
  if (Status resumed = pump->resume(); !resumed) return pass(resumed.error());
  return pump;
}

Status Pump::resume() {
  auto saved = checkpoint_.read(options_.what);
  if (!saved) return pass(saved.error());
  if (!*saved) return rejects_.check_is_new();
  const Checkpoint& found = (*saved)->checkpoint;
  if (Status resumed = source_.resume(*(*saved)->position); !resumed) {
    return fail(resumed.error().code, fmt::format("cannot go on from {}: {}", checkpoint_.path(),
                                                  resumed.error().message));
  }
  counts_ = found.counts;
  rejects_ = RejectFile(found.rejects_path);
  if (Status resumed = rejects_.resume(found.rejects_bytes); !resumed) return resumed;
  progress_.say(fmt::format("going on from {}: {} records were done", checkpoint_.path(),
                            with_commas(counts_.read)));
  return {};
}

void Pump::reject(uint64_t ticket, std::string_view record, std::string_view reason) {
  const Mark& mark = ledger_.mark(ticket);
  ledger_.done(ticket, Outcome::rejected,
               reject_line(source_.name_of(mark), mark.line, reason, record));
}

void Pump::take(Record record) {
  const uint64_t ticket = ledger_.add(record.mark);
  if (!record.reason.empty()) return reject(ticket, record.text, record.reason);
  std::string seed;
  if (options_.generate_ids) {
    seed = fmt::format("{}:{}", source_.name_of(record.mark), record.mark.at);
  }
  if (Status taken = writer_->take(record.text, seed, ticket); !taken) {
    reject(ticket, record.text, taken.error().message);
  }
}

Result<bool> Pump::read_some() {
  for (size_t i = 0; i < kReadAtOnce && !failed_; ++i) {
    if (!ledger_.has_room() || !writer_->has_room()) return true;
    Record record;
    auto pulled = source_.pull(record);
    if (!pulled) return pass(pulled.error());
    if (*pulled == RecordSource::Pull::wait) return false;
    if (*pulled == RecordSource::Pull::end) {
      ended_ = true;
      return true;
    }
    take(std::move(record));
  }
  return true;
}

Status Pump::drain() {
  const int64_t until = clock_.steady_us() + kDrainUs;
  writer_->flush();
  while (!ledger_.is_empty() && clock_.steady_us() < until) {
    if (Status turned = writer_->turn(kWaitMs); !turned) return turned;
    if (failed_) return pass(*failed_);
  }
  return {};
}

void Pump::note_position() {
  if (!checkpoint_.is_used()) return;
  noted_ = {.what = options_.what,
            .position_json = source_.position_json(),
            .counts = counts_,
            .rejects_path = rejects_.path(),
            .rejects_bytes = rejects_.bytes(),
            .output_json = {}};
}

Status Pump::save() {
  if (!checkpoint_.is_used()) return {};
  if (Status synced = rejects_.sync(); !synced) return synced;
  saved_us_ = clock_.steady_us();
  if (source_.is_settled()) note_position();
  return checkpoint_.write(noted_);
}

Status Pump::save_now_and_then() {
  if (!checkpoint_.is_used() || clock_.steady_us() - saved_us_ < kSavePositionEveryUs) return {};
  return save();
}

uint64_t Pump::throttled() const {
  return writer_->counts().throttled + target_.counts().throttled + source_.throttled();
}

// Of the whole: what was passed, and not what was read ahead of that.
std::optional<double> Pump::fraction() const {
  const std::optional<double> read = source_.fraction();
  if (!read || ledger_.is_empty()) return read;
  const auto passed = static_cast<double>(counts_.read);
  return *read * passed / (passed + static_cast<double>(ledger_.size()));
}

void Pump::show() {
  progress_.show({.records = counts_.read,
                  .rejected = counts_.rejected,
                  .charge = target_.counts().charge,
                  .throttled = throttled(),
                  .fraction = fraction(),
                  .phase = options_.phase});
}

Result<Ending> Pump::run() {
  // Before the first write: a run that is killed at once can go on as well.
  if (Status saved = save(); !saved) return pass(saved.error());
  const auto fail_after_saving = [&](const Error& error) {
    (void)drain();
    (void)save();
    return pass(error);
  };
  while (!ended_ || !ledger_.is_empty()) {
    if (options_.stopped && options_.stopped()) {
      if (Status drained = drain(); !drained) return pass(drained.error());
      if (Status saved = save(); !saved) return pass(saved.error());
      return Ending::stopped;
    }
    if (options_.each_round) options_.each_round();
    bool has_more = false;
    if (!ended_) {
      auto read = read_some();
      if (!read) return fail_after_saving(read.error());
      has_more = *read;
    }
    if (ended_) writer_->flush();
    // Where nothing can be read, the source is what is waited for, unless writes are under way.
    const bool reads_on = has_more && ledger_.has_room() && writer_->has_room() && !ended_;
    const bool waits_for_source = !has_more && writer_->is_idle();
    source_.turn(waits_for_source ? kWaitMs : 0);
    const int wait_ms = reads_on || waits_for_source ? 0
                        : has_more || ended_         ? kWaitMs
                                                     : kShortWaitMs;
    if (Status turned = writer_->turn(wait_ms); !turned) {
      (void)save();
      return pass(turned.error());
    }
    if (failed_) return fail_after_saving(*failed_);
    if (Status saved = save_now_and_then(); !saved) return pass(saved.error());
    show();
  }
  if (Status synced = rejects_.sync(); !synced) return pass(synced.error());
  return Ending::complete;
}

}  // namespace orrery::transfer
