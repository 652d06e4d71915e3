// What a page is answered: parts as one, failures with a status of HTTP.
#include "api/gremlin/page_answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace orrery::gremlin {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Kept final : net::ResponseSink {
  void send(net::Response&& made) noexcept override { response = std::move(made); }
  void abandon() noexcept override { response.status = 500; }
  bool is_gone() const override { return gone; }
  net::Response response;
  bool gone = false;
};

class PageAnswersTest : public testing::Test {
 protected:
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();
  PageAnswers answers_{net::Responder(kept_)};
  Attributes attributes_ = [] {
    Attributes made;
    made.total_charge = 12.345;
    made.total_time_ms = 1.5;
    made.activity_id = "id-1";
    return made;
  }();
};

TEST_F(PageAnswersTest, PartsBecomeOneAnswer) {
  EXPECT_TRUE(answers_.part("1,2", attributes_));
  const std::string last = "3";
  answers_.last(&last, attributes_, true);
  EXPECT_EQ(kept_->response.status, 200);
  EXPECT_EQ(kept_->response.body, R"({"results":[1,2,3],"more":false,"ms":1.50})");
  EXPECT_THAT(kept_->response.headers, HasSubstr("x-ms-request-charge: 12.3"));
  EXPECT_THAT(kept_->response.headers, HasSubstr("x-ms-activity-id: id-1\r\n"));
  EXPECT_THAT(kept_->response.headers, Not(HasSubstr("retry-after")));
}

TEST_F(PageAnswersTest, NoResultsAreAnEmptyList) {
  attributes_.is_cut = true;
  answers_.last(nullptr, attributes_, false);
  EXPECT_EQ(kept_->response.body, R"({"results":[],"more":true,"ms":1.50})");
}

TEST_F(PageAnswersTest, AFailureHasAStatusOfHttp) {
  attributes_.status_code = 429;
  attributes_.retry_after_ms = 250;
  answers_.fail({status::kServerError, false, "too \"much\""}, attributes_, true);
  EXPECT_EQ(kept_->response.status, 429);
  EXPECT_EQ(kept_->response.body, R"({"code":"TooManyRequests","message":"too \"much\""})");
  EXPECT_THAT(kept_->response.headers, HasSubstr("x-ms-retry-after-ms: 250\r\n"));
}

TEST_F(PageAnswersTest, CodesOfTheServiceAloneAreTranslated) {
  for (const auto& [code, http] :
       {std::pair(1000, 400), {1004, 400}, {1003, 413}, {1009, 408}, {1001, 500}, {404, 404}}) {
    const auto kept = std::make_shared<Kept>();
    PageAnswers answers{net::Responder(kept)};
    attributes_.status_code = code;
    answers.fail({status::kServerError, false, "no"}, attributes_, true);
    EXPECT_EQ(kept->response.status, http) << code;
  }
}

TEST_F(PageAnswersTest, AClientThatHasGoneIsToldOf) {
  kept_->gone = true;
  EXPECT_TRUE(answers_.is_gone());
  EXPECT_FALSE(answers_.part("1", attributes_));
}

}  // namespace
}  // namespace orrery::gremlin
