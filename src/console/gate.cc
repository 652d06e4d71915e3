// See gate.h.
#include "console/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/bytes.h"
#include "base/log.h"
#include "base/survive.h"
#include "console/assets.h"
#include "console/inner_request.h"
#include "face/http_error.h"
#include "net/loopback.h"
#include "value/json.h"

namespace orrery::console {
namespace {

constexpr std::string_view kRoot = "/console/";
constexpr std::string_view kApi = "/console/api/";
constexpr std::string_view kSession = "/console/api/session";
constexpr std::string_view kHot = "/console/api/hot";
constexpr std::string_view kKeys = "/console/api/keys";
constexpr std::string_view kData = "/console/api/data/";
constexpr std::string_view kAdmin = "/console/api/admin/";
constexpr std::string_view kKeyHeader = "x-ms-documentdb-partitionkey";
constexpr std::string_view kChargeHeader = "x-ms-request-charge: ";
constexpr int kThrottled = 429;
constexpr std::string_view kOwnHeader = "x-orrery-console";

// Nothing is loaded from elsewhere, run inline, framed, or kept.
constexpr std::string_view kPageHeaders =
    "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; font-src "
    "'self'; img-src 'self' data:; connect-src 'self'; manifest-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
    "referrer-policy: no-referrer\r\n"
    "x-content-type-options: nosniff\r\n"
    "cross-origin-opener-policy: same-origin\r\n"
    "cross-origin-resource-policy: same-origin\r\n";
constexpr std::string_view kNotKept = "cache-control: no-store\r\n";

// Pages of operators that the console has a use for.
constexpr std::string_view kNewKey = "keys/regenerate";
constexpr std::array<std::string_view, 11> kAdminPages = {
    "split",         "partitions",   "containers",        "advise", "history", "cluster",
    "cluster/drain", "cluster/move", "cluster/rebalance", "run",    kNewKey};

constexpr size_t kHotKeysShown = 10;
constexpr std::string_view kNoSession =
    "there is no session, or it has ended: it lasts an hour without a request, eight hours in all, "
    "and as long as its key; sign in again";

std::string_view path_of(std::string_view target) {
  return target.substr(0, target.find('?'));
}

// The rest of the main port is not to be reached by this way.
bool is_for_face(std::string_view path) {
  if (!path.starts_with(kData)) return false;
  const std::string_view rest = path.substr(kData.size());
  return rest.empty() || rest.starts_with("dbs") || rest.starts_with("offers");
}

// A parameter of the target's query, decoded; empty when it is not there.
std::string parameter(std::string_view target, std::string_view name) {
  std::string_view rest = target.substr(std::min(target.size(), target.find('?')));
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(one.size());
    if (!one.starts_with(name) || !one.substr(name.size()).starts_with('=')) continue;
    auto decoded = percent_decode(one.substr(name.size() + 1));
    return decoded ? *decoded : "";
  }
  return "";
}

net::Response json_response(int status, std::string json) {
  net::Response response;
  response.status = status;
  response.add("content-type", "application/json");
  response.headers += kNotKept;
  response.headers += "x-content-type-options: nosniff\r\n";
  response.body = std::move(json);
  return response;
}

void append_names(std::string& json, const std::vector<std::string>& names) {
  json += '[';
  for (const std::string& name : names) {
    if (!json.ends_with('[')) json += ',';
    face::append_message(json, name);
  }
  json += ']';
}

net::Response failure(int status, std::string_view message) {
  std::string json = fmt::format(R"({{"code":"{}","message":)", face::status_name(status));
  face::append_message(json, message);
  json += '}';
  return json_response(status, std::move(json));
}

net::Response failure(const Error& error) {
  return failure(face::http_status(error.code), error.message);
}

net::Response redirect(std::string_view to) {
  net::Response response;
  response.status = 302;
  response.add("location", to);
  response.headers += kNotKept;
  return response;
}

// Browsers send a cookie to every port of a host: two servers on one machine must not take each
// other's for their own.
std::string cookie_name(const net::Request& request) {
  const std::string_view host = request.header("host");
  const size_t colon = host.rfind(':');
  std::string name = "orrery_console";
  if (colon == std::string_view::npos || host.ends_with(']')) return name;
  name += '_';
  for (const char c : host.substr(colon + 1, 5)) {
    if (c >= '0' && c <= '9') name += c;
  }
  return name;
}

std::string cookie_line(const net::Request& request, std::string_view token, int64_t age_s) {
  return fmt::format(
      "set-cookie: {}={}; Path=/console; Max-Age={}; HttpOnly; SameSite=Strict{}\r\n",
      cookie_name(request), token, age_s, request.tls ? "; Secure" : "");
}

std::string_view cookie_of(const net::Request& request) {
  const std::string name = cookie_name(request);
  std::string_view rest = request.header("cookie");
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) {
      return one.substr(name.size() + 1);
    }
  }
  return {};
}

