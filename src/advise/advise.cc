// See advise.h.
#include "advise/advise.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "advise/advice.h"
#include "advise/candidates.h"
#include "advise/key_values.h"
#include "advise/replay.h"
#include "advise/sequences.h"
#include "advise/sketches.h"
#include "advise/words.h"

namespace orrery::advise {
namespace {

constexpr size_t kHalfSamples = 8;
constexpr size_t kFinalists = 12;
constexpr size_t kSimulated = 5;
constexpr double kNearlyFirst = 3;  // points

// The rows that a half sample has: each one in it or not, by its number.
std::vector<uint32_t> half_of(size_t rows, uint64_t sample) {
  std::vector<uint32_t> half;
  for (uint32_t row = 0; row < rows; ++row) {
    if (mix(sample, row) % 2 == 0) half.push_back(row);
  }
  return half;
}

// How often the best key stays the best, or nearly, when half of the data are missing.
double stays_first(const Facts& facts, const std::vector<Scored>& ranked) {
  if (ranked.empty()) return 0;
  const size_t finalists = std::min(kFinalists, ranked.size());
  double stays = 0;
  for (size_t sample = 0; sample < kHalfSamples; ++sample) {
    const Rows rows{.items = half_of(facts.items.size(), 2 * sample),
                    .requests = half_of(facts.requests.size(), 2 * sample + 1)};
    std::vector<Scored> again;
    for (size_t i = 0; i < finalists; ++i) {
      again.push_back(score_key(facts, ranked[i].key, rows));
    }
    rank(facts, again);
    const auto mine = std::ranges::find(again, ranked.front().key, &Scored::key);
    const bool as_good = mine->disqualified() == again.front().disqualified() &&
                         mine->rank_score >= again.front().rank_score - kNearlyFirst;
    if (as_good) ++stays;
  }
  return stays / kHalfSamples;
}

Confidence confidence_of(const Facts& facts, double stays) {
  if (!facts.marks_only && stays >= 0.9 && facts.items_seen >= 3'000 &&
      facts.sampled_requests >= 2'000) {
    return Confidence::high;
  }
  return stays >= 0.7 ? Confidence::medium : Confidence::low;
}

void add_notes(const Facts& facts, Report& report) {
  if (facts.items_seen < 1'000 && facts.container_items > facts.items_seen) {
    report.notes.push_back(
        {"few_items", fmt::format("{} items of {} were read: give at least 1,000",
                                  number(facts.items_seen), number(facts.container_items))});
  }
  if (!facts.has_workload) {
    report.notes.push_back({"no_workload",
                            "no requests are known: storage can be judged, reads and heat cannot. "
                            "Record them while the container is used as it will be"});
  } else if (facts.sampled_requests < 300) {
    report.notes.push_back(
        {"few_requests", fmt::format("{} requests are in the sample: record at least 300",
                                     number(facts.sampled_requests))});
  }
  constexpr double kManyRefused = 0.01;
  if (facts.refused_share > kManyRefused) {
    report.notes.push_back(
        {"throttled",
         fmt::format("{} of the requests were refused with 429 while they were recorded: "
                     "more was wanted than is judged here",
                     percent(facts.refused_share))});
  }
  if (facts.marks_only && facts.has_workload) {
    report.notes.push_back({"marks_only",
                            "the workload has marks instead of values and not the secret they were "
                            "made with: heavy values are told by their marks"});
  }
}

Bars bars_of(const Facts& facts, const KeyExpression& key, const std::string& name) {
  const auto n = static_cast<uint32_t>(facts.partitions);
  const KeyValues values(facts, key);
  Bars bars{.key = name, .bytes = std::vector<double>(n), .ru = std::vector<double>(n)};
  for (const FactItem& item : facts.items) bars.bytes[values.place(item, n)] += item.bytes;
  const Rows rows = all_rows(facts);
  const std::vector<Asked> asked = requests_with(facts, key, rows.requests);
  for (size_t i = 0; i < asked.size(); ++i) {
    const double ru = asked[i].cost * facts.requests[i].weight;
    if (asked[i].keyed) {
      bars.ru[values.place(facts.requests[i], static_cast<uint32_t>(i), n)] += ru;
    } else {
      for (double& bar : bars.ru) bar += ru / n;
    }
  }
  for (auto* series : {&bars.bytes, &bars.ru}) {
    double total = 0;
    for (const double one : *series) total += one;
    for (double& one : *series) one = total > 0 ? one / total : 0;
  }
  return bars;
}

Verdict verdict_of(const Report& report) {
  for (const Finding& note : report.notes) {
    if (note.code == "few_items" || note.code == "few_requests" || note.code == "no_workload") {
      return Verdict::insufficient;
    }
  }
  if (report.candidates.empty()) return Verdict::insufficient;
  const Scored& best = report.candidates.front();
  if (best.disqualified() || (best.cost < 0.2 && best.fan_out > 0.5)) return Verdict::none_good;
  if (!report.present) return Verdict::choose;
  const Scored& present = report.candidates[*report.present];
  const bool is_fine = !present.disqualified() && present.score >= 0.9 * best.score;
  return is_fine ? Verdict::keep : Verdict::change;
}

}  // namespace

std::string_view to_text(Verdict verdict) {
  constexpr std::array kNames = {"choose", "keep", "change", "none_good", "insufficient"};
  return kNames[static_cast<size_t>(verdict)];
}

std::string_view to_text(Confidence confidence) {
  constexpr std::array kNames = {"low", "medium", "high"};
  return kNames[static_cast<size_t>(confidence)];
}

Report advise(const Facts& facts) {
  Report report;
  report.partitions = facts.partitions;
  report.throughput = facts.throughput;
  report.peak_ru = facts.peak_ru;
  report.container_items = facts.container_items;
  report.container_bytes = facts.container_bytes;
  report.growth = facts.growth;
  report.horizon_s = facts.settings.horizon_s;
  report.items_read = facts.items_read;
  report.requests = facts.sampled_requests;
  add_notes(facts, report);

  const Rows rows = all_rows(facts);
  for (const KeyExpression& key : make_candidates(facts)) {
    report.candidates.push_back(score_key(facts, key, rows));
  }
  rank(facts, report.candidates);
  if (facts.present_key) {
    const auto present = std::ranges::find(report.candidates, *facts.present_key, &Scored::key);
    report.present = static_cast<size_t>(present - report.candidates.begin());
  }
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    if (contains(facts.settings.keys, report.candidates[i].key)) report.asked_for.push_back(i);
  }
  report.verdict = verdict_of(report);
  report.stays_first = stays_first(facts, report.candidates);
  report.confidence = report.verdict == Verdict::insufficient
                          ? Confidence::low
                          : confidence_of(facts, report.stays_first);
  if (report.candidates.empty()) return report;

  for (size_t i = 0; i < report.candidates.size(); ++i) {
    if (i < kSimulated || report.present == i || contains(report.asked_for, i)) {
      report.candidates[i].throttled = throttled_share(facts, report.candidates[i].key);
    }
  }
  if (facts.has_workload) add_advice(facts, report);
  const Scored& best = report.candidates.front();
  report.bars.push_back(bars_of(facts, best.key, best.name));
  if (report.present && *report.present != 0) {
    const Scored& present = report.candidates[*report.present];
    report.bars.push_back(bars_of(facts, present.key, present.name));
  }
  constexpr size_t kExplained = 3;
  for (size_t i = 0; i < report.candidates.size(); ++i) {
    if (i < kExplained || report.present == i || contains(report.asked_for, i)) {
      report.reasons.emplace_back(report.candidates[i].name,
                                  reasons_for(facts, report.candidates[i]));
    }
  }
  return report;
}

}  // namespace orrery::advise
