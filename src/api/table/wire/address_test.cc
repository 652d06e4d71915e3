// Addresses: every resource, keys in paths, where the account is named, and what is refused.
#include "api/table/wire/address.h"

#include <gtest/gtest.h>

namespace orrery::table {
namespace {

constexpr std::string_view kHost = "127.0.0.1:10002";

Address at(std::string_view target, std::string_view host = kHost) {
  auto address = parse_address(target, host);
  EXPECT_TRUE(address) << target;
  return address.value_or(Address{});
}

TEST(Address, NamesEveryResource) {
  EXPECT_EQ(at("/acct/Tables").resource, Resource::tables);
  EXPECT_EQ(at("/acct/Tables()").resource, Resource::tables);
  EXPECT_EQ(at("/acct/Tables/?x=1").resource, Resource::tables);
  EXPECT_EQ(at("/acct/Tables('abc')").resource, Resource::table);
  EXPECT_EQ(at("/acct/Tables('abc')").table, "abc");
  EXPECT_EQ(at("/acct/abc?$top=1").resource, Resource::entities);
  EXPECT_EQ(at("/acct/abc()").table, "abc");
  EXPECT_EQ(at("/acct/$batch").resource, Resource::batch);
  EXPECT_EQ(at("/acct/?restype=service").resource, Resource::service);
  EXPECT_EQ(at("/acct?restype=service").account, "acct");
}

TEST(Address, KeysAreQuotedAndThenEncoded) {
  const Address one = at("/acct/t(PartitionKey='a''b',RowKey='r%201')");
  EXPECT_EQ(one.resource, Resource::entity);
  EXPECT_EQ(one.partition_key, "a'b");
  EXPECT_EQ(one.row_key, "r 1");
  EXPECT_EQ(at("/acct/t(RowKey='',PartitionKey='')").resource, Resource::entity);
  EXPECT_EQ(at("/acct/t(PartitionKey=%27%2525%27,RowKey=%27,RowKey=%27%27x%27)").row_key,
            ",RowKey='x");
  EXPECT_EQ(at("/acct/t(PartitionKey=%27%2525%27,RowKey='')").partition_key, "%25");
}

TEST(Address, TheAccountIsInThePathOrInTheHost) {
  EXPECT_TRUE(at("/acct/t").in_path);
  EXPECT_TRUE(at("/acct/t", "localhost:1").in_path);
  EXPECT_TRUE(at("/acct/t", "[::1]:1").in_path);
  const Address host = at("/t", "acct.table.example.org");
  EXPECT_FALSE(host.in_path);
  EXPECT_EQ(host.account, "acct");
  EXPECT_EQ(host.table, "t");
  const Address secondary = at("/acct-secondary/t");
  EXPECT_TRUE(secondary.secondary);
  EXPECT_EQ(secondary.account, "acct");
}

TEST(Address, RefusesWhatNamesNothing) {
  for (const char* target :
       {"", "acct", "/acct/t(", "/acct/t('a')", "/acct/t(PartitionKey='a')",
        "/acct/t(PartitionKey='a',PartitionKey='b')", "/acct/t(PartitionKey='a',RowKey='b'",
        "/acct/t(PartitionKey='a',RowKey='b')x", "/acct/Tables('a", "/acct/%zz"}) {
    EXPECT_FALSE(parse_address(target, kHost)) << target;
  }
}

}  // namespace
}  // namespace orrery::table
