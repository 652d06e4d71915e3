// See partition_commands.h.
#include "cli/partition_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/bytes.h"
#include "cli/server_options.h"
#include "cli/terminal_text.h"
#include "client/resources.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

int split(const ServerAddress& server, const std::string& container, std::optional<uint32_t> range,
          bool json) {
  auto name = client::parse_container_name(container);
  if (!name) return complain("split", name.error());
  std::string body = fmt::format("{{\"database\":{},\"container\":{}",
                                 value::quoted(name->database), value::quoted(name->container));
  if (range) body += fmt::format(",\"range\":{}", *range);
  body += "}";
  auto reply = call_admin(server, "POST", "/admin/split", body);
  if (!reply) return complain("split", reply.error());
  if (json) {
    fmt::print("{}\n", *reply);
    return 0;
  }
  auto document = value::JsonDocument::parse(*reply);
  if (!document) return complain("split", document.error());
  const value::Node& root = document->root();
  const value::Node* children = root.find("children");
  if (children == nullptr || children->count != 2) {
    return complain("split", {Code::internal, "the server's answer has no children"});
  }
  fmt::print("split range {} of {} into {} and {}: writes paused for {:.1f} ms, {:.1f} ms in all\n",
             number_in(root, "parent"), container, children->first->number,
             children->first->next->number, number_in(root, "pauseMs"), number_in(root, "totalMs"));
  return 0;
}

int merge(const ServerAddress& server, const std::string& container, uint32_t first,
          uint32_t second, bool json) {
  auto name = client::parse_container_name(container);
  if (!name) return complain("merge", name.error());
  auto reply = call_admin(
      server, "POST", "/admin/merge",
      fmt::format("{{\"database\":{},\"container\":{},\"ranges\":[{},{}]}}",
                  value::quoted(name->database), value::quoted(name->container), first, second));
  if (!reply) return complain("merge", reply.error());
  if (json) {
    fmt::print("{}\n", *reply);
    return 0;
  }
  auto document = value::JsonDocument::parse(*reply);
  if (!document) return complain("merge", document.error());
  const value::Node& root = document->root();
  fmt::print(
      "merged ranges {} and {} of {} into {}: writes paused for {:.1f} ms, {:.1f} ms in "
      "all\n",
      first, second, container, number_in(root, "child"), number_in(root, "pauseMs"),
      number_in(root, "totalMs"));
  return 0;
}

// What there is to say of one besides its figures.
void print_remarks(const value::Node& range) {
  const double indexed = number_in(range, "indexed");
  if (indexed < 100) fmt::print("        being re-indexed: {:.0f} %\n", indexed);
  const value::Node* problem = range.find("problem");
  if (problem != nullptr && !problem->text.empty()) {
    fmt::print("        ! {}\n", printable(problem->text));
  }
}

void print_ranges(const value::Node& ranges) {
  constexpr int kBarWidth = 30;
  double most = 1;
  size_t node_width = 0;  // 0: of a server alone
  for (const value::Node* one = ranges.first; one != nullptr; one = one->next) {
    most = std::max(most, number_in(*one, "bytes"));
    const size_t width = text_in(*one, "node").size();
    if (width > 0)
      node_width = std::max({node_width, width + 2, std::string_view("node  ").size()});
  }
  fmt::print("{:>6}  {:<{}}{:>10}  {:>10}  {:<{}}  {:>12}\n", "range", node_width > 0 ? "node" : "",
             node_width, "items", "stored", "", kBarWidth, "RU so far");
  for (const value::Node* one = ranges.first; one != nullptr; one = one->next) {
    const std::string node = printable(text_in(*one, "node"));
    const value::Node* known = one->find("known");
    if (known != nullptr && !known->boolean) {
      fmt::print("{:>6}  {:<{}}{:>10}  {:>10}\n", number_in(*one, "id"), node, node_width, "?",
                 "?");
      continue;
    }
    const double bytes = number_in(*one, "bytes");
    const std::string bar(static_cast<size_t>(bytes / most * kBarWidth), '#');
    fmt::print("{:>6}  {:<{}}{:>10}  {:>10}  {:<{}}  {:>12.0f}\n", number_in(*one, "id"), node,
               node_width, number_in(*one, "items"), size_text(bytes), bar, kBarWidth,
               number_in(*one, "requestUnits"));
    print_remarks(*one);
  }
}

int partitions(const ServerAddress& server, const std::string& container, bool json) {
  auto name = client::parse_container_name(container);
  if (!name) return complain("partitions", name.error());
  auto reply =
      call_admin(server, "GET",
                 fmt::format("/admin/partitions?database={}&container={}",
                             percent_encode(name->database), percent_encode(name->container)),
                 "");
  if (!reply) return complain("partitions", reply.error());
  if (json) {
    fmt::print("{}\n", *reply);
    return 0;
  }
  auto document = value::JsonDocument::parse(*reply);
  if (!document) return complain("partitions", document.error());
  const value::Node* ranges = document->root().find("partitions");
  const value::Node* keys = document->root().find("largestKeys");
  if (ranges == nullptr || keys == nullptr) {
    return complain("partitions", {Code::internal, "the server's answer has no partitions"});
  }
  print_ranges(*ranges);
  if (keys->count > 0) fmt::print("\nlargest partition keys\n");
  for (const value::Node* one = keys->first; one != nullptr; one = one->next) {
    const value::Node* key = one->find("key");
    fmt::print("  {:>10}  {:>10} items  {}\n", size_text(number_in(*one, "bytes")),
               number_in(*one, "items"), key == nullptr ? "" : printable(key->text));
  }
  return 0;
}

}  // namespace

PartitionCommands::PartitionCommands(CLI::App& app) {
  split_command_ = app.add_subcommand("split", "Split a physical partition of a container now");
  split_command_->add_option("container", container_, "The container")
      ->required()
      ->type_name("DB/CONTAINER");
  split_command_->add_option("range", range_, "The partition key range to split [the largest]")
      ->type_name("RANGE");
  split_command_->add_flag("--json", json_, "Print JSON");
  add_server_options(*split_command_, server_);

  merge_command_ =
      app.add_subcommand("merge", "Merge two neighbouring physical partitions of a container now");
  merge_command_->add_option("container", container_, "The container")
      ->required()
      ->type_name("DB/CONTAINER");
  merge_command_->add_option("range", merged_, "The two partition key ranges to merge")
      ->required()
      ->expected(2)
      ->type_name("RANGE");
  merge_command_->add_flag("--json", json_, "Print JSON");
  add_server_options(*merge_command_, server_);

  partitions_command_ = app.add_subcommand(
      "partitions", "Show how a container's items are spread over its physical partitions");
  partitions_command_->add_option("container", container_, "The container")
      ->required()
      ->type_name("DB/CONTAINER");
  partitions_command_->add_flag("--json", json_, "Print JSON");
  add_server_options(*partitions_command_, server_);

  advise_command_ = app.add_subcommand("advise", "Say which partition key a container should have");
  add_advise_options(*advise_command_, advise_, server_);
}

std::optional<int> PartitionCommands::run() const {
  if (split_command_->parsed()) return split(server_, container_, range_, json_);
  if (merge_command_->parsed()) {
    return merge(server_, container_, merged_.at(0), merged_.at(1), json_);
  }
  if (partitions_command_->parsed()) return partitions(server_, container_, json_);
  if (advise_command_->parsed()) return advise(server_, advise_);
  return std::nullopt;
}

}  // namespace orrery::cli
