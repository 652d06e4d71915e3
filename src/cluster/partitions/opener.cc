// See opener.h.
#include "cluster/partitions/opener.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "base/fault.h"
#include "base/log.h"

namespace orrery::cluster {
namespace {

using partition::Partition;

constexpr int64_t kOpenAgainUs = 1'000'000;
// Of a node: the catalog may just have had no owner.
constexpr int64_t kNodeOpenAgainUs = 100'000;

// A partition is in use for as long as a request, a query or the work on a partition takes. When
// all are, whoever opens another looks again after a moment, and gives up after so many.
constexpr std::chrono::milliseconds kMoment{10};
constexpr std::chrono::milliseconds kInstant{1};
constexpr int kMomentsMax = 300;
constexpr int kClaimMomentsMax = 1'000;
// The catalog goes from one node to another, or its owner is dead and not yet known to be.
constexpr int64_t kTellUsMax = 10'000'000;

}  // namespace

class Opener::Place {
 public:
  explicit Place(Opener* opener) : opener_(opener) {}
  Place(Place&& other) noexcept : opener_(std::exchange(other.opener_, nullptr)) {}
  Place& operator=(Place&&) = delete;
  ~Place() {
    if (opener_ == nullptr) return;
    const MutexLock lock(opener_->mutex_);
    --opener_->opening_;
  }

