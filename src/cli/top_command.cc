// See top_command.h. Rates are differences of the server's counters between two samples. To look at
// a container's partitions opens those that are closed, so only containers that were used since the
// server started are looked at, kContainersMax at most. Keys come from the console's sample of
// requests; without the console there are none.
#include "cli/top_command.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <map>
#include <optional>
#include <tuple>

#include "base/bytes.h"
#include "cli/account_client.h"
#include "cli/terminal_text.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

using Clock = std::chrono::steady_clock;
using value::Node;

constexpr size_t kContainersMax = 20;
constexpr size_t kContainersWithKeys = 5;
constexpr size_t kKeysShown = 5;

struct Counters {
  double units = 0;
  double throttled = 0;
};

struct PartitionSample {
  std::string container;  // DB/CONTAINER
  uint32_t range = 0;
  double items = 0;
  double bytes = 0;
  double share = 0;  // RU/s
  Counters total;
  std::string note;  // splitting, or what is wrong
};

struct HotKey {
  std::string container;
  std::string key;
  double part = 0;
};

struct Sample {
  Clock::time_point at;
  std::map<std::string, Counters> containers;
  std::map<std::pair<std::string, uint32_t>, PartitionSample> partitions;
  std::vector<HotKey> keys;
};

// What one sample adds to the one before it.
struct Rates {
  double units = 0;
  double throttled = 0;
};
Rates rates_of(const Counters& now, const Counters* before, double seconds) {
  if (before == nullptr || seconds <= 0) return {};
  return {.units = std::max(0.0, now.units - before->units) / seconds,
          .throttled = std::max(0.0, now.throttled - before->throttled) / seconds};
}

class Sampler {
 public:
  explicit Sampler(const ServerAddress& server) : server_(server) {}

  Result<Sample> take(const Sample* before) {
    Sample sample;
    auto page = ask_admin(server_, "/admin/containers");
    if (!page) return pass(page.error());
    sample.at = Clock::now();
    std::vector<std::pair<double, const Node*>> busy;
    const Node* containers = page->root().find("containers");
    for (const Node* one = containers == nullptr ? nullptr : containers->first; one != nullptr;
         one = one->next) {
      const std::string name =
          fmt::format("{}/{}", text_in(*one, "database"), text_in(*one, "container"));
      const Counters total{.units = number_in(*one, "requestUnits"),
                           .throttled = number_in(*one, "throttled")};
      sample.containers.emplace(name, total);
      if (total.units <= 0) continue;
      const auto known = before == nullptr ? decltype(sample.containers)::const_iterator()
                                           : before->containers.find(name);
      const bool was_there = before != nullptr && known != before->containers.end();
      busy.emplace_back(was_there ? total.units - known->second.units : total.units, one);
    }
    std::ranges::sort(busy, std::greater<>(), [](const auto& one) { return one.first; });
    if (busy.size() > kContainersMax) busy.resize(kContainersMax);
    for (const auto& [units, one] : busy) {
      if (auto added = add_partitions(sample, *one); !added) return pass(added.error());
    }
    for (size_t i = 0; i < std::min(busy.size(), kContainersWithKeys); ++i)
      add_keys(sample, *busy[i].second);
    return sample;
  }

 private:
  Status add_partitions(Sample& sample, const Node& container) {
    const std::string database = text_in(container, "database");
    const std::string name = text_in(container, "container");
    auto page =
        ask_admin(server_, fmt::format("/admin/partitions?database={}&container={}&face={}&keys=0",
                                       percent_encode(database), percent_encode(name),
                                       percent_encode(text_in(container, "face"))));
    // It may have been dropped meanwhile.
    if (!page) return page.error().code == Code::not_found ? Status{} : pass(page.error());
    const Node* partitions = page->root().find("partitions");
    for (const Node* one = partitions == nullptr ? nullptr : partitions->first; one != nullptr;
         one = one->next) {
      const Node* splitting = one->find("splitting");
      PartitionSample partition{.container = database + "/" + name,
                                .range = static_cast<uint32_t>(number_in(*one, "id")),
                                .items = number_in(*one, "items"),
                                .bytes = number_in(*one, "bytes"),
                                .share = number_in(*one, "share"),
                                .total = {.units = number_in(*one, "requestUnits"),
                                          .throttled = number_in(*one, "throttled")},
                                .note = text_in(*one, "problem")};
      if (partition.note.empty() && splitting != nullptr && splitting->boolean)
        partition.note = "splitting";
      sample.partitions.emplace(std::pair(partition.container, partition.range),
                                std::move(partition));
    }
    return {};
  }

