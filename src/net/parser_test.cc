// Requests whole and in pieces, every bound, and the malformed ones that smuggle requests
// elsewhere.
#include "net/parser.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::net {
namespace {

using Outcome = RequestParser::Outcome;

struct Parsed {
  Outcome outcome = Outcome::need_more;
  int status = 0;
  std::string body;
  size_t rest = 0;  // bytes after the request
  size_t headers = 0;
  bool keep_alive = false;
};

Parsed parse(const std::string& text, size_t step = 0, uint32_t header_max = 64 * 1024,
             uint64_t body_max = 1024 * 1024) {
  RequestParser parser(header_max, body_max);
  std::string held;
  Parsed parsed;
  if (step == 0) step = text.size();
  for (size_t at = 0; at < text.size() && parsed.outcome == Outcome::need_more;) {
    const size_t take = std::min(step, text.size() - at);
    held.append(text, at, take);
    at += take;
    size_t size = held.size();
    parsed.outcome = parser.parse(held.data(), size);
    held.resize(size);
    parsed.rest = text.size() - at;
  }
  parsed.status = parser.error_status();
  if (parsed.outcome == Outcome::complete) {
    Request request;
    parser.fill(held.data(), request);
    parsed.body = std::string(request.body);
    parsed.headers = request.headers.size();
    parsed.rest += held.size() - parser.consumed();
    parsed.keep_alive = parser.keep_alive();
  }
  return parsed;
}

TEST(Parser, ReadsMethodTargetAndHeaders) {
  RequestParser parser(1024, 1024);
  std::string text =
      "GET /one/a?x=1 HTTP/1.1\r\nHost: h\r\nX-Sent-Date:  now then \r\nempty:\r\n\r\n";
  size_t size = text.size();
  ASSERT_EQ(parser.parse(text.data(), size), Outcome::complete);
  Request request;
  parser.fill(text.data(), request);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.target, "/one/a?x=1");
  ASSERT_EQ(request.headers.size(), 3U);
  EXPECT_EQ(request.headers[1].name, "X-Sent-Date");
  EXPECT_EQ(request.header("x-sent-date"), "now then");
  EXPECT_EQ(request.header("empty"), "");
  EXPECT_EQ(request.header("absent"), "");
  EXPECT_EQ(parser.consumed(), text.size());
}

TEST(Parser, SameResultWhateverTheCuts) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "5;name=\"x\"\r\nhello\r\n1\r\n \r\n00a\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\nGET /next";
  for (size_t step = 1; step <= text.size(); ++step) {
    const Parsed parsed = parse(text, step);
    ASSERT_EQ(parsed.outcome, Outcome::complete) << step;
    EXPECT_EQ(parsed.body, "hello 0123456789") << step;
    EXPECT_EQ(parsed.rest, 9U) << step;
    EXPECT_EQ(parsed.headers, 2U) << "a trailer is no header; step " << step;
  }
}