 private:
  Opener* opener_;
};

Opener::Opened Opener::open(const std::shared_ptr<Slot>& slot) {
  MutexLock opening(slot->open_mutex);
  if (auto open = slot->opened()) return open;
  if (slot->gone) return fail(Code::moved, "the partition is gone");
  if (!slot->here) return pass(is_elsewhere());
  const int64_t now_us = shared_.clock.steady_us();
  if (slot->open_error && now_us < slot->open_again_us) return pass(*slot->open_error);
  auto place = take_place();
  if (!place) return pass(place.error());
  auto partition = open_files(*slot);
  if (!partition) {
    log::error("cannot open a partition",
               {{"name", slot->range.volume_name}, {"error", partition.error().message}});
    slot->open_error = partition.error();
    slot->open_again_us = now_us + (is_node_ ? kNodeOpenAgainUs : kOpenAgainUs);
    return pass(partition.error());
  }
  slot->open_error.reset();
  slot->last_used_us = now_us;
  slot->bytes = (*partition)->usage().bytes;
  {
    MutexLock lock(slot->mutex);
    slot->partition = *partition;
  }
  trimmer_.trim_later(slot);
  return partition;
}

// A partition whose files are lost must not come back as an empty one: the catalog knows which have
// any. It is told once they are durable, and before anything in them is acknowledged.
Opener::Opened Opener::open_files(const Slot& slot) {
  const catalog::PartitionRange& range = slot.range;
  const bool noted = catalog_.has_files(range);
  if (noted && !volume_.exists(range.volume_name)) {
    return fail(Code::corrupt,
                fmt::format("the files of range {} are missing: they were in {}. Put them back "
                            "there from a copy; to do without, delete the container",
                            range.id, volume_.place(range.volume_name)));
  }
  if (!noted && !volume_.exists(range.volume_name)) {
    if (auto room = volume_.room(); !room) return pass(room.error());
  }
  auto partition = claim_files(slot);
  if (!partition) return partition;
  // Only crashes mean something here, of a node that gets what another had.
  if (noted && is_node_) static_cast<void>(fault::point("taken.opened"));
  if (auto told = note_opened(slot, **partition, noted); !told) return pass(told.error());
  if (noted && is_node_) static_cast<void>(fault::point("taken.told"));
  // Asked for after opening: rules that are stored now are no older than those of any write in it.
  const catalog::ContainerPtr record = catalog_.container(slot.container);
  if (record && (*partition)->index_version() > record->index_version) {
    return fail(Code::corrupt,
                fmt::format("the files of range {} in {} were written by index rules that the "
                            "catalog does not have: it is older than they are. Restore it from a "
                            "newer copy",
                            range.id, volume_.place(range.volume_name)));
  }
  return partition;
}

// In a cluster the node that had it before may still be closing it, or be dead and not yet known to
// be: the claim is tried until it has let go.
Opener::Opened Opener::claim_files(const Slot& slot) {
  const catalog::PartitionRange& range = slot.range;
  for (int moments = 0;; ++moments) {
    auto partition =
        Partition::open(shared_, volume_, range.volume_name, {range.id, range.min, range.max});
    if (partition || partition.error().code != Code::moved) return partition;
    if (!is_node_ || stop_.is_set() || moments == kClaimMomentsMax) return partition;
    // Without its lease this node is told of no plan that would end the wait.
    if (auto current = check_current(); !current) return pass(current.error());
    if (!slot.here) return pass(is_elsewhere());
    // This node made it by a split or merge, and heard late that the map has it.
    if (auto made = slot.opened()) return made;
    std::this_thread::sleep_for(kMoment);
  }
}

Status Opener::note_opened(const Slot& slot, const Partition& partition, bool was_noted) {
  Status told = was_noted ? Status() : fault::point("files.made");
  if (told) told = tell_catalog(slot, partition.epoch());
  // The catalog's owner may have told this without a commit, by what it had: asked after that.
  if (told && is_node_) told = check_current();
  if (told || is_node_ || told.error().code == Code::moved) return told;
  // Whoever has been writing here without a note can go on: it is no worse off than before.
  if (partition.lsn() == 0) return told;
  log::warn("cannot note in the catalog that a partition has files",
            {{"name", slot.range.volume_name}, {"error", told.error().message}});
  return {};
}

// Told twice it is told once. A node tells it until the catalog has an owner that answers.
Status Opener::tell_catalog(const Slot& slot, uint64_t epoch) {
  for (const int64_t until_us = shared_.clock.steady_us() + kTellUsMax;;) {
    auto told = catalog_.note_opened(slot.container, slot.range, epoch);
    if (told || !is_node_) return told;
    const Code code = told.error().code;
    const bool may_pass =
        code == Code::overloaded || code == Code::elsewhere || code == Code::internal;
    if (!may_pass || stop_.is_set() || shared_.clock.steady_us() > until_us) return told;
    if (auto current = check_current(); !current) return current;
    if (!slot.here) return pass(is_elsewhere());
    std::this_thread::sleep_for(kMoment);
  }
}

Opener::Opened Opener::open_if_there(const std::shared_ptr<Slot>& slot) {
  if (auto open = slot->opened()) return open;
  if (!slot->here) return pass(is_elsewhere());
  if (!volume_.exists(slot->range.volume_name)) {
    // Asked in this order: a slot is marked before its files are removed.
    if (slot->gone) return fail(Code::moved, "the partition is gone");
    if (!catalog_.has_files(slot->range))
      return nullptr;  // otherwise it was made just now, or lost: opening it tells
  }
  return this->open(slot);
}

std::shared_ptr<Partition> Opener::opened_to_read(const Slot& slot, const LsnDemand& demand) const {
  if (auto open = slot.opened()) return open;
  if (slot.here) return nullptr;
  const std::shared_ptr<Replica> replica = replicas_.for_reader(slot, demand);
  if (!replica) return nullptr;
  replica->reads.fetch_add(1, std::memory_order_relaxed);
  return replica->partition;
}

Opener::Opened Opener::open_to_read(const std::shared_ptr<Slot>& slot, const LsnDemand& demand) {
  if (auto open = opened_to_read(*slot, demand)) return open;
  return open_if_there(slot);
}

Result<Opener::Place> Opener::take_place() {
  const size_t most = std::max<size_t>(shared_.limits.open_partitions, 1);
  for (int moments = 0;;) {
    {
      const MutexLock lock(mutex_);
      // The catalog's is one of those that are open.
      if (shared_.stores_open.load() + opening_ <= most) {
        ++opening_;
        return Place(this);
      }
    }
    if (close_one_unused()) continue;
    if (++moments > kMomentsMax || stop_.is_set()) {
      return fail(Code::overloaded,
                  fmt::format("all of the {} partitions that may be open are in use: try again "
                              "(limit open-partitions, and ulimit -n)",
                              most));
    }
    std::this_thread::sleep_for(kMoment);
  }
}

Status Opener::check_current() const {
  if (volume_.reads_are_current()) return {};
  return std::unexpected(
      Error{.code = Code::overloaded,
            .message = "this server cannot renew its lease of the volume, so another may answer "
                       "for it by now: try again",
            .retry_after_ms = 500});
}

void Opener::release(const std::shared_ptr<Slot>& slot) {
  std::shared_ptr<partition::Partition> closing;
  {
    const MutexLock opening(slot->open_mutex);
    if (slot->here) return;  // it came back meanwhile
    const MutexLock lock(slot->mutex);
    closing = std::exchange(slot->partition, nullptr);
  }
  if (closing == nullptr) return;
  static_cast<void>(fault::point("move.parked"));  // only crashes mean something here
  while (closing.use_count() > 1) std::this_thread::sleep_for(kInstant);
  static_cast<void>(fault::point("move.answered"));
  closing.reset();
  static_cast<void>(fault::point("move.released"));
}

bool Opener::close_one_unused() {
  std::vector<std::pair<int64_t, std::shared_ptr<Slot>>> open;
  for (const RoutingPtr& routing : table_.all()) {
    for (const auto& slot : routing->slots) {
      if (slot->opened()) open.emplace_back(slot->last_used_us.load(), slot);
    }
  }
  std::ranges::sort(open, {}, [](const auto& one) { return one.first; });
  for (const auto& [used_us, slot] : open) {
    // One that is being opened or removed is not for us; and we hold such a lock ourselves.
    if (!slot->open_mutex.try_lock()) continue;
    std::shared_ptr<partition::Partition> closing;
    {
      const MutexLock lock(slot->mutex);
      // Nobody but the slot holds it, and nobody can get it while the lock is held.
      if (slot->partition.use_count() == 1) closing = std::exchange(slot->partition, nullptr);
    }
    const bool found = closing != nullptr;
    closing.reset();
    slot->open_mutex.unlock();
    if (found) return true;
  }
  return false;
}

void Opener::close_all() {
  for (const RoutingPtr& routing : table_.all()) {
    for (const auto& slot : routing->slots) slot->close_for_good();
  }
}

}  // namespace orrery::cluster
