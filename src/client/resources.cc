// See resources.h.
#include "client/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "value/json_quoted.h"
#include "value/path.h"

namespace orrery::client {
namespace {

using value::JsonDocument;
using value::Node;
using value::Type;

constexpr size_t kMaxPages = 100'000;
constexpr size_t kMaxRanges = 100'000;

std::string text_of(const Node& object, std::string_view name) {
  const Node* member = object.find(name);
  return member != nullptr && member->type == Type::string ? std::string(member->text) : "";
}

Result<JsonDocument> document_of(Client& client, const Response& response) {
  auto document = JsonDocument::parse(response.body);
  if (document) return document;
  return fail(Code::internal, fmt::format("{} answered with something that is not JSON: {}",
                                          client.endpoint().where(), document.error().message));
}

Result<Response> ask(Client& client, Request request) {
  return succeeded(client.call(std::move(request)), client.endpoint().where());
}

// All documents of a feed, whose array is called `member`.
Result<std::vector<std::string>> list(Client& client, const Request& request,
                                      std::string_view member) {
  std::vector<std::string> found;
  std::string continuation;
  for (size_t page = 0; page < kMaxPages; ++page) {
    Request asked = request;
    if (!continuation.empty()) asked.headers.emplace_back("x-ms-continuation", continuation);
    auto response = ask(client, std::move(asked));
    if (!response) return pass(response.error());
    auto document = document_of(client, *response);
    if (!document) return pass(document.error());
    const Node* array = document->root().find(member);
    if (array == nullptr || array->type != Type::array) {
      return fail(Code::internal,
                  fmt::format("the answer of {} has no {}", client.endpoint().where(), member));
    }
    for (const Node* one = array->first; one != nullptr; one = one->next) {
      found.emplace_back(one->raw);
    }
    continuation = response->header("x-ms-continuation");
    if (continuation.empty()) break;
  }
  return found;
}

Result<value::KeyDefinition> key_of(const Node& definition) {
  value::KeyDefinition key;
  const Node* paths = definition.find("paths");
  for (const Node* one = paths == nullptr ? nullptr : paths->first; one != nullptr;
       one = one->next) {
    auto path = value::parse_property_path(one->text);
    if (!path) return pass(path.error());
    key.paths.push_back(std::move(*path));
  }
  const Node* version = definition.find("version");
  const bool is_v1 = version == nullptr || version->type != Type::number || version->number < 2;
  key.placement = text_of(definition, "kind") == "MultiHash" ? value::Placement::multi_hash
                  : is_v1                                    ? value::Placement::hash_v1
                                                             : value::Placement::hash_v2;
  return key;
}

// documentsCount=12;… in x-ms-resource-usage.
std::optional<uint64_t> document_count(const Response& response) {
  constexpr std::string_view kName = "documentsCount=";
  const std::string_view usage = response.header("x-ms-resource-usage");
  const size_t at = usage.find(kName);
  uint64_t count = 0;
  if (at == std::string_view::npos ||
      std::from_chars(usage.data() + at + kName.size(), usage.data() + usage.size(), count).ec !=
          std::errc()) {
    return std::nullopt;
  }
  return count;
}

}  // namespace

std::string ContainerName::link() const {
  return fmt::format("dbs/{}/colls/{}", database, container);
}

std::string ContainerName::target() const {
  return fmt::format("/dbs/{}/colls/{}", percent_encode(database), percent_encode(container));
}

Result<ContainerName> parse_container_name(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == text.size() ||
      text.find('/', slash + 1) != std::string_view::npos) {
    return fail(Code::invalid,
                fmt::format("'{}' is not of the form DB/CONTAINER, such as shop/orders", text));
  }
  return ContainerName{.database = std::string(text.substr(0, slash)),
                       .container = std::string(text.substr(slash + 1))};
}

Request container_request(const ContainerName& name, std::string_view method,
                          std::string_view type) {
  Request request;
  request.method = method;
  request.target = fmt::format("{}/{}", name.target(), type);
  request.type = type;
  request.link = name.link();
  return request;
}

Result<std::vector<std::string>> list_databases(Client& client) {
  Request request;
  request.target = "/dbs";
  request.type = "dbs";
  return list(client, request, "Databases");
}

Result<std::vector<std::string>> list_containers(Client& client, std::string_view database) {
  Request request;
  request.target = fmt::format("/dbs/{}/colls", percent_encode(database));
  request.type = "colls";
  request.link = fmt::format("dbs/{}", database);
  return list(client, request, "DocumentCollections");
}

Result<ContainerInfo> read_container(Client& client, const ContainerName& name) {
  Request request;
  request.target = name.target();
  request.type = "colls";
  request.link = name.link();
  request.headers.emplace_back("x-ms-documentdb-populatequotainfo", "True");
  auto response = ask(client, std::move(request));
  if (!response) {
    if (response.error().code == Code::not_found) {
      return fail(Code::not_found,
                  fmt::format("{} has no container {}", client.endpoint().where(), name.text()));
    }
    return pass(response.error());
  }
  auto document = document_of(client, *response);
  if (!document) return pass(document.error());
  ContainerInfo info{.name = name,
                     .json = std::string(document->text()),
                     .key = {},
                     .key_json = {},
                     .documents = document_count(*response)};
  if (const Node* definition = document->root().find("partitionKey")) {
    auto key = key_of(*definition);
    if (!key) return pass(key.error());
    info.key = std::move(*key);
    info.key_json = definition->raw;
  }
  return info;
}

