// Reasons in words for the factors of a score (advise.h).
#include <fmt/format.h>

#include <algorithm>

#include "advise/advise.h"
#include "advise/words.h"

namespace orrery::advise {
namespace {

constexpr double kWorthSaying = 0.95;

std::string shape_text(const Facts& facts, size_t at) {
  const Shape& shape = facts.shapes[at];
  std::string text = fmt::format("shape {} ({}", shape.number, to_text(shape.operation));
  if (!shape.text.empty()) text += fmt::format(", {}", shape.text);
  return text + ")";
}

// The shape whose fan-out costs the most.
std::string dearest_shape(const Facts& facts, const Scored& one) {
  size_t dearest = one.shapes.size();
  for (size_t i = 0; i < one.shapes.size(); ++i) {
    const ShapeCost& shape = one.shapes[i];
    if (shape.partitions < 1.05 || shape.requests <= 0) continue;
    if (dearest == one.shapes.size() ||
        shape.requests * shape.fan_out_ru >
            one.shapes[dearest].requests * one.shapes[dearest].fan_out_ru) {
      dearest = i;
    }
  }
  if (dearest == one.shapes.size()) return "";
  const ShapeCost& shape = one.shapes[dearest];
  return fmt::format("; {}: {} of requests, asks {:.1f} partitions, {:.1f} of its {:.1f} RU",
                     shape_text(facts, dearest), percent(shape.requests), shape.partitions,
                     shape.fan_out_ru, shape.ru);
}

}  // namespace

std::vector<std::string> reasons_for(const Facts& facts, const Scored& one) {
  std::vector<std::string> out;
  if (one.cost < kWorthSaying) {
    out.push_back(
        fmt::format("It needs {} RU/s where an ideal key needs {}: the busiest partition "
                    "gets {:.1f} times an even share, and {} RU/s go to several "
                    "partitions at once{}.",
                    number(one.needed_ru), number(one.ideal_ru), one.request_skew,
                    number(std::max(0.0, one.needed_ru - one.keyed_ru * one.request_skew)),
                    dearest_shape(facts, one)));
  }
  if (one.locality < kWorthSaying) {
    out.push_back(fmt::format("Reads and queries ask {:.1f} of {:.0f} partitions on average{}.",
                              1 + one.fan_out * (facts.partitions - 1), facts.partitions,
                              one.cost < kWorthSaying ? "" : dearest_shape(facts, one)));
  }
  if (one.storage < kWorthSaying) {
    out.push_back(fmt::format("The fullest partition holds {:.1f} times its share of the bytes.",
                              one.byte_skew));
  }
  if (one.values < kWorthSaying) {
    out.push_back(fmt::format("It has about {} values (from {} to {}).", number(one.distinct),
                              number(one.distinct_low), number(one.distinct_high)));
  }
  if (one.headroom < kWorthSaying) {
    out.push_back(fmt::format(
        "Its largest value, '{}', will have {} of the {} that a logical "
        "partition may have{}.",
        one.largest_value, bytes_text(one.largest_at_horizon),
        bytes_text(facts.settings.logical_limit_bytes),
        one.limit_day > 0 ? ", and passes it on " + date_text(one.limit_day) : std::string()));
  }
  if (one.simplicity < kWorthSaying) {
    out.push_back(
        "The client has to put the key together from its parts when it writes and reads.");
  }
  for (const auto* findings : {&one.hard, &one.warnings}) {
    for (const Finding& finding : *findings) {
      out.push_back(fmt::format("{}: {}.", finding.code, finding.text));
    }
  }
  if (one.rank_score < one.score) {
    out.push_back("A simpler key is nearly as good: parts that are added must gain 5 %.");
  }
  if (!out.empty()) return out;
  out.push_back(
      fmt::format("Nothing speaks against it: it needs {} RU/s where an ideal key needs "
                  "{}, and its largest value will have {}.",
                  number(one.needed_ru), number(one.ideal_ru), bytes_text(one.largest_at_horizon)));
  return out;
}

}  // namespace orrery::advise