  // The console's list of keys, which a session is needed for. Where there is no console, or the
  // key is another face's, there is none.
  void add_keys(Sample& sample, const Node& container) {
    if (!sign_in()) return;
    const std::string database = text_in(container, "database");
    const std::string name = text_in(container, "container");
    client::Request request;
    request.target = fmt::format("/console/api/hot?database={}&container={}",
                                 percent_encode(database), percent_encode(name));
    request.is_signed = false;
    request.headers = {{"x-orrery-console", "1"}, {"cookie", cookie_}};
    auto page = ask(*client_, std::move(request));
    if (!page) {
      cookie_.clear();  // a session ends; the next sample opens another
      return;
    }
    const Node* keys = page->root().find("keys");
    size_t count = 0;
    for (const Node* one = keys == nullptr ? nullptr : keys->first;
         one != nullptr && count < kKeysShown; one = one->next, ++count) {
      sample.keys.push_back({.container = database + "/" + name,
                             .key = text_in(*one, "key"),
                             .part = number_in(*one, "part")});
    }
  }

  bool sign_in() {
    if (!cookie_.empty()) return true;
    if (!client_) {
      auto client = open_account(server_);
      if (!client) return false;
      client_ = std::move(*client);
    }
    client::Request request;
    request.method = "POST";
    request.target = "/console/api/session";
    request.is_signed = false;
    request.headers = {{"x-orrery-console", "1"}, {"content-type", "application/json"}};
    request.body = fmt::format(R"({{"key":{}}})", value::quoted(client_->endpoint().key));
    auto answer = client_->call(std::move(request));
    if (!answer || !answer->is_success()) return false;
    const std::string_view cookie = answer->header("set-cookie");
    cookie_ = cookie.substr(0, cookie.find(';'));
    return !cookie_.empty();
  }

  const ServerAddress& server_;
  std::unique_ptr<client::Client> client_;
  std::string cookie_;
};

struct Row {
  const PartitionSample* partition = nullptr;
  Rates rates;
  double used() const { return partition->share > 0 ? rates.units / partition->share : 0; }
};

struct Report {
  Rates all;
  size_t containers = 0;
  std::vector<Row> rows;  // the busiest first
  const std::vector<HotKey>* keys = nullptr;
};

Report report_of(const Sample& before, const Sample& now) {
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  Report report;
  report.containers = now.containers.size();
  report.keys = &now.keys;
  for (const auto& [name, total] : now.containers) {
    const auto known = before.containers.find(name);
    const Counters none;
    const Rates rates =
        rates_of(total, known == before.containers.end() ? &none : &known->second, seconds);
    report.all.units += rates.units;
    report.all.throttled += rates.throttled;
  }
  for (const auto& [name, partition] : now.partitions) {
    const auto known = before.partitions.find(name);
    // One that is new since has been counting from 0.
    const Counters none;
    report.rows.push_back(
        {.partition = &partition,
         .rates =
             rates_of(partition.total,
                      known == before.partitions.end() ? &none : &known->second.total, seconds)});
  }
  // Equals in the order of their names, so that lines do not jump.
  std::ranges::sort(report.rows, [](const Row& one, const Row& other) {
    if (one.rates.units != other.rates.units) return one.rates.units > other.rates.units;
    return std::tie(one.partition->container, one.partition->range) <
           std::tie(other.partition->container, other.partition->range);
  });
  return report;
}

