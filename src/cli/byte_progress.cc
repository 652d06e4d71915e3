// See byte_progress.h.
#include "cli/byte_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "cli/terminal_text.h"
#include "transfer/progress.h"

namespace orrery::cli {
namespace {

constexpr int64_t kOverEveryUs = 250'000;
constexpr int64_t kLineEveryUs = 10'000'000;

}  // namespace

ByteProgress::ByteProgress(bool quiet)
    : mode_(quiet                          ? Mode::none
            : ::isatty(STDERR_FILENO) == 1 ? Mode::over
                                           : Mode::lines),
      begun_us_(clock_.steady_us()),
      shown_us_(begun_us_) {}

double ByteProgress::seconds() const {
  return static_cast<double>(clock_.steady_us() - begun_us_) / 1e6;
}

void ByteProgress::finish() {
  if (has_line_) fmt::print(stderr, "\r\033[K");
  has_line_ = false;
}

void ByteProgress::show(std::string_view what, size_t partitions, size_t partitions_all,
                        uint64_t bytes, uint64_t bytes_all) {
  const int64_t now_us = clock_.steady_us();
  if (mode_ == Mode::none ||
      now_us - shown_us_ < (mode_ == Mode::over ? kOverEveryUs : kLineEveryUs)) {
    return;
  }
  shown_us_ = now_us;
  const double passed = seconds();
  std::string line = fmt::format("{}: {} of {} partitions, {}", what, partitions, partitions_all,
                                 size_text(static_cast<double>(bytes)));
  if (bytes_all > 0) {
    const double part = static_cast<double>(bytes) / static_cast<double>(bytes_all);
    line += fmt::format(" of {} ({:.0f} %)", size_text(static_cast<double>(bytes_all)), part * 100);
    if (part > 0.001) {
      line += fmt::format(
          ", {} left", transfer::duration_text(static_cast<int64_t>(passed * (1 - part) / part)));
    }
  }
  line += fmt::format(", {}/s", size_text(static_cast<double>(bytes) / passed));
  if (mode_ == Mode::over) {
    fmt::print(stderr, "\r{}\033[K", line);
    has_line_ = true;
  } else {
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

}  // namespace orrery::cli
