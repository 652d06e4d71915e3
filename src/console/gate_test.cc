// Who gets past the console's gate, with what, and what other sites cannot do.
#include "console/gate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/bytes.h"
#include "console/assets.h"
#include "console/inner_request.h"

namespace orrery::console {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kPrimary = to_base64(std::string(64, 'p'));
const std::string kReadOnly = to_base64(std::string(64, 'r'));

struct Answer final : net::ResponseSink {
  void send(net::Response&& made) noexcept override { response = std::move(made); }
  void abandon() noexcept override { response.status = 500; }
  net::Response response;
};

// The face and the pages behind: says what reached it.
struct Behind final : net::Handler {
  void handle(const net::Request& request, net::Responder responder) override {
    seen = fmt::format("{} {}", request.method, request.target);
    authorization = request.header("authorization");
    cookie = request.header("cookie");
    net::Response response;
    response.body = seen;
    response.headers = "x-ms-request-charge: 2\r\n";
    responder.send(std::move(response));
  }
  std::optional<net::Response> refuse(const net::Request&) override { return std::nullopt; }
  std::string seen;
  std::string authorization;
  std::string cookie;
};

class GateTest : public testing::Test {
 protected:
  GateTest() {
    auto account = account::Account::open({kPrimary, "", kReadOnly, ""}, std::string(32, 's'), {});
    EXPECT_TRUE(account.has_value());
    account_ = std::move(*account);
    start(false);
  }
  void start(bool dev) {
    auto gate = Gate::create(*account_, clock_, behind_, {.dev = dev, .version = "1"});
    EXPECT_TRUE(gate.has_value());
    gate_ = std::move(*gate);
  }

  struct Asked {
    std::string method = "GET";
    std::string target = {};
    std::vector<net::Header> headers = {};
    std::string body = {};
    std::string peer = "127.0.0.1";
    bool plain = false;  // without the console's own header
  };
  net::Request request_of(const Asked& asked) {
    net::Request request;
    request.method = asked.method;
    request.target = asked.target;
    request.headers = asked.headers;
    request.body = asked.body;
    request.peer = asked.peer;
    if (request.header("host").empty()) request.headers.push_back({"host", "localhost:8081"});
    if (!asked.plain) request.headers.push_back({"x-orrery-console", "1"});
    return request;
  }
  net::Response ask(const Asked& asked) {
    behind_.seen.clear();
    const auto answer = std::make_shared<Answer>();
    gate_->handle(request_of(asked), net::Responder(answer));
    return std::move(answer->response);
  }
  // The cookie header of a new session.
  std::string sign_in(const std::string& key = kPrimary) {
    const net::Response answer = ask({.method = "POST",
                                      .target = "/console/api/session",
                                      .headers = {},
                                      .body = R"({"key":")" + key + "\"}"});
    EXPECT_EQ(answer.status, 200) << answer.body;
    return cookie_in(answer);
  }
  static std::string cookie_in(const net::Response& answer) {
    const size_t at = answer.headers.find("set-cookie: ");
    if (at == std::string::npos) return "";
    const size_t from = at + std::string_view("set-cookie: ").size();
    return answer.headers.substr(from, answer.headers.find(';', from) - from);
  }
  int status_of(const Asked& asked) { return ask(asked).status; }

  ManualClock clock_;
  Behind behind_;
  std::unique_ptr<account::Account> account_;
  std::unique_ptr<Gate> gate_;
};

TEST_F(GateTest, SendsBrowsersOnAndLeavesOthersTheirAccount) {
  const net::Response sent_on =
      ask({.target = "/", .headers = {{"accept", "text/html,application/xhtml+xml"}}});
  EXPECT_EQ(sent_on.status, 302);
  EXPECT_THAT(sent_on.headers, HasSubstr("location: /console/\r\n"));
  for (const char* accept : {"application/json", "*/*", ""}) {
    EXPECT_EQ(ask({.target = "/", .headers = {{"accept", accept}}}).body, "GET /");
  }
  EXPECT_EQ(ask({.target = "/dbs"}).body, "GET /dbs");
  EXPECT_EQ(ask({.target = "/consoles"}).body, "GET /consoles");
}

TEST_F(GateTest, ServesThePageUnderAStrictPolicy) {
  const net::Response page = ask({.target = "/console/?x=1", .plain = true});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.headers,
              AllOf(HasSubstr("default-src 'none'; script-src 'self'; style-src 'self'"),
                    HasSubstr("frame-ancestors 'none'"), HasSubstr("cache-control: no-store"),
                    HasSubstr("nosniff"), Not(HasSubstr("unsafe"))));
  for (const Asset& asset : assets()) {
    const net::Response file =
        ask({.target = "/console/" + std::string(asset.path), .plain = true});
    EXPECT_EQ(file.status, 200) << asset.path;
    EXPECT_EQ(file.body, asset.bytes);
  }
  EXPECT_EQ(status_of({.method = "POST", .target = "/console/"}), 405);
}

