// See table.h.
#include "client/table.h"

#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"
#include "client/resources.h"
#include "value/json_quoted.h"

namespace orrery::client {
namespace {

constexpr std::string_view kJson = "application/json;odata=minimalmetadata";
// Neither can be in an entity: it is JSON, whose line breaks stand between values.
constexpr std::string_view kBatch = "batch_orrery";
constexpr std::string_view kChangeset = "changeset_orrery";

// 'it''s', percent-encoded.
std::string quoted_key(std::string_view key) {
  std::string doubled = "'";
  for (const char c : key) {
    if (c == '\'') doubled += '\'';
    doubled += c;
  }
  return percent_encode(doubled + "'");
}

TransactionPart part_of(const Endpoint& endpoint, std::string_view method, std::string_view path,
                        std::string_view entity) {
  TransactionPart part;
  part.text = fmt::format(
      "--{}\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n"
      "{} https://{}/{}/{} HTTP/1.1\r\nAccept: {}\r\nContent-Type: application/json\r\n"
      "Prefer: return-no-content\r\n\r\n",
      kChangeset, method, endpoint.where(), endpoint.table_account, path, kJson);
  part.body_at = part.text.size();
  part.text += entity;
  part.text += "\r\n";
  return part;
}

}  // namespace

Request table_request(const Endpoint& endpoint, std::string_view method, std::string_view path) {
  Request request;
  request.method = method;
  request.target = fmt::format("/{}/{}", endpoint.table_account, path);
  request.headers = {{"accept", std::string(kJson)}};
  return request;
}

std::string entity_path(std::string_view table, std::string_view partition_key,
                        std::string_view row_key) {
  return fmt::format("{}(PartitionKey={},RowKey={})", table, quoted_key(partition_key),
                     quoted_key(row_key));
}

Status check_table(Client& client, const std::string& table) {
  auto found = succeeded(client.call(table_request(client.endpoint(), "GET",
                                                   fmt::format("Tables({})", quoted_key(table)))),
                         client.endpoint().where());
  if (found) return {};
  if (found.error().code != Code::not_found) return pass(found.error());
  return fail(Code::not_found, fmt::format("{} has no table {}", client.endpoint().where(), table));
}

Status ensure_table(Client& client, const std::string& table, std::string_view throughput) {
  Request request = table_request(client.endpoint(), "POST", "Tables");
  request.headers.emplace_back("content-type", "application/json");
  request.headers.emplace_back("prefer", "return-no-content");
  if (!throughput.empty()) {
    auto parsed = parse_throughput(throughput);
    if (!parsed) return pass(parsed.error());
    if (parsed->autoscale) {
      request.headers.emplace_back("x-ms-cosmos-offer-autopilot-settings",
                                   fmt::format("{{\"maxThroughput\":{}}}", parsed->units));
    } else {
      request.headers.emplace_back("x-ms-offer-throughput", std::to_string(parsed->units));
    }
  }
  request.body = fmt::format("{{\"TableName\":{}}}", value::quoted(table));
  auto made = succeeded(client.call(std::move(request)), client.endpoint().where());
  if (!made && made.error().code != Code::conflict) return pass(made.error());
  return check_table(client, table);
}

Request transaction_request(const Endpoint& endpoint, std::span<const std::string_view> parts) {
  Request request = table_request(endpoint, "POST", "$batch");
  request.headers.emplace_back("content-type", fmt::format("multipart/mixed; boundary={}", kBatch));
  request.body =
      fmt::format("--{}\r\nContent-Type: multipart/mixed; boundary={}\r\n\r\n", kBatch, kChangeset);
  for (const std::string_view part : parts) request.body += part;
  request.body += fmt::format("--{}--\r\n--{}--\r\n", kChangeset, kBatch);
  return request;
}

TransactionPart insert_part(const Endpoint& endpoint, std::string_view table,
                            std::string_view entity) {
  return part_of(endpoint, "POST", table, entity);
}

TransactionPart upsert_part(const Endpoint& endpoint, std::string_view table,
                            std::string_view partition_key, std::string_view row_key,
                            std::string_view entity) {
  return part_of(endpoint, "PUT", entity_path(table, partition_key, row_key), entity);
}

Result<std::optional<FailedTransaction>> transaction_failure(const Response& response,
                                                             size_t count) {
  constexpr std::string_view kStatus = "\nHTTP/1.1 ";
  const std::string_view body = response.body;
  size_t done = 0;
  for (size_t at = body.find(kStatus); at != std::string_view::npos;
       at = body.find(kStatus, at + 1)) {
    const std::string_view rest = body.substr(at + kStatus.size());
    int status = 0;
    std::from_chars(rest.data(), rest.data() + rest.size(), status);
    if (status >= 200 && status < 300) {
      ++done;
      continue;
    }
    const size_t json = rest.find("\r\n\r\n");
    const size_t end = rest.find("\r\n--");
    Response part;
    part.status = status;
    if (json < end) part.body = rest.substr(json + 4, end - json - 4);
    FailedTransaction failed{.status = status, .message = part.message()};
    const size_t colon = failed.message.find(':');
    if (failed.message.find_first_not_of("0123456789") == colon) failed.message.erase(0, colon + 1);
    return failed;
  }
  if (done == count) return std::nullopt;
  return fail(Code::internal, fmt::format("the answer to a transaction of {} operations has {} "
                                          "results",
                                          count, done));
}

}  // namespace orrery::client
