// Messages between nodes, as bytes and back.
#include "nodes/messages.h"

#include <gtest/gtest.h>

namespace orrery::nodes {
namespace {

FollowAnswer an_answer() {
  Plan plan{.term = 7,
            .version = 3,
            .members = {{.name = "a", .address = "h:1", .incarnation = "AB", .draining = true},
                        {.name = "b", .address = "h:2", .incarnation = "CD", .draining = false}},
            .owners = {{{.container = 1, .range = 2}, 1}, {{.container = 4, .range = 0}, 0}}};
  return {.term = 7, .news = {.lsn = 99, .bytes = std::string("\0bytes", 6)}, .plan = plan};
}

TEST(Messages, AreReadAsTheyWereWritten) {
  const FollowRequest request{
      .incarnation = "AB",
      .catalog_lsn = 12,
      .plan_term = 3,
      .plan_version = 4,
      .quiet = true,
      .loads = {{{.ref = {.container = 1, .range = 2}, .bytes = 3, .load = 4.5}}}};
  EXPECT_EQ(decode_follow_request(encode(request)).value(), request);
  const FollowAnswer answer = an_answer();
  const FollowAnswer read = decode_follow_answer(encode(answer)).value();
  EXPECT_EQ(read.term, answer.term);
  EXPECT_EQ(read.news.lsn, answer.news.lsn);
  EXPECT_EQ(read.news.bytes, answer.news.bytes);
  EXPECT_EQ(read.plan->members, answer.plan->members);
  EXPECT_EQ(read.plan->owners, answer.plan->owners);
  EXPECT_EQ(decode_drain_request(encode(DrainRequest{.incarnation = "X", .draining = false}))
                ->incarnation,
            "X");
  EXPECT_EQ(
      decode_move_request(encode(MoveRequest{.range = {.container = 3, .range = 9}, .to = "n"}))
          ->range.range,
      9U);
}

TEST(Messages, WhatIsCutOffOrLongerIsNone) {
  const std::string bytes = encode(an_answer());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_follow_answer(std::string_view(bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(decode_follow_answer(bytes + "x"));
  EXPECT_EQ(decode_follow_answer("").error().code, Code::invalid);
}

TEST(Messages, AnOwnerThatIsNoMemberIsRefused) {
  FollowAnswer answer = an_answer();
  answer.plan->owners.begin()->second = 2;
  EXPECT_FALSE(decode_follow_answer(encode(answer)));
}

TEST(Messages, ALoadThatIsNoNumberCountsAsUnknown) {
  FollowRequest request{.incarnation = "A", .loads = std::vector<RangeLoad>(1)};
  request.loads->front().load = -1;
  EXPECT_EQ(decode_follow_request(encode(request))->loads->front().load, 0);
}

}  // namespace
}  // namespace orrery::nodes
