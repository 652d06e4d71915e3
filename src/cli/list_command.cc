// See list_command.h. What there is comes from the account; how much of it from the page of
// operators, which servers of other makes do not have: then those columns are empty.
#include "cli/list_command.h"

#include <fmt/format.h>

#include <ctime>
#include <map>
#include <optional>

#include "cli/account_client.h"
#include "cli/terminal_text.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

struct Figures {
  double partitions = 0;
  double bytes = 0;
  std::optional<double> items = 0;  // nothing: some of its partitions are closed
  std::string throughput;
  std::string raw;  // as the server gave it
};
using AllFigures = std::map<std::pair<std::string, std::string>, Figures>;

std::string throughput_text(const Node* throughput) {
  if (throughput == nullptr || throughput->type != Type::object) return "";
  const Node* autoscale = throughput->find("autoscale");
  const Node* shared = throughput->find("shared");
  return fmt::format("{}{}{}", autoscale != nullptr && autoscale->boolean ? "auto:" : "",
                     number_in(*throughput, "units"),
                     shared != nullptr && shared->boolean ? " shared" : "");
}

AllFigures figures_of(const ServerAddress& server) {
  AllFigures all;
  auto page = ask_admin(server, "/admin/containers");
  const Node* containers = page ? page->root().find("containers") : nullptr;
  if (containers == nullptr) return all;
  for (const Node* one = containers->first; one != nullptr; one = one->next) {
    const Node* items = one->find("items");
    Figures figures{.partitions = number_in(*one, "partitions"),
                    .bytes = number_in(*one, "bytes"),
                    .items = {},
                    .throughput = throughput_text(one->find("throughput")),
                    .raw = std::string(one->raw)};
    if (items != nullptr && items->type == Type::number) figures.items = items->number;
    all.emplace(std::pair(text_in(*one, "database"), text_in(*one, "container")),
                std::move(figures));
  }
  return all;
}

std::string id_of(const std::string& json) {
  auto document = JsonDocument::parse(json);
  return document ? text_in(document->root(), "id") : "";
}

std::string key_of(const std::string& json) {
  auto document = JsonDocument::parse(json);
  const Node* key = document ? document->root().find("partitionKey") : nullptr;
  const Node* paths = key == nullptr ? nullptr : key->find("paths");
  std::string text;
  for (const Node* one = paths == nullptr ? nullptr : paths->first; one != nullptr;
       one = one->next) {
    text += (text.empty() ? "" : ",") + std::string(one->text);
  }
  return text;
}

constexpr auto kRight = Table::Align::right;

int list_databases(client::Client& client, const ServerAddress& server, bool json) {
  auto databases = client::list_databases(client);
  if (!databases) return complain("ls", databases.error());
  const AllFigures all = figures_of(server);
  Table table({{"database"}, {"containers", kRight}, {"items", kRight}, {"stored", kRight}});
  std::string rows;
  for (const std::string& database : *databases) {
    const std::string name = id_of(database);
    auto containers = client::list_containers(client, name);
    if (!containers) return complain("ls", containers.error());
    double bytes = 0;
    std::optional<double> items = 0;
    bool known = true;
    for (const std::string& container : *containers) {
      const auto found = all.find(std::pair(name, id_of(container)));
      known = known && found != all.end();
      if (found == all.end()) continue;
      bytes += found->second.bytes;
      if (items && found->second.items) {
        *items += *found->second.items;
      } else {
        items.reset();
      }
    }
    if (!known) items.reset();
    table.add({name, number_text(static_cast<double>(containers->size())),
               items ? number_text(*items) : "", known ? size_text(bytes) : ""});
    rows += fmt::format(R"({}{{"database":{},"containers":{},"items":{},"bytes":{}}})",
                        rows.empty() ? "" : ",", value::quoted(name), containers->size(),
                        items ? fmt::format("{}", *items) : "null",
                        known ? fmt::format("{}", bytes) : "null");
  }
  if (json) {
    fmt::print("[{}]\n", rows);
  } else if (table.empty()) {
    fmt::print(stderr, "orrery ls: there is no database yet\n");
  } else {
    fmt::print("{}", table.text(terminal_width()));
  }
  return 0;
}

