// See cluster_node.h.
#include "cli/cluster_node.h"

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "cli/test_patience.h"
#include "cluster/node/catalog_caller.h"
#include "nodes/messages.h"

namespace orrery::cli {
namespace {

constexpr std::chrono::milliseconds kMoment{20};
constexpr std::chrono::milliseconds kInstant{5};
// A node that died is known to be dead before that.
constexpr std::chrono::seconds kBarrierMax{10};

}  // namespace

class ClusterNode::EngineCalls final : public peer::Answerer {
 public:
  explicit EngineCalls(cluster::Engine& engine) : engine_(engine) {}
  void answer(std::string kind, std::string bytes, peer::Done done) override {
    engine_.answer(kind, bytes, std::move(done));
  }

 private:
  cluster::Engine& engine_;
};

ClusterNode::ClusterNode(NodeOptions options) : options_(std::move(options)) {}

ClusterNode::~ClusterNode() {
  stop();
}

Result<std::unique_ptr<ClusterNode>> ClusterNode::open(const NodeOptions& options) {
  std::unique_ptr<ClusterNode> made(new ClusterNode(options));
  if (!options.is_node()) return made;
  auto peers = peer::open_node({.name = options.name,
                                .address = options.address,
                                .ca_file = options.ca,
                                .certificate_file = options.certificate,
                                .key_file = options.private_key},
                               made->switchboard_, made->switchboard_);
  if (!peers) return pass(peers.error());
  made->peers_ = std::move(*peers);
  return made;
}

void ClusterNode::join(cluster::Engine& engine, const Clock& clock, volume::ObjectStore& store,
                       std::shared_ptr<volume::Lease> lease) {
  if (!peers_) return;
  lease_ = std::move(lease);
  engine_calls_ = std::make_unique<EngineCalls>(engine);
  switchboard_.add(std::string(cluster::kEngineCalls), *engine_calls_);
  views_ = std::make_unique<cluster::ViewServer>(engine, clock);
  switchboard_.add(std::string(cluster::kViewsPrefix), *views_);
  forwarder_ = std::make_unique<face::Forwarder>(*engine.placement());
  forwarder_->set_link(*peers_, peers_.get());
  engine.set_coordinator([this]() -> std::optional<std::string> {
    const nodes::Node* node = ticking_.load();
    if (node == nullptr) return "";
    if (node->is_coordinator()) return std::nullopt;
    const std::optional<nodes::Member> coordinator = node->coordinator();
    return coordinator ? coordinator->address : "";
  });
  engine.set_on_catalog_change([this] {
    if (nodes::Node* node = ticking_.load()) node->catalog_changed();
  });
  engine.set_barrier([this](uint64_t lsn) { return wait_until_all_have(lsn); });
  coordination_ =
      std::make_unique<nodes::NodeThread>(store, *lease_, *peers_, *engine.seat(), node_times());
  ticking_ = &coordination_->node();
  switchboard_.add(std::string(nodes::kKindPrefix), coordination_->node());
}

Status ClusterNode::wait_until_all_have(uint64_t lsn) const {
  const int64_t committed_us = volume::boot_time_us();
  const auto until = std::chrono::steady_clock::now() + kBarrierMax;
  for (;;) {
    const nodes::Node* node = ticking_.load();
    if (node != nullptr && node->everyone_has(lsn, committed_us)) return {};
    if (node == nullptr || std::chrono::steady_clock::now() > until) {
      return fail(Code::overloaded,
                  "the change is made, but not every node is known to have it: ask again");
    }
    std::this_thread::sleep_for(kInstant);
  }
}

void ClusterNode::serve(const std::vector<face::Face*>& faces) {
  if (!peers_) return;
  for (face::Face* face : faces) forwarder_->add_face(*face);
  switchboard_.set_receiver(*forwarder_);
}

void ClusterNode::answer_with(std::string_view prefix, peer::Answerer& answerer) {
  if (peers_) switchboard_.add(std::string(prefix), answerer);
}

bool ClusterNode::wait_until_ready(const std::function<bool()>& stop) {
  if (!coordination_) return true;
  for (int moments = 0; !coordination_->node().is_ready(); ++moments) {
    if (stop()) return false;
    if (moments == 50) {
      log::info("waiting for the cluster's coordinator, or to become it",
                {{"node", options_.name}});
    }
    std::this_thread::sleep_for(kMoment);
  }
  return true;
}

void ClusterNode::leave(std::chrono::seconds patience) {
  if (!coordination_) return;
  const auto until = std::chrono::steady_clock::now() + patience;
  if (!lease_->is_lost()) give_away(until);
  const auto left = std::max<std::chrono::steady_clock::duration>(
      kMoment, until - std::chrono::steady_clock::now());
  if (!switchboard_.finish_receiving(std::chrono::ceil<std::chrono::milliseconds>(left))) {
    log::warn("stopping, though requests of other nodes are not answered yet");
  }
}

void ClusterNode::give_away(std::chrono::steady_clock::time_point until) {
  nodes::Node& node = coordination_->node();
  node.drain(options_.name, true, [](const Result<std::string>& asked) {
    if (!asked) log::warn("cannot drain this node", {{"error", asked.error().message}});
  });
  while (!node.is_drained() && std::chrono::steady_clock::now() < until && !lease_->is_lost()) {
    std::this_thread::sleep_for(kMoment);
  }
}

void ClusterNode::stop() {
  if (!peers_) return;
  ticking_ = nullptr;
  switchboard_.clear();
  peers_->stop(std::chrono::milliseconds(0));
  if (forwarder_) forwarder_->stop();
  views_.reset();  // before the partitions that it reads are closed
  coordination_.reset();
}

}  // namespace orrery::cli
