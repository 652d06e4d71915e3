// See admin_client.h.
#include "cli/admin_client.h"

#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "account/keys.h"
#include "cli/data_folder.h"
#include "client/client.h"
#include "ops/admin_signature.h"

namespace orrery::cli {

namespace {

constexpr size_t kMaxReplyBytes = 16ULL << 20;
constexpr const char* kUsualAccount = "orrery";  // that serve has without --account
constexpr int64_t kAnswerMs = 600'000;           // a split waits for those before it

}  // namespace

Result<client::Endpoint> find_endpoint(const ServerAddress& address) {
  auto running = read_running_server(address.data);
  client::Endpoint server;
  server.host = address.host;
  server.port = address.port;
  server.key = address.key;
  server.ca = address.ca;
  server.data = address.data;
  server.insecure = address.insecure;
  if (server.port == 0) {
    if (!running) {
      return fail(Code::not_found, running.error().message +
                                       ": say where it is with --data FOLDER, or with --host "
                                       "NAME and --port N");
    }
    server.port = running->port;
  }
  if (server.host.empty()) {
    // Without --ca only the server of this data folder is trusted, not whoever listens on its port
    // now.
    if (running && running->port == server.port) {
      server.host = running->address;
      if (server.ca.empty()) server.certificate = running->certificate;
    }
    if (server.host.empty() || server.host == "0.0.0.0") server.host = "127.0.0.1";
    if (server.host == "::") server.host = "::1";
  }
  if (server.key.empty()) {
    auto keys = read_keys(address.data);
    const bool dev = running ? running->dev : !keys;
    server.key = dev ? kEmulatorKey : keys ? keys->primary : "";
  }
  return server;
}

Result<client::Endpoint> find_table_endpoint(const ServerAddress& address) {
  auto server = find_endpoint(address);
  if (!server) return server;
  auto running = read_running_server(address.data);
  server->table_account = running && !running->account.empty() ? running->account : kUsualAccount;
  if (!running || running->port != server->port) return server;
  const auto table = running->faces.find("table");
  if (table == running->faces.end()) {
    return fail(Code::not_found,
                fmt::format("the server on the data folder {} has no tables: start it with "
                            "--table-port N",
                            address.data));
  }
  server->port = table->second;
  return server;
}

Result<std::string> call_admin(const ServerAddress& address, std::string_view method,
                               std::string_view target, std::string_view body) {
  auto server = find_endpoint(address);
  if (!server) return pass(server.error());
  auto signer = account::KeyRing::create({server->key, "", "", ""});
  if (!signer) return pass(signer.error());
  auto headers = ops::sign_admin(*signer, method, target, body, std::time(nullptr));
  if (!headers) return pass(headers.error());
  client::ClientOptions options;
  options.connections = 1;
  options.throttled_ms = 0;
  options.away_ms = 0;
  options.answer_ms = kAnswerMs;
  options.answer_bytes_max = kMaxReplyBytes;
  auto client = client::Client::open(std::move(*server), std::move(options));
  if (!client) return pass(client.error());
  client::Request request;
  request.method = method;
  request.target = target;
  request.is_signed = false;  // by the headers, which cover all of it and are good once
  request.repeatable = false;
  request.body = body;
  request.headers = {{"authorization", headers->authorization},
                     {"x-orrery-date", headers->date},
                     {"x-orrery-nonce", headers->nonce},
                     {"x-orrery-content-sha256", headers->content_sha256},
                     {"content-type", "application/json"}};
  auto response = (*client)->call(std::move(request));
  if (!response) return pass(response.error());
  if (response->status != 200) return fail(Code::invalid, response->message());
  return std::move(response->body);
}

}  // namespace orrery::cli
