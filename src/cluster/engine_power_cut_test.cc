// Power cuts under an engine: random histories of writes, transactions, splits, containers and
// restarts, the power cut at a random sync, and what the next engine finds on the disk.
//
// Histories and cuts come from seeds. (RocksDB's own threads sync too, so the n-th sync is not the
// same one every time; any of them must do.)
#include <algorithm>
#include <random>
#include <set>

#include "cluster/engine_fixture.h"
#include "volume/power_cut.h"

namespace orrery::cluster {
namespace {

using partition::Verb;
using volume::PowerCut;

constexpr int kKeys = 6;
constexpr int kRows = 4;

// What may be there: versions, 0 for nothing. More than one where a write was under way.
struct Model {
  struct Container {
    bool in_doubt = false;  // being made or dropped when the power went
    std::map<std::pair<std::string, std::string>, std::set<int>> items;
  };
  std::map<std::string, Container> containers;
  std::set<std::string> gone;
  // Pairs of items that are only ever written together.
  std::set<std::pair<std::string, std::string>> twins;  // container, key
};

class PowerCutTest : public EngineTest {
 protected:
  PowerCutTest() { options_.sync_commits = true; }

  // One life: a fresh folder, a history, the cut, and what is wrong with what it left.
  struct Cut {
    uint64_t at = 0;
    PowerCut::Unsynced unsynced = PowerCut::Unsynced::lost;
    std::function<bool(const std::string&)> lie = nullptr;
  };
  std::vector<std::string> live(uint32_t seed, const Cut& cut, uint64_t* syncs = nullptr) {
    const std::string here = directory_.path() + "/life" + std::to_string(lives_++);
    const std::string root = here + "/root";
    std::filesystem::create_directories(root);
    Model model;
    std::string image;
    {
      PowerCut disk(root, here + "/work");
      disk.lie_about(cut.lie);
      disk.arrange(cut.at, cut.unsynced, seed);
      History(*this, disk, root, seed).run(model);
      engine_.reset();
      volume_.reset();
      if (syncs != nullptr) *syncs = disk.syncs();
      disk.cut_now();
      image = disk.image();
    }
    std::vector<std::string> wrong = look(image, model);
    engine_.reset();
    volume_.reset();
    std::error_code ignored;
    std::filesystem::remove_all(here, ignored);
    return wrong;
  }

  bool start(const std::string& root, std::string& why) {
    auto volume = volume::open_local_volume(root);
    if (!volume) return why = volume.error().message, false;
    volume_ = std::move(*volume);
    auto opened = Engine::open(*volume_, clock_, options_);
    if (!opened) return why = opened.error().message, false;
    engine_ = std::move(*opened);
    if (!engine_->catalog().database({kFace, "db"}) &&
        !engine_->create_database({kFace, "db"}, std::nullopt)) {
      return why = "cannot make a database", false;
    }
    database_ = engine_->catalog().database({kFace, "db"})->number;
    return true;
  }

  class History {
   public:
    History(PowerCutTest& test, PowerCut& disk, std::string root, uint32_t seed)
        : test_(test), disk_(disk), root_(std::move(root)), random_(seed) {}

    void run(Model& model) {
      std::string why;
      if (!test_.start(root_, why)) return;
      for (int step = 0; step < 40 && !disk_.is_off(); ++step) {
        const uint32_t dice = random_() % 20;
        if (model.containers.empty() || dice == 0) {
          make(model);
        } else if (dice == 1) {
          drop(model);
        } else if (dice == 2) {
          test_.engine_.reset();
          if (!disk_.is_off() && !test_.start(root_, why)) return;
        } else if (dice <= 5) {
          split(test_.find(pick(model)));
        } else if (dice <= 8) {
          write_twins(model);
        } else {
          write_some(model);
        }
      }
    }

