// See progress.h.
#include "transfer/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace orrery::transfer {
namespace {

constexpr int64_t kBarEveryUs = 250'000;
constexpr int64_t kLineEveryUs = 10'000'000;
constexpr int kBarWidth = 24;
// How much of a rate is of the last look rather than of those before it.
constexpr double kNewShare = 0.3;

}  // namespace

std::string with_commas(uint64_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string duration_text(int64_t seconds) {
  seconds = std::max<int64_t>(0, seconds);
  const int64_t hours = seconds / 3600;
  const int64_t minutes = seconds / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds % 60);
  return fmt::format("{}:{:02}", minutes, seconds % 60);
}

std::string progress_line(const Standing& now, const Pace& pace, bool with_bar) {
  std::string line;
  if (now.fraction) {
    const double part = std::clamp(*now.fraction, 0.0, 1.0);
    if (with_bar) {
      const int full = static_cast<int>(part * kBarWidth);
      line += fmt::format("[{}{}] ", std::string(static_cast<size_t>(full), '#'),
                          std::string(static_cast<size_t>(kBarWidth - full), '.'));
    }
    line += fmt::format("{:3.0f} %  ", std::floor(part * 100));
  }
  line += fmt::format("{} records  {}/s  {} RU/s", with_commas(now.records),
                      with_commas(static_cast<uint64_t>(pace.records_a_second)),
                      with_commas(static_cast<uint64_t>(pace.charge_a_second)));
  if (now.throttled > 0) line += fmt::format("  {} throttled", with_commas(now.throttled));
  if (now.rejected > 0) line += fmt::format("  {} rejected", with_commas(now.rejected));
  if (!now.phase.empty()) line += fmt::format("  {}", now.phase);
  if (pace.seconds_left) {
    return line + fmt::format("  {} left", duration_text(std::llround(*pace.seconds_left)));
  }
  return line + fmt::format("  {}", duration_text(std::llround(pace.seconds)));
}

Progress::Mode Progress::mode_for(bool quiet) {
  if (quiet) return Mode::none;
  return ::isatty(STDERR_FILENO) == 1 ? Mode::bar : Mode::lines;
}

Progress::Progress(Mode mode)
    : mode_(mode), begun_us_(clock_.steady_us()), shown_us_(begun_us_), last_us_(begun_us_) {}

Progress::~Progress() {
  erase_bar();
}

double Progress::seconds() const {
  return static_cast<double>(clock_.steady_us() - begun_us_) / 1e6;
}

void Progress::erase_bar() {
  if (has_bar_) fmt::print(stderr, "\r\033[K");
  has_bar_ = false;
}

void Progress::show(const Standing& now) {
  if (!base_) {
    base_ = now;
    last_ = now;
  }
  const int64_t at = clock_.steady_us();
  const int64_t every = mode_ == Mode::bar ? kBarEveryUs : kLineEveryUs;
  if (mode_ == Mode::none || at - shown_us_ < every) return;
  const double passed = static_cast<double>(at - last_us_) / 1e6;
  const double rate = static_cast<double>(now.records - last_.records) / passed;
  const double charge_rate = (now.charge - last_.charge) / passed;
  const double share = pace_.records_a_second == 0 ? 1 : kNewShare;
  pace_.records_a_second += (rate - pace_.records_a_second) * share;
  pace_.charge_a_second += (charge_rate - pace_.charge_a_second) * share;
  pace_.seconds = seconds();
  pace_.seconds_left.reset();
  const double done = now.fraction.value_or(0) - base_->fraction.value_or(0);
  if (done > 0.001) pace_.seconds_left = pace_.seconds * (1 - *now.fraction) / done;
  last_ = now;
  last_us_ = at;
  shown_us_ = at;
  const std::string line = progress_line(now, pace_, mode_ == Mode::bar);
  if (mode_ == Mode::bar) {
    fmt::print(stderr, "\r{}\033[K", line);
    has_bar_ = true;
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

void Progress::say(std::string_view text) {
  if (mode_ == Mode::none) return;
  erase_bar();
  fmt::print(stderr, "{}\n", text);
  std::fflush(stderr);
}

}  // namespace orrery::transfer
