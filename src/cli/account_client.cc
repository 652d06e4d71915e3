// See account_client.h.
#include "cli/account_client.h"

#include <fmt/format.h>

#include "value/json_quoted.h"

namespace orrery::cli {
namespace {

Result<value::JsonDocument> parse(std::string_view text, std::string_view where) {
  auto document = value::JsonDocument::parse(text);
  if (document) return document;
  return fail(Code::internal, fmt::format("{} answered with something that is not JSON: {}", where,
                                          document.error().message));
}

}  // namespace

Result<std::unique_ptr<client::Client>> open_account(const ServerAddress& server) {
  auto endpoint = find_endpoint(server);
  if (!endpoint) return pass(endpoint.error());
  return client::Client::open(std::move(*endpoint));
}

Result<value::JsonDocument> ask(client::Client& client, client::Request request) {
  const std::string where = client.endpoint().where();
  auto response = client::succeeded(client.call(std::move(request)), where);
  if (!response) return pass(response.error());
  return parse(response->body, where);
}

Result<value::JsonDocument> ask_admin(const ServerAddress& server, std::string_view target) {
  auto reply = call_admin(server, "GET", target, "");
  if (!reply) return pass(reply.error());
  return parse(*reply, "the server");
}

Result<value::JsonDocument> QueryPages::next() {
  client::Request request = client::container_request(query_.name, "POST", "docs");
  auto& headers = request.headers;
  headers.emplace_back("content-type", "application/query+json");
  headers.emplace_back("x-ms-documentdb-isquery", "True");
  headers.emplace_back("x-ms-documentdb-query-enablecrosspartition", "True");
  headers.emplace_back("x-orrery-whole-query", "true");
  headers.emplace_back("x-ms-max-item-count", std::to_string(query_.rows_of_page));
  if (!query_.key_json.empty()) {
    headers.emplace_back("x-ms-documentdb-partitionkey", query_.key_json);
  }
  if (!continuation_.empty()) headers.emplace_back("x-ms-continuation", continuation_);
  request.body = fmt::format(R"({{"query":{},"parameters":{}}})", value::quoted(query_.text),
                             query_.parameters_json);
  const std::string where = client_.endpoint().where();
  auto response = client::succeeded(client_.call(std::move(request)), where);
  if (!response) return pass(response.error());
  charge_ += response->charge();
  continuation_ = response->header("x-ms-continuation");
  at_end_ = continuation_.empty();
  auto page = parse(response->body, where);
  if (page && rows_of(*page) == nullptr) {
    return fail(Code::internal, fmt::format("the answer of {} has no rows", where));
  }
  return page;
}

const value::Node* rows_of(const value::JsonDocument& page) {
  const value::Node* rows = page.root().find("Documents");
  return rows != nullptr && rows->type == value::Type::array ? rows : nullptr;
}

}  // namespace orrery::cli
