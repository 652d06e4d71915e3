// Requests to the console's gate: a line each for the method, the target, the cookie, the origin
// and the key header, then the body. Nothing but what the gate allows may reach the handler behind,
// and nothing reaches it without a session.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "console/gate.h"

namespace {

using namespace orrery;

struct Answer final : net::ResponseSink {
  void send(net::Response&& made) noexcept override { status = made.status; }
  void abandon() noexcept override { status = 500; }
  int status = 0;
};

struct Behind final : net::Handler {
  void handle(const net::Request& request, net::Responder responder) override {
    // What comes from below /console/ is signed by now.
    if (is_console && request.header("authorization").empty()) std::abort();
    if (is_console && !is_signed_in) std::abort();
    if (is_console && request.target.starts_with("/admin/keys")) std::abort();
    responder.send({});
  }
  bool is_console = false;
  bool is_signed_in = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const ManualClock clock;
  static const auto account = *account::Account::open({to_base64("a key of a fuzzer"), "", "", ""},
                                                      "the secret of a fuzzer", {});
  static Behind behind;
  static const auto gate =
      *console::Gate::create(*account, clock, behind, {.dev = true, .version = ""});
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string, 5> lines;
  for (std::string& line : lines) {
    line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  const auto& [method, target, cookie, origin, key] = lines;
  net::Request request;
  request.method = method;
  request.target = target;
  request.body = rest;
  request.peer = "127.0.0.1";
  request.headers = {{"host", "localhost:8081"},
                     {"x-orrery-console", "1"},
                     {"cookie", cookie},
                     {"x-ms-documentdb-partitionkey", key}};
  if (!origin.empty()) request.headers.push_back({"origin", origin});
  behind.is_console = target.starts_with("/console");
  behind.is_signed_in = false;  // nobody can guess a session
  const auto answer = std::make_shared<Answer>();
  gate->handle(request, net::Responder(answer));
  if (answer->status == 0) std::abort();
  (void)gate->refuse(request);
  return 0;
}
