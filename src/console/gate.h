// The web console in front of a port: serves the page, opens and ends sessions, and passes on what
// a session asks for. Everything else goes to the handler behind.
//
//   GET    /                      for a browser (Accept has text/html): on to /console/
//   GET    /console/…             the page and its files (assets.h)
//   GET    /console/api/session   who one is, and how one may sign in
//   POST   /console/api/session   {"key":…} opens one; {} does with --dev, on this machine
//   DELETE /console/api/session   ends it
//   GET    /console/api/hot       ?database=…&container=…: the keys asked for most (hot_keys.h)
//   GET    /console/api/keys      which keys there are, and which of them the session may see
//   POST   /console/api/keys      {"key":"primary"}: that key
//   …      /console/api/data/…    to the main face, as /…
//   …      /console/api/admin/…   to the pages of operators that are for the page, as /admin/…
//
// A request below /console/api/ needs the header x-orrery-console, which no other site can send
// without asking, and may not come from one: Sec-Fetch-Site, where a browser says it, is
// same-origin, and Origin, if there is one, names the host that was called. The cookie is HttpOnly
// and SameSite=Strict, and is named after the port, as browsers do not keep ports apart.
//
// No key is ever logged or stored. The page gets one when a person asks for it, by a session that
// was opened lately (kFreshS), and that can do what the key can: what is left open for hours gives
// no key away. The same goes for making a new one.
//
// Threading: event-loop threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "account/account.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/thread_annotations.h"
#include "console/hot_keys.h"
#include "console/session.h"
#include "net/http.h"

namespace orrery::console {

// Wrong keys that one address may try in a minute.
inline constexpr uint32_t kTriesMax = 10;
// Addresses whose tries are counted at a time.
inline constexpr size_t kTriersMax = 1'024;

// How long after signing in keys are shown and made.
inline constexpr int64_t kFreshS = 15 * 60;

struct GateOptions {
  bool dev = false;  // one may sign in without a key, from this machine
  std::string version;
  std::vector<std::string> other_faces = {};  // whose databases are FACE:NAME, and read-only
  std::vector<std::string> languages = {};    // faces whose texts /admin/run runs
};

class Gate final : public net::Handler {
 public:
  // All outlive it. Code::internal when the system gives no random bytes.
  static Result<std::unique_ptr<Gate>> create(const account::Account& account, const Clock& clock,
                                              net::Handler& behind, GateOptions options);

  void handle(const net::Request& request, net::Responder responder) override;
  std::optional<net::Response> refuse(const net::Request& head) override;

 private:
  Gate(const account::Account& account, const Clock& clock, net::Handler& behind,
       GateOptions options, std::unique_ptr<Sessions> sessions)
      : account_(account),
        clock_(clock),
        behind_(behind),
        options_(std::move(options)),
        sessions_(std::move(sessions)) {}

  net::Response page(const net::Request& request, std::string_view path) const;
  // Why a request below /console/api/ is not looked at, if it is not.
  std::optional<net::Response> check_origin(const net::Request& request) const;
  std::optional<Session> session_of(const net::Request& request) const;
  bool may_enter_without_key(const net::Request& request) const;
  net::Response session(const net::Request& request);
  net::Response sign_in(const net::Request& request);
  net::Response session_json(const net::Request& request,
                             const std::optional<Session>& session) const;
  net::Response hot(const net::Request& request);
  net::Response keys(const net::Request& request);
  // Why this request may not have a key for its answer; nothing if it may.
  std::optional<net::Response> refuse_key(const net::Request& request) const;
  void pass_on(const net::Request& request, std::string_view target, net::Responder responder);
  // Whether this address may try another key now, and the count of one that failed.
  bool may_try(std::string_view peer);
  void note_failure(std::string_view peer);

  const account::Account& account_;
  const Clock& clock_;
  net::Handler& behind_;
  const GateOptions options_;
  const std::unique_ptr<Sessions> sessions_;
  // Also held by requests on their way.
  const std::shared_ptr<HotKeys> hot_keys_ = std::make_shared<HotKeys>();

  struct Tries {
    int64_t since_s = 0;
    uint32_t failed = 0;
  };
  Mutex mutex_;
  std::unordered_map<std::string, Tries> tries_ ORRERY_GUARDED_BY(mutex_);  // by address
};

}  // namespace orrery::console