   private:
    std::string pick(const Model& model) {
      auto it = model.containers.begin();
      std::advance(it, random_() % model.containers.size());
      return it->first;
    }
    // A split whose map cannot be stored waits until it can be, or until the engine stops.
    void split(const RoutingPtr& routing) {
      if (!routing) return;
      auto splitting = std::async(std::launch::async, [&, engine = test_.engine_.get()] {
        static_cast<void>(engine->split(routing->container->number, {}));
      });
      while (splitting.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
        if (disk_.is_off()) test_.engine_.reset();
      }
    }
    void make(Model& model) {
      const std::string name = "c" + std::to_string(++made_);
      catalog::ContainerSpec spec;
      spec.name = name;
      spec.key = key_of();
      spec.index_rules = {{.path = value::parse_index_path("/*").value(), .include = true}};
      const bool done =
          test_.engine_->create_container(test_.database_, spec, catalog::Throughput{.units = 400})
              .has_value();
      model.containers[name].in_doubt = !done;
    }
    void drop(Model& model) {
      const std::string name = pick(model);
      const RoutingPtr routing = test_.find(name);
      if (!routing) return;
      if (test_.engine_->remove_container(routing->container->number)) {
        model.containers.erase(name);
        model.gone.insert(name);
      } else {
        model.containers[name].in_doubt = true;
      }
    }
    // Several at once, which one commit may take together.
    void write_some(Model& model) {
      const std::string name = pick(model);
      const RoutingPtr routing = test_.find(name);
      if (!routing) return;
      auto& items = model.containers[name].items;
      std::set<std::pair<std::string, std::string>> chosen;
      for (uint32_t i = 0; i < 1 + random_() % 4; ++i) {
        chosen.emplace("k" + std::to_string(random_() % kKeys), std::to_string(random_() % kRows));
      }
      struct Pending {
        std::set<int>* state;
        int next;
        std::promise<WriteReply> reply;
      };
      std::deque<Pending> pending;
      for (const auto& [key, row] : chosen) {
        std::set<int>& state = items.try_emplace({key, row}, std::set<int>{0}).first->second;
        const bool removal = !state.contains(0) && random_() % 3 == 0;
        Pending& one = pending.emplace_back(&state, removal ? 0 : ++version_);
        test_.engine_->write(
            routing,
            partition::one(write_of(*routing, removal ? Verb::remove : Verb::upsert, key, row,
                                    removal ? "" : body(one.next))),
            [&one](WriteReply reply) { one.reply.set_value(std::move(reply)); });
      }
      for (Pending& one : pending) {
        const bool failed = one.reply.get_future().get().error.has_value();
        if (!failed) one.state->clear();
        one.state->insert(one.next);
      }
    }
    void write_twins(Model& model) {
      const std::string name = pick(model);
      const RoutingPtr routing = test_.find(name);
      if (!routing) return;
      const std::string key = "t" + std::to_string(random_() % 2);
      const int version = ++version_;
      std::promise<WriteReply> reply;
      test_.engine_->write(
          routing,
          partition::all_of(write_of(*routing, Verb::upsert, key, "left", body(version)),
                            write_of(*routing, Verb::upsert, key, "right", body(version))),
          [&reply](WriteReply done) { reply.set_value(std::move(done)); });
      const bool failed = reply.get_future().get().error.has_value();
      model.twins.emplace(name, key);
      for (const char* row : {"left", "right"}) {
        std::set<int>& state =
            model.containers[name].items.try_emplace({key, row}, std::set<int>{0}).first->second;
        if (!failed) state.clear();
        state.insert(version);
      }
    }
    std::string body(int version) {
      return "\"v\":" + std::to_string(version) + "," + pad(random_() % 3'000);
    }

    PowerCutTest& test_;
    PowerCut& disk_;
    const std::string root_;
    std::mt19937 random_;
    int made_ = 0;
    int version_ = 0;
  };

  int version_of(const RoutingPtr& routing, const std::string& key, const std::string& row,
                 std::vector<std::string>& wrong) {
    auto reply = read(routing, key, row);
    if (!reply) {
      wrong.push_back("cannot read " + key + "/" + row + ": " + reply.error().message);
      return -1;
    }
    if (!reply->item) return 0;
    const std::string& text = reply->item->body;
    return std::stoi(text.substr(text.find("\"v\":") + 4));
  }

