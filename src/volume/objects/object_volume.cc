// See object_volume.h.
#include "volume/objects/object_volume.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/thread_annotations.h"
#include "volume/objects/file_tokens.h"
#include "volume/objects/mutation.h"
#include "volume/objects/object_file_system.h"
#include "volume/objects/root.h"
#include "volume/objects/space_watch.h"
#include "volume/objects/sweeper.h"
#include "volume/objects/text_number.h"

namespace orrery::volume {
namespace {

constexpr const char* kRemovedAt = "removed";  // an attribute of dead roots: seconds
constexpr int kAttempts = 100;

std::string named(std::string_view name) {
  return fmt::format("n:{}", name);
}

// In the order of time.
std::string removed(int64_t at_s, std::string_view id) {
  return fmt::format("r:{:020}.{}", at_s, id);
}

std::unexpected<Error> bad_name(std::string_view name) {
  return fail(Code::invalid,
              fmt::format("'{}' is not a name for a partition's files: use 1 to 64 lower-case "
                          "letters, digits and hyphens",
                          name));
}

std::unexpected<Error> failed(const ObjectStore& store, std::string_view doing,
                              const Outcome& outcome) {
  return fail(outcome.applied == Applied::full ? Code::read_only : Code::internal,
              fmt::format("cannot {} in {}: {}", doing, store.place(),
                          outcome.message.empty() ? "it is being changed again and again"
                                                  : outcome.message));
}

using Entries = std::map<std::string, std::string>;

// What the volume and its claims share. A claim may outlive the volume.
struct Core {
  std::shared_ptr<ObjectStore> store;
  std::shared_ptr<Lease> lease;
  std::shared_ptr<BlockCache> cache;  // may be null
  ObjectVolumeOptions options;

  Mutex mutex;
  // The newest epoch that this process has of each root; 0 while it is claiming its first.
  std::map<std::string, uint64_t, std::less<>> claimed ORRERY_GUARDED_BY(mutex);
  // Names of partitions whose root may name this process though it has no claim of it, and since
  // when: a claim failed in the middle, or a release had no answer. Nobody else could claim them.
  std::map<std::string, int64_t, std::less<>> in_doubt ORRERY_GUARDED_BY(mutex);

  Result<std::string> make_root(std::string_view name, const std::string& owner, uint64_t epoch,
                                const std::string& parent);
  void doubt(std::string_view name) {
    const int64_t now_us = options.clock();
    MutexLock lock(mutex);
    in_doubt.try_emplace(std::string(name), now_us);
  }
};

// Makes a root and enters it under its name. Code::conflict when the name is in use.
Result<std::string> Core::make_root(std::string_view name, const std::string& owner, uint64_t epoch,
                                    const std::string& parent) {
  std::array<char, 8> random = {};
  if (!options.random(random)) return fail(Code::internal, "the system gives no random bytes");
  const std::string id = to_hex_upper(std::string_view(random.data(), random.size()));
  const Outcome made = store->apply(
      root_object(id), {.presence = ObjectChange::Presence::must_be_new,
                        .set_attributes = {{kEpoch, std::to_string(epoch)},
                                           {kOwner, owner},
                                           {kState, std::string(owner.empty() ? kReleased : kOpen)},
                                           {kName, std::string(name)},
                                           {kMaker, lease->incarnation()},
                                           {kParent, parent}},
                        .set_entries = parent.empty() ? Entries{{"db/", "directory"}} : Entries{}});
  if (!made.is_done()) return failed(*store, "make the root of a partition", made);
  const Outcome entered = store->apply(
      kIndexObject, {.entries_equal = {{named(name), ""}}, .set_entries = {{named(name), id}}});
  if (entered.is_done()) return id;
  // Without an answer the index may name it, so it stays.
  if (entered.applied != Applied::unknown) {
    store->apply(root_object(id),
                 {.presence = ObjectChange::Presence::must_be_there, .remove = true});
  }
  if (entered.applied != Applied::differs) {
    return failed(*store, "enter a partition into the index", entered);
  }
  return fail(Code::conflict, fmt::format("{}/{} is in use", store->place(), name));
}

// Appends of every earlier epoch fail from here on. The epoch of the root was raised before.
Status seal_logs(ObjectStore& store, const ObjectState& root) {
  for (const auto& [path, text] : root.entries) {
    const auto entry = path.ends_with('/') ? std::nullopt : decode_file_entry(text);
    if (!entry || entry->kind != FileEntry::Kind::log) continue;
    for (size_t i = 0; i < entry->extents.size(); ++i) {
      if (entry->extents[i]) continue;
      if (is_mutated(Mutation::no_seal) || is_mutated(Mutation::seal_after_reading)) continue;
      const Outcome sealed =
          store.apply(entry->object(i), {.set_attributes = {{kEpoch, std::string(kSealed)}}});
      if (!sealed.is_done()) return failed(store, "seal a log", sealed);
    }
  }
  return {};
}

class ObjectClaim final : public Claim {
 public:
  ObjectClaim(std::shared_ptr<Core> core, std::string name, std::shared_ptr<Root> root,
              uint64_t noted_lsn)
      : core_(std::move(core)),
        name_(std::move(name)),
        root_(std::move(root)),
        directory_(fmt::format("/{}/db", name_)),
        files_(make_object_file_system(name_, root_, core_->cache)),
        file_system_(as_file_system(files_)),
        noted_lsn_(noted_lsn),
        kept_lsn_(noted_lsn) {}

