// See metrics_history.h.
#include "ops/metrics_history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <optional>
#include <system_error>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/log.h"

namespace orrery::ops {
namespace {

constexpr size_t kRecordBytes = 64;
static_assert(8 + 4 * kFigures <= kRecordBytes);
using Record = std::array<char, kRecordBytes>;

uint32_t check_of(const Record& record, uint32_t step_s) {
  return murmur3_x86_32({record.data() + 4, kRecordBytes - 4}, step_s);
}

Record encode(const Sample& sample, uint32_t step_s) {
  Record record{};
  store_u32_le(record.data() + 4, sample.at_s);
  for (size_t i = 0; i < kFigures; ++i) {
    store_u32_le(record.data() + 8 + 4 * i, std::bit_cast<uint32_t>(sample.figures[i]));
  }
  store_u32_le(record.data(), check_of(record, step_s));
  return record;
}

// Nothing for a gap.
std::optional<Sample> decode(const Record& record, uint32_t step_s) {
  if (load_u32_le(record.data()) != check_of(record, step_s)) return std::nullopt;
  Sample sample{.at_s = load_u32_le(record.data() + 4)};
  for (size_t i = 0; i < kFigures; ++i) {
    const auto figure = std::bit_cast<float>(load_u32_le(record.data() + 8 + 4 * i));
    if (!std::isfinite(figure)) return std::nullopt;
    sample.figures[i] = figure;
  }
  return sample;
}

size_t place_of(uint32_t at_s, uint32_t step_s, size_t records) {
  return at_s / step_s % records;
}

Sample mean_of(const std::vector<Sample>& samples, size_t from, size_t to) {
  Sample mean{.at_s = samples[from].at_s};
  for (size_t figure = 0; figure < kFigures; ++figure) {
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += samples[i].figures[figure];
    mean.figures[figure] = static_cast<float>(sum / static_cast<double>(to - from));
  }
  return mean;
}

}  // namespace

MetricsHistory::MetricsHistory(const std::string& file)
    : fine_{.step_s = kFineStepS, .first_record = 0, .places = std::vector<Sample>(kFineRecords)},
      coarse_{.step_s = kCoarseStepS,
              .first_record = kFineRecords,
              .places = std::vector<Sample>(kCoarseRecords)} {
  if (file.empty()) return;
  const MutexLock lock(mutex_);
  file_ = FileDescriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file_.get() < 0) {
    log::warn("the history of metrics is kept in memory alone",
              {{"file", file}, {"error", std::generic_category().message(errno)}});
    return;
  }
  load(fine_);
  load(coarse_);
}

void MetricsHistory::load(Ring& ring) {
  for (size_t i = 0; i < ring.places.size(); ++i) {
    Record record{};
    const auto at = static_cast<off_t>((ring.first_record + i) * kRecordBytes);
    if (::pread(file_.get(), record.data(), record.size(), at) != kRecordBytes) continue;
    const auto sample = decode(record, ring.step_s);
    if (sample && place_of(sample->at_s, ring.step_s, ring.places.size()) == i) {
      ring.places[i] = *sample;
    }
  }
}

void MetricsHistory::add(uint32_t step_s, Sample sample) {
  const MutexLock lock(mutex_);
  Ring& ring = step_s == kFineStepS ? fine_ : coarse_;
  sample.at_s -= sample.at_s % ring.step_s;
  const size_t place = place_of(sample.at_s, ring.step_s, ring.places.size());
  ring.places[place] = sample;
  if (file_.get() < 0) return;
  const Record record = encode(sample, ring.step_s);
  const auto at = static_cast<off_t>((ring.first_record + place) * kRecordBytes);
  // A disk that is full costs the history some records, and nobody else anything.
  if (::pwrite(file_.get(), record.data(), record.size(), at) != kRecordBytes) return;
}

std::vector<Sample> MetricsHistory::samples(uint32_t step_s, int64_t from_s, int64_t to_s) const {
  std::vector<Sample> found;
  {
    const MutexLock lock(mutex_);
    for (const Sample& one : ring_of(step_s).places) {
      if (one.at_s != 0 && one.at_s >= from_s && one.at_s <= to_s) found.push_back(one);
    }
  }
  std::ranges::sort(found, {}, &Sample::at_s);
  return found;
}

std::string MetricsHistory::json(uint32_t step_s, int64_t from_s, int64_t to_s,
                                 size_t points_max) const {
  const std::vector<Sample> found = samples(step_s, from_s, to_s);
  const auto spanned = static_cast<size_t>(std::max<int64_t>(0, to_s - from_s)) / step_s + 1;
  const size_t together = std::max<size_t>(1, (spanned + points_max - 1) / points_max);
  const uint32_t width_s = step_s * static_cast<uint32_t>(together);
  std::string json = fmt::format(R"({{"stepSeconds":{},"figures":["at")", width_s);
  for (const std::string_view name : kFigureNames) json += fmt::format(",\"{}\"", name);
  json += "],\"samples\":[";
  for (size_t i = 0; i < found.size();) {
    size_t end = i + 1;
    while (end < found.size() && found[end].at_s / width_s == found[i].at_s / width_s) ++end;
    const Sample mean = mean_of(found, i, end);
    if (json.back() != '[') json += ',';
    json += fmt::format("[{}", found[i].at_s / width_s * width_s);
    for (const float figure : mean.figures) json += fmt::format(",{:.6g}", figure);
    json += ']';
    i = end;
  }
  json += "]}";
  return json;
}

}  // namespace orrery::ops
