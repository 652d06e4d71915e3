// Which queries read everything, and that nothing else passes for one.
#include "api/cosmos/select_all.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(SelectAll, AnyCaseSpaceAndName) {
  for (const char* body : {
           R"({"query":"SELECT * from c"})",
           R"({"query":"select*from root"})",
           R"({"query":"  Select\t*\r\nFROM  my_Items2  ","parameters":[]})",
           R"({"parameters":[{"name":"@a","value":1}],"query":"SELECT * FROM c"})",
           R"("SELECT * FROM c")",
           "SELECT * FROM c",
       }) {
    auto all = is_select_all(body);
    ASSERT_TRUE(all.has_value()) << body;
    EXPECT_TRUE(*all) << body;
  }
}

TEST(SelectAll, AnythingElseIsAnotherQuery) {
  for (const char* body : {
           R"({"query":"SELECT * FROM c WHERE c.id = '1'"})",
           R"({"query":"SELECT * FROM c ORDER BY c.id"})",
           R"({"query":"SELECT TOP 1 * FROM c"})",
           R"({"query":"SELECT c FROM c"})",
           R"({"query":"SELECT * FROM c.items"})",
           R"({"query":"SELECT * FROM c d"})",
           R"({"query":"SELECT * FROM c IN d"})",
           R"({"query":"SELECT * FROM c;"})",
           R"({"query":"SELECT * FROM c -- all"})",
           R"({"query":"SELECT * FROM 1"})",
           R"({"query":"SELECT * FROM"})",
           R"({"query":"SELECT * FROMc"})",
           R"({"query":"SELECT*"})",
           R"({"query":""})",
           "nonsense",
           "",
       }) {
    auto all = is_select_all(body);
    ASSERT_TRUE(all.has_value()) << body;
    EXPECT_FALSE(*all) << body;
  }
}

TEST(SelectAll, ABodyWithoutAQueryIsAnError) {
  for (const char* body : {"{}", R"({"query":5})", R"({"query":null})", "[]", "5"}) {
    auto all = is_select_all(body);
    ASSERT_FALSE(all.has_value()) << body;
    EXPECT_EQ(all.error().code, Code::invalid);
  }
}

}  // namespace
}  // namespace orrery::cosmos