  ~ObjectClaim() override {
    release();
    MutexLock lock(core_->mutex);
    const auto newest = core_->claimed.find(root_->id());
    if (newest != core_->claimed.end() && newest->second == root_->epoch()) {
      core_->claimed.erase(newest);
    }
  }

  uint64_t epoch() const override { return root_->epoch(); }
  const std::shared_ptr<rocksdb::FileSystem>& file_system() const override { return file_system_; }
  const std::string& directory() const override { return directory_; }
  uint64_t noted_lsn() const override { return noted_lsn_; }

  Status note_lsn(uint64_t lsn, NoteIs note) override {
    if (root_->standing() != Standing::owner) return deposed("note how far it has got");
    uint64_t before = noted_lsn_;
    while (before < lsn && !noted_lsn_.compare_exchange_weak(before, lsn)) {
    }
    // An operation for each commit would double its cost, so it is kept when that was asked for, or
    // when the claim ends.
    if (note == NoteIs::quick) return {};
    const uint64_t newest = noted_lsn_;
    if (kept_lsn_.load() >= newest) return {};
    const Outcome kept = root_->set_attribute(kLsn, std::to_string(newest));
    if (kept.applied == Applied::differs) return deposed("note how far it has got");
    if (!kept.is_done()) return failed(*core_->store, "note how far a partition has got", kept);
    kept_lsn_ = newest;
    return {};
  }

  Result<std::string> clone_target(std::string_view name) override {
    if (!is_valid_name(name)) return bad_name(name);
    if (!root_->check().is_done()) return deposed("make a clone");
    auto id = core_->make_root(name, core_->lease->incarnation(), 1, root_->id());
    if (!id && id.error().code == Code::conflict) {
      return fail(Code::conflict, fmt::format("cannot make a clone in {}/{}: there is something "
                                              "under this name",
                                              core_->store->place(), name));
    }
    if (!id) return pass(id.error());
    add_clone(*files_, std::string(name),
              std::make_shared<Root>(*core_->store, *id, 1, ObjectState(), Root::Entries::held));
    return fmt::format("/{}/db", name);
  }

