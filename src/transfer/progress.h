// Tells a person how far a transfer is: a line that is written over on a terminal, a line now and
// then elsewhere. On standard error, so that standard output is for data and results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace orrery::transfer {

struct Standing {
  uint64_t records = 0;
  uint64_t rejected = 0;
  double charge = 0;  // request units so far
  uint64_t throttled = 0;
  std::optional<double> fraction;  // of the whole
  std::string_view phase;          // "following", for what is not just moving on
};

// 1,234,567
std::string with_commas(uint64_t number);
// 0:05, 12:34, 1:02:03
std::string duration_text(int64_t seconds);
struct Pace {
  double seconds = 0;  // since the beginning
  std::optional<double> seconds_left;
  double records_a_second = 0;
  double charge_a_second = 0;
};
// The line; with a bar where the whole is known.
std::string progress_line(const Standing& now, const Pace& pace, bool with_bar);

class Progress {
 public:
  enum class Mode : uint8_t { none, lines, bar };
  static Mode mode_for(bool quiet);
  explicit Progress(Mode mode);
  ~Progress();

  // Shows it if it is time to.
  void show(const Standing& now);
  // A message of its own, on a line of its own.
  void say(std::string_view text);
  // Takes the bar away: what follows is not progress.
  void finish() { erase_bar(); }
  double seconds() const;

 private:
  void erase_bar();

  const Mode mode_;
  RealClock clock_;
  const int64_t begun_us_;
  int64_t shown_us_;
  std::optional<Standing> base_;  // what it began with; a run before this one may have done some
  Standing last_;
  int64_t last_us_;
  Pace pace_;
  bool has_bar_ = false;
};

}  // namespace orrery::transfer
