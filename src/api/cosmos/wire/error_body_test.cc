// Every code has its status, substatus and name; a body is JSON whatever the message holds.
#include "api/cosmos/wire/error_body.h"

#include <gtest/gtest.h>

#include "value/json.h"

namespace orrery::cosmos {
namespace {

TEST(ErrorBody, MapsEveryCode) {
  struct Row {
    Code code;
    int status;
    uint32_t substatus;
    const char* name;
  };
  for (const Row& row : {
           Row{Code::invalid, 400, 0, "BadRequest"},
           Row{Code::unauthorized, 401, 0, "Unauthorized"},
           Row{Code::forbidden, 403, 0, "Forbidden"},
           Row{Code::not_found, 404, 0, "NotFound"},
           Row{Code::conflict, 409, 0, "Conflict"},
           Row{Code::precondition_failed, 412, 0, "PreconditionFailed"},
           Row{Code::too_large, 413, 0, "RequestEntityTooLarge"},
           Row{Code::partition_full, 403, 1014, "Forbidden"},
           Row{Code::quota_exceeded, 403, 0, "Forbidden"},
           Row{Code::throttled, 429, 3200, "429"},
           Row{Code::retry, 449, 0, "RetryWith"},
           Row{Code::moved, 410, 1002, "Gone"},
           Row{Code::behind, 404, 1002, "NotFound"},
           Row{Code::read_only, 503, 0, "ServiceUnavailable"},
           Row{Code::corrupt, 503, 0, "ServiceUnavailable"},
           Row{Code::overloaded, 503, 0, "ServiceUnavailable"},
           Row{Code::unsupported, 501, 0, "NotImplemented"},
           Row{Code::internal, 500, 0, "InternalServerError"},
       }) {
    const ErrorReply reply = error_reply(Error{.code = row.code, .message = "m"}, "");
    EXPECT_EQ(reply.status, row.status);
    EXPECT_EQ(reply.substatus, row.substatus);
    EXPECT_TRUE(
        reply.body.starts_with(std::string("{\"code\":\"") + row.name + "\",\"message\":\""));
    EXPECT_TRUE(reply.body.ends_with("m\"}"));
  }
}

TEST(ErrorBody, CarriesTheActivityAndEscapes) {
  const ErrorReply reply =
      error_reply(Error{.code = Code::conflict, .message = "no \"x\"\n"}, "11-22");
  EXPECT_EQ(reply.body,
            R"({"code":"Conflict","message":"no \"x\"\n\r\nActivityId: 11-22, Orrery"})");
}

TEST(ErrorBody, IsUtf8WhateverTheClientSent) {
  auto shown = [](std::string_view message) { return error_body("c", message, ""); };
  EXPECT_EQ(shown("caf\xC3\xA9 \xF0\x9F\x98\x80"),
            "{\"code\":\"c\",\"message\":\"caf\xC3\xA9 \xF0\x9F\x98\x80\"}");
  for (const char* bad : {"\xC3", "\xFF", "\x80", "\xC0", "\xF5"}) {
    EXPECT_EQ(shown(bad), "{\"code\":\"c\",\"message\":\"\xEF\xBF\xBD\"}") << bad;
  }
  for (const char* bad : {"a\xE2\x82", "\xED\xA0\x80", "\xE0\x80\x80", "\xF4\x90\x80\x80"}) {
    EXPECT_TRUE(value::JsonDocument::parse(shown(bad)).has_value()) << bad;
  }
}

TEST(ErrorBody, SaysWhenToComeBack) {
  ErrorReply reply =
      error_reply(Error{.code = Code::throttled, .message = "m", .retry_after_ms = 12}, "");
  EXPECT_EQ(reply.retry_after_ms, 12U);
  reply = error_reply(Error{.code = Code::throttled, .message = "m"}, "");
  EXPECT_EQ(reply.retry_after_ms, 1U);
}

TEST(ErrorBody, BeginsWithTheWordsThatClientsLookFor) {
  const auto body = [](Code code, uint32_t substatus = 0) {
    return error_reply(Error{.code = code, .message = "ours"}, "", substatus).body;
  };
  EXPECT_EQ(body(Code::not_found), R"({"code":"NotFound","message":"Resource Not Found. ours"})");
  EXPECT_EQ(body(Code::behind), R"({"code":"NotFound","message":"ours"})");
  EXPECT_EQ(
      body(Code::too_large),
      R"({"code":"RequestEntityTooLarge","message":"Message: {\"Errors\":[\"Request size is too large\"]}\r\nours"})");
  EXPECT_EQ(body(Code::too_large, kSubstatusAnswerTooLarge),
            R"({"code":"RequestEntityTooLarge","message":"ours"})");
  EXPECT_EQ(body(Code::invalid, kSubstatusKeyMismatch),
            R"({"code":"BadRequest","message":")" + std::string(kKeyMismatchWords) + R"(ours"})");
  EXPECT_EQ(body(Code::invalid), R"({"code":"BadRequest","message":"ours"})");
}

TEST(ErrorBody, TakesASubstatusFromTheCaller) {
  const ErrorReply reply =
      error_reply(Error{.code = Code::invalid, .message = "m"}, "", kSubstatusKeyMismatch);
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.substatus, 1001U);
}

}  // namespace
}  // namespace orrery::cosmos
