// See scale_command.h. Throughput is an offer, a resource of its own that names what it is for. A
// change between a fixed throughput and autoscale is asked for by a header first, as the vendor's
// service wants it; then the system chooses the amount, and the one that was asked for is set after
// it.
#include "cli/scale_command.h"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <thread>

#include "base/ascii_case.h"
#include "base/bytes.h"
#include "cli/account_client.h"
#include "cli/terminal_text.h"
#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

using client::Throughput;
using value::Node;

struct Offer {
  std::string rid;
  std::string owner_rid;
  Throughput throughput;
};

std::string text_of(const Throughput& throughput) {
  return fmt::format("{}{} RU/s", throughput.autoscale ? "up to " : "",
                     number_text(static_cast<double>(throughput.units)));
}

std::string json_of(const Throughput& throughput) {
  return fmt::format(R"({{"units":{},"autoscale":{}}})", throughput.units, throughput.autoscale);
}

Offer parse_offer(const Node& document) {
  Offer offer{.rid = text_in(document, "_rid"),
              .owner_rid = text_in(document, "offerResourceId"),
              .throughput = {}};
  const Node* content = document.find("content");
  if (content == nullptr) return offer;
  const Node* settings = content->find("offerAutopilotSettings");
  offer.throughput.autoscale = settings != nullptr;
  offer.throughput.units =
      static_cast<uint64_t>(settings != nullptr ? number_in(*settings, "maxThroughput")
                                                : number_in(*content, "offerThroughput"));
  return offer;
}

// The resource id of what DB or DB/CONTAINER names.
Result<std::string> rid_of(client::Client& client, const std::string& what) {
  client::Request request;
  if (what.find('/') == std::string::npos) {
    request.target = "/dbs/" + percent_encode(what);
    request.type = "dbs";
    request.link = "dbs/" + what;
  } else {
    auto name = client::parse_container_name(what);
    if (!name) return pass(name.error());
    request.target = name->target();
    request.type = "colls";
    request.link = name->link();
  }
  auto document = ask(client, std::move(request));
  if (!document) return pass(document.error());
  return text_in(document->root(), "_rid");
}

Result<Offer> find_offer(client::Client& client, const std::string& what) {
  auto rid = rid_of(client, what);
  if (!rid) return pass(rid.error());
  client::Request request;
  request.method = "POST";
  request.target = "/offers";
  request.type = "offers";
  request.headers = {{"content-type", "application/query+json"},
                     {"x-ms-documentdb-isquery", "True"}};
  request.body = fmt::format(R"({{"query":"SELECT * FROM root r WHERE r.offerResourceId = @rid",)"
                             R"("parameters":[{{"name":"@rid","value":{}}}]}})",
                             value::quoted(*rid));
  auto document = ask(client, std::move(request));
  if (!document) return pass(document.error());
  const Node* offers = document->root().find("Offers");
  if (offers == nullptr || offers->count == 0) {
    return fail(
        Code::not_found,
        what.find('/') == std::string::npos
            ? fmt::format("database {} has no throughput of its own: its containers do, and "
                          "`orrery scale {}/CONTAINER` sets it",
                          what, what)
            : fmt::format("{} has no throughput of its own: it shares that of its database, "
                          "and `orrery scale {}` sets it",
                          what, what.substr(0, what.find('/'))));
  }
  return parse_offer(*offers->first);
}

Result<Offer> put_offer(client::Client& client, const Offer& offer, const Throughput& wanted,
                        std::optional<std::string> header) {
  client::Request request;
  request.method = "PUT";
  request.target = "/offers/" + percent_encode(offer.rid);
  request.type = "offers";
  request.link = lowered(offer.rid);
  request.headers = {{"content-type", "application/json"}};
  if (header) request.headers.emplace_back(*header, "true");
  const std::string content =
      wanted.autoscale
          ? fmt::format(
                R"({{"offerThroughput":{},"offerAutopilotSettings":{{"maxThroughput":{}}}}})",
                wanted.units / 10, wanted.units)
          : fmt::format(R"({{"offerThroughput":{}}})", wanted.units);
  request.body = fmt::format(
      R"({{"offerVersion":"V2","offerType":"Invalid","content":{},"offerResourceId":{},"id":{},"_rid":{},"_self":"offers/{}/"}})",
      content, value::quoted(offer.owner_rid), value::quoted(offer.rid), value::quoted(offer.rid),
      offer.rid);
  auto document = ask(client, std::move(request));
  if (!document) return pass(document.error());
  return parse_offer(document->root());
}

Result<Offer> set(client::Client& client, const Offer& offer, const Throughput& wanted) {
  if (wanted.autoscale != offer.throughput.autoscale) {
    auto moved = put_offer(client, offer, offer.throughput,
                           wanted.autoscale ? "x-ms-cosmos-migrate-offer-to-autopilot"
                                            : "x-ms-cosmos-migrate-offer-to-manual-throughput");
    if (!moved || moved->throughput.units == wanted.units) return moved;
  }
  return put_offer(client, offer, wanted, std::nullopt);
}

struct Spread {
  size_t partitions = 0;
  bool scaling = false;
};

// How the container is spread now; nothing where no server tells: other makes, and databases.
std::optional<Spread> spread_of(const ServerAddress& server, const std::string& what) {
  auto name = client::parse_container_name(what);
  if (!name) return std::nullopt;
  auto page = ask_admin(
      server, fmt::format("/admin/partitions?database={}&container={}&keys=0",
                          percent_encode(name->database), percent_encode(name->container)));
  const Node* partitions = page ? page->root().find("partitions") : nullptr;
  if (partitions == nullptr) return std::nullopt;
  const Node* scaling = page->root().find("scaling");
  return Spread{.partitions = partitions->count, .scaling = scaling != nullptr && scaling->boolean};
}

}  // namespace

int scale(const ServerAddress& server, const ScaleOptions& options) {
  Throughput wanted;
  if (!options.throughput.empty()) {
    auto parsed = client::parse_throughput(options.throughput);
    if (!parsed) return complain("scale", parsed.error());
    wanted = *parsed;
  }
  auto client = open_account(server);
  if (!client) return complain("scale", client.error());
  auto before = find_offer(**client, options.what);
  if (!before) return complain("scale", before.error());
  auto after = before;
  if (!options.throughput.empty()) after = set(**client, *before, wanted);
  if (!after) return complain("scale", after.error());
  std::optional<Spread> spread = spread_of(server, options.what);
  while (options.wait && spread && spread->scaling) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    spread = spread_of(server, options.what);
  }
  if (options.json) {
    fmt::print(R"({{"before":{},"after":{},"partitions":{},"scaling":{}}})"
               "\n",
               json_of(before->throughput), json_of(after->throughput),
               spread ? std::to_string(spread->partitions) : "null",
               spread ? (spread->scaling ? "true" : "false") : "null");
    return 0;
  }
  const std::string what = printable(options.what);
  if (options.throughput.empty()) {
    fmt::print("{}: {}\n", what, text_of(after->throughput));
  } else {
    fmt::print("{}: {}, was {}\n", what, text_of(after->throughput), text_of(before->throughput));
  }
  if (spread && spread->partitions > 0) {
    fmt::print("{} partition{}, {} RU/s each{}\n", spread->partitions,
               spread->partitions == 1 ? "" : "s",
               number_text(static_cast<double>(after->throughput.units) /
                           static_cast<double>(spread->partitions)),
               spread->scaling ? "; partitions are being split, --wait waits for them" : "");
  }
  return 0;
}

}  // namespace orrery::cli
