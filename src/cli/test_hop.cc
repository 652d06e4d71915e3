// See test_hop.h.
#include "cli/test_hop.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "base/log.h"
#include "cli/faces.h"
#include "cluster/placement.h"

namespace orrery::cli {

// Everything is at one address; without one, everything is here.
class TestHop::Elsewhere final : public cluster::Placement {
 public:
  explicit Elsewhere(std::optional<std::string> address) : address_(std::move(address)) {}
  std::optional<std::string> address_of(const cluster::Slot& /*slot*/) const override {
    return address_;
  }
  std::optional<std::string> coordinator_address() const override { return address_; }
  uint64_t catalog_lsn() const override { return 0; }
  Status wait_for_catalog(uint64_t /*lsn*/,
                          std::chrono::steady_clock::time_point /*deadline*/) override {
    return {};
  }

 private:
  const std::optional<std::string> address_;
};

TestHop::TestHop() = default;

TestHop::~TestHop() {
  stop();
}

Result<std::unique_ptr<TestHop>> TestHop::from_environment(const face::Context& context,
                                                           const ServeOptions& options) {
  const char* folder = std::getenv("ORRERY_TEST_HOP");
  if (folder == nullptr) return nullptr;
  log::warn("ORRERY_TEST_HOP is set: every request goes over the network once more");
  std::unique_ptr<TestHop> hop(new TestHop());
  peer::NodeOptions node{.name = "hop",
                         .address = "127.0.0.1:0",
                         .ca_file = fmt::format("{}/ca.pem", folder),
                         .certificate_file = fmt::format("{}/node.pem", folder),
                         .key_file = fmt::format("{}/node.key", folder)};
  auto opened = peer::open_node(node, hop->switchboard_, hop->switchboard_);
  if (!opened) return pass(opened.error());
  hop->node_ = std::move(*opened);
  hop->elsewhere_ = std::make_unique<Elsewhere>(fmt::format("127.0.0.1:{}", hop->node_->port()));
  hop->here_ = std::make_unique<Elsewhere>(std::nullopt);
  hop->forwarder_ = std::make_unique<face::Forwarder>(*hop->elsewhere_);
  hop->forwarder_->set_link(*hop->node_, hop->node_.get());
  hop->receiver_ = std::make_unique<face::Forwarder>(*hop->here_);
  hop->receiver_->set_link(*hop->node_);
  face::Context received = context;
  received.forwarder = hop->receiver_.get();
  for (const KnownFace& known : known_faces()) {
    hop->faces_.push_back(make_face(known, received, options));
    hop->receiver_->add_face(*hop->faces_.back());
  }
  hop->switchboard_.set_receiver(*hop->receiver_);
  hop->views_ = std::make_unique<cluster::ViewServer>(context.engine, context.clock);
  hop->switchboard_.add(std::string(cluster::kViewsPrefix), *hop->views_);
  return hop;
}

void TestHop::stop() {
  switchboard_.clear();
  if (node_) node_->stop(std::chrono::milliseconds(0));
  if (forwarder_) forwarder_->stop();
  if (receiver_) receiver_->stop();
}

}  // namespace orrery::cli
