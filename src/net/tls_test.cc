// TLS on the port that also speaks plain HTTP; and the certificate made for it.
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "net/certificate.h"
#include "net/server.h"
#include "net/test_certificate.h"
#include "net/test_client.h"
#include "net/test_handler.h"
#include "net/test_server.h"

namespace orrery::net {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class TlsTest : public testing::Test {
 protected:
  void start() {
    ASSERT_NO_FATAL_FAILURE(certificate_.make());
    options_.threads = 2;
    options_.certificate_file = cert_;
    options_.private_key_file = key_;
    options_.head_timeout = std::chrono::milliseconds(500);
    auto started = HttpTestServer::start(options_, handler_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    server_ = std::move(*started);
  }

  TestCertificate certificate_;
  const std::string folder_ = certificate_.folder();
  const std::string cert_ = certificate_.file();
  const std::string key_ = certificate_.key_file();
  SSL_CTX* context_ = certificate_.client();
  TestHandler handler_;
  HttpTestOptions options_;
  std::unique_ptr<HttpTestServer> server_;
};

TEST_F(TlsTest, PlainAndTlsOnOnePort) {
  start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_min_proto_version(context_, version);
    SSL_CTX_set_max_proto_version(context_, version);
    TestClient secure(server_->port());
    ASSERT_TRUE(secure.start_tls(context_)) << ERR_error_string(ERR_peek_error(), nullptr);
    EXPECT_EQ(SSL_version(secure.ssl()), version);
    EXPECT_EQ(secure.ask(get("/echo")).body, "GET /echo  tls");
    TestClient plain(server_->port());
    EXPECT_EQ(plain.ask(get("/echo")).body, "GET /echo ");
    EXPECT_EQ(secure.ask(get("/deferred")).body, "late ");
    secure.send(get("/echo/1") + get("/large") + get("/echo/2"));
    EXPECT_EQ(secure.receive().body, "GET /echo/1  tls");
    EXPECT_EQ(secure.receive().body.size(), 10'000'000U);
    EXPECT_EQ(secure.receive().body, "GET /echo/2  tls");
    EXPECT_EQ(secure.ask(get("/close")).status, 200);
    EXPECT_TRUE(secure.at_end());
  }
  EXPECT_EQ(server_->counters().tls_failures, 0U);
}

TEST_F(TlsTest, RefusesOldVersionsAndWeakCiphers) {
  start();
  SSL_CTX_set_security_level(context_, 0);  // the client would take them
  for (const int version : {TLS1_VERSION, TLS1_1_VERSION}) {
    ASSERT_EQ(SSL_CTX_set_min_proto_version(context_, version), 1);
    ASSERT_EQ(SSL_CTX_set_max_proto_version(context_, version), 1);
    TestClient client(server_->port());
    EXPECT_FALSE(client.start_tls(context_)) << version;
  }
  SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(context_, TLS1_2_VERSION);
  // Not authenticated with what they hide; or without forward secrecy; or without a certificate.
  for (const char* weak : {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384",
                           "AES128-GCM-SHA256", "AES256-SHA", "ADH-AES128-GCM-SHA256", "eNULL"}) {
    ASSERT_EQ(SSL_CTX_set_cipher_list(context_, weak), 1) << weak;
    TestClient client(server_->port());
    EXPECT_FALSE(client.start_tls(context_)) << weak;
  }
  for (const char* strong : {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
    ASSERT_EQ(SSL_CTX_set_cipher_list(context_, strong), 1) << strong;
    TestClient client(server_->port());
    EXPECT_TRUE(client.start_tls(context_)) << strong;
  }
}

TEST_F(TlsTest, RefusesMalformedRequestsToo) {
  start();
  TestClient client(server_->port());
  ASSERT_TRUE(client.start_tls(context_));
  EXPECT_EQ(client.ask("nonsense\r\n\r\n").status, 400);
  EXPECT_TRUE(client.at_end());
}

TEST_F(TlsTest, ResumesSessions) {
  start();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SSL_CTX_set_min_proto_version(context_, version);
    SSL_CTX_set_max_proto_version(context_, version);
    SSL_SESSION* session = nullptr;
    {
      TestClient client(server_->port());
      ASSERT_TRUE(client.start_tls(context_));
      EXPECT_EQ(client.ask(get("/echo")).status, 200);
      EXPECT_EQ(SSL_session_reused(client.ssl()), 0);
      session = SSL_get1_session(client.ssl());
    }
    TestClient client(server_->port());
    ASSERT_TRUE(client.start_tls(context_, session));
    EXPECT_EQ(SSL_session_reused(client.ssl()), 1);
    EXPECT_EQ(client.ask(get("/echo")).status, 200);
    SSL_SESSION_free(session);
  }
}

TEST_F(TlsTest, BrokenAndSlowHandshakesEnd) {
  start();
  TestClient broken(server_->port());
  broken.send(std::string("\x16\x03\x01\x00\x05hello, world", 17));
  EXPECT_NE(broken.receive().status, 200);
  TestClient slow(server_->port());
  slow.send("\x16");
  EXPECT_TRUE(slow.at_end());
  EXPECT_EQ(server_->counters().tls_failures, 2U);
}

TEST_F(TlsTest, SendingDoesNotBuyTimeToTakeAnswers) {
  options_.write_timeout = std::chrono::milliseconds(200);
  start();
  TestClient client(server_->port(), 4096);
  ASSERT_TRUE(client.start_tls(context_));
  client.send(get("/large"));
  EXPECT_TRUE(eventually([&] {
    client.send("G");
    return server_->counters().slow_readers == 1;
  }));
  EXPECT_TRUE(eventually([&] { return server_->counters().connections_open == 0; }));
}

TEST_F(TlsTest, WithoutCertificateTlsIsRefused) {
  HttpTestOptions options;
  options.port = 0;
  auto server = HttpTestServer::start(options, handler_);
  ASSERT_TRUE(server.has_value());
  TestClient client((*server)->port());
  EXPECT_FALSE(client.start_tls(context_));
  EXPECT_EQ((*server)->counters().tls_failures, 1U);
}

TEST_F(TlsTest, UnusableFilesAreNamed) {
  std::ofstream(cert_) << "not a certificate";
  std::ofstream(key_) << "not a key";
  HttpTestOptions options;
  options.port = 0;
  options.certificate_file = cert_;
  options.private_key_file = key_;
  const auto server = HttpTestServer::start(options, handler_);
  ASSERT_FALSE(server.has_value());
  EXPECT_NE(server.error().message.find(cert_), std::string::npos);
}

TEST_F(TlsTest, CertificateIsMadeOnceAndForThisMachine) {
  ASSERT_TRUE(ensure_certificate(cert_, key_).has_value());
  const std::string made = read_file(cert_);
  struct stat info{};
  ASSERT_EQ(stat(key_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
  EXPECT_EQ(first_certificate(cert_).value(), made);
  EXPECT_FALSE(first_certificate(key_));

  BIO* bio = BIO_new_mem_buf(made.data(), static_cast<int>(made.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_check_host(certificate, "localhost", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "::1", 0), 1);
  EXPECT_EQ(X509_check_host(certificate, "example.com", 0, 0, nullptr), 0);
  int days = 0;
  int seconds = 0;
  ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate));
  EXPECT_GT(days, 3640);
  X509_free(certificate);
  BIO_free(bio);

  ASSERT_TRUE(ensure_certificate(cert_, key_).has_value());
  EXPECT_EQ(read_file(cert_), made);
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 2U) << "no temporary files are left";

  std::filesystem::remove(key_);
  EXPECT_FALSE(ensure_certificate(cert_, key_).has_value());
  EXPECT_EQ(read_file(cert_), made);
  EXPECT_FALSE(ensure_certificate(folder_ + "/no/cert", folder_ + "/no/key").has_value());
}

}  // namespace
}  // namespace orrery::net
