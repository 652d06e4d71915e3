// One request by libcurl, with its defaults off: no proxy from the environment, no redirects, no
// other protocols, and no system certificates where others are named.
#include "cli/admin_client.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <memory>
#include <utility>

#include "account/keys.h"
#include "cli/data_folder.h"
#include "ops/admin_signature.h"
#include "value/json.h"

namespace orrery::cli {
namespace {

constexpr size_t kMaxReplyBytes = 16ULL << 20;
constexpr long kConnectMs = 10'000;
constexpr long kAnswerMs = 600'000;  // a split waits for those before it

template <auto Free>
struct Freer {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};
using Curl = std::unique_ptr<CURL, Freer<curl_easy_cleanup>>;
using Url = std::unique_ptr<CURLU, Freer<curl_url_cleanup>>;
using Lines = std::unique_ptr<curl_slist, Freer<curl_slist_free_all>>;

struct Server {
  std::string host;
  uint16_t port = 0;
  std::string key;
  std::string certificate;  // PEM; the one that the server must have. Empty: see `ca`
  std::string ca;           // PEM file; empty: the system's
  std::string data;

  std::string where() const { return fmt::format("{}:{}", host, port); }
};

// The answer's body, up to kMaxReplyBytes.
size_t take_reply(char* data, size_t one, size_t count, void* reply) {
  auto& text = *static_cast<std::string*>(reply);
  const size_t size = one * count;
  if (text.size() + size > kMaxReplyBytes) return 0;
  text.append(data, size);
  return size;
}

std::unexpected<Error> no_client() {
  return fail(Code::internal, "libcurl could not be set up");
}

bool append(Lines& lines, const std::string& line) {
  curl_slist* longer = curl_slist_append(lines.get(), line.c_str());
  if (longer == nullptr) return false;
  (void)lines.release();
  lines.reset(longer);
  return true;
}

// Set part by part: no host or target can become another part of the address.
Result<Url> url_of(const Server& server, std::string_view target) {
  Url url(curl_url());
  if (!url) return no_client();
  const size_t question = target.find('?');
  const std::string path(target.substr(0, question));
  const std::string host =
      server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
  if (curl_url_set(url.get(), CURLUPART_HOST, host.c_str(), 0) != CURLUE_OK) {
    return fail(Code::invalid,
                fmt::format("--host '{}' is not a host name or an address", server.host));
  }
  bool set = curl_url_set(url.get(), CURLUPART_SCHEME, "https", 0) == CURLUE_OK &&
             curl_url_set(url.get(), CURLUPART_PORT, std::to_string(server.port).c_str(), 0) ==
                 CURLUE_OK &&
             curl_url_set(url.get(), CURLUPART_PATH, path.c_str(), 0) == CURLUE_OK;
  if (question != std::string_view::npos) {
    const std::string query(target.substr(question + 1));
    set = set && curl_url_set(url.get(), CURLUPART_QUERY, query.c_str(), 0) == CURLUE_OK;
  }
  if (!set) return no_client();
  return url;
}

// Which certificates to trust. The server's own certificate needs no check of the host name:
// whoever has its private key is that server, at any address.
bool set_trust(CURL* curl, const Server& server) {
  bool set = curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
             curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, server.certificate.empty() ? 2L : 0L) ==
                 CURLE_OK &&
             curl_easy_setopt(curl, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2}) == CURLE_OK;
  if (!server.certificate.empty()) {
    curl_blob blob{.data = const_cast<char*>(server.certificate.data()),
                   .len = server.certificate.size(),
                   .flags = CURL_BLOB_COPY};
    set = set && curl_easy_setopt(curl, CURLOPT_CAINFO, nullptr) == CURLE_OK &&
          curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr) == CURLE_OK &&
          curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK;
  } else if (!server.ca.empty()) {
    set = set && curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr) == CURLE_OK &&
          curl_easy_setopt(curl, CURLOPT_CAINFO, server.ca.c_str()) == CURLE_OK;
  }
  return set;
}

