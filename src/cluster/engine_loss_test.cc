// Databases that lost some of their files, or a part of one, while the server was stopped: an error
// that names the folder, never an answer that something is not there. Nothing else suffers.
#include <filesystem>

#include "cluster/engine_fixture.h"

namespace orrery::cluster {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

class EngineLossTest : public EngineTest, public testing::WithParamInterface<partition::Loss> {
 protected:
  EngineLossTest() { options_.sync_commits = true; }

  std::string partition_place(const RoutingPtr& routing) {
    return folder() + "/partitions/" + routing->slots[0]->range.volume_name;
  }
  // Two containers, each with ten items in tables and ten in its log; and so has the catalog.
  void fill() {
    for (int round = 0; round < 2; ++round) {
      open();
      make("extra" + std::to_string(round));
      for (const char* name : {"broken", "sound"}) {
        load(round == 0 ? make(name) : find(name), round * 10, round * 10 + 10);
      }
    }
    broken_ = partition_place(find("broken"));
    engine_.reset();
  }
  void lose(const std::string& place) {
    fs::copy(place, folder() + "/copy", fs::copy_options::recursive);
    GetParam().happen(place + "/db");
  }
  void restore(const std::string& place) {
    engine_.reset();
    fs::remove_all(place);
    fs::rename(folder() + "/copy", place);
  }
  std::string broken_;
};

TEST_P(EngineLossTest, OfAPartition) {
  fill();
  lose(broken_);
  open();
  auto routing = find("broken");
  for (int i : {0, 10, 19}) {
    auto reply = read(routing, "k" + std::to_string(i), std::to_string(i));
    ASSERT_FALSE(reply) << "item " << i << (reply->item ? " is there" : " is said to be absent");
    EXPECT_EQ(reply.error().code, Code::corrupt);
    EXPECT_THAT(reply.error().message, HasSubstr(broken_));
  }
  EXPECT_EQ(upsert(routing, "k1", "1").error->code, Code::corrupt);
  EXPECT_EQ(engine_->feed(routing, "", "\xFF", nullptr, 10, {}).error().code, Code::corrupt);
  expect_all(find("sound"), 20);
  EXPECT_FALSE(upsert(find("sound"), "k1", "1").error);
  restore(broken_);
  open();
  expect_all(find("broken"), 20);
}

TEST_P(EngineLossTest, OfTheCatalog) {
  fill();
  const std::string place = folder() + "/partitions/catalog";
  lose(place);
  const std::vector<std::string> before = files();
  for (int start = 0; start < 2; ++start) {
    auto refused = Engine::open(*volume_, clock_, options_);
    ASSERT_FALSE(refused) << "started";
    EXPECT_EQ(refused.error().code, Code::corrupt) << refused.error().message;
    EXPECT_THAT(refused.error().message, HasSubstr(place));
  }
  EXPECT_EQ(files(), before);
  EXPECT_THAT(removed_files(), IsEmpty());
  restore(place);
  open();
  expect_all(find("broken"), 20);
  expect_all(find("sound"), 20);
  EXPECT_TRUE(find("extra1"));
}

INSTANTIATE_TEST_SUITE_P(Each, EngineLossTest, testing::ValuesIn(partition::losses()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace orrery::cluster