int list_containers(client::Client& client, const ServerAddress& server,
                    const std::string& database, bool json) {
  auto containers = client::list_containers(client, database);
  if (!containers) return complain("ls", containers.error());
  const AllFigures all = figures_of(server);
  Table table({{"container"},
               {"key"},
               {"partitions", kRight},
               {"items", kRight},
               {"stored", kRight},
               {"RU/s", kRight}});
  std::string rows;
  for (const std::string& container : *containers) {
    const std::string name = id_of(container);
    const auto found = all.find(std::pair(database, name));
    const bool known = found != all.end();
    table.add({name, key_of(container), known ? number_text(found->second.partitions) : "",
               known && found->second.items ? number_text(*found->second.items) : "",
               known ? size_text(found->second.bytes) : "", known ? found->second.throughput : ""});
    rows += fmt::format(R"({}{{"definition":{},"figures":{}}})", rows.empty() ? "" : ",", container,
                        known ? found->second.raw : "null");
  }
  if (json) {
    fmt::print("[{}]\n", rows);
  } else if (table.empty()) {
    fmt::print(stderr, "orrery ls: database {} has no container yet\n", printable(database));
  } else {
    fmt::print("{}", table.text(terminal_width()));
  }
  return 0;
}

int list_items(client::Client& client, const std::string& text, const ListOptions& options) {
  auto name = client::parse_container_name(text);
  if (!name) return complain("ls", name.error());
  auto container = client::read_container(client, *name);
  if (!container) return complain("ls", container.error());
  std::string columns = "c.id AS id, c._ts AS ts";
  for (size_t i = 0; i < container->key.paths.size(); ++i) {
    std::string path = "c";
    for (const value::Path::Step& step : container->key.paths[i].steps) {
      path += fmt::format("[{}]", value::quoted(step.name));
    }
    columns += fmt::format(", {} AS k{}", path, i);
  }
  QueryPages pages(client, {.name = *name,
                            .text = fmt::format("SELECT {} FROM c OFFSET 0 LIMIT {}", columns,
                                                uint64_t{options.count} + 1),
                            .key_json = {}});
  Table table({{"key"}, {"id"}, {"changed (UTC)"}});
  std::string rows;
  size_t count = 0;
  bool more = false;
  while (!pages.at_end() && !more) {
    auto page = pages.next();
    if (!page) return complain("ls", page.error());
    for (const Node* row = rows_of(*page)->first; row != nullptr; row = row->next) {
      more = count == options.count;
      if (more) break;
      ++count;
      std::string key;
      for (size_t i = 0; i < container->key.paths.size(); ++i) {
        const Node* value = row->find(fmt::format("k{}", i));
        key +=
            fmt::format("{}{}", key.empty() ? "" : ", ", value == nullptr ? "(none)" : value->raw);
      }
      const auto time = static_cast<std::time_t>(number_in(*row, "ts"));
      std::tm utc{};
      ::gmtime_r(&time, &utc);
      table.add({key, text_in(*row, "id"),
                 fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", utc.tm_year + 1900,
                             utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec)});
      rows += fmt::format("{}{}", rows.empty() ? "" : ",", row->raw);
    }
  }
  if (options.json) {
    fmt::print("[{}]\n", rows);
  } else if (!table.empty()) {
    fmt::print("{}", table.text(terminal_width()));
  }
  if (more) {
    fmt::print(stderr, "orrery ls: there are more: --count N shows more than {}\n", options.count);
  } else if (count == 0) {
    fmt::print(stderr, "orrery ls: {} has no items yet\n", printable(text));
  }
  return 0;
}

}  // namespace

int list(const ServerAddress& server, const ListOptions& options) {
  auto client = open_account(server);
  if (!client) return complain("ls", client.error());
  if (options.what.empty()) return list_databases(**client, server, options.json);
  if (options.what.find('/') == std::string::npos) {
    return list_containers(**client, server, options.what, options.json);
  }
  return list_items(**client, options.what, options);
}

}  // namespace orrery::cli
