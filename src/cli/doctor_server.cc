// A running server: what it tells of itself. Nothing is read but the pages of operators, which open
// the partitions that are closed; items and index are not compared with each other here: for that,
// stop the server.
#include <fmt/format.h>

#include "base/bytes.h"
#include "cli/account_client.h"
#include "cli/doctor_command.h"
#include "cli/terminal_text.h"

namespace orrery::cli {
namespace {

using value::Node;

constexpr double kNearlyFull = 0.9;

class ServerExamination {
 public:
  explicit ServerExamination(const ServerAddress& server) : server_(server) {}

  Result<Diagnosis> run() {
    found_.checked = {"the server answers", "every partition opens, and takes writes",
                      "partition maps: no gap, no overlap",
                      "the index of every partition is complete",
                      "partition keys that are nearly full"};
    auto page = ask_admin(server_, "/admin/containers");
    if (!page) return pass(page.error());
    const Node* containers = page->root().find("containers");
    for (const Node* one = containers == nullptr ? nullptr : containers->first; one != nullptr;
         one = one->next) {
      if (auto checked = check_container(*one); !checked) return pass(checked.error());
    }
    return std::move(found_);
  }

 private:
  void note(std::string where, std::string what, std::string advice, bool is_warning = false) {
    found_.findings.push_back({std::move(where), std::move(what), std::move(advice), is_warning});
  }

  Status check_container(const Node& container) {
    const std::string database = text_in(container, "database");
    const std::string container_name = text_in(container, "container");
    const std::string name = database + "/" + container_name;
    auto page =
        ask_admin(server_, fmt::format("/admin/partitions?database={}&container={}&face={}&keys=1",
                                       percent_encode(database), percent_encode(container_name),
                                       percent_encode(text_in(container, "face"))));
    // It may have been dropped meanwhile.
    if (!page) return page.error().code == Code::not_found ? Status{} : pass(page.error());
    ++found_.containers;
    const Node* partitions = page->root().find("partitions");
    std::string reached;
    for (const Node* one = partitions == nullptr ? nullptr : partitions->first; one != nullptr;
         one = one->next) {
      ++found_.partitions;
      const std::string where = fmt::format("{} range {}", name, number_in(*one, "id"));
      found_.items += static_cast<uint64_t>(number_in(*one, "items"));
      found_.bytes += static_cast<uint64_t>(number_in(*one, "bytes"));
      if (text_in(*one, "min") != reached) {
        note(where,
             fmt::format("it begins at '{}', and the one before it ends at '{}'",
                         text_in(*one, "min"), reached),
             "stop the server and run orrery doctor on its data folder");
      }
      reached = text_in(*one, "max");
      if (const std::string problem = text_in(*one, "problem"); !problem.empty()) {
        note(where, problem,
             "see docs/configuration.md, When the disk is full, and When the disk fails");
      }
      if (const double indexed = number_in(*one, "indexed"); indexed < 100) {
        note(where,
             fmt::format("it is being re-indexed: {:.0f} % have the terms of the newest rules",
                         indexed),
             "wait: queries give the right rows meanwhile, and read more for them", true);
      }
    }
    if (reached != "FF") {
      note(name, fmt::format("its partitions end at '{}' and not at the end of the space", reached),
           "stop the server and run orrery doctor on its data folder");
    }
    check_keys(name, page->root());
    return {};
  }

  void check_keys(const std::string& name, const Node& page) {
    const Node* limits = page.find("limits");
    const double most = limits == nullptr ? 0 : number_in(*limits, "keyBytes");
    const Node* keys = page.find("keys");
    for (const Node* one = keys == nullptr ? nullptr : keys->first; one != nullptr && most > 0;
         one = one->next) {
      const double bytes = number_in(*one, "bytes");
      if (bytes < kNearlyFull * most) continue;
      note(name,
           fmt::format("partition key {} has {} of the {} that one key may have",
                       text_in(*one, "key"), size_text(bytes), size_text(most)),
           "choose a key with more distinct values (docs/guides/choosing-a-partition-key.md), or "
           "delete items of it",
           true);
    }
  }

  const ServerAddress& server_;
  Diagnosis found_;
};

}  // namespace

Result<Diagnosis> examine_server(const ServerAddress& server) {
  return ServerExamination(server).run();
}

}  // namespace orrery::cli
