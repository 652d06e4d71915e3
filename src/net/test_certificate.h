// A certificate in a folder of its own, and a client that trusts it alone.
#pragma once

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "net/certificate.h"

namespace orrery::net {

class TestCertificate {
 public:
  TestCertificate() {
    char pattern[] = "/tmp/orrery-tls-XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  TestCertificate(const TestCertificate&) = delete;
  TestCertificate& operator=(const TestCertificate&) = delete;
  ~TestCertificate() {
    SSL_CTX_free(context_);
    std::filesystem::remove_all(folder_);
  }

  void make() {
    ASSERT_TRUE(ensure_certificate(file(), key_file()).has_value());
    ASSERT_EQ(SSL_CTX_load_verify_locations(context_, file().c_str(), nullptr), 1);
    SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  }

  const std::string& folder() const { return folder_; }
  std::string file() const { return folder_ + "/cert.pem"; }
  std::string key_file() const { return folder_ + "/key.pem"; }
  SSL_CTX* client() { return context_; }

 private:
  std::string folder_;
  SSL_CTX* context_ = SSL_CTX_new(TLS_client_method());
};

}  // namespace orrery::net
