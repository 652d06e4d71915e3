// The flags of a node: which go together, and what is said of those that do not.
#include "cli/node_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::cli {
namespace {

using testing::HasSubstr;

const NodeOptions kGood{"n1", "127.0.0.1:7000", "ca.pem", "n1.pem", "n1.key"};

std::string refused(const NodeOptions& options, const std::string& volume = "rados:orrery") {
  auto checked = check_node_options(options, volume);
  return checked ? "" : checked.error().message;
}

TEST(NodeOptionsTest, AllGoTogether) {
  EXPECT_EQ(refused(kGood), "");
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({}, "local"), "");
  for (std::string NodeOptions::* member : {&NodeOptions::address, &NodeOptions::ca,
                                            &NodeOptions::certificate, &NodeOptions::private_key}) {
    NodeOptions options = kGood;
    options.*member = "";
    EXPECT_THAT(refused(options), HasSubstr("--node n1 needs --"));
    options = {};
    options.*member = "127.0.0.1:7000";
    EXPECT_THAT(refused(options), HasSubstr("name it with --node"));
  }
}

TEST(NodeOptionsTest, NamesAddressesAndVolumes) {
  NodeOptions options = kGood;
  for (const char* name : {"N1", "n 1", "n/1", "n.1"}) {
    options.name = name;
    EXPECT_THAT(refused(options), HasSubstr(name));
  }
  options = kGood;
  for (const char* address : {"127.0.0.1", ":7000", "::1:7000", "host:0", "host:70000", "host:x"}) {
    options.address = address;
    EXPECT_THAT(refused(options), HasSubstr(address));
  }
  for (const char* address : {"[::1]:7000", "db1.example:7000"}) {
    options.address = address;
    EXPECT_EQ(refused(options), "");
  }
  EXPECT_THAT(refused(kGood, "local"), HasSubstr("--volume"));
}

}  // namespace
}  // namespace orrery::cli
