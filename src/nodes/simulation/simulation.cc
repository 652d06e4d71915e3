// See simulation.h.
#include "nodes/simulation/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "nodes/simulation/history.h"
#include "nodes/simulation/invariants.h"
#include "nodes/simulation/life.h"
#include "nodes/simulation/served.h"
#include "nodes/simulation/toy_catalog.h"
#include "volume/objects/lease.h"
#include "volume/objects/object_volume.h"

namespace orrery::nodes::simulation {
namespace {

constexpr uint32_t kNodes = 3;
constexpr uint32_t kNewVersion = 2;  // which some of the programs can read
constexpr uint32_t kRangesMax = 5;   // made by clients; splits make more
constexpr int64_t kRunUs = 14'000'000;
constexpr int64_t kCalmUs = 10'000'000;  // from here on nothing new goes wrong
constexpr int64_t kRecoveryUs = 15'000'000;
constexpr int64_t kServedUs = 8'000'000;
constexpr int64_t kWarmUpUs = 4'000'000;  // until all ranges are made and served
constexpr int64_t kAfterFaultUs = 12'000'000;
constexpr int64_t kWriteEveryUs = 30'000;
constexpr int64_t kForEverUs = 1'000'000'000;

// Polls are rarer than in production, to run more seeds.
constexpr NodeTimes kUsualTimes{
    .tick_us = 100'000, .poll_us = 300'000, .claim_after_us = 200'000, .balance_us = 3'000'000};

std::string name_of(uint32_t node) {
  return fmt::format("n{}", node);
}

class Cluster {
 public:
  Cluster(const RunOptions& options, Fibers& fibers)
      : world_(options.seed, fibers),
        history_(world_),
        current_(kNodes),
        invariants_(world_, history_, objects_, lives_, current_),
        served_(world_),
        recovers_(options.recovers),
        splits_(options.splits),
        fault_(options.fault) {
    world_.tells = options.tells;
    world_.after_step = [this] { invariants_.check_leases(); };
    objects_.on_change = [this](const std::string& name, const Objects::Object* before,
                                const Objects::Object* after) {
      invariants_.check_change(name, before, after);
    };
  }

  RunResult run() {
    if (fault_) {
      run_fault();
    } else {
      run_troubles();
    }
    world_.after_step = nullptr;
    objects_.on_change = nullptr;
    for (const auto& life : lives_) end(*life);
    const Served::Longest longest = served_.longest();
    RunResult result{.failure = world_.failure(),
                     .counts = world_.counts,
                     .unserved_us = longest.us,
                     .unserved = longest.ref};
    result.fingerprint =
        result.counts.steps * 1'000'003 + static_cast<uint64_t>(world_.between(0, 1LL << 40));
    return result;
  }

 private:
  void run_troubles() {
    draw_troubles();
    // Nodes that look rarely know for longer what is no more.
    if (world_.happens(0.25)) times_.poll_us = 1'500'000;
    for (uint32_t node = 0; node < kNodes; ++node) start(node);
    if (world_.troubles.node_every_us > 0) plan_trouble();
    const int64_t start_us = world_.now_us();
    calm_us_ = start_us + kCalmUs;
    const bool is_good = world_.run_until(calm_us_);
    if (is_good) {
      world_.troubles = {};
      world_.run_until(start_us + kRunUs);
    }
    if (recovers_ && world_.failure().empty()) check_recovery();
  }

  void run_fault() {
    times_ = NodeTimes();
    world_.is_orderly = true;
    for (uint32_t node = 0; node < kNodes; ++node) start(node);
    if (!world_.run_until(world_.now_us() + kWarmUpUs + world_.between(0, 1'000'000))) return;
    Life* const victim = find_victim();
    if (!victim) return world_.fail("nobody serves anything before the fault");
    served_.begin(kCatalogRef);
    for (const RangeFacts& range : victim->seat->ranges()) served_.begin(range.ref);
    make_fault(*victim);
    world_.run_until(world_.now_us() + kAfterFaultUs);
  }

  void draw_troubles() {
    const auto maybe = [&](double probability, double most) {
      return world_.happens(probability) ? world_.chance() * most : 0.0;
    };
    world_.troubles = {
        .operation_slow = maybe(0.6, 0.08),
        .operation_unknown = maybe(0.5, 0.02),
        .operation_failed = maybe(0.3, 0.02),
        .message_lost = maybe(0.4, 0.1),
        .message_slow = maybe(0.4, 0.1),
        .message_doubled = maybe(0.3, 0.1),
        .node_every_us = world_.happens(0.85) ? world_.between(700'000, 4'000'000) : 0};
  }

  // --- lives -------------------------------------------------------------------------------------

  void start(uint32_t node) {
    lives_.push_back(std::make_unique<Life>());
    Life& life = *lives_.back();
    life.process.world = &world_;
    life.process.number = static_cast<uint32_t>(lives_.size()) - 1;
    life.process.node = node;
    life.process.clock_offset_us = world_.between(0, 1'000'000'000);
    life.process.clock_rate = 1 + (world_.chance() - 0.5) * 0.02;
    if (world_.happens(0.5)) life.process.clock_rate = world_.happens(0.5) ? 1.01 : 0.99;
    life.store = std::make_shared<SimStore>(world_, life.process, objects_);
    life.link = std::make_unique<SimLink>(world_, life.process, network_);
    const Life* const before = current_[node];
    current_[node] = &life;
    world_.tell(fmt::format("process {} of {} begins", life.process.number, name_of(node)));
    world_.spawn(life.process, [this, &life, before] { live(life, before); });
  }

  void live(Life& life, const Life* before) {
    Process& process = life.process;
    // It has the lock of the data folder, so it knows that the process before is dead.
    if (before && before->lease && (world_.is_orderly || world_.happens(0.5))) {
      static_cast<void>(volume::bury(*life.store, before->lease->incarnation()));
    }
    volume::ObjectVolumeOptions options{
        .node_name = name_of(process.node),
        .address = name_of(process.node),
        .on_lease_lost = [this, &life] { lost(life); },
        .sweep_every_s = 0,
        .clock = [&process] { return process.clock_us(); },
        .random = [this](std::span<char> into) { return world_.random_bytes(into); },
        .lease_renews_itself = false};
    if (world_.happens(0.5)) options.versions.newest = kNewVersion;
    while (!process.dead && !life.lease) {
      auto lease = volume::take_lease(*life.store, options);
      if (lease) {
        life.lease = std::move(*lease);
      } else {
        // Its operator takes a newer program.
        if (lease.error().code == Code::unsupported) options.versions.newest = kNewVersion;
        world_.sleep(100'000);
      }
    }
    if (process.dead) return;
    invariants_.check_readable(life);
    life.volume = volume::open_object_volume(life.store, options, life.lease).value();
    life.room.reset(new Room{.world = world_,
                             .process = process,
                             .history = history_,
                             .objects = objects_,
                             .store = *life.store,
                             .volume = *life.volume,
                             .lease = *life.lease,
                             .sealed = invariants_.sealed,
                             .open_us_max = fault_ ? fault_->open_us_max : 0});
    life.seat =
        std::make_unique<ToySeat>(*life.room, *life.link, [&life]() -> std::optional<std::string> {
          const auto coordinator = life.node->coordinator();
          return coordinator ? std::optional(coordinator->address) : std::nullopt;
        });
    life.node = std::make_unique<Node>(*life.store, *life.lease, *life.link, *life.seat, times_,
                                       [this, &life] {
                                         if (life.ticking) {
                                           world_.wake(*life.ticking, world_.now_us());
                                         }
                                       });
    network_.listeners[name_of(process.node)] = {.process = &process, .answerer = &life};
    world_.spawn(process, [this, &life] { renew(life); });
    world_.spawn(process, [this, &life] { tick(life); });
    world_.spawn(process, [&life] { life.seat->keep_to_plan(); });
    if (fault_) {
      for (uint32_t range = 1; range <= kRangesMax; ++range) {
        world_.spawn(process, [this, &life, range] { write_steadily(life, range); });
      }
      world_.spawn(process, [this, &life] { read_catalog_steadily(life); });
      return;
    }
    world_.spawn(process, [this, &life] { use_partitions(life); });
    world_.spawn(process, [this, &life] { use_partitions(life); });
    world_.spawn(process, [this, &life] { change_catalog(life); });
    world_.spawn(process, [this, &life] { operate(life); });
  }

  void renew(Life& life) {
    while (!life.process.dead) {
      world_.sleep(life.lease->options().times.renew_every_us);
      if (!life.process.dead && !life.lease->is_lost()) life.lease->renew();
    }
  }

  void tick(Life& life) {
    while (!life.process.dead) {
      life.ticking = world_.begin_wait();
      world_.wake(*life.ticking, world_.now_us() + times_.tick_us);
      world_.wait(*life.ticking);
      life.ticking.reset();
      if (life.process.dead) return;
      const uint64_t lsn = life.seat->catalog_lsn();
      life.node->tick();
      if (life.process.dead) return;
      if (life.seat->catalog_lsn() == lsn && !life.is_revoked) life.seat->check_plan();
      invariants_.check_freshness(life);
    }
  }

  void write_steadily(Life& life, uint32_t range) {
    const RangeRef ref{.container = 1, .range = range};
    while (!life.process.dead) {
      world_.sleep(kWriteEveryUs);
      if (life.process.dead || !life.seat->write(ref) || life.process.dead) continue;
      if (is_reached(life)) served_.served(ref);
    }
  }

  // And makes the ranges, at the beginning.
  void read_catalog_steadily(Life& life) {
    while (!life.process.dead) {
      world_.sleep(kWriteEveryUs);
      if (life.process.dead || !life.node->is_coordinator()) continue;
      if (life.seat->catalog().ranges().size() < kRangesMax) {
        static_cast<void>(life.seat->change_here({.kind = CatalogChange::Kind::create}));
        if (!life.process.dead) life.node->catalog_changed();
      } else if (life.seat->news(0) && !life.process.dead && is_reached(life)) {
        served_.served(kCatalogRef);
      }
    }
  }

  // By one of the others.
  bool is_reached(const Life& life) const {
    const uint32_t node = life.process.node;
    return !world_.is_cut(node, (node + 1) % kNodes) || !world_.is_cut(node, (node + 2) % kNodes);
  }

  void use_partitions(Life& life) {
    while (!life.process.dead) {
      world_.sleep(world_.between(20'000, 250'000));
      if (life.process.dead) return;
      const auto choice = static_cast<uint64_t>(world_.between(0, 1'000'000));
      ToySeat::Use use = world_.happens(0.5) ? ToySeat::Use::write : ToySeat::Use::read;
      if (world_.happens(splits_) && world_.now_us() < calm_us_) use = ToySeat::Use::split;
      life.seat->use(choice, use, world_.happens(0.03));
    }
  }

  void change_catalog(Life& life) {
    while (!life.process.dead) {
      world_.sleep(world_.between(20'000, 500'000));
      if (life.process.dead || !life.node->is_coordinator()) continue;
      const std::set<uint32_t>& ranges = life.seat->catalog().ranges();
      if (ranges.size() < kRangesMax && (ranges.size() < 2 || world_.happens(0.5))) {
        static_cast<void>(life.seat->change_here({.kind = CatalogChange::Kind::create}));
        if (life.process.dead) return;
        life.node->catalog_changed();
      } else if (!ranges.empty() && world_.happens(0.15)) {
        drop(life, *std::next(ranges.begin(),
                              world_.between(0, static_cast<int64_t>(ranges.size()) - 1)));
      }
    }
  }

  // It is acknowledged once nobody serves by an older copy of the catalog.
  void drop(Life& life, uint32_t range) {
    const auto changed =
        life.seat->change_here({.kind = CatalogChange::Kind::drop, .range = range});
    if (!changed || life.process.dead) return;
    const int64_t committed_us = life.process.clock_us();
    life.node->catalog_changed();
    for (int i = 0; i < 60 && !life.process.dead; ++i) {
      world_.sleep(100'000);
      if (life.process.dead || !life.node->everyone_has(changed->lsn, committed_us)) continue;
      ++world_.counts.drops;
      history_.dropped({.container = 1, .range = range});
      return;
    }
  }

  void operate(Life& life) {
    while (!life.process.dead) {
      world_.sleep(world_.between(300'000, world_.now_us() < calm_us_ ? 2'500'000 : 1'000'000));
      if (life.process.dead) return;
      const std::string to = name_of(static_cast<uint32_t>(world_.between(0, kNodes - 1)));
      const auto told = [](const Result<std::string>&) {};
      const bool is_calm = world_.now_us() >= calm_us_;
      switch (is_calm ? 1 : world_.between(0, 5)) {
        case 0:
          ++world_.counts.drains;
          life.node->drain(to, true, told);
          break;
        case 1:
        case 2:
          life.node->drain(to, false, told);
          break;
        case 3:
          life.node->rebalance(told);
          break;
        default:
          life.node->move(
              {.container = 1, .range = static_cast<uint32_t>(world_.between(1, kRangesMax))}, to,
              told);
      }
    }
  }

  // Its lease was ended: it stops, a little later, and comes back as another.
  void lost(Life& life) {
    world_.tell(fmt::format("process {} has lost its lease", life.process.number));
    // Which takes longer than saying so, unless more goes wrong.
    const int64_t soonest_us = world_.is_orderly ? 50'000 : 0;
    world_.at(world_.now_us() + world_.between(soonest_us, 300'000), [this, &life] {
      if (!life.process.dead) restart(life, world_.between(10'000, 500'000));
    });
  }

  void restart(Life& life, int64_t after_us) {
    const uint32_t node = life.process.node;
    end(life);
    world_.at(world_.now_us() + after_us, [this, node] { start(node); });
  }

  void end(Life& life) {
    if (life.process.dead) return;
    world_.tell(fmt::format("process {} ends", life.process.number));
    if (life.node) world_.counts.leases_ended += life.node->status().counters.leases_ended;
    world_.kill(life.process);
    const auto listener = network_.listeners.find(name_of(life.process.node));
    if (listener != network_.listeners.end() && listener->second.process == &life.process) {
      network_.listeners.erase(listener);
    }
    life.node.reset();
    life.seat.reset();
    life.volume.reset();
  }

  // --- what goes wrong ---------------------------------------------------------------------------

  void plan_trouble() {
    world_.at(world_.now_us() + world_.between(1, 2 * world_.troubles.node_every_us), [this] {
      if (world_.troubles.node_every_us == 0 || world_.now_us() >= calm_us_) return;
      make_trouble();
      plan_trouble();
    });
  }

  Life* find_victim() {
    std::vector<Life*> others;
    Life* coordinator = nullptr;
    for (Life* life : current_) {
      if (life->process.dead || !life->node) continue;
      if (life->node->is_coordinator()) {
        coordinator = life;
      } else if (life->seat->serves_something()) {
        others.push_back(life);
      }
    }
    if (fault_->of_coordinator) return coordinator;
    if (others.empty()) return nullptr;
    return others[static_cast<size_t>(world_.between(0, static_cast<int64_t>(others.size()) - 1))];
  }

  // Half of the time it ends soon.
  void make_fault(Life& victim) {
    const int64_t for_us = world_.happens(0.5) ? world_.between(1'000, 8'000'000) : kForEverUs;
    const int64_t until_us = world_.now_us() + for_us;
    world_.tell(fmt::format("process {} gets its fault", victim.process.number));
    switch (fault_->fault) {
      case Fault::crash:
        ++world_.counts.crashes;
        return restart(victim, for_us);
      case Fault::hang:
        ++world_.counts.pauses;
        victim.process.paused_until_us = until_us;
        return;
      case Fault::cut_from_nodes:
        ++world_.counts.cuts_of_network;
        return cut_off(victim.process.node, until_us);
      case Fault::cut_from_store:
        ++world_.counts.cuts_of_store;
        victim.process.no_store_until_us = until_us;
    }
  }

  void cut_off(uint32_t node, int64_t until_us) {
    world_.tell(fmt::format("node {} is cut off from the others", node));
    for (uint32_t other = 0; other < kNodes; ++other) {
      if (other == node) continue;
      world_.cut_until_us[{std::min(node, other), std::max(node, other)}] = until_us;
    }
  }

  void make_trouble() {
    auto node = static_cast<uint32_t>(world_.between(0, kNodes - 1));
    // Of the coordinator more often: it is what others rely on.
    for (const Life* life : current_) {
      if (!life->process.dead && life->node && life->node->is_coordinator() &&
          world_.happens(0.3)) {
        node = life->process.node;
      }
    }
    Life& life = *current_[node];
    if (life.process.dead) return;
    const int64_t until_us = world_.now_us() + world_.between(50'000, 5'000'000);
    switch (world_.between(0, 4)) {
      case 0:
        ++world_.counts.crashes;
        restart(life, world_.between(1'000, 4'000'000));
        return;
      case 1:
        ++world_.counts.pauses;
        world_.tell(fmt::format("process {} pauses", life.process.number));
        life.process.paused_until_us = until_us;
        return;
      case 2:
        ++world_.counts.cuts_of_network;
        return cut_off(node, until_us);
      case 3: {
        ++world_.counts.cuts_of_network;
        const uint32_t other = (node + 1) % kNodes;
        world_.cut_until_us[{std::min(node, other), std::max(node, other)}] = until_us;
        return;
      }
      default:
        ++world_.counts.cuts_of_store;
        world_.tell(fmt::format("process {} is cut off from the store", life.process.number));
        life.process.no_store_until_us = until_us;
    }
  }

  // --- what must be true at the end
  // ---------------------------------------------------------------

  // The last trouble ends 5 s after the calm began. Then a lease may have to be ended, the catalog
  // claimed, and partitions moved.
  void check_recovery() {
    world_.run_until(calm_us_ + kRecoveryUs);
    const Life* coordinator = nullptr;
    for (const Life* life : current_) {
      if (life->process.dead || !life->node || !life->node->is_coordinator()) continue;
      if (coordinator) return world_.fail("there are two coordinators after the recovery");
      coordinator = life;
    }
    if (!coordinator) return world_.fail("there is no coordinator after the recovery");
    const auto plan = coordinator->node->plan();
    if (plan->members.size() != kNodes) return world_.fail("not all nodes are members");
    std::map<RangeRef, uint64_t> writes;
    for (const auto& range : coordinator->seat->ranges()) {
      writes[range.ref] = history_.floor(range.ref);
    }
    world_.run_until(world_.now_us() + kServedUs);
    for (const auto& range : coordinator->seat->ranges()) {
      const auto before = writes.find(range.ref);
      if (before != writes.end() && history_.floor(range.ref) <= before->second) {
        const Member* owner = coordinator->node->plan()->owner_of(range.ref);
        return world_.fail(fmt::format("partition {} of {} takes no writes after the recovery",
                                       range.ref.range, owner ? owner->name : "nobody"));
      }
    }
  }

  NodeTimes times_ = kUsualTimes;
  World world_;
  Objects objects_;
  Network network_;
  History history_;
  std::vector<std::unique_ptr<Life>> lives_;
  std::vector<Life*> current_;
  Invariants invariants_;
  Served served_;
  int64_t calm_us_ = 0;
  const bool recovers_;
  const double splits_;
  const std::optional<FaultOptions> fault_;
};

}  // namespace

RunResult run(const RunOptions& options, Fibers& fibers) {
  mutation_under_test = options.mutation;
  auto cluster = std::make_unique<Cluster>(options, fibers);
  RunResult result = cluster->run();
  mutation_under_test = Mutation::none;
  return result;
}

}  // namespace orrery::nodes::simulation
