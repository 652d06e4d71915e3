// What an operator of a cluster looks at and asks for. See pages.h.
//
// Each node answers by what it knows itself; what only the coordinator can do is passed on to it.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "cluster/replicas/replica_reader.h"
#include "nodes/node.h"
#include "ops/pages.h"
#include "value/json.h"

namespace orrery::ops {
namespace {

using value::Type;

constexpr std::array<std::string_view, 3> kLeaseStates = {"live", "revoked", "over"};

double seconds(int64_t microseconds) {
  return static_cast<double>(microseconds) / 1e6;
}

std::string member_json(const nodes::MemberStatus& one) {
  return fmt::format(
      R"({{"name":{},"address":{},"incarnation":{},"state":"{}","draining":{},"ranges":{},"silentS":{:.3f},"unheardS":{:.3f},"catalogLsn":{},"hasPlan":{},"quiet":{},"cannotReach":{},"versions":[{},{}]}})",
      quoted(one.member.name), quoted(one.member.address), quoted(one.member.incarnation),
      kLeaseStates[static_cast<size_t>(one.state)], one.member.draining, one.ranges,
      seconds(one.silent_us), seconds(one.unheard_us), one.catalog_lsn, one.has_plan, one.quiet,
      quoted(one.cannot_reach), one.versions.oldest, one.versions.newest);
}

// The read replicas that the asked node has open.
std::string replicas_json(const cluster::Engine& engine) {
  const cluster::Placement* placement = engine.placement();
  const cluster::ReplicaReader* replicas = placement ? placement->replicas() : nullptr;
  if (replicas == nullptr) return "";
  std::string all;
  replicas->each([&](const cluster::ReplicaStatus& one) {
    const cluster::RoutingPtr routing = engine.find(one.container);
    if (!routing) return;
    all += fmt::format(
        R"({}{{"database":{},"container":{},"range":{},"lsn":{},"lsnsBehind":{},"stalenessS":{:.3f},"reads":{}}})",
        all.empty() ? "" : ",", quoted(routing->database->name),
        quoted(routing->container->spec.name), one.range, one.lsn, one.lsns_behind,
        one.staleness_us < 0 ? -1.0 : seconds(one.staleness_us), one.reads);
  });
  return all;
}

std::string status_json(const nodes::NodeStatus& status, const cluster::Engine& engine) {
  std::string members;
  for (const nodes::MemberStatus& one : status.members) {
    if (!members.empty()) members += ',';
    members += member_json(one);
  }
  return fmt::format(
      R"({{"node":{},"coordinator":{},"isCoordinator":{},"leaseGood":{},"leaseAgeS":{:.3f},"leaseRenewals":{},"term":{},"plan":{},"ranges":{},"writtenVersion":{},"catalogLsn":{},"catalogAgeS":{:.3f},"members":[{}],"readReplicas":{},"replicas":[{}]}})",
      quoted(status.self.name), quoted(status.coordinator), status.is_coordinator,
      status.lease_good, status.lease_age_us < 0 ? -1.0 : seconds(status.lease_age_us),
      status.lease_renewals, status.term, status.plan_version, status.ranges,
      status.written_version, status.catalog_lsn,
      status.catalog_age_us < 0 ? -1.0 : seconds(status.catalog_age_us), members,
      engine.catalog().read_replicas(), replicas_json(engine));
}

// Answers the request with what came of the operation.
peer::Done reply_when_done(PageRequestPtr call) {
  return [call = std::move(call)](Result<std::string> outcome) {
    if (!outcome) return call->fail(outcome.error());
    call->reply_json("{}");
  };
}

bool is_text(const value::Node* node) {
  return node != nullptr && node->type == Type::string && !node->text.empty();
}

}  // namespace

nodes::Node* Pages::node_or_fail(PageRequest& call) const {
  nodes::Node* node = node_.load();
  if (node == nullptr) {
    call.fail({.code = Code::not_found,
               .message = "this server is alone: it was started without --node"});
  }
  return node;
}

std::set<std::string> Pages::other_nodes() const {
  std::set<std::string> addresses;
  const nodes::Node* node = node_.load();
  if (node == nullptr) return addresses;
  const nodes::NodeStatus status = node->status();
  for (const nodes::MemberStatus& one : status.members) {
    const bool lives = one.state == volume::LeaseRow::State::live;
    if (lives && one.member.name != status.self.name) addresses.insert(one.member.address);
  }
  return addresses;
}

void Pages::cluster(PageRequestPtr call) {
  const nodes::Node* node = node_or_fail(*call);
  if (node != nullptr) call->reply_json(status_json(node->status(), engine_));
}

void Pages::drain(PageRequestPtr call) {
  nodes::Node* node = node_or_fail(*call);
  if (node == nullptr) return;
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const value::Node* name = document->root().find("node");
  const value::Node* draining = document->root().find("draining");
  if (!is_text(name) || (draining != nullptr && draining->type != Type::boolean)) {
    return call->fail({.code = Code::invalid,
                       .message = "the body is to be {\"node\":NAME} with, if wanted, "
                                  "\"draining\":false to let it serve again"});
  }
  const std::string to(name->text);
  const bool drains = draining == nullptr || draining->boolean;
  node->drain(to, drains, reply_when_done(std::move(call)));
}

void Pages::move_partition(PageRequestPtr call) {
  nodes::Node* node = node_or_fail(*call);
  if (node == nullptr) return;
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const value::Node& root = document->root();
  const value::Node* database = root.find("database");
  const value::Node* container = root.find("container");
  const value::Node* range = root.find("range");
  const value::Node* face = root.find("face");
  const value::Node* to = root.find("node");
  if (!is_text(database) || !is_text(container) || !is_text(to) || range == nullptr ||
      range->type != Type::number || range->number < 0 || range->number > UINT32_MAX ||
      (face != nullptr && face->type != Type::string)) {
    return call->fail({.code = Code::invalid,
                       .message = "the body is to be {\"database\":NAME,\"container\":NAME,"
                                  "\"range\":NUMBER,\"node\":NAME}"});
  }
  const cluster::RoutingPtr routing =
      find(face == nullptr ? "" : face->text, database->text, container->text);
  if (!routing) {
    return call->fail({.code = Code::not_found,
                       .message = fmt::format("there is no container '{}' in database '{}'",
                                              container->text, database->text)});
  }
  const nodes::RangeRef ref{routing->container->number, static_cast<uint32_t>(range->number)};
  const std::string name(to->text);
  node->move(ref, name, reply_when_done(std::move(call)));
}

void Pages::rebalance(PageRequestPtr call) {
  nodes::Node* node = node_or_fail(*call);
  if (node != nullptr) node->rebalance(reply_when_done(std::move(call)));
}

// The asked node has it when this is answered, and the others when they next hear of the catalog.
void Pages::set_read_replicas(PageRequestPtr call) {
  if (node_or_fail(*call) == nullptr) return;
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const value::Node* count = document->root().find("count");
  if (count == nullptr || count->type != Type::number || count->number < 0 ||
      count->number > catalog::kReadReplicasMax || count->number != std::floor(count->number)) {
    return call->fail({.code = Code::invalid,
                       .message = fmt::format("the body is to be {{\"count\":NUMBER}} with a whole "
                                              "number up to {}",
                                              catalog::kReadReplicasMax)});
  }
  if (auto set = engine_.set_read_replicas(static_cast<uint32_t>(count->number)); !set) {
    return call->fail(set.error());
  }
  call->reply_json("{}");
}

}  // namespace orrery::ops