TEST_F(GateTest, NoNameLeadsOutOfItsFiles) {
  for (const char* path :
       {"../keys.json", "assets/../../keys.json", "assets/%2e%2e/%2e%2e/keys.json", "//etc/passwd",
        "assets/", "assets", "index.html", "assets/app.js%00", ".."}) {
    EXPECT_EQ(status_of({.target = std::string("/console/") + path}), 404) << path;
    EXPECT_EQ(behind_.seen, "");
  }
}

TEST_F(GateTest, AKeyOpensASessionThatActsForIt) {
  const std::string cookie = sign_in();
  EXPECT_THAT(cookie, testing::StartsWith("orrery_console_8081="));
  const net::Response answer =
      ask({.target = "/console/api/data/dbs/a%20b?x", .headers = {{"cookie", cookie}}});
  EXPECT_EQ(answer.body, "GET /dbs/a%20b?x");
  EXPECT_THAT(answer.headers, HasSubstr("no-store"));
  EXPECT_THAT(behind_.authorization, testing::StartsWith("type%3Dmaster"));
  EXPECT_EQ(behind_.cookie, "") << "the session stays here";
  EXPECT_EQ(
      ask({.target = "/console/api/admin/partitions?a=b", .headers = {{"cookie", cookie}}}).body,
      "GET /admin/partitions?a=b");
  EXPECT_THAT(behind_.authorization, testing::StartsWith("type%3Dorrery-admin"));
}

TEST_F(GateTest, TextsOfOtherFacesAreRunByTheirPage) {
  auto gate = Gate::create(*account_, clock_, behind_,
                           {.version = "1", .other_faces = {"a", "b"}, .languages = {"b"}});
  ASSERT_TRUE(gate.has_value());
  gate_ = std::move(*gate);
  EXPECT_THAT(ask({.target = "/console/api/session"}).body,
              HasSubstr(R"("otherFaces":["a","b"],"languages":["b"])"));
  EXPECT_EQ(status_of({.method = "POST", .target = "/console/api/admin/run"}), 401);
  const std::string cookie = sign_in(kReadOnly);
  EXPECT_EQ(
      ask({.method = "POST", .target = "/console/api/admin/run", .headers = {{"cookie", cookie}}})
          .body,
      "POST /admin/run");
  EXPECT_THAT(behind_.authorization, testing::StartsWith("type%3Dorrery-admin"));
}

TEST_F(GateTest, TheCookieIsForThisSiteAloneAndNotForScripts) {
  const net::Response answer = ask({.method = "POST",
                                    .target = "/console/api/session",
                                    .headers = {},
                                    .body = R"({"key":")" + kPrimary + "\"}"});
  EXPECT_THAT(answer.headers, AllOf(HasSubstr("; HttpOnly; SameSite=Strict\r\n"),
                                    HasSubstr("; Path=/console;"), Not(HasSubstr("Secure"))));
  EXPECT_THAT(answer.body, Not(HasSubstr(kPrimary)));
}

TEST_F(GateTest, ASessionReachesTheFaceAndSomePagesAndNothingElse) {
  const std::string cookie = sign_in();
  for (const char* target :
       {"/console/api/data/admin/keys/regenerate", "/console/api/admin/keys/",
        "/console/api/data/metrics", "/console/api/data//admin/split", "/console/api/data/console/",
        "/console/api/", "/console/api/admin/", "/console/api/nothing"}) {
    EXPECT_EQ(status_of({.method = "POST", .target = target, .headers = {{"cookie", cookie}}}), 404)
        << target;
    EXPECT_EQ(behind_.seen, "");
  }
}

