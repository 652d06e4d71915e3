// See export_source.h.
#include "cli/export_source.h"

#include <ctime>
#include <utility>

#include "cluster/exporting/export_messages.h"
#include "ops/admin_signature.h"

namespace orrery::cli {
namespace {

constexpr const char* kTarget = "/admin/export";
constexpr int64_t kExportAnswerMs = 120'000;  // a partition is claimed and flushed
constexpr size_t kAnswerBytes = cluster::kExportReadMax + (64ULL << 20);  // a catalog's list

Code code_of(int status) {
  switch (status) {
    case 410:
      return Code::moved;
    case 412:
      return Code::precondition_failed;
    case 429:
    case 503:
      return Code::overloaded;
    default:
      return Code::invalid;
  }
}

}  // namespace

Result<std::unique_ptr<ExportSource>> ExportSource::open(const ServerAddress& address,
                                                         std::function<bool()> stopped) {
  auto server = find_endpoint(address);
  if (!server) return pass(server.error());
  auto signer = account::KeyRing::create({server->key, "", "", ""});
  if (!signer) return pass(signer.error());
  client::ClientOptions options;
  options.connections = 1;
  options.throttled_ms = 0;
  options.away_ms = 0;
  options.answer_ms = kExportAnswerMs;
  options.answer_bytes_max = kAnswerBytes;
  options.stopped = std::move(stopped);
  auto client = client::Client::open(std::move(*server), std::move(options));
  if (!client) return pass(client.error());
  return std::unique_ptr<ExportSource>(new ExportSource(std::move(*signer), std::move(*client)));
}

Result<std::string> ExportSource::ask(const std::string& body) {
  auto headers = ops::sign_admin(signer_, "POST", kTarget, body, std::time(nullptr));
  if (!headers) return pass(headers.error());
  client::Request request;
  request.method = "POST";
  request.target = kTarget;
  request.is_signed = false;
  request.repeatable = false;
  request.body = body;
  request.headers = {{"authorization", headers->authorization},
                     {"x-orrery-date", headers->date},
                     {"x-orrery-nonce", headers->nonce},
                     {"x-orrery-content-sha256", headers->content_sha256},
                     {"content-type", "application/octet-stream"}};
  auto response = client_->call(std::move(request));
  if (!response) {
    Error error = response.error();
    if (has_answered_ && error.code != Code::would_wait) error.code = Code::overloaded;
    return pass(std::move(error));
  }
  has_answered_ = true;
  if (response->status != 200) return fail(code_of(response->status), response->message());
  return std::move(response->body);
}

}  // namespace orrery::cli
