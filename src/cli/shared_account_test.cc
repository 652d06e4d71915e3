// The account that the nodes of a cluster share: made once, the same for all, one key changed at a
// time.
#include "cli/shared_account.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <thread>
#include <vector>

#include "cli/data_folder.h"
#include "volume/objects/directory_store.h"
#include "volume/objects/forwarding_store.h"

namespace orrery::cli {
namespace {

class SharedAccountTest : public testing::Test {
 protected:
  SharedAccountTest() {
    char pattern[] = "/tmp/orrery-account-XXXXXX";
    folder_ = mkdtemp(pattern);
    store_ = volume::open_directory_store(folder_ + "/store").value();
  }
  ~SharedAccountTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::shared_ptr<volume::ObjectStore> store_;
};

TEST_F(SharedAccountTest, AllNodesHaveTheKeysOfTheFirst) {
  std::vector<std::future<Result<SharedAccount>>> nodes;
  for (int i = 0; i < 8; ++i) {
    nodes.push_back(
        std::async(std::launch::async, [this] { return ensure_shared_account(*store_); }));
  }
  const SharedAccount first = nodes.front().get().value();
  EXPECT_FALSE(first.keys.primary.empty());
  EXPECT_NE(first.keys.primary, first.keys.secondary);
  EXPECT_EQ(first.secret.size(), 32U);
  for (size_t i = 1; i < nodes.size(); ++i) {
    const SharedAccount other = nodes[i].get().value();
    EXPECT_EQ(other.keys, first.keys);
    EXPECT_EQ(other.secret, first.secret);
  }
}

TEST_F(SharedAccountTest, AKeyThatOneNodeChangesIsChangedAtAll) {
  const SharedAccount first = ensure_shared_account(*store_).value();
  auto account = account::Account::open(first.keys, first.secret, {}).value();
  const std::string by_old = account->keys().signature_of("x");
  KeyWatch watch(*store_, *account, folder_);
  const account::Keys changed = regenerate_shared_key(*store_, account::KeyName::primary).value();
  EXPECT_NE(changed.primary, first.keys.primary);
  EXPECT_EQ(changed.secondary, first.keys.secondary);
  EXPECT_EQ(ensure_shared_account(*store_)->keys, changed);
  while (account->keys().who_signed("x", by_old)) std::this_thread::yield();
  // The copy follows.
  while (read_keys(folder_).value_or(account::Keys{}) != changed) std::this_thread::yield();
}

// The first answer of the store is lost, though it has made the object.
class LossyStore final : public volume::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  volume::Outcome apply(const std::string& object, const volume::ObjectChange& change) override {
    volume::Outcome outcome = ForwardingStore::apply(object, change);
    if (!lost_) outcome.applied = volume::Applied::unknown;
    lost_ = true;
    return outcome;
  }

 private:
  bool lost_ = false;
};

TEST_F(SharedAccountTest, AnAnswerThatWasLostIsLookedUp) {
  LossyStore lossy(store_);
  const SharedAccount made = ensure_shared_account(lossy).value();
  EXPECT_EQ(ensure_shared_account(*store_)->keys, made.keys);
}

}  // namespace
}  // namespace orrery::cli