 private:
  void release() {
    if (root_->standing() == Standing::deposed) return;
    if (root_->standing() == Standing::in_doubt) return core_->doubt(name_);
    const Outcome released = core_->store->apply(
        root_object(root_->id()), {.presence = ObjectChange::Presence::must_be_there,
                                   .attributes_equal = {{kEpoch, std::to_string(root_->epoch())}},
                                   .set_attributes = {{kState, std::string(kReleased)},
                                                      {kOwner, ""},
                                                      {kLsn, std::to_string(noted_lsn_.load())}}});
    if (released.applied == Applied::unknown || released.applied == Applied::failed ||
        released.applied == Applied::full) {
      core_->doubt(name_);
    }
  }

  std::unexpected<Error> deposed(std::string_view doing) const {
    return fail(Code::read_only, fmt::format("cannot {}: another owner has taken {}/{} over", doing,
                                             core_->store->place(), name_));
  }

  const std::shared_ptr<Core> core_;
  const std::string name_;
  const std::shared_ptr<Root> root_;
  const std::string directory_;
  const std::shared_ptr<ObjectFileSystem> files_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
  std::atomic<uint64_t> noted_lsn_;
  std::atomic<uint64_t> kept_lsn_;
};

// Another owner's partition, as a reader sees it: its root is never changed through this.
class ObjectFollowedFiles final : public FollowedFiles {
 public:
  ObjectFollowedFiles(std::shared_ptr<Core> core, const std::string& name,
                      std::shared_ptr<Root> root)
      : core_(std::move(core)),
        index_entry_(named(name)),
        root_(std::move(root)),
        directory_(fmt::format("/{}/db", name)),
        file_system_(as_file_system(make_object_file_system(name, root_, core_->cache))) {}

  const std::shared_ptr<rocksdb::FileSystem>& file_system() const override { return file_system_; }
  const std::string& directory() const override { return directory_; }
  Status refresh() override {
    auto id = core_->store->entry(kIndexObject, index_entry_);
    if (!id) return pass(id.error());
    if (!*id || **id != root_->id()) {
      return fail(Code::not_found, fmt::format("{} was removed", directory_));
    }
    return root_->reload();
  }

 private:
  const std::shared_ptr<Core> core_;
  const std::string index_entry_;
  const std::shared_ptr<Root> root_;
  const std::string directory_;
  const std::shared_ptr<rocksdb::FileSystem> file_system_;
};

class ObjectVolume final : public Volume {
 public:
  explicit ObjectVolume(std::shared_ptr<Core> core)
      : core_(std::move(core)),
        space_(*core_->store),
        sweeper_(*core_->store, core_->options.sweep_every_s, [this] { settle(); }) {}

  // Claims and releases what this process may own in name only. A claim raises the epoch, which
  // bars everything that had no answer.
  void settle() {
    const int64_t now_us = core_->options.clock();
    std::vector<std::string> names;
    {
      MutexLock lock(core_->mutex);
      for (const auto& [name, since_us] : core_->in_doubt) {
        // Whoever was in doubt usually claims it again by itself.
        if (now_us - since_us >= kSettleAfterUs) names.push_back(name);
      }
      for (const std::string& name : names) core_->in_doubt.erase(name);
    }
    for (const std::string& name : names) {
      // Another has it, or this process claimed it again: all is known. The claim is released at
      // once; should that fail, it is in doubt again.
      if (auto claimed = claim(name); !claimed && claimed.error().code != Code::moved) {
        core_->doubt(name);
      }
    }
  }

  Result<std::unique_ptr<Claim>> claim(std::string_view name) override {
    return take(name, LivingOwner::is_left_alone);
  }
  Result<std::unique_ptr<Claim>> take_over(std::string_view name) override {
    return take(name, LivingOwner::is_deposed);
  }

