// See metrics_page.h.
#include "ops/metrics_page.h"

#include <openssl/crypto.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "base/log.h"
#include "nodes/node.h"
#include "ops/machine_metrics.h"

namespace orrery::ops {
namespace {

constexpr std::string_view kScheme = "Bearer ";
constexpr size_t kWaitingMax = 16;

}  // namespace

void MetricsPage::set_server(const net::Server* server) {
  const MutexLock lock(server_mutex_);
  server_ = server;
}

void MetricsPage::set_node(const nodes::Node* node) {
  const MutexLock lock(server_mutex_);
  node_ = node;
}

Status MetricsPage::authorize(std::string_view authorization) const {
  const std::string& token = sources_.token;
  if (token.empty()) return {};
  if (authorization.starts_with(kScheme)) {
    const std::string_view sent = authorization.substr(kScheme.size());
    if (sent.size() == token.size() &&
        CRYPTO_memcmp(sent.data(), token.data(), token.size()) == 0) {
      return {};
    }
  }
  return fail(Code::unauthorized,
              "metrics need the header \"authorization: Bearer TOKEN\", with the token from the "
              "file metrics-token in the server's data folder");
}

void MetricsPage::answer(PageRequestPtr call, bool is_own_port) {
  if (auto authorized = authorize(call->authorization); !is_own_port && !authorized) {
    call->headers += "www-authenticate: Bearer\r\n";
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
        {.code = Code::overloaded, .message = "too many are waiting for the metrics already"});
  }
  render_later();
}

void MetricsPage::render_later() {
  renderer_.post([this] { render(); });
}

// One family for each name, as the format demands: several faces count the same things.
std::string MetricsPage::text() {
  face::MetricFamilies collected;
  sources_.own.collect(collected);
  for (const face::Face* face : sources_.faces) face->add_metrics(collected);
  sources_.lanes.add_metrics(collected);
  if (sources_.forwarder != nullptr) sources_.forwarder->add_metrics(collected);
  {
    const MutexLock lock(server_mutex_);
    if (server_ != nullptr) {
      add_metrics(server_->listeners(), collected);
      add_metrics(server_->counters(), collected);
    }
    if (node_ != nullptr) add_metrics(node_->status(), collected);
  }
  add_metrics(sources_.engine, collected);
  std::map<std::string, size_t> places;
  face::MetricFamilies merged;
  for (prometheus::MetricFamily& one : collected) {
    const auto [place, is_new] = places.try_emplace(one.name, merged.size());
    if (is_new) {
      merged.push_back(std::move(one));
    } else {
      std::ranges::move(one.metric, std::back_inserter(merged[place->second].metric));
    }
  }
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(out, merged);
  return out.str();
}

void MetricsPage::render() {
  std::vector<PageRequestPtr> waiting;
  {
    const MutexLock lock(waiting_mutex_);
    waiting.swap(waiting_);
  }
  try {
    const std::string page = text();
    for (PageRequestPtr& call : waiting) call->reply(200, "text/plain; version=0.0.4", page);
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

}  // namespace orrery::ops
