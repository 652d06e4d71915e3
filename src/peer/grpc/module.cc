// See module.h.
#include "peer/grpc/module.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <utility>

#include "peer/grpc/client.h"
#include "peer/grpc/server.h"

namespace orrery::peer {
namespace {

// For what gRPC holds of received messages.
constexpr size_t kReceiveBytesMax = 512U * 1024 * 1024;
constexpr int kPingsAllowedEveryMs = 500;

Result<std::string> read_pem(const std::string& file, const char* option) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in || text.str().find("-----BEGIN ") == std::string::npos) {
    return fail(Code::invalid,
                fmt::format("{} {} cannot be read, or is no PEM file", option, file));
  }
  return text.str();
}

// gRPC has one log for the whole process.
std::atomic<void (*)(const char*)> program_log = nullptr;

void use_log(void (*log)(const char* message)) {
  program_log = log;
  gpr_set_log_function([](gpr_log_func_args* line) {
    if (auto* to = program_log.load(); to != nullptr) to(line->message);
  });
}

class GrpcNode final : public Node {
 public:
  GrpcNode(const NodeOptions& options, Answerer& answerer, ForwardReceiver& receiver)
      : options_(options), service_(options_, answerer, receiver) {}
  ~GrpcNode() override { stop(std::chrono::milliseconds(0)); }

  Status open() {
    use_log(options_.log);
    auto ca = read_pem(options_.ca_file, "--cluster-ca");
    if (!ca) return pass(ca.error());
    auto certificate = read_pem(options_.certificate_file, "--cluster-cert");
    if (!certificate) return pass(certificate.error());
    auto key = read_pem(options_.key_file, "--cluster-key");
    if (!key) return pass(key.error());

    grpc::SslServerCredentialsOptions demanded(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    demanded.pem_root_certs = *ca;
    demanded.pem_key_cert_pairs.push_back({*key, *certificate});
    grpc::ServerBuilder builder;
    builder.AddListeningPort(options_.address, grpc::SslServerCredentials(demanded), &port_);
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(static_cast<int>(options_.message_bytes_max));
    builder.SetMaxSendMessageSize(static_cast<int>(options_.message_bytes_max));
    builder.SetResourceQuota(grpc::ResourceQuota("peers").Resize(kReceiveBytesMax));
    // Two nodes with the same address is a mistake to be told of.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                               kPingsAllowedEveryMs);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) {
      return fail(Code::invalid,
                  fmt::format("cannot listen for other nodes at {}: is the address of this machine "
                              "and free, and do --cluster-cert {} and --cluster-key {} belong "
                              "together?",
                              options_.address, options_.certificate_file, options_.key_file));
    }
    client_ = std::make_unique<PeerClient>(
        options_, grpc::SslCredentials({.pem_root_certs = std::move(*ca),
                                        .pem_private_key = std::move(*key),
                                        .pem_cert_chain = std::move(*certificate)}));
    return {};
  }

  void call(const std::string& address, std::string kind, std::string bytes,
            std::chrono::milliseconds deadline, Done done) override {
    client_->call(address, std::move(kind), std::move(bytes), deadline, std::move(done));
  }
  void forward(const std::string& address, const OutgoingRequest& request,
               std::chrono::milliseconds deadline, std::stop_token stop,
               ForwardDone done) override {
    client_->forward(address, request, deadline, std::move(stop), std::move(done));
  }
  uint16_t port() const override { return static_cast<uint16_t>(port_); }
  NodeCounts counts() const override {
    NodeCounts counts;
    service_.count(counts);
    client_->count(counts);
    return counts;
  }
  void stop(std::chrono::milliseconds grace) override {
    // Those that were received may wait for what is sent.
    if (server_) server_->Shutdown(std::chrono::system_clock::now() + grace);
    if (client_) client_->stop(grace);
  }

 private:
  const NodeOptions options_;
  PeerService service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
  std::unique_ptr<PeerClient> client_;
};

// gRPC's threads for callbacks end with the last server or channel, and in version 1.51 that
// sometimes aborts the process. A server that listens nowhere and is never destroyed keeps them.
void keep_callback_threads() {
  static const grpc::Server* const keeper = [] {
    grpc::ServerBuilder builder;
    builder.RegisterService(new v1::Peer::CallbackService);
    return builder.BuildAndStart().release();
  }();
  static_cast<void>(keeper);
}

Result<std::unique_ptr<Node>> open_grpc_node(const NodeOptions& options, Answerer& answerer,
                                             ForwardReceiver& receiver) {
  keep_callback_threads();
  auto node = std::make_unique<GrpcNode>(options, answerer, receiver);
  if (auto opened = node->open(); !opened) return pass(opened.error());
  return node;
}

}  // namespace
}  // namespace orrery::peer

extern "C" __attribute__((visibility("default"))) const orrery::peer::ModuleDoor*
orrery_peer_door() {
  static const orrery::peer::ModuleDoor door{.version = orrery::peer::kModuleVersion,
                                             .open = orrery::peer::open_grpc_node};
  return &door;
}