// Sends the answer of the handler behind to the page. Holds the request that it is about.
class PassedOn final : public net::ResponseSink {
 public:
  PassedOn(InnerRequest request_in, net::Responder responder, std::string headers)
      : request(std::move(request_in)),
        responder_(std::move(responder)),
        headers_(std::move(headers)) {}

  void send(net::Response&& response) noexcept override {
    // Without memory for them the answer goes without.
    survive("adding to the headers of an answer", [&] { response.headers += headers_; });
    responder_.send(std::move(response));
  }
  // The Responder answers when it is destroyed.
  void abandon() noexcept override {}
  bool is_gone() const override { return responder_.is_gone(); }

  const InnerRequest request;

 private:
  net::Responder responder_;
  const std::string headers_;
};

// Looks at the answer of a sampled request on its way. The request stays in place until then.
class Watched final : public net::ResponseSink {
 public:
  Watched(const net::Request& request, net::Responder responder, std::shared_ptr<HotKeys> keys,
          const Clock& clock, uint32_t stands_for)
      : target_(request.target),
        key_(request.header(kKeyHeader)),
        responder_(std::move(responder)),
        keys_(std::move(keys)),
        now_ms_(clock.now_ms()),
        stands_for_(stands_for) {}

  void send(net::Response&& response) noexcept override {
    survive("noting which key was asked for", [&] {
      const bool is_refused = response.status == kThrottled;
      const auto charge = is_refused ? std::nullopt : charge_of(response.headers);
      if (is_refused || charge) {
        keys_->note(target_, key_, charge, now_ms_, stands_for_);
      }
    });
    responder_.send(std::move(response));
  }
  // The Responder answers when it is destroyed.
  void abandon() noexcept override {}
  bool is_gone() const override { return responder_.is_gone(); }

 private:
  static std::optional<double> charge_of(std::string_view headers) {
    const size_t at = headers.find(kChargeHeader);
    if (at == std::string_view::npos) return std::nullopt;
    headers.remove_prefix(at + kChargeHeader.size());
    double charge = 0;
    const auto [end, error] =
        std::from_chars(headers.data(), headers.data() + headers.size(), charge);
    // Nothing is charged for what was wrong.
    return error == std::errc() && charge > 0 ? std::optional(charge) : std::nullopt;
  }

  const std::string_view target_;
  const std::string_view key_;
  net::Responder responder_;
  const std::shared_ptr<HotKeys> keys_;
  const int64_t now_ms_;
  const uint32_t stands_for_;
};

}  // namespace

Result<std::unique_ptr<Gate>> Gate::create(const account::Account& account, const Clock& clock,
                                           net::Handler& behind, GateOptions options) {
  auto sessions = Sessions::create(account);
  if (!sessions) return pass(sessions.error());
  return std::unique_ptr<Gate>(
      new Gate(account, clock, behind, std::move(options), std::move(*sessions)));
}

void Gate::handle(const net::Request& request, net::Responder responder) {
  const std::string_view path = path_of(request.target);
  if (path == "/" && request.method == "GET" &&
      request.header("accept").find("text/html") != std::string_view::npos) {
    return responder.send(redirect(kRoot));
  }
  if (path == "/console") return responder.send(redirect(kRoot));
  if (!path.starts_with(kRoot)) {
    const uint32_t stands_for = hot_keys_->take(clock_);
    if (stands_for > 0 && !request.header(kKeyHeader).empty()) {
      return behind_.handle(
          request, net::Responder(std::make_shared<Watched>(request, std::move(responder),
                                                            hot_keys_, clock_, stands_for)));
    }
    return behind_.handle(request, std::move(responder));
  }
  if (!path.starts_with(kApi)) {
    return responder.send(page(request, path.substr(kRoot.size())));
  }
  if (auto refused = check_origin(request)) return responder.send(std::move(*refused));
  if (path == kSession) return responder.send(session(request));
  if (path == kHot) return responder.send(hot(request));
  if (path == kKeys) return responder.send(keys(request));
  if (is_for_face(path)) {
    return pass_on(request, request.target.substr(kData.size() - 1), std::move(responder));
  }
  const std::string_view page_name = path.substr(std::min(path.size(), kAdmin.size()));
  if (path.starts_with(kAdmin) && std::ranges::find(kAdminPages, page_name) != kAdminPages.end()) {
    if (page_name == kNewKey) {
      if (auto refused = refuse_key(request)) return responder.send(std::move(*refused));
    }
    return pass_on(request,
                   request.target.substr(kAdmin.size() - std::string_view("/admin/").size()),
                   std::move(responder));
  }
  responder.send(failure(404, fmt::format("the console has no {}", path.substr(0, 256))));
}

