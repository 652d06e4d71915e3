// See Witness in partition.h: what it hears, and when.
#include "partition/partition_fixture.h"

namespace orrery::partition {
namespace {

class WitnessTest : public PartitionTest {
 protected:
  struct Heard {
    std::vector<Version> versions;
    uint64_t seen_lsn;  // that readers saw meanwhile
  };
  class Listener final : public Witness {
   public:
    explicit Listener(WitnessTest& test) : test_(test) {}
    void stored(std::span<const Written> written) override {
      Heard heard{.versions = {}, .seen_lsn = test_.partition_->lsn()};
      for (const Written& one : written) heard.versions.push_back(one.version);
      test_.heard_.push_back(std::move(heard));
      if (test_.throws_) throw std::bad_alloc();
    }

   private:
    WitnessTest& test_;
  };
  Outcome run(std::vector<Write> transaction) {
    transaction.front().witness = std::make_shared<Listener>(*this);
    return commit(*partition_, std::move(transaction));
  }

  std::shared_ptr<Partition> partition_ = open();
  std::vector<Heard> heard_;
  bool throws_ = false;
};

TEST_F(WitnessTest, HearsOfATransactionBeforeItsLsnIsSeen) {
  for (size_t n = 0; n < 3; ++n) {
    const std::string row = "a" + std::to_string(n);
    const Outcome outcome = run(all_of(create("k", row), create("k", row + "b")));
    ASSERT_FALSE(outcome.error) << outcome.error->message;
    ASSERT_EQ(heard_.size(), n + 1);
    ASSERT_EQ(heard_[n].versions.size(), 2U);
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(heard_[n].versions[i].lsn, outcome.written[i].version.lsn);
      EXPECT_LT(heard_[n].seen_lsn, outcome.written[i].version.lsn);
    }
    EXPECT_EQ(partition_->lsn(), outcome.lsn);
  }
}

TEST_F(WitnessTest, HearsNothingOfATransactionThatFails) {
  ASSERT_FALSE(run(one(create("k", "a"))).error);
  EXPECT_EQ(code_of(run(all_of(create("k", "b"), create("k", "a")))), Code::conflict);
  fault::arm("partition.commit", fault::Action::error);
  EXPECT_EQ(code_of(run(one(create("k", "c")))), Code::read_only);
  EXPECT_EQ(heard_.size(), 1U);
}

TEST_F(WitnessTest, MayFailWithoutHarm) {
  throws_ = true;
  EXPECT_FALSE(run(one(create("k", "a"))).error);
  EXPECT_EQ(partition_->lsn(), heard_.at(0).versions.at(0).lsn);
}

}  // namespace
}  // namespace orrery::partition
