// See cluster_commands.h.
#include "cli/cluster_commands.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include "cli/server_options.h"
#include "cli/terminal_text.h"
#include "client/resources.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

constexpr std::chrono::milliseconds kLookAgain{500};

bool truth(const value::Node& object, std::string_view name) {
  const value::Node* member = object.find(name);
  return member != nullptr && member->boolean;
}

void print_member(const value::Node& one, std::string_view coordinator) {
  std::string notes;
  const auto note = [&](std::string_view more) {
    if (!notes.empty()) notes += ", ";
    notes += more;
  };
  if (text_in(one, "name") == coordinator) note("coordinator");
  if (truth(one, "draining")) note("draining");
  if (text_in(one, "state") != "live") note("its lease is " + text_in(one, "state"));
  if (number_in(one, "silentS") > 1)
    note(fmt::format("silent for {:.1f} s", number_in(one, "silentS")));
  if (!text_in(one, "cannotReach").empty()) note("cannot reach the coordinator");
  fmt::print("{:<20}  {:<22}  {:>10}  {}\n", text_in(one, "name"), text_in(one, "address"),
             number_in(one, "ranges"), notes);
}

// Those of the asked node.
void print_replicas(const value::Node& root) {
  const value::Node* replicas = root.find("replicas");
  if (replicas == nullptr || replicas->first == nullptr) return;
  fmt::print("\nread replicas at {}\n{:<40}  {:>6}  {:>12}  {:>8}  {:>9}  {:>10}\n",
             text_in(root, "node"), "container", "range", "lsn", "behind", "stale", "reads");
  for (const value::Node* one = replicas->first; one != nullptr; one = one->next) {
    const double stale_s = number_in(*one, "stalenessS");
    fmt::print("{:<40}  {:>6}  {:>12}  {:>8}  {:>9}  {:>10}\n",
               text_in(*one, "database") + "/" + text_in(*one, "container"),
               number_in(*one, "range"), number_in(*one, "lsn"), number_in(*one, "lsnsBehind"),
               stale_s < 0 ? "not yet" : fmt::format("{:.1f} s", stale_s),
               number_in(*one, "reads"));
  }
}

// How many ranges the node is to serve, by the plan. Nothing when there is no such node.
Result<std::optional<double>> ranges_of(const ServerAddress& server, const std::string& node) {
  auto reply = call_admin(server, "GET", "/admin/cluster", "");
  if (!reply) return pass(reply.error());
  auto document = value::JsonDocument::parse(*reply);
  if (!document) return pass(document.error());
  const value::Node* members = document->root().find("members");
  for (const value::Node* one = members == nullptr ? nullptr : members->first; one != nullptr;
       one = one->next) {
    if (text_in(*one, "name") == node) return number_in(*one, "ranges");
  }
  return std::nullopt;
}

int show_status(const ServerAddress& server, bool json) {
  auto reply = call_admin(server, "GET", "/admin/cluster", "");
  if (!reply) return complain("cluster status", reply.error());
  if (json) {
    fmt::print("{}\n", *reply);
    return 0;
  }
  auto document = value::JsonDocument::parse(*reply);
  if (!document) return complain("cluster status", document.error());
  const value::Node& root = document->root();
  const value::Node* members = root.find("members");
  if (members == nullptr) {
    return complain("cluster status", {Code::internal, "the server's answer has no members"});
  }
  const std::string coordinator = text_in(root, "coordinator");
  fmt::print("asked {}; the coordinator is {}; plan {}.{} with {} partitions\n",
             text_in(root, "node"), coordinator.empty() ? "not known" : coordinator,
             number_in(root, "term"), number_in(root, "plan"), number_in(root, "ranges"));
  fmt::print("the catalog here is at {}, {:.1f} s old; version {} is written\n",
             number_in(root, "catalogLsn"), number_in(root, "catalogAgeS"),
             number_in(root, "writtenVersion"));
  fmt::print("read replicas of each partition: {}\n\n", number_in(root, "readReplicas"));
  fmt::print("{:<20}  {:<22}  {:>10}\n", "node", "address", "partitions");
  for (const value::Node* one = members->first; one != nullptr; one = one->next) {
    print_member(*one, coordinator);
  }
  print_replicas(root);
  return 0;
}

// Waits until the node has no partitions left, and says on the way how many it has.
Result<void> wait_until_drained(const ServerAddress& server, const std::string& node, bool quiet) {
  for (double last = -1;;) {
    auto left = ranges_of(server, node);
    if (!left) return pass(left.error());
    if (!*left || **left == 0) return {};
    if (**left != last && !quiet) {
      fmt::print("{} has {} partitions left\n", printable(node), **left);
      std::fflush(stdout);
    }
    last = **left;
    std::this_thread::sleep_for(kLookAgain);
  }
}