  // Starts an engine on what the disk holds, and says what should not be so.
  std::vector<std::string> look(const std::string& image, const Model& model) {
    std::vector<std::string> wrong;
    std::string why;
    if (!start(image, why)) return {"it does not start: " + why};
    for (const std::string& name : model.gone) {
      if (find(name)) wrong.push_back("dropped container " + name + " is back");
    }
    for (const auto& [name, container] : model.containers) {
      const RoutingPtr routing = find(name);
      if (!routing) {
        if (!container.in_doubt) wrong.push_back("container " + name + " is lost");
        continue;
      }
      if (!catalog::covers_everything(*routing->container->map)) {
        wrong.push_back("the map of " + name + " has a gap");
      }
      uint64_t there = 0;
      for (const auto& [item, states] : container.items) {
        const int version = version_of(routing, item.first, item.second, wrong);
        if (version > 0) ++there;
        if (version >= 0 && !states.contains(version)) {
          wrong.push_back(name + " " + item.first + "/" + item.second + " has version " +
                          std::to_string(version) + ", acknowledged was " +
                          std::to_string(*states.rbegin()));
        }
      }
      if (!wrong.empty()) continue;
      if (rows(routing).size() != there) wrong.push_back("the feed of " + name + " differs");
      if (items_by_usage(routing->container->number) != there) {
        wrong.push_back("the sizes of " + name + " differ");
      }
      // It goes on.
      if (const WriteReply reply = upsert(routing, "k0", "after"); reply.error) {
        wrong.push_back(name + " takes no writes: " + reply.error->message);
      }
      static_cast<void>(engine_->split(routing->container->number, {}));
      if (rows(routing).size() != there + 1) wrong.push_back(name + " differs after a split");
    }
    for (const auto& [name, key] : model.twins) {
      const RoutingPtr routing = find(name);
      if (routing &&
          version_of(routing, key, "left", wrong) != version_of(routing, key, "right", wrong)) {
        wrong.push_back("half of a transaction in " + name);
      }
    }
    return wrong;
  }

  uint64_t usual_syncs() {
    uint64_t syncs = 0;
    EXPECT_THAT(live(1, Cut{.at = UINT64_MAX / 2}, &syncs), testing::IsEmpty());
    EXPECT_GT(syncs, 50U);
    return syncs;
  }

  int lives_ = 0;
};

TEST_F(PowerCutTest, LoseNothingThatWasAcknowledged) {
  const uint64_t syncs = usual_syncs();
  std::mt19937 random(7);
  for (uint32_t seed = 100; seed < 145; ++seed) {
    const Cut cut{.at = random() % syncs,
                  .unsynced = std::array{PowerCut::Unsynced::lost, PowerCut::Unsynced::kept,
                                         PowerCut::Unsynced::some}[seed % 3]};
    EXPECT_THAT(live(seed, cut), testing::IsEmpty())
        << "seed " << seed << ", cut at sync " << cut.at;
  }
}

// What this test is worth: syncs that are not done are found out.
class LyingDiskTest : public PowerCutTest,
                      public testing::WithParamInterface<std::pair<const char*, const char*>> {};

TEST_P(LyingDiskTest, IsFoundOut) {
  const auto lie = [](const std::string& path) { return path.ends_with(GetParam().second); };
  std::mt19937 random(8);
  for (uint32_t seed = 1; seed < 60; ++seed) {
    // Late in its life, when there is something to lose.
    if (!live(seed, {.at = 60 + random() % 60, .lie = lie}).empty()) return;
  }
  FAIL() << "nobody noticed that these are not synced: " << GetParam().second;
}

INSTANTIATE_TEST_SUITE_P(Each, LyingDiskTest,
                         testing::Values(std::pair("Logs", ".log"),
                                         std::pair("DirectoriesOfDatabases", "/db"),
                                         std::pair("TheDirectoryOfPartitions", "/partitions"),
                                         std::pair("Tables", ".sst")),
                         [](const auto& each) { return each.param.first; });

}  // namespace
}  // namespace orrery::cluster
