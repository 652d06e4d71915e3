// Fills a data folder in-process, without waiting for the disk, while no server uses it.
//
//   load_items --data DIR --items 1000000 [--containers 1] [--sample bench/sample_item.json]
//   load_items --print yes --items 1000000 [--sample bench/query_item.json]
//
// The second prints the items, one a line, for other databases.
//
// Makes the database `bench` with containers c0, c1, … (those that are not there yet) and writes
// the items to each of them in turn: item number i goes to container i mod `containers`.
#include <fmt/format.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "api/cosmos/items/item_body.h"
#include "api/cosmos/operation.h"
#include "base/clock.h"
#include "cluster/engine.h"
#include "sample.h"
#include "volume/local/local_volume.h"

namespace orrery::bench {
namespace {

constexpr size_t kWaitingMax = 1'000;
// So much that budgets never matter, on a partition that may serve it all.
constexpr uint32_t kThroughput = 1'000'000'000;

// Counts the writes under way and keeps the first error.
class Tally {
 public:
  void begin() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ < kWaitingMax; });
    ++waiting_;
  }
  void end(const cluster::WriteReply& reply) {
    std::lock_guard lock(mutex_);
    --waiting_;
    if (reply.error && !error_) error_ = reply.error;
    changed_.notify_all();
  }
  std::optional<Error> error() {
    std::lock_guard lock(mutex_);
    return error_;
  }
  Status wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == 0; });
    if (error_) return pass(*error_);
    return {};
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t waiting_ = 0;
  std::optional<Error> error_;
};

Result<std::vector<cluster::RoutingPtr>> containers(cluster::Engine& engine, uint64_t count) {
  auto database = engine.catalog().database({cosmos::kFaceName, "bench"});
  if (!database) {
    auto made = engine.create_database({cosmos::kFaceName, "bench"}, std::nullopt);
    if (!made) return pass(made.error());
    database = *made;
  }
  std::vector<cluster::RoutingPtr> all;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = fmt::format("c{}", i);
    auto routing = engine.find({cosmos::kFaceName, "bench"}, name);
    if (!routing) {
      auto spec = Sample::container(name);
      if (!spec) return pass(spec.error());
      auto made = engine.create_container(database->number, std::move(*spec),
                                          catalog::Throughput{.units = kThroughput});
      if (!made) return pass(made.error());
      routing = *made;
    }
    all.push_back(std::move(routing));
  }
  return all;
}

Status load(int argc, char** argv) {
  const std::string data(option(argc, argv, "--data", ""));
  const uint64_t items = number_option(argc, argv, "--items", 0);
  auto sample = Sample::load(std::string(option(argc, argv, "--sample", "bench/sample_item.json")));
  if (!sample) return pass(sample.error());
  if (!option(argc, argv, "--print", "").empty()) {
    for (uint64_t i = 0; i < items; ++i) fmt::print("{}\n", sample->body(i));
    return {};
  }
  auto volume = volume::open_local_volume(data);
  if (!volume) return pass(volume.error());
  const RealClock clock;
  cluster::EngineOptions options;
  options.limits.partition_throughput = kThroughput;
  options.limits.initial_partition_throughput = kThroughput;
  options.limits.container_throughput_max = kThroughput;
  options.sync_commits = false;
  auto engine = cluster::Engine::open(**volume, clock, options);
  if (!engine) return pass(engine.error());
  auto made = containers(**engine, number_option(argc, argv, "--containers", 1));
  if (!made) return pass(made.error());

  Tally tally;
  for (uint64_t i = 0; i < items && !tally.error(); ++i) {
    const cluster::RoutingPtr& routing = (*made)[i % made->size()];
    const catalog::Container& container = *routing->container;
    auto item = cosmos::parse_item(sample->body(i), container.spec.key, (*engine)->limits());
    if (!item) return pass(item.error());
    partition::Write write;
    write.placement = value::place(container.spec.key, item->key);
    write.key_text = value::to_json(item->key);
    write.row = std::move(item->id);
    write.body = std::move(item->body);
    write.schema = routing->schema;
    write.finisher = std::make_shared<cosmos::ItemFinisher>(container.database, container.number);
    std::vector<partition::Write> transaction;
    transaction.push_back(std::move(write));
    tally.begin();
    (*engine)->write(routing, std::move(transaction),
                     [&tally](const cluster::WriteReply& reply) { tally.end(reply); });
  }
  if (auto written = tally.wait(); !written) return written;
  // What is measured afterwards is not to share the machine with the tidying up of the load.
  Status settled;
  (*engine)->each_open([&settled](const cluster::Routing&, const cluster::Slot&,
                                  const partition::Partition& partition) {
    if (settled) settled = partition.settle();
  });
  return settled;
}

}  // namespace
}  // namespace orrery::bench

int main(int argc, char** argv) {
  if (auto loaded = orrery::bench::load(argc, argv); !loaded) {
    fmt::print(stderr, "load_items: {}\n", loaded.error().message);
    return 1;
  }
}
