// Plans of query texts, for the tests of the gateway's plan.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>

#include "api/cosmos/query/gateway_plan.h"
#include "query/parse/parser.h"

namespace orrery::cosmos {

class GatewayPlanTest : public testing::Test {
 protected:
  GatewayPlanTest() { context_.key.paths = {*value::parse_property_path("/pk")}; }

  Result<GatewayPlan> try_plan(std::string_view query) const {
    const auto parsed = query::parse_query(query);
    EXPECT_TRUE(parsed) << query;
    return make_gateway_plan(*parsed, context_, parameters_);
  }
  GatewayPlan plan(std::string_view query) const {
    auto made = try_plan(query);
    EXPECT_TRUE(made) << query << "\n" << (made ? "" : made.error().message);
    return made ? std::move(*made) : GatewayPlan{};
  }
  QueryInfo info(std::string_view query) const { return plan(query).info; }
  std::string rewritten(std::string_view query) const { return info(query).rewritten_query; }
  std::string refusal(std::string_view query) const {
    const auto made = try_plan(query);
    EXPECT_FALSE(made) << query;
    return made ? "" : made.error().message;
  }

  PlanContext context_;
  query::Parameters parameters_;
};

}  // namespace orrery::cosmos
