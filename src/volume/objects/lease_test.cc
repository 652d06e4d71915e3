// Rows of leases, and how another's is ended in steps. That all of it is right whatever happens in
// between is what the simulation of nodes shows (src/nodes/simulation).
#include "volume/objects/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "volume/objects/directory_store.h"

namespace orrery::volume {
namespace {

using Finding = LeaseWatch::Finding;

class LeaseTest : public testing::Test {
 protected:
  LeaseTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "orrery-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    store_ = open_directory_store(folder_).value();
  }
  ~LeaseTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<Lease> take(const std::string& name) {
    return Lease::take(*store_, {.node_name = name,
                                 .address = name + ":1",
                                 .clock = [this] { return now_us_; },
                                 .renews_itself = false})
        .value();
  }
  LeaseWatch watch(const Lease& lease) {
    return LeaseWatch(lease.incarnation(), LeaseTimes(), [this] { return now_us_; });
  }

  std::string folder_;
  std::unique_ptr<ObjectStore> store_;
  int64_t now_us_ = 1'000'000;
};

TEST_F(LeaseTest, ARowIsReadAsItWasWritten) {
  const LeaseRow row{.state = LeaseRow::State::revoked,
                     .counter = 17,
                     .name = "a node = b",
                     .address = "[::1]:80",
                     .versions = {.oldest = 1, .newest = 3},
                     .draining = true,
                     .cannot_reach = "AB"};
  EXPECT_EQ(decode_lease_row(encode(row)), row);
  for (const char* text :
       {"", "live", "live 1", "live x name=a", "gone 1 name=a address= versions=1-1"}) {
    EXPECT_FALSE(decode_lease_row(text)) << text;
  }
  // A newer program may say more.
  const auto newer = decode_lease_row(encode(row) + " rack=7 room=2");
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->rest, "rack=7 room=2");
  EXPECT_EQ(newer->name, row.name);
  EXPECT_EQ(encode(*newer), encode(row) + " rack=7 room=2");
  // Another spelling of the same row would never be equal to what is compared.
  EXPECT_FALSE(decode_lease_row(encode(row) + " "));
  EXPECT_FALSE(decode_lease_row("live 01 name= address= versions=1-1 draining=0 cannot_reach="));
}

TEST_F(LeaseTest, IsListedUntilItIsOver) {
  auto lease = take("a");
  EXPECT_THAT(list_leases(*store_).value(), testing::ElementsAre(lease->incarnation()));
  lease.reset();
  EXPECT_THAT(list_leases(*store_).value(), testing::IsEmpty());
}

TEST_F(LeaseTest, OneThatIsRenewedIsLeftAlone) {
  auto lease = take("a");
  LeaseWatch watched = watch(*lease);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(watched.poll(*store_).value(), Finding::renewed);
    now_us_ += 400'000;
    lease->renew();
    EXPECT_TRUE(lease->is_good());
  }
  EXPECT_EQ(watched.row()->address, "a:1");
}

TEST_F(LeaseTest, OneThatIsNotRenewedIsOverAfterTheWait) {
  auto lease = take("a");
  LeaseWatch watched = watch(*lease);
  EXPECT_EQ(watched.poll(*store_).value(), Finding::renewed);
  now_us_ += 2'499'999;
  EXPECT_EQ(watched.poll(*store_).value(), Finding::silent);
  EXPECT_FALSE(is_over(*store_, lease->incarnation()).value());
  now_us_ += 1;
  EXPECT_EQ(watched.poll(*store_).value(), Finding::over);
  EXPECT_TRUE(is_over(*store_, lease->incarnation()).value());
  EXPECT_FALSE(lease->is_good());
  lease->renew();
  EXPECT_TRUE(lease->is_lost());
}

TEST_F(LeaseTest, RevokedAtOnceItIsOverNoSooner) {
  auto lease = take("a");
  LeaseWatch watched = watch(*lease);
  EXPECT_EQ(watched.poll(*store_, LeaseWatch::Haste::at_once).value(), Finding::renewed);
  EXPECT_TRUE(lease->is_good()) << "its holder has not noticed";
  now_us_ += 2'400'000;
  EXPECT_EQ(watched.poll(*store_).value(), Finding::silent);
  now_us_ += 100'000;
  EXPECT_EQ(watched.poll(*store_).value(), Finding::over);
}

TEST_F(LeaseTest, WhoIsRevokedEndsItsLeaseItself) {
  auto lease = take("a");
  LeaseWatch watched = watch(*lease);
  EXPECT_EQ(watched.poll(*store_, LeaseWatch::Haste::at_once).value(), Finding::renewed);
  lease->renew();
  EXPECT_TRUE(lease->is_lost());
  EXPECT_FALSE(lease->is_good());
  EXPECT_EQ(watched.poll(*store_).value(), Finding::over) << "nobody has to wait";
}

TEST_F(LeaseTest, IsDueWhenTheWaitIsOver) {
  auto lease = take("a");
  LeaseWatch watched = watch(*lease);
  EXPECT_EQ(watched.due_us(), std::nullopt);
  watched.poll(*store_).value();
  EXPECT_EQ(watched.due_us(), now_us_ + 2'500'000);
  now_us_ += 400'000;
  lease->renew();
  watched.poll(*store_).value();
  EXPECT_EQ(watched.due_us(), now_us_ + 2'500'000);
  now_us_ += 100'000;
  watched.poll(*store_).value();
  EXPECT_EQ(watched.due_us(), now_us_ + 2'400'000);
}

TEST_F(LeaseTest, WhoFindsARowRevokedWaitsItself) {
  auto lease = take("a");
  LeaseWatch first = watch(*lease);
  ASSERT_TRUE(first.poll(*store_, LeaseWatch::Haste::at_once));
  now_us_ += 2'000'000;
  LeaseWatch second = watch(*lease);
  EXPECT_EQ(second.poll(*store_).value(), Finding::renewed);
  now_us_ += 2'000'000;
  EXPECT_EQ(second.poll(*store_).value(), Finding::silent);
  EXPECT_EQ(first.poll(*store_).value(), Finding::over);
}

TEST_F(LeaseTest, SaysWhatItsHolderWantsKnown) {
  auto lease = take("a");
  lease->set_draining(true);
  lease->set_cannot_reach("XY");
  EXPECT_FALSE(lease->is_draining());
  lease->renew();
  EXPECT_TRUE(lease->is_draining());
  const LeaseRow row = read_lease(*store_, lease->incarnation()).value().value();
  EXPECT_TRUE(row.draining);
  EXPECT_EQ(row.cannot_reach, "XY");
}

}  // namespace
}  // namespace orrery::volume