std::optional<net::Response> Gate::refuse(const net::Request& head) {
  const std::string_view path = path_of(head.target);
  if (!path.starts_with(kRoot)) return behind_.refuse(head);
  if (!is_for_face(path)) return failure(413, "requests to the console have no large body");
  if (auto refused = check_origin(head)) return refused;
  if (!session_of(head)) return failure(401, kNoSession);
  return std::nullopt;
}

net::Response Gate::page(const net::Request& request, std::string_view path) const {
  const Asset* asset = find_asset(path);
  if (request.method != "GET" && request.method != "HEAD") {
    return failure(405, "the console's files can only be read");
  }
  if (asset == nullptr) return failure(404, "the console has no such file");
  net::Response response;
  response.add("content-type", asset->type);
  if (asset->gzipped) response.headers += "content-encoding: gzip\r\n";
  // A file's name changes with what is in it; the page names the files.
  response.headers +=
      asset->path.empty() ? kNotKept : "cache-control: public, max-age=31536000, immutable\r\n";
  response.headers += kPageHeaders;
  response.body = asset->bytes;
  return response;
}

std::optional<net::Response> Gate::check_origin(const net::Request& request) const {
  if (request.header(kOwnHeader).empty()) {
    return failure(403,
                   "this is for the console's own page, which says so in x-orrery-console; "
                   "programs sign their requests with a key instead");
  }
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin") {
    return failure(403, "another site's page asked for this: the console answers its own alone");
  }
  const std::string_view origin = request.header("origin");
  const std::string_view scheme = request.tls ? "https://" : "http://";
  if (!origin.empty() &&
      (!origin.starts_with(scheme) ||
       !equals_ignore_case(origin.substr(scheme.size()), request.header("host")))) {
    return failure(403, "another site's page asked for this: the console answers its own alone");
  }
  return std::nullopt;
}

std::optional<Session> Gate::session_of(const net::Request& request) const {
  return sessions_->check(cookie_of(request), clock_.now_s());
}

// The Host as well as the address: a page of elsewhere whose name leads here has its own.
bool Gate::may_enter_without_key(const net::Request& request) const {
  return options_.dev && net::is_loopback(request.peer) && net::is_loopback(request.header("host"));
}

net::Response Gate::session_json(const net::Request& request,
                                 const std::optional<Session>& session) const {
  std::string json = "{\"account\":";
  face::append_message(json, account_.name());
  json += ",\"version\":";
  face::append_message(json, options_.version);
  json += fmt::format(",\"withoutKey\":{},\"otherFaces\":", may_enter_without_key(request));
  append_names(json, options_.other_faces);
  json += ",\"languages\":";
  append_names(json, options_.languages);
  if (session) {
    json += fmt::format(R"(,"access":"{}","endsInSeconds":{},"mostSeconds":{})",
                        session->access == account::Access::read_write ? "read-write" : "read-only",
                        session->ends_s - clock_.now_s(),
                        session->opened_s + kSessionS - clock_.now_s());
  }
  json += '}';
  return json_response(200, std::move(json));
}

net::Response Gate::session(const net::Request& request) {
  if (request.method == "POST") return sign_in(request);
  auto session = session_of(request);
  if (request.method == "GET") return session_json(request, session);
  if (request.method != "DELETE") {
    return failure(405, "a session can be asked for, opened and ended");
  }
  if (session) sessions_->close(*session);
  net::Response response = session_json(request, std::nullopt);
  response.headers += cookie_line(request, "", 0);
  return response;
}

net::Response Gate::sign_in(const net::Request& request) {
  auto document = value::JsonDocument::parse(request.body);
  const value::Node* key = document ? document->root().find("key") : nullptr;
  if (!document || (key != nullptr && key->type != value::Type::string)) {
    return failure(400, "the body is to be {\"key\":\"…\"}, or {} where no key is needed");
  }
  const int64_t now_s = clock_.now_s();
  Result<std::string> token;
  if (key == nullptr) {
    if (!may_enter_without_key(request)) {
      return failure(401,
                     "sign in with a key: without one the console opens only for a server "
                     "with --dev, called from this machine by its own name");
    }
    token = sessions_->open_without_key(now_s);
  } else {
    if (!may_try(request.peer)) {
      return failure(429, fmt::format("{} wrong keys came from this address within a minute: wait "
                                      "for a minute",
                                      kTriesMax));
    }
    token = sessions_->open(key->text, now_s);
    if (!token && token.error().code == Code::unauthorized) note_failure(request.peer);
  }
  if (!token) return failure(token.error());
  net::Response response = session_json(request, sessions_->check(*token, now_s));
  response.headers += cookie_line(request, *token, kIdleS);
  return response;
}

