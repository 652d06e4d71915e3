// The partition-key advisor: ranks keys for a container from a sample of its items and of its
// requests, gives the numbers, and says when it cannot know.
//
// Pure and deterministic: the same input gives the same report, to the byte. Memory is bounded
// whatever the number of items and requests (item_sample.h, workload.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "advise/facts.h"
#include "advise/score.h"

namespace orrery::advise {

enum class Verdict : uint8_t { choose, keep, change, none_good, insufficient };
enum class Confidence : uint8_t { low, medium, high };
std::string_view to_text(Verdict verdict);
std::string_view to_text(Confidence confidence);

// A key's load by physical partition, as shares of the whole.
struct Bars {
  std::string key;
  std::vector<double> bytes;
  std::vector<double> ru;
};

struct Report {
  Verdict verdict = Verdict::insufficient;
  Confidence confidence = Confidence::low;
  double stays_first = 0;  // of half samples
  std::vector<Finding> notes;
  std::vector<Finding> advice;
  // Values that deserve a container of their own, and of which path.
  std::string own_container_path;
  std::vector<std::string> own_container;
  std::vector<Scored> candidates;  // ranked
  std::optional<size_t> present;   // the present key's place among them
  std::vector<size_t> asked_for;   // places of the keys that were asked for
  std::vector<Bars> bars;          // the best, and the present one if it is another
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;  // by key

  double partitions = 0;
  double throughput = 0;
  double peak_ru = 0;
  double container_items = 0;
  double container_bytes = 0;
  double growth = 1;
  double horizon_s = 0;
  double items_read = 0;
  double requests = 0;
};

Report advise(const Facts& facts);

// In words: one sentence for each factor that costs something and for each finding.
std::vector<std::string> reasons_for(const Facts& facts, const Scored& one);

std::string to_json(const Report& report);
// For a terminal.
std::string to_table(const Report& report);
std::string to_svg(const Report& report);

}  // namespace orrery::advise
