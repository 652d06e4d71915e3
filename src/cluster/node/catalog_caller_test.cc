// How a copy of the catalog asks its owner, when that does not answer or there is none.
#include "cluster/node/catalog_caller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace orrery::cluster {
namespace {

// Answers nothing, as a node that hangs, and runs what the test does meanwhile.
class SilentLink final : public peer::Link {
 public:
  void call(const std::string& /*address*/, std::string /*kind*/, std::string /*bytes*/,
            std::chrono::milliseconds /*deadline*/, peer::Done done) override {
    kept = std::move(done);
    if (meanwhile) meanwhile();
  }
  peer::Done kept;
  std::function<void()> meanwhile;
};

TEST(CatalogCallerTest, WaitsNoLongerForAnOwnerThatIsReplaced) {
  SilentLink link;
  CatalogCaller caller(link);
  std::atomic<bool> is_replaced = false;
  caller.set_coordinator([&] { return std::optional<std::string>(is_replaced ? "b:1" : "a:1"); });
  link.meanwhile = [&] { is_replaced = true; };
  // Without the look at the coordinator this waits for ever: nobody keeps the deadline here.
  const auto answer = caller.change("x");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, Code::internal) << "nobody knows whether it was made";
  link.kept(std::string("late"));  // harms nobody
}

TEST(CatalogCallerTest, TellsTheAnswerAndThatThereIsNoOwner) {
  SilentLink link;
  CatalogCaller caller(link);
  EXPECT_EQ(caller.change("x").error().code, Code::overloaded);
  caller.set_coordinator([] { return std::optional<std::string>("a:1"); });
  link.meanwhile = [&] { std::exchange(link.kept, nullptr)(std::string("made")); };
  EXPECT_EQ(caller.change("x").value(), "made");
}

}  // namespace
}  // namespace orrery::cluster