  Status outlive_owner(std::string_view name) override {
    auto id = store().entry(kIndexObject, named(name));
    if (!id) return pass(id.error());
    if (!*id) return {};
    auto root = store().inspect(root_object(**id));
    if (!root && root.error().code == Code::not_found) return {};
    if (!root) return pass(root.error());
    auto free = is_free(*root);
    if (!free) return pass(free.error());
    if (*free) return {};
    const std::string owner(root->attribute(kOwner));
    auto ended = end_lease(store(), owner, core_->options.lease_times, core_->options.clock);
    if (!ended) return pass(ended.error());
    if (!*ended) return has_owner(name, owner);
    return {};
  }

  bool reads_are_current() const override { return core_->lease->is_good(); }

  Result<std::string> owner(std::string_view name) const override {
    return owner_incarnation(store(), name);
  }

  bool exists(std::string_view name) const override {
    if (!is_valid_name(name)) return false;
    auto id = store().entry(kIndexObject, named(name));
    if (!id || !*id) return false;
    auto root = store().inspect(root_object(**id));
    if (!root || root->attribute(kState) == kDead) return false;
    for (const auto& [path, text] : root->entries) {
      if (path == "db/CURRENT" || path.ends_with(".sst") || path.ends_with(".log")) return true;
    }
    return false;
  }

  Result<std::unique_ptr<FollowedFiles>> follow(std::string_view name) {
    if (!is_valid_name(name)) return bad_name(name);
    auto id = store().entry(kIndexObject, named(name));
    if (!id) return pass(id.error());
    if (!*id) return fail(Code::not_found, fmt::format("there is no {}", place(name)));
    auto state = store().inspect(root_object(**id));
    if (!state) return pass(state.error());
    auto root = std::make_shared<Root>(store(), **id, 0, std::move(*state));
    root->refused(Applied::differs);  // it is another's
    return std::make_unique<ObjectFollowedFiles>(core_, std::string(name), std::move(root));
  }

  std::string place(std::string_view name) const override {
    return fmt::format("{}/{}", store().place(), name);
  }

  Result<std::vector<std::string>> list() const override {
    std::vector<std::string> names;
    auto index = store().inspect(kIndexObject);
    if (!index && index.error().code == Code::not_found) return names;
    if (!index) return pass(index.error());
    for (auto it = index->entries.lower_bound("n:");
         it != index->entries.end() && it->first.starts_with("n:"); ++it) {
      names.push_back(it->first.substr(2));
    }
    return names;
  }

  Status remove(std::string_view name, int64_t now_s) override {
    if (!is_valid_name(name)) return bad_name(name);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto id = store().entry(kIndexObject, named(name));
      if (!id) return pass(id.error());
      if (!*id) return {};
      auto root = store().inspect(root_object(**id));
      if (!root && root.error().code == Code::not_found) continue;
      if (!root) return pass(root.error());
      if (root->attribute(kState) != kDead) {
        const auto epoch = number_of<uint64_t>(root->attribute(kEpoch));
        if (!epoch) return no_root(name);
        const Outcome marked = store().apply(
            root_object(**id), {.presence = ObjectChange::Presence::must_be_there,
                                .attributes_equal = {{kEpoch, std::to_string(*epoch)}},
                                .set_attributes = {{kEpoch, std::to_string(*epoch + 1)},
                                                   {kState, std::string(kDead)},
                                                   {kRemovedAt, std::to_string(now_s)}}});
        if (marked.applied == Applied::differs || marked.applied == Applied::absent) continue;
        if (!marked.is_done()) return failed(store(), "remove a partition", marked);
      }
      return finish_removal(name, **id);
    }
    return failed(store(), "remove a partition", {});
  }

