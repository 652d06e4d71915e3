// See load_sample.h.
#include "cluster/splitting/load_sample.h"

#include <algorithm>
#include <ranges>

namespace orrery::cluster {
namespace {

// Of 64 accesses in a row, so many are taken once the sample is full.
constexpr uint64_t kReadsTaken = 4;
constexpr uint64_t kWritesTaken = 20;

// As many writes as tell where a partition grows now, and not where it grew some time ago.
constexpr size_t kNewest = 16;

// Numbers that follow one another become ones that do not, so that keys which are accessed in turn
// do not all fall between those that are taken.
uint64_t scattered(uint64_t number) {
  number *= 0x9E3779B97F4A7C15;
  return number >> 58;
}

}  // namespace

void LoadSample::note(std::string_view placement, Access access) {
  const uint64_t number = seen_.fetch_add(1, std::memory_order_relaxed);
  const uint64_t taken = access == Access::write ? kWritesTaken : kReadsTaken;
  if (size() == kMax && scattered(number) >= taken) return;
  MutexLock lock(mutex_);
  if (taken_.size() < kMax) {
    taken_.push_back({std::string(placement), access});
    size_.store(taken_.size(), std::memory_order_relaxed);
    return;
  }
  taken_[oldest_].placement.assign(placement);
  taken_[oldest_].access = access;
  oldest_ = (oldest_ + 1) % kMax;
}

void LoadSample::adopt(const LoadSample& parent, std::string_view min, std::string_view max) {
  for (const Taken& one : parent.by_age()) {
    if (one.placement >= min && one.placement < max) note(one.placement, one.access);
  }
}

std::vector<LoadSample::Taken> LoadSample::by_age() const {
  MutexLock lock(mutex_);
  std::vector<Taken> all = taken_;
  std::ranges::rotate(all, all.begin() + static_cast<ptrdiff_t>(oldest_));
  return all;
}

std::string LoadSample::half() const {
  std::vector<Taken> all = by_age();
  if (all.size() < kMin) return {};
  std::ranges::sort(all, {}, &Taken::placement);
  const auto off = [&](size_t at) {
    return at * 2 > all.size() ? at * 2 - all.size() : all.size() - at * 2;
  };
  // The first of a key's accesses has all those of lower keys before it.
  size_t best = 0;
  for (size_t i = 1; i < all.size(); ++i) {
    if (all[i].placement == all[i - 1].placement) continue;
    if (best == 0 || off(i) < off(best)) best = i;
  }
  return best == 0 ? std::string() : all[best].placement;
}

std::string LoadSample::growth() const {
  std::vector<Taken> all = by_age();
  std::vector<std::string> newest;
  for (Taken& one : std::views::reverse(all)) {
    if (one.access == Access::write && newest.size() < kNewest) {
      newest.push_back(std::move(one.placement));
    }
  }
  if (newest.size() < kMin) return {};
  std::ranges::sort(newest);
  return newest[newest.size() / 4];
}

}  // namespace orrery::cluster
