// The report as JSON (advise.h; docs/formats/advice.md).
#include <fmt/format.h>

#include <cmath>

#include "advise/advise.h"
#include "value/json_quoted.h"

namespace orrery::advise {
namespace {

using value::quoted;

// With so many digits that a difference means something.
std::string digits(double value) {
  if (!std::isfinite(value)) return "null";
  std::string text = fmt::format("{:.4f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string findings_json(const std::vector<Finding>& findings) {
  std::string out = "[";
  for (const Finding& one : findings) {
    out += fmt::format("{}{{\"code\":{},\"text\":{}}}", out.size() > 1 ? "," : "", quoted(one.code),
                       quoted(one.text));
  }
  return out + "]";
}

std::string strings_json(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (const std::string& one : texts) out += (out.size() > 1 ? "," : "") + quoted(one);
  return out + "]";
}

std::string numbers_json(const std::vector<double>& numbers) {
  std::string out = "[";
  for (const double one : numbers) out += (out.size() > 1 ? "," : "") + digits(one);
  return out + "]";
}

std::string candidate_json(const Scored& one) {
  return fmt::format(
      "{{\"name\":{},\"score\":{},\"factors\":{{\"cost\":{},\"locality\":{},\"storage\":{},"
      "\"values\":{},\"headroom\":{},\"simplicity\":{}}},\"needed_ru\":{},\"ideal_ru\":{},"
      "\"fan_out\":{},\"request_skew\":{},\"byte_skew\":{},\"busiest\":{{\"value\":{},"
      "\"share\":{},\"ru\":{}}},\"largest\":{{\"value\":{},\"bytes\":{},\"at_horizon\":{},"
      "\"limit_day\":{}}},\"distinct\":{{\"estimate\":{},\"low\":{},\"high\":{}}},"
      "\"changes_at_most\":{},\"throttled\":{},\"hard\":{},\"warn\":{}}}",
      quoted(one.name), digits(one.score), digits(one.cost), digits(one.locality),
      digits(one.storage), digits(one.values), digits(one.headroom), digits(one.simplicity),
      digits(std::round(one.needed_ru)), digits(std::round(one.ideal_ru)), digits(one.fan_out),
      digits(one.request_skew), digits(one.byte_skew), quoted(one.busiest_value),
      digits(one.busiest_share), digits(std::round(one.busiest_ru)), quoted(one.largest_value),
      digits(std::round(one.largest_bytes)), digits(std::round(one.largest_at_horizon)),
      one.limit_day > 0 ? quoted(date_text(one.limit_day)) : "null",
      digits(std::round(one.distinct)), digits(std::round(one.distinct_low)),
      digits(std::round(one.distinct_high)), digits(one.changes_bound),
      one.throttled < 0 ? "null" : digits(one.throttled), findings_json(one.hard),
      findings_json(one.warnings));
}

}  // namespace

std::string to_json(const Report& report) {
  std::string out = fmt::format(
      "{{\"verdict\":{},\"confidence\":{},\"stays_first\":{},\"notes\":{},\"best\":{},"
      "\"present\":{},\"advice\":{},\"own_container\":{{",
      quoted(to_text(report.verdict)), quoted(to_text(report.confidence)),
      digits(report.stays_first), findings_json(report.notes),
      report.candidates.empty() ? "null" : quoted(report.candidates.front().name),
      report.present ? quoted(report.candidates[*report.present].name) : "null",
      findings_json(report.advice));
  if (!report.own_container.empty()) {
    out += quoted(report.own_container_path) + ":" + strings_json(report.own_container);
  }
  out += fmt::format(
      "}},\"N\":{},\"throughput\":{},\"peak_ru\":{},\"items\":{},\"bytes\":{},\"growth\":{},"
      "\"horizon_days\":{},\"items_read\":{},\"requests_read\":{},\"candidates\":[",
      digits(report.partitions), digits(report.throughput), digits(std::round(report.peak_ru)),
      digits(report.container_items), digits(report.container_bytes), digits(report.growth),
      digits(report.horizon_s / 86'400), digits(report.items_read), digits(report.requests));
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    out += (i == 0 ? "" : ",") + candidate_json(report.candidates[i]);
  }
  out += "],\"reasons\":[";
  for (size_t i = 0; i < report.reasons.size(); ++i) {
    out += fmt::format("{}{{\"key\":{},\"because\":{}}}", i == 0 ? "" : ",",
                       quoted(report.reasons[i].first), strings_json(report.reasons[i].second));
  }
  out += "],\"bars\":[";
  for (size_t i = 0; i < report.bars.size(); ++i) {
    const Bars& bars = report.bars[i];
    out += fmt::format("{}{{\"key\":{},\"bytes\":{},\"ru\":{}}}", i == 0 ? "" : ",",
                       quoted(bars.key), numbers_json(bars.bytes), numbers_json(bars.ru));
  }
  return out + "]}\n";
}

}  // namespace orrery::advise