net::Response Gate::hot(const net::Request& request) {
  if (!session_of(request)) return failure(401, kNoSession);
  const HotKeyList list = hot_keys_->of(parameter(request.target, "database"),
                                        parameter(request.target, "container"), clock_.now_ms());
  std::string json = fmt::format(R"({{"sampled":{:.0f},"keys":[)", list.sampled);
  for (size_t i = 0; i < std::min(list.keys.size(), kHotKeysShown); ++i) {
    if (i > 0) json += ',';
    json += "{\"key\":";
    face::append_message(json, list.keys[i].key);
    json += fmt::format(R"(,"part":{:.4f},"unitsPerSecond":{:.2f}}})", list.keys[i].part,
                        list.keys[i].units_per_s);
  }
  json += "]}";
  return json_response(200, std::move(json));
}

std::optional<net::Response> Gate::refuse_key(const net::Request& request) const {
  const auto session = session_of(request);
  if (!session) return failure(401, kNoSession);
  if (!request.tls && !net::is_loopback(request.peer)) {
    return failure(403,
                   "the answer is a key, and http would show it to everybody on the way: open the "
                   "console by https");
  }
  if (clock_.now_s() - session->opened_s > kFreshS) {
    return failure(403,
                   fmt::format("this session was opened more than {} minutes ago: sign out and "
                               "in again to see keys and to make new ones",
                               kFreshS / 60));
  }
  return std::nullopt;
}

net::Response Gate::keys(const net::Request& request) {
  const auto session = session_of(request);
  if (!session) return failure(401, kNoSession);
  account::Keys texts = account_.keys().texts();
  const auto may_see = [&](account::KeyName name) {
    return session->access == account::Access::read_write ||
           account::access_of(name) == account::Access::read_only;
  };
  if (request.method == "GET") {
    std::string json = fmt::format(R"({{"fixed":{},"keys":[)", !account_.can_regenerate());
    for (const account::KeyName name : account::kAllKeys) {
      if (key_of(texts, name).empty()) continue;
      if (json.back() != '[') json += ',';
      json += fmt::format(
          R"({{"key":"{}","access":"{}","maySee":{}}})", to_string(name),
          account::access_of(name) == account::Access::read_write ? "read-write" : "read-only",
          may_see(name));
    }
    return json_response(200, json + "]}");
  }
  if (request.method != "POST") return failure(405, "keys can be listed (GET) and shown (POST)");
  if (auto refused = refuse_key(request)) return std::move(*refused);
  auto document = value::JsonDocument::parse(request.body);
  const value::Node* key = document ? document->root().find("key") : nullptr;
  auto name = account::parse_key_name(
      key != nullptr && key->type == value::Type::string ? key->text : std::string_view());
  if (!name) return failure(name.error());
  if (!may_see(*name)) {
    return failure(403, "this session was opened by a read-only key, and may see those alone");
  }
  const std::string& text = key_of(texts, *name);
  if (text.empty()) return failure(404, "this key is not in use");
  log::info("a key was shown in the console", {{"key", to_string(*name)}, {"peer", request.peer}});
  std::string json = fmt::format(R"({{"key":"{}","value":)", to_string(*name));
  face::append_message(json, text);
  return json_response(200, json + "}");
}

void Gate::pass_on(const net::Request& request, std::string_view target, net::Responder responder) {
  const auto session = session_of(request);
  if (!session) {
    return responder.send(failure(401, kNoSession));
  }
  const int64_t now_s = clock_.now_s();
  auto inner = InnerRequest::sign(request, target, account_.keys(), session->access, now_s);
  if (!inner) return responder.send(failure(inner.error()));
  std::string headers(kNotKept);
  if (auto renewed = sessions_->renew(cookie_of(request), now_s)) {
    headers += cookie_line(request, *renewed, kIdleS);
  }
  const auto sink =
      std::make_shared<PassedOn>(std::move(*inner), std::move(responder), std::move(headers));
  behind_.handle(sink->request.request(), net::Responder(sink));
}

bool Gate::may_try(std::string_view peer) {
  const MutexLock lock(mutex_);
  const auto found = tries_.find(std::string(peer));
  return found == tries_.end() || found->second.failed < kTriesMax ||
         clock_.now_s() - found->second.since_s >= 60;
}

void Gate::note_failure(std::string_view peer) {
  const int64_t now_s = clock_.now_s();
  const MutexLock lock(mutex_);
  std::erase_if(tries_, [now_s](const auto& one) { return now_s - one.second.since_s >= 60; });
  if (tries_.size() >= kTriersMax) return;
  Tries& tries = tries_[std::string(peer)];
  if (tries.failed == 0) tries.since_s = now_s;
  ++tries.failed;
}

}  // namespace orrery::console