TEST_F(GateTest, ShowsAKeyToWhoHasLatelyProvedToHaveItsRights) {
  const auto shown = [&](const std::string& cookie, std::string_view name,
                         const std::string& peer = "127.0.0.1") {
    return ask({.method = "POST",
                .target = "/console/api/keys",
                .headers = {{"cookie", cookie}},
                .body = fmt::format(R"({{"key":"{}"}})", name),
                .peer = peer});
  };
  const std::string writer = sign_in();
  const std::string reader = sign_in(kReadOnly);
  EXPECT_EQ(ask({.target = "/console/api/keys", .headers = {{"cookie", reader}}}).body,
            R"({"fixed":true,"keys":[{"key":"primary","access":"read-write","maySee":false},)"
            R"({"key":"primary-readonly","access":"read-only","maySee":true}]})");
  EXPECT_EQ(shown(writer, "primary").body,
            fmt::format(R"({{"key":"primary","value":"{}"}})", kPrimary));
  EXPECT_EQ(shown(reader, "primary-readonly").status, 200);
  EXPECT_EQ(shown(reader, "primary").status, 403);
  EXPECT_EQ(shown("", "primary").status, 401);
  EXPECT_EQ(shown(writer, "primary", "10.0.0.7").status, 403) << "over http, from elsewhere";
  EXPECT_EQ(shown(writer, "secondary").status, 404) << "it is not in use";
  EXPECT_EQ(shown(writer, "all").status, 400);
  const Asked new_key{.method = "POST",
                      .target = "/console/api/admin/keys/regenerate",
                      .headers = {{"cookie", writer}},
                      .body = R"({"key":"primary"})"};
  EXPECT_EQ(ask(new_key).status, 200);
  EXPECT_EQ(behind_.seen, "POST /admin/keys/regenerate");
  clock_.advance_ms((kFreshS + 1) * 1000);
  EXPECT_EQ(shown(writer, "primary").status, 403) << "nobody may have been there since";
  EXPECT_EQ(status_of(new_key), 403);
  EXPECT_EQ(behind_.seen, "");
  EXPECT_EQ(shown(sign_in(), "primary").status, 200);
}

TEST_F(GateTest, TellsWhichKeysAreAskedForMost) {
  const std::string cookie = sign_in();
  for (uint32_t i = 0; i < 40 * HotKeys::kSampled; ++i) {
    ask({.target = "/dbs/a b/colls/c/docs/1",
         .headers = {{"x-ms-documentdb-partitionkey", R"(["US"])"}}});
  }
  const std::string target = "/console/api/hot?container=c&database=a%20b";
  EXPECT_EQ(status_of({.target = target}), 401);
  EXPECT_EQ(ask({.target = target, .headers = {{"cookie", cookie}}}).body,
            R"({"sampled":40,"keys":[{"key":"[\"US\"]","part":1.0000,"unitsPerSecond":640.00}]})");
  EXPECT_EQ(ask({.target = "/console/api/hot", .headers = {{"cookie", cookie}}}).body,
            R"({"sampled":0,"keys":[]})");
}

TEST_F(GateTest, WithoutASessionNothingIsPassedOn) {
  std::string forged = sign_in();
  forged.back() = forged.back() == '0' ? '1' : '0';
  for (const std::string& cookie :
       {std::string(), std::string("orrery_console_8081="), forged,
        std::string("orrery_console_8081=") + std::string(kTokenChars, '0'),
        "orrery_console_9=" + sign_in().substr(20)}) {
    EXPECT_EQ(status_of({.target = "/console/api/data/dbs", .headers = {{"cookie", cookie}}}), 401);
    EXPECT_EQ(behind_.seen, "");
  }
}

TEST_F(GateTest, AnswersItsOwnPageAlone) {
  const std::string cookie = sign_in();
  const std::vector<net::Header> own = {
      {"cookie", cookie}, {"sec-fetch-site", "same-origin"}, {"origin", "http://localhost:8081"}};
  EXPECT_EQ(status_of({.target = "/console/api/data/dbs", .headers = own}), 200);
  EXPECT_EQ(status_of({.target = "/console/api/data/dbs", .headers = own, .plain = true}), 403)
      << "a form or an image of another site cannot send the header";
  for (const net::Header& wrong :
       {net::Header{"sec-fetch-site", "cross-site"}, net::Header{"sec-fetch-site", "same-site"},
        net::Header{"sec-fetch-site", "none"}, net::Header{"origin", "http://evil.example"},
        net::Header{"origin", "http://localhost:8082"}, net::Header{"origin", "null"},
        net::Header{"origin", "https://localhost:8081"}}) {
    for (const char* method : {"GET", "POST", "DELETE", "OPTIONS"}) {
      EXPECT_EQ(status_of({.method = method,
                           .target = "/console/api/data/dbs",
                           .headers = {{"cookie", cookie}, wrong}}),
                403)
          << wrong.name << ' ' << wrong.value;
      EXPECT_EQ(behind_.seen, "");
    }
  }
}

TEST_F(GateTest, OpensWithoutAKeyForDevelopmentOnThisMachineOnly) {
  const Asked asked{
      .method = "POST", .target = "/console/api/session", .headers = {}, .body = "{}"};
  EXPECT_EQ(status_of(asked), 401);
  start(true);
  EXPECT_EQ(status_of(asked), 200);
  Asked other = asked;
  other.peer = "192.0.2.1";
  EXPECT_EQ(status_of(other), 401);
  other = asked;
  other.headers = {{"host", "evil.example:8081"}};
  EXPECT_EQ(status_of(other), 401) << "a name of elsewhere that leads here";
}

