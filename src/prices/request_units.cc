// The published figures are points of two curves, joined by straight lines and continued beyond the
// last point with its slope; below the first point the curve is flat.
#include "prices/request_units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace orrery::prices {
namespace {

using partition::Work;
using partition::WorkKind;

struct Point {
  double kilobytes;
  double read;
  double write;
};

constexpr std::array kCurve = {
    Point{1, 1.00, 4.95},      Point{2, 1.04, 6.29},     Point{4, 1.14, 6.67},
    Point{8, 1.33, 7.04},      Point{16, 1.67, 9.52},    Point{32, 2.19, 11.23},
    Point{64, 4.76, 22.67},    Point{128, 9.95, 48.19},  Point{256, 20.28, 98.29},
    Point{512, 40.95, 184.57}, Point{1024, 145.90, 625}, Point{2048, 291.80, 1250},
};
constexpr double kPerTerm = 0.2;
// The system properties of a face, generously.
constexpr uint64_t kSystemBytes = 256;
constexpr double kPerFeedItem = 0.05;

double along(uint64_t bytes, double Point::* field) {
  const double kilobytes = static_cast<double>(bytes) / 1024.0;
  if (kilobytes <= kCurve.front().kilobytes) return kCurve.front().*field;
  size_t end = 1;
  while (end + 1 < kCurve.size() && kilobytes > kCurve[end].kilobytes) ++end;
  const Point& a = kCurve[end - 1];
  const Point& b = kCurve[end];
  const double slope = (b.*field - a.*field) / (b.kilobytes - a.kilobytes);
  return a.*field + slope * (kilobytes - a.kilobytes);
}

// Charges are told with two decimals; rounding here keeps what is told and what is taken the same.
constexpr uint32_t kPerUnit = 100;
double rounded(double charge) {
  return std::round(charge * kPerUnit) / kPerUnit;
}

double charge_of(const Work& work) {
  switch (work.kind) {
    case WorkKind::read:
      return read_charge(work.bytes);
    case WorkKind::miss:
      return miss_charge();
    case WorkKind::create:
      return create_charge(work.bytes, work.terms_added);
    case WorkKind::replace:
      return replace_charge(work.bytes, work.terms_removed, work.terms_added);
    case WorkKind::remove:
      return remove_charge(work.bytes, work.terms_removed);
    case WorkKind::page:
      return feed_charge(work.bytes, work.items);
    case WorkKind::query:
      return query_charge(work);
  }
  std::unreachable();
}

}  // namespace

constinit const partition::Prices kRequestUnits = {
    .free_bytes = kSystemBytes, .per_unit = kPerUnit, .charge = charge_of};

uint64_t charged_bytes(uint64_t stored_bytes) {
  return kRequestUnits.counted(stored_bytes);
}

double read_charge(uint64_t bytes) {
  return rounded(along(bytes, &Point::read));
}

double miss_charge() {
  return 1;
}

double create_charge(uint64_t bytes, uint32_t terms) {
  return rounded(along(bytes, &Point::write) + kPerTerm * terms);
}

double replace_charge(uint64_t new_bytes, uint32_t terms_removed, uint32_t terms_added) {
  return rounded(2 * along(new_bytes, &Point::write) +
                 kPerTerm * (static_cast<double>(terms_removed) + terms_added));
}

double remove_charge(uint64_t old_bytes, uint32_t terms_removed) {
  return rounded(along(old_bytes, &Point::write) + kPerTerm * terms_removed);
}

double feed_charge(uint64_t bytes, uint64_t items) {
  return rounded(std::max(1.0, along(bytes, &Point::read)) +
                 kPerFeedItem * static_cast<double>(items));
}

double script_charge() {
  return 1;
}

double query_charge(const partition::Work& work) {
  constexpr double kQuery = 2;
  constexpr double kPerEntry = 0.001;
  constexpr double kPerItemRead = 0.03;
  constexpr double kPerKilobyteRead = 0.01;
  constexpr double kPerKilobyteReturned = 0.02;
  // To understand and plan a kilobyte of query takes as long as to read some items. Queries that
  // people write are shorter than the first few.
  constexpr double kPerKilobyteAsked = 0.5;
  constexpr uint64_t kFreeBytesAsked = 4096;
  const uint64_t asked = work.bytes_asked - std::min(work.bytes_asked, kFreeBytesAsked);
  return rounded(kQuery + kPerEntry * static_cast<double>(work.entries_read) +
                 kPerItemRead * static_cast<double>(work.items) +
                 kPerKilobyteRead * static_cast<double>(work.bytes) / 1024 +
                 kPerKilobyteReturned * static_cast<double>(work.bytes_returned) / 1024 +
                 kPerKilobyteAsked * static_cast<double>(asked) / 1024);
}

}  // namespace orrery::prices
