// What an operator asks of a running server beyond the vendor's API, for the command line and the
// console: POST /admin/split, GET /admin/partitions, POST /admin/keys/regenerate. Signed by a
// read-write key in a way of its own: see admin_signature.h.
#include <fmt/format.h>

#include "api/cosmos/resources/definition_fields.h"
#include "api/cosmos/service.h"
#include "base/bytes.h"
#include "net/loopback.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

using value::Node;
using value::Type;

// The value of one parameter of the target's query.
std::string parameter(std::string_view target, std::string_view name) {
  size_t question = target.find('?');
  std::string_view rest =
      question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    size_t equals = one.find('=');
    if (equals != std::string_view::npos && one.substr(0, equals) == name) {
      auto decoded = percent_decode(one.substr(equals + 1));
      return decoded ? *decoded : "";
    }
  }
  return "";
}

Error no_such_container(std::string_view database, std::string_view container) {
  return Error{
      .code = Code::not_found,
      .message = fmt::format("there is no container '{}' in database '{}'", container, database)};
}

std::string split_json(const cluster::SplitReport& report) {
  return fmt::format(R"({{"parent":{},"children":[{},{}],"pauseMs":{},"totalMs":{}}})",
                     report.parent, report.left, report.right,
                     static_cast<double>(report.pause_us) / 1000,
                     static_cast<double>(report.total_us) / 1000);
}

}  // namespace

void Service::admin(CallPtr call) {
  call->operation = Operation::admin;
  if (auto admitted = admin_signatures_.admit(admin_request(*call), call->body, clock_.now_s());
      !admitted) {
    return call->fail(admitted.error());
  }
  const std::string_view path = call->target.substr(0, call->target.find('?'));
  struct Known {
    std::string_view path;
    std::string_view method;
    Job job;
  };
  for (const Known& known :
       {Known{"/admin/split", "POST", &Service::admin_split},
        Known{"/admin/partitions", "GET", &Service::admin_partitions},
        Known{"/admin/keys/regenerate", "POST", &Service::admin_regenerate_key}}) {
    if (path != known.path) continue;
    if (call->method != known.method) return method_not_allowed(std::move(call));
    return later(std::move(call), Lane::admin, known.job);
  }
  call->fail(Error{.code = Code::invalid,
                   .message = fmt::format("there is no {} {}: there are POST /admin/split, GET "
                                          "/admin/partitions and POST /admin/keys/regenerate",
                                          call->method, path)});
}

// {"key":"primary"}. The old key is refused from the answer on.
void Service::admin_regenerate_key(CallPtr call) {
  if (!call->tls && !net::is_loopback(call->peer)) {
    return call->fail(Error{.code = Code::forbidden,
                            .message = "the answer is a key, and http would show it to everybody "
                                       "on the way: use https"});
  }
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const Node* key = document->root().find("key");
  auto name = parse_key_name(key != nullptr && key->type == Type::string ? key->text : "");
  if (!name) return call->fail(name.error());
  if (!options_.regenerate_key) {
    return call->fail(Error{.code = Code::invalid,
                            .message = "this server runs with --dev, and its key is the "
                                       "emulator's, which everybody knows: start it without --dev "
                                       "for keys of its own"});
  }
  MutexLock lock(keys_mutex_);
  auto keys = options_.regenerate_key(*name);
  if (!keys) return call->fail(keys.error());
  auto authorizer = Authorizer::create(*keys);
  if (!authorizer) return call->fail(authorizer.error());
  authorizers_.push_back(std::make_unique<const Authorizer>(std::move(*authorizer)));
  authorizer_.store(authorizers_.back().get(), std::memory_order_release);
  call->charge(0);
  call->reply(200, fmt::format(R"({{"key":{},"value":{}}})", quoted(to_string(*name)),
                               quoted(key_of(*keys, *name))));
}

// {"database":…,"container":…,"range":n}; without range the largest partition is split.
void Service::admin_split(CallPtr call) {
  auto document = value::JsonDocument::parse(call->body);
  if (!document) return call->fail(document.error());
  const Node* database = document->root().find("database");
  const Node* container = document->root().find("container");
  const Node* range = document->root().find("range");
  if (database == nullptr || database->type != Type::string || container == nullptr ||
      container->type != Type::string ||
      (range != nullptr &&
       (range->type != Type::number || range->number < 0 || range->number > UINT32_MAX))) {
    return call->fail(Error{.code = Code::invalid,
                            .message = "the body is to be {\"database\":NAME,\"container\":NAME} "
                                       "with, if wanted, \"range\":NUMBER"});
  }
  cluster::RoutingPtr routing = engine_.find(database->text, container->text);
  if (!routing) return call->fail(no_such_container(database->text, container->text));
  std::optional<uint32_t> id;
  if (range != nullptr) id = static_cast<uint32_t>(range->number);
  // Splits take turns, and no thread of this face waits for them.
  Call& asked = *call;
  engine_.split_later({.container = routing->container->number,
                       .range = id,
                       .is_wanted = [&asked] { return !asked.client_is_gone(); }},
                      [call = std::move(call)](Result<cluster::SplitReport> report) {
                        if (!report) return call->fail(report.error());
                        call->charge(0);
                        call->reply(200, split_json(*report));
                      });
}

// How storage and load are spread over a container's physical partitions, and its largest keys.
void Service::admin_partitions(CallPtr call) {
  constexpr size_t kLargestKeys = 10;
  const std::string database = parameter(call->target, "database");
  const std::string container = parameter(call->target, "container");
  cluster::RoutingPtr routing = engine_.find(database, container);
  if (!routing) return call->fail(no_such_container(database, container));
  auto statuses = engine_.status(routing->container->number);
  if (!statuses) return call->fail(statuses.error());
  auto largest = engine_.largest(routing->container->number, kLargestKeys);
  if (!largest) return call->fail(largest.error());
  std::string json = "{\"partitions\":[";
  for (const cluster::PartitionStatus& one : *statuses) {
    if (json.back() != '[') json += ',';
    json += fmt::format(
        R"({{"id":{},"min":"{}","max":"{}","bytes":{},"items":{},"lsn":{},"reads":{},)"
        R"("writes":{},"throttled":{},"requestUnits":{:.2f},"indexed":{},"problem":{}}})",
        one.range.id, to_hex_upper(one.range.min), to_hex_upper(one.range.max), one.usage.bytes,
        one.usage.items, one.lsn, one.reads, one.writes, one.throttled, one.charge,
        one.indexed_percent, quoted(one.read_only_reason));
  }
  json += "],\"largestKeys\":[";
  for (const auto& one : *largest) {
    if (json.back() != '[') json += ',';
    json += fmt::format(R"({{"key":{},"bytes":{},"items":{}}})", quoted(one.key_text),
                        one.usage.bytes, one.usage.items);
  }
  json += "]}";
  call->charge(0);
  call->reply(200, std::move(json));
}

}  // namespace orrery::cosmos
