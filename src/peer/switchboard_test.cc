// Who answers calls of other nodes, and that a node which stops answers what it took.
#include "peer/switchboard.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace orrery::peer {
namespace {

class Keeper final : public ForwardReceiver {
 public:
  void receive(IncomingRequest /*request*/, ForwardDone done) override {
    taken.push_back(std::move(done));
  }
  std::vector<ForwardDone> taken;
};

TEST(SwitchboardTest, AnswersWhatItTookAndTakesNothingMore) {
  Switchboard board;
  Keeper keeper;
  board.set_receiver(keeper);
  std::optional<Result<ForwardAnswer>> told;
  board.receive({}, [&](Result<ForwardAnswer> answer) { told = std::move(answer); });
  ASSERT_EQ(keeper.taken.size(), 1U);
  EXPECT_FALSE(board.finish_receiving(std::chrono::milliseconds(1)));
  std::optional<Result<ForwardAnswer>> refused;
  board.receive({}, [&](Result<ForwardAnswer> answer) { refused = std::move(answer); });
  EXPECT_EQ(keeper.taken.size(), 1U);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error().code, Code::overloaded);
  EXPECT_FALSE(told);
  keeper.taken[0](ForwardAnswer());
  EXPECT_TRUE(told && *told);
  EXPECT_TRUE(board.finish_receiving(std::chrono::milliseconds(0)));
}

}  // namespace
}  // namespace orrery::peer