// What went wrong, and what to do. `detail` is libcurl's.
Error error_of(CURLcode code, const Server& server, std::string_view detail) {
  const std::string where = server.where();
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::invalid, fmt::format("cannot find {}: {}", server.host, detail)};
    case CURLE_COULDNT_CONNECT:
      return {Code::not_found, fmt::format("no server answers on {} ({})", where, detail)};
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::internal, fmt::format("{} did not answer in time ({})", where, detail)};
    case CURLE_WRITE_ERROR:
      return {Code::internal, fmt::format("the answer of {} is too large", where)};
    case CURLE_SSL_CACERT_BADFILE:
      return {Code::invalid,
              fmt::format("--ca {} holds no PEM certificate that can be used", server.ca)};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::invalid,
              fmt::format("{} does not speak https; nothing was sent to it ({})", where, detail)};
    case CURLE_PEER_FAILED_VERIFICATION:
      break;
    default:
      return {Code::internal, fmt::format("the exchange with {} failed: {}", where, detail)};
  }
  if (!server.certificate.empty()) {
    return {Code::unauthorized,
            fmt::format("{} is not the server that runs on the data folder {}: its certificate is "
                        "another. Nothing was sent to it. Name the folder of that server with "
                        "--data, or the certificate to trust with --ca FILE ({})",
                        where, server.data, detail)};
  }
  return {
      Code::unauthorized,
      fmt::format("the certificate of {} is not one to trust{}. Nothing was sent to it. Bring "
                  "the server's cert.pem, or that of its issuer, here in a safe way and name "
                  "it with --ca FILE; --host must be a name that it is made for ({})",
                  where, server.ca.empty() ? " by this system" : " by --ca " + server.ca, detail)};
}

std::string message_of(std::string_view body) {
  auto document = value::JsonDocument::parse(body);
  const value::Node* message = document ? document->root().find("message") : nullptr;
  std::string text(message != nullptr ? message->text : body);
  // The activity id that follows is for support, not for a command's output.
  return text.substr(0, text.find("\r\n"));
}

Result<std::string> exchange(const Server& server, std::string_view method, std::string_view target,
                             std::string_view body, const ops::AdminHeaders& headers) {
  static const bool ready = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  const Curl owner(ready ? curl_easy_init() : nullptr);
  CURL* curl = owner.get();
  if (curl == nullptr) return no_client();
  auto url = url_of(server, target);
  if (!url) return pass(url.error());
  Lines lines;
  bool set = append(lines, "authorization: " + headers.authorization) &&
             append(lines, "x-ms-date: " + headers.date) &&
             append(lines, "x-orrery-nonce: " + headers.nonce) &&
             append(lines, "x-orrery-content-sha256: " + headers.content_sha256) &&
             append(lines, "content-type: application/json");
  std::string reply;
  std::array<char, CURL_ERROR_SIZE> detail{};
  set = set && set_trust(curl, server) &&
        curl_easy_setopt(curl, CURLOPT_CURLU, url->get()) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https") == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1}) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMs) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, kAnswerMs) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail.data()) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_reply) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines.get()) == CURLE_OK;
  if (method == "POST") {
    set =
        set &&
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size())) == CURLE_OK &&
        curl_easy_setopt(curl, CURLOPT_COPYPOSTFIELDS, body.data()) == CURLE_OK;
  }
  if (!set) return no_client();
  if (const CURLcode done = curl_easy_perform(curl); done != CURLE_OK) {
    return pass(error_of(done, server, detail[0] != 0 ? detail.data() : curl_easy_strerror(done)));
  }
  long status = 0;
  if (curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status) != CURLE_OK) return no_client();
  if (status != 200) return fail(Code::invalid, message_of(reply));
  return reply;
}

Result<Server> find_server(const ServerAddress& address) {
  auto running = read_running_server(address.data);
  Server server{.host = address.host,
                .port = address.port,
                .key = address.key,
                .certificate = {},
                .ca = address.ca,
                .data = address.data};
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

}  // namespace

Result<std::string> call_admin(const ServerAddress& address, std::string_view method,
                               std::string_view target, std::string_view body) {
  auto server = find_server(address);
  if (!server) return pass(server.error());
  auto signer = account::KeyRing::create({server->key, "", "", ""});
  if (!signer) return pass(signer.error());
  auto headers = ops::sign_admin(*signer, method, target, body, std::time(nullptr));
  if (!headers) return pass(headers.error());
  return exchange(*server, method, target, body, *headers);
}

}  // namespace orrery::cli
