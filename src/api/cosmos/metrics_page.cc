// See metrics_page.h.
#include "api/cosmos/metrics_page.h"

#include <openssl/crypto.h>

#include <exception>
#include <utility>

#include "base/log.h"

namespace orrery::cosmos {
namespace {

constexpr std::string_view kScheme = "Bearer ";
constexpr size_t kWaitingMax = 16;

}  // namespace

MetricsPage::MetricsPage(const Metrics& metrics, const cluster::Engine& engine, const Lanes& lanes,
                         std::string token)
    : metrics_(metrics), engine_(engine), lanes_(lanes), token_(std::move(token)) {}

void MetricsPage::set_server(const net::Server* server) {
  const MutexLock lock(server_mutex_);
  server_ = server;
}

Status MetricsPage::authorize(std::string_view authorization) const {
  if (token_.empty()) return {};
  if (authorization.starts_with(kScheme)) {
    const std::string_view sent = authorization.substr(kScheme.size());
    if (sent.size() == token_.size() &&
        CRYPTO_memcmp(sent.data(), token_.data(), token_.size()) == 0) {
      return {};
    }
  }
  return fail(Code::unauthorized,
              "metrics need the header \"authorization: Bearer TOKEN\", with the token from the "
              "file metrics-token in the server's data folder");
}

void MetricsPage::answer(CallPtr call) {
  if (auto authorized = authorize(call->headers.authorization); !authorized) {
    call->response.headers += "www-authenticate: Bearer\r\n";
    return call->fail(authorized.error());
  }
  {
    const MutexLock lock(waiting_mutex_);
    if (waiting_.size() < kWaitingMax) {
      waiting_.push_back(std::move(call));
      if (std::exchange(rendering_, true)) return;
    }
  }
  if (call) {
    return call->fail(
        Error{.code = Code::overloaded, .message = "too many are waiting for the metrics already"});
  }
  render_later();
}

void MetricsPage::render_later() {
  renderer_.post([this] { render(); });
}

void MetricsPage::render() {
  std::vector<CallPtr> waiting;
  {
    const MutexLock lock(waiting_mutex_);
    waiting.swap(waiting_);
  }
  net::ServerCounters counters;
  {
    const MutexLock lock(server_mutex_);
    if (server_ != nullptr) counters = server_->counters();
  }
  try {
    const std::string text = metrics_.render(engine_, counters, lanes_);
    for (CallPtr& call : waiting) {
      call->response.headers += "content-type: text/plain; version=0.0.4\r\n";
      call->response.body = text;
      call->reply_text();
    }
  } catch (const std::exception& error) {
    // Whoever was not answered gets 500 when its call is destroyed; the next ones are served.
    log::error("cannot make the metrics", {{"error", error.what()}});
  }
  {
    const MutexLock lock(waiting_mutex_);
    rendering_ = !waiting_.empty();
    if (!rendering_) return;
  }
  // Those who came meanwhile want what is true now.
  render_later();
}

}  // namespace orrery::cosmos
