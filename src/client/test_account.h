// An account for tests: a server over https that answers as the test says, and counts.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "client/client.h"
#include "net/certificate.h"
#include "net/test_server.h"

namespace orrery::client {

struct SeenRequest {
  std::string method;
  std::string target;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;

  std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (net::equals_ignoring_case(key, name)) return value;
    }
    return {};
  }
};

class TestAccount final : public net::Handler {
 public:
  // The answer to a request. Nothing: the connection is closed without one.
  using Answer = std::function<std::optional<net::Response>(const SeenRequest&)>;

  explicit TestAccount(Answer answer) : answer_(std::move(answer)) {
    char pattern[] = "/tmp/orrery-account-XXXXXX";
    folder_ = mkdtemp(pattern);
    EXPECT_TRUE(net::ensure_certificate(folder_ + "/cert.pem", folder_ + "/key.pem").has_value());
    start(0);
  }
  ~TestAccount() override {
    stop();
    std::filesystem::remove_all(folder_);
  }

  void start(uint16_t port) {
    net::HttpTestOptions options;
    options.port = port;
    options.certificate_file = folder_ + "/cert.pem";
    options.private_key_file = folder_ + "/key.pem";
    auto server = net::HttpTestServer::start(options, *this);
    ASSERT_TRUE(server) << server.error().message;
    server_ = std::move(*server);
    port_ = server_->port();
  }
  void stop() {
    if (server_) server_->stop(std::chrono::milliseconds(0));
    server_.reset();
  }
  uint16_t port() const { return port_; }

  Endpoint endpoint() const {
    Endpoint endpoint;
    endpoint.host = "127.0.0.1";
    endpoint.port = port_;
    endpoint.key = "c2VjcmV0";
    std::ifstream file(folder_ + "/cert.pem");
    endpoint.certificate = std::string{std::istreambuf_iterator<char>(file), {}};
    endpoint.data = folder_;
    return endpoint;
  }

  void handle(const net::Request& request, net::Responder responder) override {
    SeenRequest seen{.method = std::string(request.method),
                     .target = std::string(request.target),
                     .body = std::string(request.body),
                     .headers = {}};
    for (const net::Header& header : request.headers) {
      seen.headers.emplace_back(header.name, header.value);
    }
    std::optional<net::Response> response;
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back(seen);
      response = answer_(seen);
    }
    if (response) responder.send(std::move(*response));
  }

  std::vector<SeenRequest> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  Answer answer_;
  std::string folder_;
  std::unique_ptr<net::HttpTestServer> server_;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::vector<SeenRequest> seen_;
};

inline net::Response reply(int status, std::string body = {},
                           const std::vector<std::pair<std::string, std::string>>& headers = {}) {
  net::Response response;
  response.status = status;
  response.body = std::move(body);
  for (const auto& [name, value] : headers) response.add(name, value);
  return response;
}

}  // namespace orrery::client
