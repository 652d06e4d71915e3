// A CA in a folder of its own, and certificates of nodes that it signed, made by openssl.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "peer/node.h"

namespace orrery::peer {

class TestCa {
 public:
  TestCa() {
    char pattern[] = "/tmp/orrery-ca-XXXXXX";
    folder_ = mkdtemp(pattern);
    run("req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca "
        "-keyout ca.key -out ca.pem");
    run("req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=node -addext "
        "subjectAltName=IP:127.0.0.1 -keyout node.key -out node.csr");
    run("x509 -req -in node.csr -CA ca.pem -CAkey ca.key -days 2 -copy_extensions copy -out "
        "node.pem");
  }
  ~TestCa() { std::filesystem::remove_all(folder_); }
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  std::string file(const char* name) const { return folder_ + "/" + name; }
  NodeOptions options(std::string name) const {
    NodeOptions options;
    options.name = std::move(name);
    options.address = "127.0.0.1:0";
    options.ca_file = file("ca.pem");
    options.certificate_file = file("node.pem");
    options.key_file = file("node.key");
    return options;
  }

 private:
  void run(const std::string& command) const {
    const std::string line =
        "cd " + folder_ + " && openssl " + command + " >openssl.log 2>&1 || cat openssl.log";
    ASSERT_EQ(std::system(line.c_str()), 0) << command;
  }

  std::string folder_;
};

}  // namespace orrery::peer
