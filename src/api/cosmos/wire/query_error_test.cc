// The form in which refused queries are told, and that every kind of fault has a code of its own.
#include "api/cosmos/wire/query_error.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "query/parse/parser.h"

namespace orrery::cosmos {
namespace {

TEST(QueryError, IsToldInTheVendorsForm) {
  const Error one = query_error(query::SyntaxError{.message = "near '\"'", .start = 7, .end = 8});
  EXPECT_EQ(one.code, Code::invalid);
  EXPECT_EQ(one.message,
            R"({"errors":[{"severity":"Error","location":{"start":7,"end":8},"code":"SC1001",)"
            R"("message":"near '\"'"}]})");
  const std::array two = {QueryRefusal{"SC2202", 1, 2, "a"}, QueryRefusal{"SC2203", 3, 4, "b"}};
  EXPECT_EQ(
      query_error(two).message,
      R"({"errors":[{"severity":"Error","location":{"start":1,"end":2},"code":"SC2202","message":"a"},)"
      R"({"severity":"Error","location":{"start":3,"end":4},"code":"SC2203","message":"b"}]})");
}

TEST(QueryError, EveryFaultHasACodeOfItsOwn) {
  std::set<std::string_view> codes;
  for (int fault = 0; fault <= static_cast<int>(query::QueryFault::too_complex); ++fault) {
    EXPECT_TRUE(codes.insert(code_of(static_cast<query::QueryFault>(fault))).second) << fault;
  }
  const auto refused = query::parse_query("SELECT 12a");
  ASSERT_FALSE(refused);
  EXPECT_NE(query_error(refused.error()).message.find("\"code\":\"SC1011\""), std::string::npos);
}

}  // namespace
}  // namespace orrery::cosmos
