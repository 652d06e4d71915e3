// Offers as they are returned and replaced, the throughput headers, and the queries that find one.
#include "api/cosmos/resources/offer_document.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace orrery::cosmos {
namespace {

TEST(OfferDocument, Manual) {
  catalog::Container container;
  container.database = 1;
  container.number = 1;
  container.throughput = catalog::Throughput{.units = 400, .autoscale = false};
  container.changed_s = 5;
  container.revision = 7;
  EXPECT_EQ(offer_json(offer_of(container)),
            R"({"offerVersion":"V2","offerType":"Invalid","content":{"offerThroughput":400,)"
            R"("offerIsRUPerMinuteThroughputEnabled":false,"offerMinimumThroughputParameters":)"
            R"({"maxThroughputEverProvisioned":400,"maxConsumedStorageEverInKB":0},)"
            R"("offerLastReplaceTimestamp":5},"resource":"dbs/AAAAAQ==/colls/AAAAAYAAAAE=/",)"
            R"("offerResourceId":"AAAAAYAAAAE=","id":"AwAA","_rid":"AwAA","_self":"offers/AwAA/",)"
            R"("_etag":"\"00000000-0000-0007-0000-000000000005\"","_ts":5})");
}

TEST(OfferDocument, Autoscale) {
  catalog::Database database;
  database.number = 1;
  database.throughput = catalog::Throughput{.units = 4000, .autoscale = true};
  const std::string text = offer_json(offer_of(database));
  auto document = value::JsonDocument::parse(text);
  ASSERT_TRUE(document.has_value());
  const value::Node* content = document->root().find("content");
  EXPECT_EQ(content->find("offerThroughput")->number, 400);
  EXPECT_EQ(content->find("offerAutopilotSettings")->find("maxThroughput")->number, 4000);
  EXPECT_EQ(document->root().find("resource")->text, "dbs/AAAAAQ==/");
  auto back = parse_offer_replacement(text);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->throughput, *database.throughput);
  EXPECT_EQ(back->offer_resource_id, "AAAAAQ==");
}

TEST(OfferDocument, Replacements) {
  auto manual = parse_offer_replacement(
      R"({"id":"x","content":{"offerThroughput":1000,"offerAutopilotSettings":null}})");
  ASSERT_TRUE(manual.has_value());
  EXPECT_EQ(manual->throughput, (catalog::Throughput{.units = 1000, .autoscale = false}));
  EXPECT_EQ(manual->id, "x");
  for (const char* body :
       {"", "[]", "{}", R"({"content":{}})", R"({"content":{"offerThroughput":450.5}})",
        R"({"content":{"offerThroughput":"400"}})", R"({"content":{"offerThroughput":-100}})",
        R"({"content":{"offerAutopilotSettings":{}}})",
        R"({"content":{"offerAutopilotSettings":{"maxThroughput":0}}})"}) {
    auto refused = parse_offer_replacement(body);
    ASSERT_FALSE(refused.has_value()) << body;
    EXPECT_EQ(refused.error().code, Code::invalid);
  }
}

TEST(OfferDocument, Headers) {
  auto none = parse_throughput_headers("", "");
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->has_value());
  auto manual_rus = parse_throughput_headers("400", "");
  ASSERT_TRUE(manual_rus.has_value() && manual_rus->has_value());
  EXPECT_EQ(**manual_rus, (catalog::Throughput{.units = 400, .autoscale = false}));
  auto most_rus = parse_throughput_headers("", R"({"maxThroughput": 4000})");
  ASSERT_TRUE(most_rus.has_value() && most_rus->has_value());
  EXPECT_EQ(**most_rus, (catalog::Throughput{.units = 4000, .autoscale = true}));
  EXPECT_FALSE(parse_throughput_headers("400", R"({"maxThroughput":4000})").has_value());
  for (const char* manual : {"450.5", "0", "-400", "4e2", "abc", "400 ", "99999999999999999999"}) {
    EXPECT_FALSE(parse_throughput_headers(manual, "").has_value()) << manual;
  }
  for (const char* autoscale :
       {"4000", "{}", "{", R"({"maxThroughput":-1})", R"({"maxThroughput":"x"})"}) {
    EXPECT_FALSE(parse_throughput_headers("", autoscale).has_value()) << autoscale;
  }
}

}  // namespace
}  // namespace orrery::cosmos
