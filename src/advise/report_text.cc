// The report for a terminal: a table, reasons, bars (advise.h).
#include <fmt/format.h>

#include <algorithm>

#include "advise/advise.h"
#include "advise/sequences.h"
#include "advise/words.h"
#include "base/printable.h"

namespace orrery::advise {
namespace {

constexpr size_t kRows = 12;
constexpr size_t kMostBars = 32;
constexpr size_t kBarWidth = 24;
constexpr size_t kNameWidth = 34;

// Names and values are client data: they must not control the terminal.
std::string printable(std::string_view text) {
  std::string out;
  append_printable(out, text);
  return out;
}

std::string codes(const Scored& one) {
  std::string out;
  for (const Finding& finding : one.hard) out += (out.empty() ? "✗ " : " ✗ ") + finding.code;
  for (const Finding& finding : one.warnings) out += (out.empty() ? "" : " ") + finding.code;
  return out;
}

void add_row(std::string& out, size_t place, const Scored& one, bool present) {
  std::string largest = bytes_text(one.largest_at_horizon);
  if (one.limit_day > 0) largest += " " + date_text(one.limit_day);
  out += fmt::format("{:>3}{} {:<{}} {:>6.1f} {:>9} {:>6} {:>7} {:>9} {:>19} {:>6}  {}\n",
                     place + 1, present ? "*" : " ", printable(one.name), kNameWidth, one.score,
                     number(one.needed_ru), percent(one.cost), percent(one.fan_out),
                     number(one.busiest_ru), largest,
                     one.throttled < 0 ? "-" : percent(one.throttled), codes(one));
}

std::string bar(double share, double most) {
  const auto width = static_cast<size_t>(share / most * static_cast<double>(kBarWidth) + 0.5);
  return std::string(width, '#') + std::string(kBarWidth - std::min(kBarWidth, width), ' ');
}

void add_bars(std::string& out, const Report& report) {
  double most = 1e-9;
  for (const Bars& bars : report.bars) {
    most = std::max({most, std::ranges::max(bars.bytes), std::ranges::max(bars.ru)});
  }
  for (const Bars& bars : report.bars) {
    out += fmt::format("\n{} by partition\n     {:<{}}         RU/s\n", printable(bars.key),
                       "bytes", kBarWidth);
    for (size_t i = 0; i < std::min(kMostBars, bars.bytes.size()); ++i) {
      out += fmt::format("{:>4} {}{:>6}  {}{:>6}\n", i, bar(bars.bytes[i], most),
                         percent(bars.bytes[i]), bar(bars.ru[i], most), percent(bars.ru[i]));
    }
    if (bars.bytes.size() > kMostBars) {
      out += fmt::format("     … and {} more\n", bars.bytes.size() - kMostBars);
    }
  }
}

std::string headline(const Report& report) {
  if (report.candidates.empty()) return "there is nothing to judge: no items were read";
  const std::string best = printable(report.candidates.front().name);
  switch (report.verdict) {
    case Verdict::choose:
      return "choose " + best;
    case Verdict::keep:
      return fmt::format("keep {}: no other key is much better",
                         printable(report.candidates[*report.present].name));
    case Verdict::change:
      return fmt::format("change from {} to {}", printable(report.candidates[*report.present].name),
                         best);
    case Verdict::none_good:
      return "no key is good; the best of them is " + best;
    case Verdict::insufficient:
      return "too little is known for a verdict; tentatively " + best;
  }
  return "";
}

}  // namespace

std::string to_table(const Report& report) {
  std::string out =
      fmt::format("{} (confidence {}; first in {} of half samples)\n", headline(report),
                  to_text(report.confidence), percent(report.stays_first));
  out += fmt::format(
      "{} items read of {} with {}; {} requests; {} RU/s, peak {} RU/s, {:.0f} "
      "partitions; {:.1f} times as large in {:.0f} days\n",
      number(report.items_read), number(report.container_items), bytes_text(report.container_bytes),
      number(report.requests), number(report.throughput), number(report.peak_ru), report.partitions,
      report.growth, report.horizon_s / 86'400);
  for (const Finding& note : report.notes) {
    out += fmt::format("! {}: {}\n", note.code, printable(note.text));
  }
  out += fmt::format("\n{:>3}  {:<{}} {:>6} {:>9} {:>6} {:>7} {:>9} {:>19} {:>6}  {}\n", "", "key",
                     kNameWidth, "score", "needs", "ideal", "fan-out", "busiest", "largest value",
                     "429", "");
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    const bool present = report.present == i;
    if (i < kRows || present || contains(report.asked_for, i))
      add_row(out, i, report.candidates[i], present);
  }
  if (report.present) out += "  * the present key\n";
  for (const auto& [key, reasons] : report.reasons) {
    out += fmt::format("\n{}\n", printable(key));
    for (const std::string& reason : reasons) out += fmt::format("  - {}\n", printable(reason));
  }
  if (!report.advice.empty()) out += "\nadvice\n";
  for (const Finding& one : report.advice) {
    out += fmt::format("  - {}: {}\n", one.code, printable(one.text));
  }
  add_bars(out, report);
  return out;
}

}  // namespace orrery::advise
