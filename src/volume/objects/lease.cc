// See lease.h.
#include "volume/objects/lease.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <ctime>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "volume/objects/text_number.h"

namespace orrery::volume {
namespace {

constexpr const char* kRow = "row";
constexpr std::array<std::string_view, 3> kStates = {"live", "revoked", "over"};

std::string object_of(const std::string& incarnation) {
  return fmt::format("lease.{}", incarnation);
}

Outcome replace(ObjectStore& store, const std::string& incarnation, const LeaseRow& from,
                const LeaseRow& to) {
  return store.apply(object_of(incarnation), {.presence = ObjectChange::Presence::must_be_there,
                                              .attributes_equal = {{kRow, encode(from)}},
                                              .set_attributes = {{kRow, encode(to)}}});
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

std::string encode(const LeaseRow& row) {
  return fmt::format("{} {} {}", kStates[static_cast<size_t>(row.state)], row.counter, row.name);
}

std::optional<LeaseRow> decode_lease_row(std::string_view text) {
  LeaseRow row;
  const size_t first = text.find(' ');
  const size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view state = text.substr(0, first);
  const std::string_view counter = text.substr(first + 1, second - first - 1);
  const auto count = number_of<uint64_t>(counter);
  if (!count) return std::nullopt;
  row.counter = *count;
  for (size_t i = 0; i < kStates.size(); ++i) {
    if (kStates[i] != state) continue;
    row.state = static_cast<LeaseRow::State>(i);
    row.name = text.substr(second + 1);
    return row;
  }
  return std::nullopt;
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

Result<std::unique_ptr<Lease>> Lease::take(ObjectStore& store, std::string node_name,
                                           LeaseTimes times, BootClock clock,
                                           std::function<void()> on_lost) {
  std::array<char, 16> random = {};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return fail(Code::internal, "the system gives no random bytes");
  }
  std::unique_ptr<Lease> lease(
      new Lease(store, to_hex_upper(std::string_view(random.data(), random.size())),
                std::move(node_name), times, std::move(clock), std::move(on_lost)));
  const int64_t sent_us = lease->clock_();
  Outcome made;
  {
    MutexLock lock(lease->row_mutex_);
    made = store.apply(object_of(lease->incarnation_),
                       {.presence = ObjectChange::Presence::must_be_new,
                        .set_attributes = {{kRow, encode(lease->row_)}}});
  }
  if (!made.is_done()) {
    return fail(Code::internal,
                fmt::format("cannot make a lease in {}: {}", store.place(), made.message));
  }
  lease->good_until_us_ = sent_us + times.lease_us;
  lease->keeper_ = std::thread([raw = lease.get()] { raw->keep_up(); });
  return lease;
}

Lease::Lease(ObjectStore& store, std::string incarnation, std::string node_name, LeaseTimes times,
             BootClock clock, std::function<void()> on_lost)
    : store_(store),
      incarnation_(std::move(incarnation)),
      times_(times),
      clock_(std::move(clock)),
      on_lost_(std::move(on_lost)),
      row_{.state = LeaseRow::State::live, .counter = 1, .name = std::move(node_name)} {}

Lease::~Lease() {
  {
    MutexLock lock(stop_mutex_);
    stopping_ = true;
  }
  stop_wake_.notify_all();
  if (!keeper_.joinable()) return;  // no row was made
  keeper_.join();
  good_until_us_ = 0;
  // A renewal without an answer leaves the row unknown: it is read, as by anybody else.
  if (auto buried = bury(store_, incarnation_); !buried) {
    log::warn("cannot end the lease of this process", {{"error", buried.error().message}});
  }
}

void Lease::keep_up() {
  for (;;) {
    {
      MutexLock lock(stop_mutex_);
      if (!stopping_) {
        stop_wake_.wait_for(stop_mutex_, std::chrono::microseconds(times_.renew_every_us));
      }
      if (stopping_) return;
    }
    if (!is_lost()) renew();
  }
}

void Lease::renew() {
  MutexLock lock(row_mutex_);
  LeaseRow next = row_;
  ++next.counter;
  const int64_t sent_us = clock_();
  const Outcome outcome = replace(store_, incarnation_, row_, next);
  switch (outcome.applied) {
    case Applied::done:
      row_ = std::move(next);
      good_until_us_.store(sent_us + times_.lease_us, std::memory_order_release);
      return;
    case Applied::differs:
    case Applied::absent: {
      // A renewal that had no answer may have been applied since.
      auto row = read_lease(store_, incarnation_);
      if (row && *row && (*row)->state == LeaseRow::State::live) {
        row_ = std::move(**row);
        return;
      }
      if (!row) return;
      good_until_us_.store(0, std::memory_order_release);
      lost_.store(true, std::memory_order_release);
      log::error("the lease of this process was ended by another one",
                 {{"incarnation", incarnation_}});
      if (on_lost_) on_lost_();
      return;
    }
    default:
      log::warn("cannot renew the lease of this process", {{"error", outcome.message}});
  }
}

bool remove_lease(ObjectStore& store, const std::string& incarnation) {
  auto row = read_lease(store, incarnation);
  if (!row || !*row || (*row)->state != LeaseRow::State::over) return false;
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

Result<bool> end_lease(ObjectStore& store, const std::string& incarnation, LeaseTimes times,
                       const BootClock& clock) {
  auto row = read_lease(store, incarnation);
  // From the answer on: a renewal that came before it was sent before it.
  const int64_t read_us = clock();
  if (!row) return pass(row.error());
  if (!*row || (*row)->state == LeaseRow::State::over) return true;
  const LeaseRow seen = **row;
  for (int64_t now_us = read_us; now_us < read_us + times.revoke_wait_us; now_us = clock()) {
    const int64_t left_us = read_us + times.revoke_wait_us - now_us;
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min(left_us, times.renew_every_us / 2)));
    row = read_lease(store, incarnation);
    if (!row) return pass(row.error());
    if (!*row || (*row)->state == LeaseRow::State::over) return true;
    if ((*row)->counter != seen.counter) return false;
  }
  const LeaseRow revoked = with_state(seen, LeaseRow::State::revoked);
  if (seen.state == LeaseRow::State::live) {
    const Outcome outcome = replace(store, incarnation, seen, revoked);
    if (outcome.applied == Applied::unknown || outcome.applied == Applied::failed) {
      return fail(Code::internal, fmt::format("cannot revoke the lease {} in {}: {}", incarnation,
                                              store.place(), outcome.message));
    }
    // It was renewed, or another revoked it; or it is gone, which the next step finds.
    if (outcome.applied == Applied::differs) return false;
  }
  const Outcome outcome =
      replace(store, incarnation, revoked, with_state(revoked, LeaseRow::State::over));
  // Another may have set it to over, or its holder.
  if (outcome.is_done() || outcome.applied == Applied::absent) return true;
  return is_over(store, incarnation);
}

}  // namespace orrery::volume