Result<std::vector<KeyRange>> read_ranges(Client& client, const ContainerName& name) {
  return ranges_of(client.call(container_request(name, "GET", "pkranges")),
                   client.endpoint().where(), name);
}

Result<std::vector<KeyRange>> ranges_of(Result<Response> answer, const std::string& where,
                                        const ContainerName& name) {
  answer = succeeded(std::move(answer), where);
  if (!answer) return pass(answer.error());
  auto document = JsonDocument::parse(answer->body);
  const Node* array = document ? document->root().find("PartitionKeyRanges") : nullptr;
  if (array == nullptr || array->count == 0 || array->count > kMaxRanges) {
    return fail(Code::internal,
                fmt::format("{} names no partition key ranges of {}", where, name.text()));
  }
  std::vector<KeyRange> ranges;
  for (const Node* one = array->first; one != nullptr; one = one->next) {
    KeyRange range{.id = text_of(*one, "id"),
                   .min = text_of(*one, "minInclusive"),
                   .max = text_of(*one, "maxExclusive"),
                   .parents = {}};
    const Node* parents = one->find("parents");
    for (const Node* parent = parents == nullptr ? nullptr : parents->first; parent != nullptr;
         parent = parent->next) {
      range.parents.emplace_back(parent->text);
    }
    ranges.push_back(std::move(range));
  }
  // While a split completes, the vendor's service may list a parent beside its children.
  std::erase_if(ranges, [&, all = ranges](const KeyRange& range) {
    return std::ranges::any_of(all, [&](const KeyRange& other) {
      return std::ranges::find(other.parents, range.id) != other.parents.end();
    });
  });
  std::ranges::sort(ranges, {}, &KeyRange::min);
  return ranges;
}

Result<Throughput> parse_throughput(std::string_view text) {
  Throughput throughput;
  std::string_view digits = text;
  if (digits.starts_with("auto:")) {
    throughput.autoscale = true;
    digits.remove_prefix(5);
  }
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), throughput.units);
  if (error != std::errc() || end != digits.data() + digits.size() || throughput.units == 0) {
    return fail(Code::invalid,
                fmt::format("'{}' is no throughput: say request units a second, such as 1000, or "
                            "auto:MAX, such as auto:4000",
                            text));
  }
  return throughput;
}

Status create_database(Client& client, std::string_view database) {
  Request request;
  request.method = "POST";
  request.target = "/dbs";
  request.type = "dbs";
  request.body = fmt::format("{{\"id\":{}}}", value::quoted(database));
  request.headers.emplace_back("content-type", "application/json");
  auto response = ask(client, std::move(request));
  if (!response) return pass(response.error());
  return {};
}

Status create_container(Client& client, const NewContainer& plan) {
  Request request;
  request.method = "POST";
  request.target = fmt::format("/dbs/{}/colls", percent_encode(plan.name.database));
  request.type = "colls";
  request.link = fmt::format("dbs/{}", plan.name.database);
  request.headers.emplace_back("content-type", "application/json");
  if (plan.throughput.units != 0) {
    if (plan.throughput.autoscale) {
      request.headers.emplace_back("x-ms-cosmos-offer-autopilot-settings",
                                   fmt::format("{{\"maxThroughput\":{}}}", plan.throughput.units));
    } else {
      request.headers.emplace_back("x-ms-offer-throughput", std::to_string(plan.throughput.units));
    }
  }
  request.body = fmt::format("{{\"id\":{}", value::quoted(plan.name.container));
  if (!plan.key_json.empty()) request.body += fmt::format(",\"partitionKey\":{}", plan.key_json);
  if (!plan.policies_json.empty()) request.body += "," + plan.policies_json;
  request.body += "}";
  auto response = ask(client, std::move(request));
  if (!response) return pass(response.error());
  return {};
}

Result<bool> ensure_container(Client& client, const NewContainer& plan) {
  Status made = create_database(client, plan.name.database);
  if (!made && made.error().code != Code::conflict) return pass(made.error());
  made = create_container(client, plan);
  if (made) return true;
  if (made.error().code == Code::conflict) return false;
  return pass(made.error());
}

Result<std::string> key_json_of(std::string_view paths) {
  std::string list;
  size_t count = 0;
  while (true) {
    const size_t comma = paths.find(",/");
    const std::string_view one = paths.substr(0, comma);
    if (auto path = value::parse_property_path(one); !path) {
      return fail(Code::invalid, fmt::format("'{}' is no partition key path, such as /city: {}",
                                             one, path.error().message));
    }
    if (count > 0) list += ',';
    value::append_json_string(list, one);
    ++count;
    if (comma == std::string_view::npos) break;
    paths.remove_prefix(comma + 1);
  }
  return fmt::format("{{\"paths\":[{}],\"kind\":\"{}\",\"version\":2}}", list,
                     count > 1 ? "MultiHash" : "Hash");
}

}  // namespace orrery::client
