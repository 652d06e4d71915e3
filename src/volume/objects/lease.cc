// See lease.h.
#include "volume/objects/lease.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "volume/objects/mutation.h"
#include "volume/objects/text_number.h"

namespace orrery::volume {
namespace {

constexpr const char* kRow = "row";
constexpr const char* kLeasesObject = "leases";
constexpr std::array<std::string_view, 3> kStates = {"live", "revoked", "over"};

std::string object_of(const std::string& incarnation) {
  return fmt::format("lease.{}", incarnation);
}

Outcome replace(ObjectStore& store, const std::string& incarnation, const LeaseRow& from,
                const LeaseRow& to) {
  ObjectChange change{.presence = ObjectChange::Presence::must_be_there,
                      .attributes_equal = {{kRow, encode(from)}},
                      .set_attributes = {{kRow, encode(to)}}};
  if (is_mutated(Mutation::revoke_uncompared) && to.state == LeaseRow::State::revoked) {
    change.attributes_equal.clear();
  }
  return store.apply(object_of(incarnation), change);
}

LeaseRow with_state(LeaseRow row, LeaseRow::State state) {
  row.state = state;
  return row;
}

}  // namespace

int64_t boot_time_us() {
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return now.tv_sec * 1'000'000LL + now.tv_nsec / 1'000;
}

bool system_random(std::span<char> into) {
  return ::getrandom(into.data(), into.size(), 0) == static_cast<ssize_t>(into.size());
}

std::string encode(const LeaseRow& row) {
  return fmt::format("{} {} name={} address={} versions={}-{} draining={} cannot_reach={}{}{}",
                     kStates[static_cast<size_t>(row.state)], row.counter, percent_encode(row.name),
                     percent_encode(row.address), row.versions.oldest, row.versions.newest,
                     row.draining ? 1 : 0, percent_encode(row.cannot_reach),
                     row.rest.empty() ? "" : " ", row.rest);
}

std::optional<LeaseRow> decode_lease_row(std::string_view text) {
  const std::string_view whole = text;
  const auto next = [&](std::string_view label) {
    const size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word.starts_with(label) ? word.substr(label.size()) : std::string_view();
  };
  LeaseRow row;
  const std::string_view state = next("");
  const auto known = std::ranges::find(kStates, state);
  if (known == kStates.end()) return std::nullopt;
  row.state = static_cast<LeaseRow::State>(known - kStates.begin());
  const auto counter = number_of<uint64_t>(next(""));
  auto name = percent_decode(next("name="));
  auto address = percent_decode(next("address="));
  const std::string_view versions = next("versions=");
  const size_t dash = std::min(versions.find('-'), versions.size());
  const auto oldest = number_of<uint32_t>(versions.substr(0, dash));
  const auto newest = number_of<uint32_t>(versions.substr(std::min(dash + 1, versions.size())));
  row.draining = next("draining=") == "1";
  auto cannot_reach = percent_decode(next("cannot_reach="));
  if (!counter || !name || !address || !oldest || !newest || !cannot_reach) return std::nullopt;
  row.counter = *counter;
  row.name = std::move(*name);
  row.address = std::move(*address);
  row.versions = {.oldest = *oldest, .newest = *newest};
  row.cannot_reach = std::move(*cannot_reach);
  row.rest = text;
  // Changes compare the row as it is written: a row with another spelling is none.
  if (encode(row) != whole) return std::nullopt;
  return row;
}

Result<std::optional<LeaseRow>> read_lease(ObjectStore& store, const std::string& incarnation) {
  auto state = store.inspect(object_of(incarnation));
  if (!state && state.error().code == Code::not_found) return std::nullopt;
  if (!state) return pass(state.error());
  auto row = decode_lease_row(state->attribute(kRow));
  if (!row) {
    return fail(Code::corrupt, fmt::format("the row of the lease {} in {} says '{}'", incarnation,
                                           store.place(), state->attribute(kRow)));
  }
  return std::move(*row);
}

Result<bool> is_over(ObjectStore& store, const std::string& incarnation) {
  if (incarnation.empty()) return true;
  auto row = read_lease(store, incarnation);
  if (!row) return pass(row.error());
  return !*row || (*row)->state == LeaseRow::State::over;
}

Result<std::vector<std::string>> list_leases(ObjectStore& store) {
  std::vector<std::string> incarnations;
  auto state = store.inspect(kLeasesObject);
  if (!state && state.error().code == Code::not_found) return incarnations;
  if (!state) return pass(state.error());
  incarnations.reserve(state->entries.size());
  for (const auto& [incarnation, name] : state->entries) incarnations.push_back(incarnation);
  return incarnations;
}

void forget_lease(ObjectStore& store, const std::string& incarnation) {
  // Should this fail, whoever looks next does it.
  store.apply(kLeasesObject, {.erase_entries = {incarnation}});
}

Result<std::unique_ptr<Lease>> Lease::take(ObjectStore& store, LeaseOptions options) {
  std::array<char, 16> random = {};
  if (!options.random(random)) return fail(Code::internal, "the system gives no random bytes");
  const bool renews_itself = options.renews_itself;
  std::unique_ptr<Lease> lease(new Lease(
      store, to_hex_upper(std::string_view(random.data(), random.size())), std::move(options)));
  const auto cannot = [&](const Outcome& outcome) {
    return fail(Code::internal,
                fmt::format("cannot make a lease in {}: {}", store.place(), outcome.message));
  };
  const int64_t sent_us = lease->options_.clock();
  const Outcome made = store.apply(object_of(lease->incarnation_),
                                   {.presence = ObjectChange::Presence::must_be_new,
                                    .set_attributes = {{kRow, encode(lease->row_)}}});
  if (!made.is_done()) return cannot(made);
  lease->is_made_ = true;
  const Outcome entered = store.apply(
      kLeasesObject, {.set_entries = {{lease->incarnation_, lease->options_.node_name}}});
  if (!entered.is_done()) return cannot(entered);
  lease->good_until_us_ = sent_us + lease->options_.times.lease_us;
  if (renews_itself) lease->keeper_ = std::thread([raw = lease.get()] { raw->keep_up(); });
  return lease;
}

Lease::Lease(ObjectStore& store, std::string incarnation, LeaseOptions options)
    : store_(store),
      incarnation_(std::move(incarnation)),
      options_(std::move(options)),
      row_{.counter = 1,
           .name = options_.node_name,
           .address = options_.address,
           .versions = options_.versions} {}

Lease::~Lease() {
  {
    MutexLock lock(stop_mutex_);
    stopping_ = true;
  }
  stop_wake_.notify_all();
  if (keeper_.joinable()) keeper_.join();
  good_until_us_ = 0;
  if (!is_made_) return;
  // A renewal without an answer leaves the row unknown: it is read, as by anybody else.
  if (auto buried = bury(store_, incarnation_); !buried) {
    log::warn("cannot end the lease of this process", {{"error", buried.error().message}});
  } else {
    forget_lease(store_, incarnation_);
  }
}

void Lease::keep_up() {
  for (;;) {
    {
      MutexLock lock(stop_mutex_);
      if (!stopping_) {
        stop_wake_.wait_for(stop_mutex_, std::chrono::microseconds(options_.times.renew_every_us));
      }
      if (stopping_) return;
    }
    if (!is_lost()) renew();
  }
}

void Lease::set_cannot_reach(std::string incarnation) {
  MutexLock lock(wish_mutex_);
  cannot_reach_ = std::move(incarnation);
}

LeaseRow Lease::next_row() const {
  LeaseRow next = row_;
  ++next.counter;
  next.draining = draining_;
  MutexLock lock(wish_mutex_);
  next.cannot_reach = cannot_reach_;
  return next;
}

void Lease::renew() {
  LeaseRow next = next_row();
  const int64_t sent_us = options_.clock();
  const Outcome outcome = replace(store_, incarnation_, row_, next);
  switch (outcome.applied) {
    case Applied::done: {
      row_ = std::move(next);
      row_is_draining_.store(row_.draining, std::memory_order_release);
      const int64_t from_us = is_mutated(Mutation::lease_from_answer) ? options_.clock() : sent_us;
      good_until_us_.store(from_us + options_.times.lease_us, std::memory_order_release);
      renewals_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    case Applied::differs:
    case Applied::absent: {
      // A renewal that had no answer may have been applied since.
      auto row = read_lease(store_, incarnation_);
      if (!row) return;
      if (*row && (*row)->state == LeaseRow::State::live) {
        row_ = std::move(**row);
        return;
      }
      return lose();
    }
    default:
      log::warn("cannot renew the lease of this process", {{"error", outcome.message}});
  }
}

void Lease::lose() {
  good_until_us_.store(0, std::memory_order_release);
  lost_.store(true, std::memory_order_release);
  log::error("the lease of this process was ended by another one", {{"incarnation", incarnation_}});
  if (options_.on_lost) options_.on_lost();
  // From here on it answers no read that must be the newest, and the guards of roots and logs keep
  // its writes out. So others need not wait. Should this fail, they do.
  if (auto ended = bury(store_, incarnation_); !ended) {
    log::warn("cannot end the lease of this process", {{"error", ended.error().message}});
  }
}

bool remove_lease(ObjectStore& store, const std::string& incarnation) {
  auto row = read_lease(store, incarnation);
  if (!row || !*row || (*row)->state != LeaseRow::State::over) return false;
  forget_lease(store, incarnation);
  return store
      .apply(object_of(incarnation), {.presence = ObjectChange::Presence::must_be_there,
                                      .attributes_equal = {{kRow, encode(**row)}},
                                      .remove = true})
      .is_done();
}

Status bury(ObjectStore& store, const std::string& incarnation) {
  for (;;) {
    auto row = read_lease(store, incarnation);
    if (!row) return pass(row.error());
    if (!*row || (*row)->state == LeaseRow::State::over) return {};
    const Outcome ended =
        replace(store, incarnation, **row, with_state(**row, LeaseRow::State::over));
    if (ended.is_done() || ended.applied == Applied::absent) return {};
    if (ended.applied != Applied::differs) {
      return fail(Code::internal, fmt::format("cannot end the lease {} in {}: {}", incarnation,
                                              store.place(), ended.message));
    }
  }
}

Result<LeaseWatch::Finding> LeaseWatch::poll(ObjectStore& store, Haste haste) {
  const int64_t sent_us = clock_();
  auto row = read_lease(store, incarnation_);
  // From the answer on: a renewal that came before it was sent before it.
  const int64_t read_us = is_mutated(Mutation::observe_from_send) ? sent_us : clock_();
  if (!row) {
    unchanged_since_us_.reset();
    return pass(row.error());
  }
  const bool is_renewed =
      !unchanged_since_us_ || !row_ || !*row || row_->counter != (*row)->counter;
  row_ = std::move(*row);
  if (!row_ || row_->state == LeaseRow::State::over) return Finding::over;
  if (is_renewed) unchanged_since_us_ = read_us;

  if (haste == Haste::at_once && row_->state == LeaseRow::State::live) {
    const LeaseRow revoked = with_state(*row_, LeaseRow::State::revoked);
    if (replace(store, incarnation_, *row_, revoked).is_done()) row_ = revoked;
  }
  if (clock_() < *due_us()) return is_renewed ? Finding::renewed : Finding::silent;
  return end(store);
}

std::optional<int64_t> LeaseWatch::due_us() const {
  if (!unchanged_since_us_ || !row_) return std::nullopt;
  int64_t wait_us = times_.revoke_wait_us;
  if (is_mutated(Mutation::no_revoke_wait)) wait_us = 0;
  if (is_mutated(Mutation::no_drift_margin)) wait_us = times_.lease_us;
  if (is_mutated(Mutation::wait_not_own) && row_->state == LeaseRow::State::revoked) wait_us = 0;
  return *unchanged_since_us_ + wait_us;
}

// The counter is as it was when the wait began.
Result<LeaseWatch::Finding> LeaseWatch::end(ObjectStore& store) {
  const auto ended = [&](const Outcome& outcome, std::string_view doing) -> Result<bool> {
    if (outcome.is_done() || outcome.applied == Applied::absent) return true;
    if (outcome.applied == Applied::differs) return false;
    unchanged_since_us_.reset();
    return fail(Code::internal, fmt::format("cannot {} the lease {} in {}: {}", doing, incarnation_,
                                            store.place(), outcome.message));
  };
  if (row_->state == LeaseRow::State::live) {
    const LeaseRow revoked = with_state(*row_, LeaseRow::State::revoked);
    auto done = ended(replace(store, incarnation_, *row_, revoked), "revoke");
    if (!done) return pass(done.error());
    // It was renewed, or another revoked it: the next poll tells.
    if (!*done) return Finding::silent;
    row_ = revoked;
  }
  auto done =
      ended(replace(store, incarnation_, *row_, with_state(*row_, LeaseRow::State::over)), "end");
  if (!done) return pass(done.error());
  return *done ? Finding::over : Finding::silent;
}

Result<bool> end_lease(ObjectStore& store, const std::string& incarnation, LeaseTimes times,
                       const BootClock& clock) {
  LeaseWatch watch(incarnation, times, clock);
  for (bool is_first = true;; is_first = false) {
    auto finding = watch.poll(store);
    if (!finding) return pass(finding.error());
    if (*finding == LeaseWatch::Finding::over) return true;
    if (*finding == LeaseWatch::Finding::renewed && !is_first) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(times.renew_every_us / 2));
  }
}

}  // namespace orrery::volume