int drain(const ServerAddress& server, const std::string& node, bool wait, bool json) {
  auto asked = call_admin(server, "POST", "/admin/cluster/drain",
                          fmt::format(R"({{"node":{},"draining":true}})", value::quoted(node)));
  if (!asked) return complain("cluster drain", asked.error());
  if (wait) {
    if (auto done = wait_until_drained(server, node, json); !done) {
      return complain("cluster drain", done.error());
    }
  }
  if (json) {
    fmt::print(R"({{"node":{},"draining":true,"drained":{}}})"
               "\n",
               value::quoted(node), wait);
  } else {
    fmt::print("{} {}\n", printable(node),
               wait ? "has no partitions left: it can be stopped" : "is being drained");
  }
  return 0;
}

int undrain(const ServerAddress& server, const std::string& node, bool json) {
  const std::string request = fmt::format(R"({{"node":{},"draining":false}})", value::quoted(node));
  auto asked = call_admin(server, "POST", "/admin/cluster/drain", request);
  if (!asked) return complain("cluster undrain", asked.error());
  fmt::print("{}\n", json ? request : printable(node) + " takes partitions again");
  return 0;
}

int move_partition(const ServerAddress& server, const std::string& container, uint32_t range,
                   const std::string& node, bool json) {
  auto name = client::parse_container_name(container);
  if (!name) return complain("cluster move", name.error());
  const std::string request = fmt::format(
      R"({{"database":{},"container":{},"range":{},"node":{}}})", value::quoted(name->database),
      value::quoted(name->container), range, value::quoted(node));
  auto moved = call_admin(server, "POST", "/admin/cluster/move", request);
  if (!moved) return complain("cluster move", moved.error());
  fmt::print("{}\n", json ? request
                          : fmt::format("range {} of {} goes to {}", range, printable(container),
                                        printable(node)));
  return 0;
}

int rebalance(const ServerAddress& server, bool json) {
  auto asked = call_admin(server, "POST", "/admin/cluster/rebalance", "");
  if (!asked) return complain("cluster rebalance", asked.error());
  fmt::print("{}\n", json ? R"({"rebalancing":true})"
                          : "partitions are being spread anew: see orrery cluster status");
  return 0;
}

int set_replicas(const ServerAddress& server, uint32_t count, bool json) {
  const std::string request = fmt::format(R"({{"count":{}}})", count);
  auto asked = call_admin(server, "POST", "/admin/cluster/replicas", request);
  if (!asked) return complain("cluster replicas", asked.error());
  fmt::print("{}\n", json ? request
                          : fmt::format("each partition is to have {} read replicas: all nodes "
                                        "follow within a second",
                                        count));
  return 0;
}

}  // namespace

ClusterCommands::ClusterCommands(CLI::App& app) {
  CLI::App* cluster =
      app.add_subcommand("cluster", "Look at a cluster's nodes, and move partitions");
  cluster->require_subcommand(1);
  status_ = cluster->add_subcommand("status", "Show the nodes and what each serves");
  drain_ = cluster->add_subcommand(
      "drain", "Move all partitions of a node to others, so that it can be stopped");
  drain_->add_option("node", node_, "Its name")->required()->type_name("NODE");
  drain_->add_flag("--no-wait", no_wait_, "Return at once, not when it has none left");
  undrain_ = cluster->add_subcommand("undrain", "Let a drained node serve again");
  undrain_->add_option("node", node_, "Its name")->required()->type_name("NODE");
  move_ = cluster->add_subcommand("move", "Move one partition to a node");
  move_->add_option("container", container_, "The container")
      ->required()
      ->type_name("DB/CONTAINER");
  move_->add_option("range", range_, "The partition key range")->required()->type_name("RANGE");
  move_->add_option("node", node_, "The node that is to serve it")->required()->type_name("NODE");
  rebalance_ = cluster->add_subcommand("rebalance", "Spread partitions by load and size now");
  replicas_ = cluster->add_subcommand(
      "replicas", "Set how many other nodes can answer reads of a partition, in the whole account");
  replicas_->add_option("count", replica_count_, "How many; 0: none")->required()->type_name("N");
  for (CLI::App* command : {status_, drain_, undrain_, move_, rebalance_, replicas_}) {
    command->add_flag("--json", json_, "Print JSON");
    add_server_options(*command, server_);
  }
}

std::optional<int> ClusterCommands::run() const {
  if (status_->parsed()) return show_status(server_, json_);
  if (drain_->parsed()) return drain(server_, node_, !no_wait_, json_);
  if (undrain_->parsed()) return undrain(server_, node_, json_);
  if (move_->parsed()) return move_partition(server_, container_, range_, node_, json_);
  if (rebalance_->parsed()) return rebalance(server_, json_);
  if (replicas_->parsed()) return set_replicas(server_, replica_count_, json_);
  return std::nullopt;
}

}  // namespace orrery::cli