TEST_F(GateTest, AnAddressHasSoManyTriesAMinute) {
  const Asked wrong{.method = "POST",
                    .target = "/console/api/session",
                    .headers = {},
                    .body = R"({"key":")" + to_base64("wrong") + "\"}",
                    .peer = "192.0.2.1"};
  for (uint32_t i = 0; i < kTriesMax; ++i) EXPECT_EQ(status_of(wrong), 401);
  EXPECT_EQ(status_of(wrong), 429);
  Asked right = wrong;
  right.body = R"({"key":")" + kPrimary + "\"}";
  EXPECT_EQ(status_of(right), 429) << "not even the right one";
  right.peer = "192.0.2.2";
  EXPECT_EQ(status_of(right), 200) << "others are not held up";
  clock_.advance_ms(60'000);
  right.peer = wrong.peer;
  EXPECT_EQ(status_of(right), 200);
}

TEST_F(GateTest, SigningOutEndsIt) {
  const std::string cookie = sign_in();
  const net::Response out =
      ask({.method = "DELETE", .target = "/console/api/session", .headers = {{"cookie", cookie}}});
  EXPECT_EQ(out.status, 200);
  EXPECT_THAT(out.headers, HasSubstr("Max-Age=0"));
  EXPECT_EQ(status_of({.target = "/console/api/data/dbs", .headers = {{"cookie", cookie}}}), 401);
}

TEST_F(GateTest, ASessionInUseIsRenewed) {
  const std::string cookie = sign_in();
  const Asked asked{.target = "/console/api/data/dbs", .headers = {{"cookie", cookie}}};
  EXPECT_EQ(cookie_in(ask(asked)), "");
  clock_.advance_ms(kRenewAfterS * 1000);
  const std::string renewed = cookie_in(ask(asked));
  EXPECT_NE(renewed, "");
  clock_.advance_ms((kIdleS - 1) * 1000);
  EXPECT_EQ(status_of(asked), 401);
  EXPECT_EQ(status_of({.target = asked.target, .headers = {{"cookie", renewed}}}), 200);
}

TEST_F(GateTest, LargeBodiesAreForThoseWhoAreSignedIn) {
  const std::string cookie = sign_in();
  const auto refused = [&](const Asked& asked) {
    const auto answer = gate_->refuse(request_of(asked));
    return answer ? answer->status : 0;
  };
  EXPECT_EQ(refused({.method = "POST", .target = "/console/api/data/dbs"}), 401);
  EXPECT_EQ(
      refused(
          {.method = "POST", .target = "/console/api/data/dbs", .headers = {{"cookie", cookie}}}),
      0);
  EXPECT_EQ(refused({.method = "POST",
                     .target = "/console/api/data/dbs",
                     .headers = {{"cookie", cookie}},
                     .plain = true}),
            403);
  EXPECT_EQ(refused({.method = "POST", .target = "/console/api/session"}), 413);
  EXPECT_EQ(refused({.method = "POST", .target = "/dbs"}), 0) << "the face says";
}

TEST_F(GateTest, BodiesThatAreNoKeyAreRefused) {
  for (const char* body : {"", "null", "[]", "{\"key\":1}", "{\"key\":null}", "{", "\"key\""}) {
    const int status = status_of(
        {.method = "POST", .target = "/console/api/session", .headers = {}, .body = body});
    EXPECT_TRUE(status == 400 || status == 401) << body << ' ' << status;
  }
}

TEST(SignedParts, AreTypeAndLink) {
  const auto check = [](std::string_view path, std::string_view type, std::string_view link) {
    auto parts = signed_parts(path);
    ASSERT_TRUE(parts) << path;
    EXPECT_EQ(parts->type, type) << path;
    EXPECT_EQ(parts->link, link) << path;
  };
  check("/", "", "");
  check("/dbs", "dbs", "");
  check("/dbs/a%20b", "dbs", "dbs/a b");
  check("/dbs/a/colls/B/docs?x=y", "docs", "dbs/a/colls/B");
  check("/dbs/a/colls/B/docs/%C3%A9/", "docs", "dbs/a/colls/B/docs/\xC3\xA9");
  check("/offers", "offers", "");
  check("/offers/AbC1", "offers", "abc1");
  EXPECT_FALSE(signed_parts("/dbs/%zz"));
  EXPECT_FALSE(signed_parts(std::string(1000, '/') + "a" + [] {
    std::string deep;
    for (int i = 0; i < 100; ++i) deep += "/a";
    return deep;
  }()));
}

}  // namespace
}  // namespace orrery::console