  Result<bool> delete_removed(int64_t before_s) override {
    auto index = store().inspect(kIndexObject);
    if (!index && index.error().code == Code::not_found) return false;
    if (!index) return pass(index.error());
    const auto oldest = index->entries.lower_bound("r:");
    if (oldest == index->entries.end() || !oldest->first.starts_with("r:") ||
        oldest->first.compare(0, 22, removed(before_s, "").substr(0, 22)) > 0) {
      return false;
    }
    const std::string id = oldest->first.substr(oldest->first.find('.') + 1);
    auto root = store().inspect(root_object(id));
    if (!root && root.error().code != Code::not_found) return pass(root.error());
    if (root) {
      for (const auto& [path, text] : root->entries) {
        if (path.ends_with('/')) continue;
        if (auto entry = decode_file_entry(text)) drop_file(store(), *entry);
      }
      const Outcome gone = store().apply(
          root_object(id), {.presence = ObjectChange::Presence::must_be_there, .remove = true});
      if (!gone.is_done() && gone.applied != Applied::absent) {
        return failed(store(), "delete the root of a partition", gone);
      }
    }
    const Outcome forgotten = store().apply(kIndexObject, {.erase_entries = {oldest->first}});
    if (!forgotten.is_done()) return failed(store(), "forget a removed partition", forgotten);
    return true;
  }

  Result<double> free_share() const override { return store().free_share(); }

  Status room(Need need) override {
    const double reserve = core_->options.reserve_share * (need == Need::growth ? 1 : 0.5);
    const double free = space_.free_share(core_->options.clock());
    if (free >= reserve) return {};
    return fail(Code::read_only,
                fmt::format("{} has {:.1f} % of its space left, and {:.1f} % are kept for removals",
                            store().place(), free * 100, reserve * 100));
  }

 private:
  static constexpr int64_t kSettleAfterUs = 1'000'000;
  enum class LivingOwner : uint8_t { is_left_alone, is_deposed };

  ObjectStore& store() const { return *core_->store; }

  // Where a test may end the process (base/fault.h) while it claims from another: one that died, or
  // one that released it. Null for a first claim, and for one from itself.
  struct CrashPoints {
    const char* claimed = nullptr;  // the epoch is raised
    const char* sealed = nullptr;   // and the logs are sealed
  };
  CrashPoints crash_points_of(const ObjectState& root) const {
    const std::string_view owner = root.attribute(kOwner);
    if (owner == core_->lease->incarnation() || root.attribute(kEpoch) == "0") return {};
    if (owner.empty()) return {.claimed = "move.claimed", .sealed = "move.sealed"};
    return {.claimed = "takeover.claimed", .sealed = "takeover.sealed"};
  }

  std::unexpected<Error> no_root(std::string_view name) const {
    return fail(Code::corrupt,
                fmt::format("the root of {} is lost or damaged: restore this partition from a copy",
                            place(name)));
  }
  std::unexpected<Error> has_owner(std::string_view name, std::string_view owner) const {
    return fail(Code::moved, fmt::format("{} has another owner{}{}", place(name),
                                         owner.empty() ? "" : ": ", owner));
  }

  Result<std::unique_ptr<Claim>> take(std::string_view name, LivingOwner living) {
    if (!is_valid_name(name)) return bad_name(name);
    if (core_->lease->is_lost()) {
      return fail(Code::moved,
                  fmt::format("cannot claim {}: the lease of this process was ended", place(name)));
    }
    bool is_raised = false;
    auto claimed = try_to_take(name, living, is_raised);
    if (!claimed && is_raised) core_->doubt(name);
    return claimed;
  }

