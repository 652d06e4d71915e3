// The XML of service properties and policies, times, CORS rules and the bodies of errors.
#include <gtest/gtest.h>

#include "api/table/service/access_policy.h"
#include "api/table/service/cors.h"
#include "api/table/service/iso_time.h"
#include "api/table/service/service_properties.h"
#include "api/table/service/table_error.h"
#include "api/table/service/xml.h"

namespace orrery::table {
namespace {

std::string properties_with(std::string_view sections) {
  return "<StorageServiceProperties>" + std::string(sections) + "</StorageServiceProperties>";
}

TEST(TableServiceProperties, RoundTrip) {
  const ServiceProperties properties{
      .logging = {.version = "1.0",
                  .deletes = true,
                  .reads = false,
                  .writes = true,
                  .retention = {.enabled = true, .days = 5}},
      .hour_metrics = {.version = "1.0", .enabled = true, .include_apis = true, .retention = {}},
      .minute_metrics = {},
      .cors = {{.allowed_origins = "http://a.example,http://b.example",
                .allowed_methods = "GET,MERGE",
                .allowed_headers = "x-ms-*",
                .exposed_headers = "*",
                .max_age_s = 100}}};
  auto parsed = parse_service_properties(service_properties_xml(properties));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(*parsed, properties);
}

TEST(TableServiceProperties, SectionsThatAreNotSentStay) {
  ServiceProperties now;
  now.cors = {{.allowed_origins = "*",
               .allowed_methods = "GET",
               .allowed_headers = "",
               .exposed_headers = "",
               .max_age_s = 1}};
  auto parsed = parse_service_properties(
      properties_with("<Logging><Version>1.0</Version><Delete>true</Delete><Read> true </Read>"
                      "<Write>false</Write><RetentionPolicy><Enabled>false</Enabled>"
                      "</RetentionPolicy></Logging>"),
      now);
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_TRUE(parsed->logging.reads);
  EXPECT_EQ(parsed->cors, now.cors);
  parsed = parse_service_properties(properties_with("<Cors/>"), now);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->cors.empty());
}

TEST(TableServiceProperties, RefusesWhatIsWrong) {
  const std::string rule =
      "<CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>GET</AllowedMethods>"
      "<MaxAgeInSeconds>1</MaxAgeInSeconds></CorsRule>";
  EXPECT_TRUE(parse_service_properties(properties_with("<Cors>" + rule + "</Cors>")));
  struct Row {
    std::string xml;
    ErrorCode code;
  };
  for (const Row& row : {
           Row{"", ErrorCode::invalid_xml_document},
           Row{"<a", ErrorCode::invalid_xml_document},
           Row{"<SignedIdentifiers/>", ErrorCode::invalid_xml_document},
           Row{"<!DOCTYPE x [<!ENTITY e \"eee\">]>" + properties_with("&e;"),
               ErrorCode::invalid_xml_document},
           Row{properties_with("<Cors>" + rule + rule + rule + rule + rule + rule + "</Cors>"),
               ErrorCode::invalid_xml_document},
           Row{properties_with("<Cors><CorsRule><AllowedOrigins>*</AllowedOrigins><AllowedMethods>"
                               "FETCH</AllowedMethods><MaxAgeInSeconds>1</MaxAgeInSeconds>"
                               "</CorsRule></Cors>"),
               ErrorCode::invalid_xml_node_value},
           Row{properties_with("<HourMetrics><Enabled>perhaps</Enabled></HourMetrics>"),
               ErrorCode::invalid_xml_node_value},
           Row{properties_with("<HourMetrics><Enabled>true</Enabled><RetentionPolicy><Enabled>true"
                               "</Enabled><Days>366</Days></RetentionPolicy></HourMetrics>"),
               ErrorCode::invalid_xml_node_value},
           Row{properties_with(std::string(kMaxServiceXmlBytes, ' ')),
               ErrorCode::request_body_too_large},
       }) {
    const auto refused = parse_service_properties(row.xml);
    ASSERT_FALSE(refused) << row.xml.substr(0, 200);
    EXPECT_EQ(refused.error().code, row.code) << refused.error().message;
  }
}

TEST(TableServiceProperties, DepthCostsNothing) {
  std::string deep;
  for (size_t i = 0; i < kMaxServiceXmlBytes / 3 - 1; ++i) deep += "<a>";
  EXPECT_FALSE(parse_service_properties(deep));
}

TEST(TableServiceProperties, WritesStats) {
  EXPECT_EQ(service_stats_xml("Mon, 16 Nov 2026 12:00:00 GMT"),
            R"(<?xml version="1.0" encoding="utf-8"?><StorageServiceStats><GeoReplication>)"
            "<Status>live</Status><LastSyncTime>Mon, 16 Nov 2026 12:00:00 GMT</LastSyncTime>"
            "</GeoReplication></StorageServiceStats>");
}

TEST(TableAccessPolicies, RoundTrip) {
  const std::vector<AccessPolicy> policies = {
      {.id = "a<&>\"é",
       .start = "2026-11-16T12:00:00.1234567Z",
       .expiry = "2026-11-17",
       .permissions = "raud"},
      {.id = "empty", .start = {}, .expiry = {}, .permissions = {}}};
  auto parsed = parse_access_policies(access_policies_xml(policies));
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(*parsed, policies);
  EXPECT_TRUE(parse_access_policies("")->empty());
  EXPECT_TRUE(parse_access_policies("<SignedIdentifiers/>")->empty());
  EXPECT_TRUE(parse_access_policies("\xEF\xBB\xBF<?xml version=\"1.0\"?><SignedIdentifiers/>"));
}

TEST(TableAccessPolicies, RefusesWhatIsWrong) {
  const auto list = [](std::string_view inside) {
    return "<SignedIdentifiers>" + std::string(inside) + "</SignedIdentifiers>";
  };
  const auto policy = [](std::string_view id, std::string_view terms) {
    return "<SignedIdentifier><Id>" + std::string(id) + "</Id><AccessPolicy>" + std::string(terms) +
           "</AccessPolicy></SignedIdentifier>";
  };
  EXPECT_TRUE(parse_access_policies(list(policy("1", "") + policy("2", "") + policy("3", "") +
                                         policy("4", "") + policy("5", ""))));
  for (const std::string& xml :
       {list(policy("1", "") + policy("2", "") + policy("3", "") + policy("4", "") +
             policy("5", "") + policy("6", "")),
        list(policy("1", "") + policy("1", "")), list(policy("", "")),
        list(policy(std::string(kMaxPolicyIdBytes + 1, 'i'), "")),
        list(policy("1", "<Permission>rw</Permission>")),
        list(policy("1", "<Expiry>tomorrow</Expiry>")), list(policy("a\x16", "")),
        list(policy("a&#22;", "")), list(policy("\xFF", "")), std::string("{}")}) {
    EXPECT_FALSE(parse_access_policies(xml)) << xml.substr(0, 200);
  }
}

TEST(TableIsoTime, TakesTheUsualForms) {
  constexpr int64_t kNoon = 1'794'830'400;
  for (const std::string_view text :
       {"2026-11-16T12:00Z", "2026-11-16T12:00:00Z", "2026-11-16T12:00:00.9999999Z",
        "2026-11-16T12:00:00", "2026-11-16T13:30+01:30", "2026-11-16T11:00:00-0100"}) {
    EXPECT_EQ(parse_iso_time(text), kNoon) << text;
  }
  EXPECT_EQ(parse_iso_time("2026-11-16"), kNoon - 43'200);
  for (const std::string_view text :
       {"", "2026", "2026-02-30", "2026-13-01", "2026-11-16T", "2026-11-16T24:00Z",
        "2026-11-16T12:00:00.Z", "2026-11-16T12:00ZZ", "2026-11-16 12:00", "2026-11-16T12:00+1"}) {
    EXPECT_FALSE(parse_iso_time(text)) << text;
  }
}

std::vector<CorsRule> rules() {
  return {{.allowed_origins = "http://a.example, http://b.example",
           .allowed_methods = "GET,PUT",
           .allowed_headers = "x-ms-date, x-ms-meta-*",
           .exposed_headers = "x-ms-*,etag",
           .max_age_s = 60},
          {.allowed_origins = "*",
           .allowed_methods = "DELETE",
           .allowed_headers = "*",
           .exposed_headers = "*",
           .max_age_s = 5}};
}

TEST(TableCors, AnswersAPreflightByTheFirstRuleThatMatches) {
  auto answer = answer_preflight(
      rules(),
      {.origin = "HTTP://b.example", .method = "PUT", .request_headers = "X-MS-Date,x-ms-meta-a"});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(*answer,
            "Access-Control-Allow-Origin: HTTP://b.example\r\n"
            "Access-Control-Allow-Methods: PUT\r\n"
            "Access-Control-Allow-Headers: X-MS-Date,x-ms-meta-a\r\n"
            "Access-Control-Max-Age: 60\r\n"
            "Access-Control-Allow-Credentials: true\r\n"
            "Vary: Origin\r\n");
  answer = answer_preflight(rules(), {.origin = "x", .method = "DELETE", .request_headers = "a"});
  ASSERT_TRUE(answer);
  EXPECT_TRUE(answer->starts_with("Access-Control-Allow-Origin: *\r\n"));
}

TEST(TableCors, RefusesAPreflight) {
  const auto code = [](const CorsRequest& request, const std::vector<CorsRule>& with = rules()) {
    const auto answer = answer_preflight(with, request);
    EXPECT_FALSE(answer);
    return answer ? ErrorCode::internal_error : answer.error().code;
  };
  using enum ErrorCode;
  EXPECT_EQ(code({.origin = "", .method = "GET"}), invalid_header_value);
  EXPECT_EQ(code({.origin = "x", .method = ""}), invalid_header_value);
  EXPECT_EQ(code({.origin = "x", .method = "GET"}), cors_preflight_failure);
  EXPECT_EQ(code({.origin = "http://a.example", .method = "GET", .request_headers = "other"}),
            cors_preflight_failure);
  EXPECT_EQ(code({.origin = "http://a.example", .method = "GET"}, {}), cors_preflight_failure);
}

TEST(TableCors, AddsHeadersToAnswers) {
  const std::string_view headers = "ETag: x\r\nx-ms-version: 1\r\nServer: y\r\n";
  EXPECT_EQ(cors_headers(rules(), {.origin = "http://a.example", .method = "GET"}, headers),
            "Access-Control-Allow-Origin: http://a.example\r\n"
            "Access-Control-Expose-Headers: etag,x-ms-version\r\n"
            "Access-Control-Allow-Credentials: true\r\n"
            "Vary: Origin\r\n");
  EXPECT_EQ(cors_headers(rules(), {.origin = "any", .method = "DELETE"}, headers),
            "Access-Control-Allow-Origin: *\r\n"
            "Access-Control-Expose-Headers: ETag,x-ms-version,Server\r\n");
  EXPECT_EQ(cors_headers(rules(), {.origin = "any", .method = "GET"}, headers), "Vary: Origin\r\n");
  EXPECT_EQ(cors_headers(rules(), {.origin = "", .method = "GET"}, headers), "");
  EXPECT_EQ(cors_headers({}, {.origin = "a", .method = "GET"}, headers), "");
}

TEST(TableErrors, AreWrittenInBothFormats) {
  const TableError error = table_error(ErrorCode::invalid_input, "a \"b\" <c>\n\x01");
  const ErrorBody body{.request_id = "id", .time = "now"};
  EXPECT_EQ(error.status(), 400);
  EXPECT_EQ(error_json(error, body),
            R"({"odata.error":{"code":"InvalidInput","message":{"lang":"en-US","value":)"
            R"("a \"b\" <c>\n\u0001\nRequestId:id\nTime:now"}}})");
  EXPECT_EQ(
      error_xml(error, body),
      R"(<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="http://schemas.microsoft.com)"
      R"(/ado/2007/08/dataservices/metadata"><m:code>InvalidInput</m:code><m:message )"
      "xml:lang=\"en-US\">a \"b\" &lt;c&gt;\n \nRequestId:id\nTime:now</m:message></m:error>");
}

TEST(TableErrors, TakesTheEnginesOver) {
  const auto code = [](Code engine, bool cosmos = false) {
    return from_engine({.code = engine, .message = "m", .retry_after_ms = 7}, cosmos);
  };
  EXPECT_EQ(code(Code::throttled).status(), 503);
  EXPECT_EQ(code(Code::throttled, true).status(), 429);
  EXPECT_EQ(code(Code::throttled).retry_after_ms, 7U);
  EXPECT_EQ(code(Code::precondition_failed).name(), "UpdateConditionNotSatisfied");
  EXPECT_EQ(code(Code::conflict).message, "m");
}

}  // namespace
}  // namespace orrery::table