TEST(Parser, KeepAlive) {
  EXPECT_TRUE(parse("GET / HTTP/1.1\r\nHost: h\r\n\r\n").keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: foo , Close\r\n\r\n").keep_alive);
  EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n").keep_alive);
  EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST(Parser, SkipsLineEndsBeforeARequest) {
  EXPECT_EQ(parse("\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n").outcome, Outcome::complete);
}

struct Bad {
  const char* why;
  std::string text;
  int status = 400;
};

class ParserRejects : public testing::TestWithParam<Bad> {};

TEST_P(ParserRejects, WhateverTheCuts) {
  const Bad& bad = GetParam();
  for (const size_t step : {size_t{0}, size_t{1}, size_t{3}}) {
    const Parsed parsed = parse(bad.text, step, 512, 64);
    EXPECT_EQ(parsed.outcome, Outcome::failed) << bad.why;
    EXPECT_EQ(parsed.status, bad.status) << bad.why;
  }
}

std::string head(const std::string& headers) {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n";
}
std::string chunks(const std::string& body) {
  return head("Transfer-Encoding: chunked\r\n") + body;
}

INSTANTIATE_TEST_SUITE_P(
    All, ParserRejects,
    testing::Values(
        Bad{"no method", " / HTTP/1.1\r\n\r\n"}, Bad{"no target", "GET  HTTP/1.1\r\n\r\n"},
        Bad{"no version", "GET /\r\n\r\n"}, Bad{"not HTTP", "hello there friend\r\n"},
        Bad{"version 2", "PRI * HTTP/2.0\r\n", 505},
        Bad{"version in lower case", "GET / http/1.1\r\n"},
        Bad{"two spaces", "GET / x HTTP/1.1\r\n"}, Bad{"bare LF", "GET / HTTP/1.1\n"},
        Bad{"bare LF after a header", "GET / HTTP/1.1\r\nHost: h\n\r\n"},
        Bad{"bare CR in the target", "GET /\r HTTP/1.1\r\n"},
        Bad{"bare CR in a value", head("a: b\rc\r\n")},
        Bad{"NUL in a value", head(std::string("a: b\0c\r\n", 8))},
        Bad{"escape in a value", head("a: b\x1b[0m\r\n")},
        Bad{"DEL in the target", "GET /\x7f HTTP/1.1\r\n"},
        Bad{"space before the colon", head("a : b\r\n")}, Bad{"empty name", head(": b\r\n")},
        Bad{"no colon", head("abc\r\n")}, Bad{"folded header", head("a: b\r\n c\r\n")},
        Bad{"a space before the first header", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"},
        Bad{"no Host", "GET / HTTP/1.1\r\n\r\n"}, Bad{"two Hosts", head("Host: i\r\n")},
        Bad{"length and chunked", head("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n")},
        Bad{"chunked and length", head("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n")},
        Bad{"two lengths that differ", head("Content-Length: 1\r\nContent-Length: 2\r\n")},
        Bad{"a list of lengths", head("Content-Length: 1, 1\r\n")},
        Bad{"negative length", head("Content-Length: -1\r\n")},
        Bad{"signed length", head("Content-Length: +1\r\n")},
        Bad{"hexadecimal length", head("Content-Length: 0x1\r\n")},
        Bad{"empty length", head("Content-Length: \r\n")},
        Bad{"huge length", head("Content-Length: 18446744073709551617\r\n"), 413},
        Bad{"length over the bound", head("Content-Length: 65\r\n"), 413},
        Bad{"unknown coding", head("Transfer-Encoding: gzip\r\n"), 501},
        Bad{"chunked is not last", head("Transfer-Encoding: chunked, gzip\r\n"), 501},
        Bad{"chunked twice", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
        Bad{"hidden chunked", head("Transfer-Encoding: \x0b"
                                   "chunked\r\n")},
        Bad{"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
        Bad{"unknown expectation", head("Expect: miracles\r\n"), 417},
        Bad{"chunk size not a number", chunks("x\r\n")}, Bad{"chunk size empty", chunks("\r\n")},
        Bad{"chunk size with 0x", chunks("0x5\r\nhello\r\n")},
        Bad{"chunk size negative", chunks("-1\r\n")},
        Bad{"chunk size with a space", chunks("5 \r\nhello\r\n")},
        Bad{"chunk size of 17 digits", chunks("00000000000000005\r\n")},
        Bad{"chunk size overflow", chunks("ffffffffffffffff\r\n"), 413},
        Bad{"chunk size line with bare LF", chunks("5\nhello\r\n")},
        Bad{"chunk longer than said", chunks("5\r\nhello!\r\n")},
        Bad{"chunks over the bound", chunks("30\r\n" + std::string(48, 'x') + "\r\n11\r\n"), 413},
        Bad{"long chunk line", chunks("5;" + std::string(2000, 'x'))},
        Bad{"extensions over the bound", chunks("1;" + std::string(600, 'x') + "\r\n"), 431},
        Bad{"bad trailer", chunks("0\r\na b\r\n\r\n")},
        Bad{"long request line", "GET /" + std::string(600, 'x'), 431},
        Bad{"long header", head("a: " + std::string(600, 'x')), 431}));

TEST(Parser, HeadBound) {
  const std::string start = "GET / HTTP/1.1\r\nHost: h\r\na: ";
  const std::string fits = start + std::string(200 - start.size() - 4, 'x') + "\r\n\r\n";
  EXPECT_EQ(parse(fits, 0, 200).outcome, Outcome::complete);
  EXPECT_EQ(parse(fits, 1, 200).outcome, Outcome::complete);
  EXPECT_EQ(parse(fits, 0, 199).status, 431);
  EXPECT_EQ(parse(fits, 1, 199).status, 431);
}

TEST(Parser, TooManyHeaders) {
  std::string text = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (int i = 0; i < 256; ++i) text += "a: b\r\n";
  EXPECT_EQ(parse(text + "\r\n").status, 431);
}

// A body sent in the smallest chunks must not make the buffer grow beyond the body.
TEST(Parser, FramingTakesNoMemory) {
  RequestParser parser(1024, 10'000);
  std::string held = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
  const size_t head_size = held.size();
  for (int i = 0; i < 1000; ++i) {
    held += "1\r\nx\r\n";
    size_t size = held.size();
    ASSERT_EQ(parser.parse(held.data(), size), Outcome::need_more);
    held.resize(size);
    ASSERT_LE(held.size(), head_size + static_cast<size_t>(i) + 1);
  }
  held += "0\r\n\r\n";
  size_t size = held.size();
  ASSERT_EQ(parser.parse(held.data(), size), Outcome::complete);
  Request request;
  parser.fill(held.data(), request);
  EXPECT_EQ(request.body, std::string(1000, 'x'));
}

}  // namespace
}  // namespace orrery::net