  // `is_raised`: the epoch was raised, or may be at any later time.
  Result<std::unique_ptr<Claim>> try_to_take(std::string_view name, LivingOwner living,
                                             bool& is_raised) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto id = find_or_make(name);
      if (!id) return pass(id.error());
      if (!begin_claiming(*id, living)) return has_owner(name, core_->lease->incarnation());
      auto claimed = take_root(name, *id, living, is_raised);
      end_claiming(*id, claimed && *claimed ? (*claimed)->epoch() : 0);
      if (!claimed) return pass(claimed.error());
      if (*claimed) return std::move(*claimed);
    }
    return failed(store(), "claim a partition", {});
  }

  // False when this process has a claim that is to be left alone.
  bool begin_claiming(const std::string& id, LivingOwner living) {
    MutexLock lock(core_->mutex);
    const bool is_new = core_->claimed.try_emplace(id, 0).second;
    return is_new || living == LivingOwner::is_deposed;
  }
  void end_claiming(const std::string& id, uint64_t epoch) {
    MutexLock lock(core_->mutex);
    uint64_t& newest = core_->claimed[id];
    newest = std::max(newest, epoch);
    if (newest == 0) core_->claimed.erase(id);
  }

  // Null when the root changed meanwhile: it is to be looked up again.
  Result<std::unique_ptr<Claim>> take_root(std::string_view name, const std::string& id,
                                           LivingOwner living, bool& is_raised) {
    auto root = store().inspect(root_object(id));
    if (!root && root.error().code == Code::not_found) {
      // Removed and deleted since, or lost.
      auto again = store().entry(kIndexObject, named(name));
      if (again && *again == id) return no_root(name);
      return nullptr;
    }
    if (!root) return pass(root.error());
    if (root->attribute(kState) == kDead) {
      if (auto finished = finish_removal(name, id); !finished) return pass(finished.error());
      return nullptr;
    }
    const auto epoch = number_of<uint64_t>(root->attribute(kEpoch));
    if (!epoch) return no_root(name);
    if (living == LivingOwner::is_left_alone && !is_mutated(Mutation::claim_without_over)) {
      auto free = is_free(*root);
      if (!free) return pass(free.error());
      if (!*free) return has_owner(name, root->attribute(kOwner));
    }
    ObjectChange raise{.presence = ObjectChange::Presence::must_be_there,
                       .attributes_equal = {{kEpoch, std::to_string(*epoch)}},
                       .set_attributes = {{kEpoch, std::to_string(*epoch + 1)},
                                          {kOwner, core_->lease->incarnation()},
                                          {kState, std::string(kOpen)}}};
    if (is_mutated(Mutation::claim_uncompared)) raise.attributes_equal.clear();
    const Outcome taken = store().apply(root_object(id), raise);
    is_raised |= taken.is_done() || taken.applied == Applied::unknown;
    const CrashPoints points = crash_points_of(*root);
    if (taken.is_done() && points.claimed) static_cast<void>(fault::point(points.claimed));
    switch (taken.applied) {
      case Applied::done:
        if (is_mutated(Mutation::list_before_claim))
          return open_listed(name, id, *epoch + 1, *root, points);
        return open_claimed(name, id, *epoch + 1, living, points);
      case Applied::differs:
      case Applied::absent:
      case Applied::unknown:  // whoever the root names when it is read again may claim it
        return nullptr;
      default:
        return failed(store(), "claim a partition", taken);
    }
  }

  // The epoch is raised. Only now may the logs be listed: the old owner cannot enter new ones. When
  // the epoch was raised once more by now, the logs are the next owner's, who needs them unsealed.
  // Then the claim is deposed already, or null for those who leave a living owner alone.
  Result<std::unique_ptr<Claim>> open_claimed(std::string_view name, const std::string& id,
                                              uint64_t epoch, LivingOwner living,
                                              CrashPoints points) {
    auto state = store().inspect(root_object(id));
    if (!state) return pass(state.error());
    if (state->attribute(kEpoch) == std::to_string(epoch))
      return open_listed(name, id, epoch, std::move(*state), points);
    if (living == LivingOwner::is_left_alone) return nullptr;
    const uint64_t lsn = lsn_of(*state);
    auto root = std::make_shared<Root>(store(), id, epoch, std::move(*state));
    root->refused(Applied::differs);
    return std::make_unique<ObjectClaim>(core_, std::string(name), std::move(root), lsn);
  }
  Result<std::unique_ptr<Claim>> open_listed(std::string_view name, const std::string& id,
                                             uint64_t epoch, ObjectState state,
                                             CrashPoints points) {
    if (auto sealed = seal_logs(store(), state); !sealed) return pass(sealed.error());
    if (points.sealed) static_cast<void>(fault::point(points.sealed));
    const uint64_t lsn = lsn_of(state);
    return std::make_unique<ObjectClaim>(
        core_, std::string(name), std::make_shared<Root>(store(), id, epoch, std::move(state)),
        lsn);
  }
  static uint64_t lsn_of(const ObjectState& root) {
    return number_of<uint64_t>(root.attribute(kLsn)).value_or(0);
  }

  Result<std::string> find_or_make(std::string_view name) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      auto id = store().entry(kIndexObject, named(name));
      if (!id) return pass(id.error());
      if (*id) return std::move(**id);
      auto made = core_->make_root(name, "", 0, "");
      if (made || made.error().code != Code::conflict) return made;
    }
    return failed(store(), "make a partition", {});
  }

  Result<bool> is_free(const ObjectState& root) const {
    if (root.attribute(kState) == kReleased) return true;
    const std::string owner(root.attribute(kOwner));
    // This process makes clones, and claims from itself what it is in doubt about.
    if (owner == core_->lease->incarnation()) return true;
    return is_over(store(), owner);
  }

  Status finish_removal(std::string_view name, const std::string& id) {
    auto root = store().inspect(root_object(id));
    if (!root && root.error().code == Code::not_found) return {};
    if (!root) return pass(root.error());
    if (auto sealed = seal_logs(store(), *root); !sealed) return sealed;
    const auto at_s =
        static_cast<int64_t>(number_of<uint64_t>(root->attribute(kRemovedAt)).value_or(0));
    const Outcome freed =
        store().apply(kIndexObject, {.entries_equal = {{named(name), id}},
                                     .set_entries = {{removed(at_s, id), std::string(name)}},
                                     .erase_entries = {named(name)}});
    // Somebody else has done it.
    if (freed.is_done() || freed.applied == Applied::differs) return {};
    return failed(store(), "free the name of a removed partition", freed);
  }

  const std::shared_ptr<Core> core_;
  SpaceWatch space_;
  Sweeper sweeper_;
};

}  // namespace