std::string text_of(const Report& report, const std::string& where, size_t count, size_t width) {
  constexpr auto kToTheRight = Table::Align::right;
  std::string text = fmt::format("{}: {} container{}, {} RU/s, {:.1f} throttled/s\n\n", where,
                                 report.containers, report.containers == 1 ? "" : "s",
                                 number_text(report.all.units), report.all.throttled);
  Table table({{"container"},
               {"partition", kToTheRight},
               {"RU/s", kToTheRight},
               {"of", kToTheRight},
               {"used", kToTheRight},
               {"throttled/s", kToTheRight},
               {"items", kToTheRight},
               {"stored", kToTheRight},
               {""}});
  for (size_t i = 0; i < std::min(count, report.rows.size()); ++i) {
    const Row& row = report.rows[i];
    table.add(
        {row.partition->container, std::to_string(row.partition->range),
         number_text(row.rates.units), number_text(row.partition->share),
         fmt::format("{:.0f} %", row.used() * 100), fmt::format("{:.1f}", row.rates.throttled),
         number_text(row.partition->items), size_text(row.partition->bytes), row.partition->note},
        60);
  }
  text += table.empty() ? "nothing was asked for since the server started\n" : table.text(width);
  if (report.rows.size() > count)
    text += fmt::format("and {} more partitions\n", report.rows.size() - count);
  if (!report.keys->empty()) {
    Table keys({{"container"}, {"requests", kToTheRight}, {"partition key"}});
    for (const HotKey& key : *report.keys)
      keys.add({key.container, fmt::format("{:.0f} %", key.part * 100), key.key}, 60);
    text += "\n" + keys.text(width);
  }
  return text;
}

std::string json_of(const Report& report) {
  std::string json = fmt::format(
      R"({{"containers":{},"unitsPerSecond":{:.2f},"throttledPerSecond":{:.2f},"partitions":[)",
      report.containers, report.all.units, report.all.throttled);
  for (const Row& row : report.rows) {
    if (json.back() != '[') json += ',';
    json += fmt::format(
        R"({{"container":{},"range":{},"unitsPerSecond":{:.2f},"share":{:.2f},"throttledPerSecond":{:.2f},)"
        R"("items":{},"bytes":{},"note":{}}})",
        value::quoted(row.partition->container), row.partition->range, row.rates.units,
        row.partition->share, row.rates.throttled, row.partition->items, row.partition->bytes,
        value::quoted(row.partition->note));
  }
  json += "],\"keys\":[";
  for (const HotKey& key : *report.keys) {
    if (json.back() != '[') json += ',';
    json += fmt::format(R"({{"container":{},"key":{},"part":{:.4f}}})",
                        value::quoted(key.container), value::quoted(key.key), key.part);
  }
  return json + "]}\n";
}

// The terminal's second screen, as long as it lives.
class Screen {
 public:
  explicit Screen(bool on) : on_(on) {
    if (on_) fmt::print("\x1b[?1049h\x1b[?25l");
  }
  ~Screen() {
    if (on_) {
      fmt::print("\x1b[?25h\x1b[?1049l");
      std::fflush(stdout);
    }
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

 private:
  const bool on_;
};

// True: told to end meanwhile.
bool wait(double seconds, const sigset_t& signals) {
  timespec time{.tv_sec = static_cast<time_t>(seconds),
                .tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9)};
  return sigtimedwait(&signals, nullptr, &time) > 0;
}

}  // namespace

int top(const ServerAddress& server, const TopOptions& options) {
  const double interval_s = std::clamp(options.interval_s, 0.1, 3600.0);
  const bool live = terminal_height() > 0 && options.samples != 1 && !options.json;
  auto endpoint = find_endpoint(server);
  if (!endpoint) return complain("top", endpoint.error());
  const std::string where = endpoint->where();
  // Blocked before libcurl starts a thread, so that only wait() sees them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Sampler sampler(server);
  auto before = sampler.take(nullptr);
  if (!before) return complain("top", before.error());
  std::optional<Error> failure;
  {
    const Screen screen(live);
    for (uint32_t taken = 0; options.samples == 0 || taken < options.samples; ++taken) {
      if (wait(interval_s, signals)) break;
      auto now = sampler.take(&*before);
      if (!now) {
        failure = now.error();
        break;
      }
      const Report report = report_of(*before, *now);
      // Lines for the head, the tables' heads and the keys.
      const size_t reserved = 6 + now->keys.size();
      const size_t room = terminal_height() > reserved + 3 ? terminal_height() - reserved : 20;
      const size_t count = options.count > 0 ? options.count : live ? room : 20;
      const std::string text =
          options.json ? json_of(report) : text_of(report, where, count, terminal_width());
      fmt::print("{}{}{}", live ? "\x1b[H\x1b[J" : "", text, live || options.json ? "" : "\n");
      std::fflush(stdout);
      before = std::move(now);
    }
  }
  return failure ? complain("top", *failure) : 0;
}

}  // namespace orrery::cli
