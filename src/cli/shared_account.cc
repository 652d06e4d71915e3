// See shared_account.h.
#include "cli/shared_account.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "cli/data_folder.h"

namespace orrery::cli {
namespace {

using account::KeyName;
using account::Keys;
using volume::Applied;
using volume::ObjectChange;
using volume::ObjectState;
using volume::ObjectStore;
using volume::Outcome;

const std::string kObject = "account";
const std::string kSecretEntry = "secret";
constexpr std::array kNames = {KeyName::primary, KeyName::secondary, KeyName::primary_readonly,
                               KeyName::secondary_readonly};
// Others change it at the same moment, or the store does not answer.
constexpr int kTries = 8;
constexpr std::chrono::seconds kWatchEvery{1};

std::string entry_of(KeyName name) {
  return std::string(to_string(name));
}

Result<SharedAccount> decode(const ObjectState& state) {
  SharedAccount found;
  for (const KeyName name : kNames) {
    const auto entry = state.entries.find(entry_of(name));
    if (entry != state.entries.end()) account::key_of(found.keys, name) = entry->second;
  }
  if (const auto entry = state.entries.find(kSecretEntry); entry != state.entries.end()) {
    found.secret = entry->second;
  }
  if (found.keys.primary.empty() || found.secret.empty()) {
    return fail(Code::corrupt,
                fmt::format("the volume's object '{}' lacks a key or the secret", kObject));
  }
  return found;
}

Result<SharedAccount> read(ObjectStore& store) {
  auto state = store.inspect(kObject);
  if (!state) return pass(state.error());
  return decode(*state);
}

Status make(ObjectStore& store) {
  auto keys = with_new_keys({}, kNames);
  if (!keys) return pass(keys.error());
  auto secret = new_secret();
  if (!secret) return pass(secret.error());
  ObjectChange change;
  change.presence = ObjectChange::Presence::must_be_new;
  for (const KeyName name : kNames) {
    change.set_entries[entry_of(name)] = account::key_of(*keys, name);
  }
  change.set_entries[kSecretEntry] = *secret;
  const Outcome made = store.apply(kObject, change);
  // Whoever makes it first has made it for all. Without an answer, reading tells.
  if (made.is_done() || made.applied == Applied::exists || made.applied == Applied::unknown) {
    return {};
  }
  return fail(Code::internal,
              fmt::format("cannot make the account's keys in {}: {}", store.place(), made.message));
}

}  // namespace

Result<SharedAccount> ensure_shared_account(ObjectStore& store) {
  for (int i = 0; i < kTries; ++i) {
    auto found = read(store);
    if (found || found.error().code != Code::not_found) return found;
    if (auto made = make(store); !made) return pass(made.error());
  }
  return fail(Code::internal,
              fmt::format("{} does not answer: the account's keys are neither there nor can they "
                          "be made",
                          store.place()));
}

Result<Keys> regenerate_shared_key(ObjectStore& store, KeyName name) {
  std::string message = "others change it at the same time";
  for (int i = 0; i < kTries; ++i) {
    auto found = read(store);
    if (!found) return pass(found.error());
    const std::array names = {name};
    auto keys = with_new_keys(found->keys, names);
    if (!keys) return pass(keys.error());
    ObjectChange change;
    change.presence = ObjectChange::Presence::must_be_there;
    change.entries_equal = {{entry_of(name), account::key_of(found->keys, name)}};
    change.set_entries[entry_of(name)] = account::key_of(*keys, name);
    const Outcome changed = store.apply(kObject, change);
    if (changed.is_done()) return keys;
    // Without an answer it may be changed or not, now or later: a newer key settles that.
    if (changed.applied != Applied::differs && changed.applied != Applied::unknown) {
      message = changed.message;
      break;
    }
  }
  return fail(Code::internal, fmt::format("cannot change the key {} in {}: {}", to_string(name),
                                          store.place(), message));
}

KeyWatch::KeyWatch(ObjectStore& store, account::Account& account, std::string data_folder)
    : store_(store), account_(account), data_folder_(std::move(data_folder)) {
  thread_.post([this] { watch(); });
}

KeyWatch::~KeyWatch() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
}

void KeyWatch::watch() {
  Keys known;
  for (;;) {
    auto found = read(store_);
    if (!found) {
      log::warn("cannot read the account's keys", {{"error", found.error().message}});
    } else if (found->keys != known) {
      auto taken = account_.take(found->keys);
      if (taken) taken = write_keys(data_folder_, found->keys);
      if (taken) {
        known = found->keys;
      } else {
        log::warn("cannot take the account's keys", {{"error", taken.error().message}});
      }
    }
    MutexLock lock(mutex_);
    if (!stopping_) wake_.wait_for(mutex_, kWatchEvery);
    if (stopping_) return;
  }
}

}  // namespace orrery::cli