Result<std::unique_ptr<Volume>> open_object_volume(std::shared_ptr<ObjectStore> store,
                                                   ObjectVolumeOptions options,
                                                   std::shared_ptr<Lease> lease) {
  std::shared_ptr<BlockCache> cache;
  if (!options.cache_file.empty() && options.cache_bytes > 0) {
    auto opened = BlockCache::open(options.cache_file, options.cache_bytes);
    if (!opened) return pass(opened.error());
    cache = std::move(*opened);
  }
  if (!lease) {
    auto taken = take_lease(*store, options);
    if (!taken) return pass(taken.error());
    lease = std::move(*taken);
  }
  auto core = std::make_shared<Core>();
  core->store = std::move(store);
  core->lease = std::move(lease);
  core->cache = std::move(cache);
  core->options = std::move(options);
  return std::make_unique<ObjectVolume>(std::move(core));
}

void settle(Volume& volume) {
  static_cast<ObjectVolume&>(volume).settle();
}

Result<std::unique_ptr<FollowedFiles>> follow(Volume& volume, std::string_view name) {
  if (auto* objects = dynamic_cast<ObjectVolume*>(&volume)) return objects->follow(name);
  return fail(Code::unsupported, "this volume is for one process alone: nobody can follow it");
}

Result<std::string> owner_incarnation(ObjectStore& store, std::string_view name) {
  auto id = store.entry(kIndexObject, named(name));
  if (!id) return pass(id.error());
  if (!*id) return std::string();
  auto root = store.inspect(root_object(**id));
  if (!root && root.error().code == Code::not_found) return std::string();
  if (!root) return pass(root.error());
  if (root->attribute(kState) != kOpen) return std::string();
  return std::string(root->attribute(kOwner));
}

}  // namespace orrery::volume
