// See members.h.
#include "nodes/members.h"

#include <algorithm>
#include <ranges>
#include <tuple>
#include <utility>

#include "base/log.h"

namespace orrery::nodes {

using volume::LeaseRow;
using volume::LeaseWatch;

namespace {

constexpr uint32_t kOthersLookEvery = 10;  // polls
constexpr size_t kDeputies = 2;

}  // namespace

Status Members::poll(const std::string& coordinator, const std::set<std::string>& doubted) {
  const bool looks_at_all = is_watcher(coordinator) || polls_ % kOthersLookEvery == 0;
  ++polls_;
  due_us_ = INT64_MAX;
  if (!looks_at_all) {
    if (auto looked = look_at(coordinator, false); !looked) return looked;
    list_live();
    return {};
  }
  const int64_t began_us = lease_.options().clock();
  auto listed = volume::list_leases(store_);
  if (!listed) return pass(listed.error());
  Status all;
  for (const std::string& incarnation : *listed) {
    auto looked = look_at(incarnation, doubted.contains(incarnation));
    if (!looked && all) all = std::move(looked);
  }
  // Who is listed no more was found to be over by another.
  std::erase_if(rows_,
                [&](const auto& row) { return !std::ranges::binary_search(*listed, row.first); });
  std::erase_if(watches_, [&](const auto& watch) { return !rows_.contains(watch.first); });
  if (all) read_us_ = began_us;
  list_live();
  return all;
}

bool Members::is_watcher(const std::string& coordinator) const {
  if (live_.size() <= kWatchersMax || coordinator == lease_.incarnation()) return true;
  for (size_t i = 0; i < kDeputies; ++i) {
    if (live_[i].incarnation == lease_.incarnation()) return true;
  }
  return false;
}

Status Members::look_at(const std::string& incarnation, bool is_doubted) {
  if (incarnation.empty()) return {};
  const volume::BootClock& clock = lease_.options().clock;
  if (incarnation == lease_.incarnation()) {
    auto row = volume::read_lease(store_, incarnation);
    if (!row) return pass(row.error());
    if (*row && (*row)->state != LeaseRow::State::over) {
      rows_[incarnation] = {.incarnation = incarnation, .row = **row, .changed_us = clock()};
    } else {
      rows_.erase(incarnation);
    }
    return {};
  }
  LeaseWatch& watch =
      watches_.try_emplace(incarnation, incarnation, lease_.options().times, clock).first->second;
  const bool was_live = watch.row() && watch.row()->state == LeaseRow::State::live;
  auto finding =
      watch.poll(store_, is_doubted ? LeaseWatch::Haste::at_once : LeaseWatch::Haste::when_silent);
  if (!finding) return pass(finding.error());
  const auto name = watch.row() ? watch.row()->name : std::string();
  if (*finding == LeaseWatch::Finding::over) {
    if (was_live) {
      ++leases_ended_;
      log::warn("the lease of a node is over", {{"node", name}, {"incarnation", incarnation}});
    }
    volume::forget_lease(store_, incarnation);
    rows_.erase(incarnation);
    watches_.erase(incarnation);
    return {};
  }
  SeenRow& seen = rows_[incarnation];
  seen.incarnation = incarnation;
  if (*finding == LeaseWatch::Finding::renewed) seen.changed_us = clock();
  seen.row = *watch.row();
  due_us_ = std::min(due_us_, watch.due_us().value_or(INT64_MAX));
  return {};
}

void Members::list_live() {
  live_.clear();
  for (const auto& [incarnation, seen] : rows_) {
    if (seen.row.state != LeaseRow::State::live || seen.row.address.empty()) continue;
    live_.push_back({.name = seen.row.name,
                     .address = seen.row.address,
                     .incarnation = incarnation,
                     .draining = seen.row.draining});
  }
  std::ranges::sort(live_, {},
                    [](const Member& member) { return std::tie(member.name, member.incarnation); });
}

uint32_t Members::readable_by_all() const {
  if (rows_.empty()) return 0;
  return std::ranges::min(
      rows_ | std::views::values |
      std::views::transform([](const SeenRow& seen) { return seen.row.versions.newest; }));
}

const Member* Members::find(const std::string& incarnation) const {
  const auto found = std::ranges::find(live_, incarnation, &Member::incarnation);
  return found == live_.end() ? nullptr : &*found;
}

}  // namespace orrery::nodes
