// See toy_partition.h.
#include "nodes/simulation/toy_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "volume/objects/mutation.h"
#include "volume/objects/root.h"

namespace orrery::nodes::simulation {
namespace {

constexpr uint32_t kWritesInALog = 3;
constexpr int kWriteAttempts = 4;

}  // namespace

std::string ToyPartition::root_id() const {
  const Objects::Object* index = room_.objects.find(volume::kIndexObject);
  if (!index) return {};
  const auto found = index->entries.find("n:" + name_);
  return found == index->entries.end() ? std::string() : found->second;
}

bool ToyPartition::open() {
  for (int i = 0; i < 100 && state_ == State::opening && !room_.process.dead; ++i) {
    room_.world.sleep(5'000);
  }
  if (state_ != State::closed) return state_ == State::open;
  state_ = State::opening;
  auto claimed = room_.volume.claim(name_);
  if (claimed) {
    ++room_.world.counts.claims;
    claim_ = std::move(*claimed);
    epoch_ = claim_->epoch();
    room_.world.tell(fmt::format("{} claims {} at epoch {}", room_.process.number, name_, epoch_));
    if (load()) {
      state_ = State::open;
      return true;
    }
    drop_claim();
  }
  state_ = State::closed;
  return false;
}

bool ToyPartition::load() {
  rocksdb::FileSystem& files = *claim_->file_system();
  if (!is_mutated(Mutation::seal_after_reading)) {
    uint64_t& sealed = room_.sealed[root_id()];
    sealed = std::max(sealed, epoch_);
  }
  std::vector<std::string> names;
  if (!files.GetChildren(claim_->directory(), {}, &names, nullptr).ok()) return false;
  std::ranges::sort(names);
  std::vector<uint64_t> writes;
  next_log_ = 1;
  for (const std::string& log : names) {
    std::string bytes;
    if (!rocksdb::ReadFileToString(&files, claim_->directory() + "/" + log, &bytes).ok()) {
      return false;
    }
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      uint64_t value = 0;
      std::memcpy(&value, bytes.data() + at, 8);
      writes.push_back(value);
    }
    next_log_ = static_cast<uint32_t>(std::stoul(log)) + 1;
  }
  if (is_mutated(Mutation::seal_after_reading)) {
    auto extents = room_.store.list("file." + root_id() + ".");
    if (!extents) return false;
    for (const std::string& extent : *extents) {
      room_.store.apply(extent, {.set_attributes = {{volume::kEpoch, "sealed"}}});
    }
    uint64_t& sealed = room_.sealed[root_id()];
    sealed = std::max(sealed, epoch_);
  }
  if (room_.open_us_max > 0) {
    room_.world.sleep(room_.world.between(room_.open_us_max / 10, room_.open_us_max));
  }
  if (!begin_log()) return false;
  if (room_.process.dead) return false;
  bool is_noted = is_mutated(Mutation::serve_before_noting) || ref_ == kCatalogRef ||
                  room_.note_opened(ref_, epoch_);
  // As the real one does it. Where more goes wrong, it is opened again instead.
  for (int i = 0; room_.world.is_orderly && !is_noted && i < 100 && !room_.process.dead; ++i) {
    room_.world.sleep(10'000);
    is_noted = room_.note_opened(ref_, epoch_);
  }
  if (!is_noted || room_.process.dead) return false;
  const Objects::Object* root = room_.objects.find(volume::root_object(root_id()));
  const bool is_owner = root && root->attributes.at(volume::kEpoch) == std::to_string(epoch_);
  writes_ = std::move(writes);
  room_.history.opened(ref_, writes_, is_owner);
  return true;
}

bool ToyPartition::begin_log() {
  log_.reset();
  const std::string path = fmt::format("{}/{:06}.log", claim_->directory(), next_log_++);
  in_log_ = 0;
  return claim_->file_system()->NewWritableFile(path, {}, &log_, nullptr).ok();
}

void ToyPartition::drop_claim() {
  log_.reset();
  if (claim_) ++room_.world.counts.releases;
  claim_.reset();
}

ToyPartition::Told ToyPartition::write(uint64_t value) {
  ++users_;
  while (writing_ && !room_.process.dead) room_.world.sleep(2'000);
  Told told = Told::failed;
  if (state_ == State::open && !room_.process.dead) {
    writing_ = true;
    rocksdb::IOStatus status;
    bool is_sent = true;
    // A root's lock is held while a clone is made: two fibers must not both want it (fiber.h).
    if (in_log_ >= kWritesInALog && !is_cloning_ && !begin_log()) {
      is_sent = false;
      status = rocksdb::IOStatus::IOError("no log");
    } else {
      char raw[8];
      std::memcpy(raw, &value, 8);
      status = log_->Append(rocksdb::Slice(raw, 8), {}, nullptr);
      if (status.ok()) status = log_->Sync({}, nullptr);
    }
    ++in_log_;
    if (room_.process.dead) {
      told = Told::unknown;
    } else if (status.ok() ||
               (is_sent && !status.IsIOFenced() && is_mutated(Mutation::ack_unknown))) {
      writes_.push_back(value);
      told = Told::done;
    } else if (!is_sent || status.IsIOFenced() || is_mutated(Mutation::fail_unknown)) {
      // Nothing was sent, or it was refused. The next one claims it again, or cannot.
      told = Told::failed;
      state_ = State::opening;
      drop_claim();
      state_ = State::closed;
    } else {
      told = settle(value);
    }
    writing_ = false;
  }
  --users_;
  if (room_.process.dead) return Told::unknown;
  if (told == Told::done) room_.history.acknowledged(ref_, writes_);
  if (told == Told::failed) room_.history.told_failed(ref_, value);
  return told;
}

// Whether it was applied is known once the epoch is raised.
ToyPartition::Told ToyPartition::settle(uint64_t value) {
  state_ = State::opening;
  drop_claim();
  state_ = State::closed;
  for (int i = 0; i < kWriteAttempts && !room_.process.dead; ++i) {
    if (open()) {
      return std::ranges::find(writes_, value) != writes_.end() ? Told::done : Told::failed;
    }
    room_.world.sleep(50'000);
  }
  return Told::unknown;
}

bool ToyPartition::may_answer(uint64_t epoch) const {
  if (epoch_ != epoch) return false;
  if (is_mutated(Mutation::serve_while_releasing) && state_ == State::closing) return true;
  if (state_ != State::open) return false;
  return is_mutated(Mutation::no_lease_check) || room_.lease.is_good();
}

std::optional<std::vector<uint64_t>> ToyPartition::read(const std::function<bool()>& is_there) {
  const uint64_t epoch = epoch_;
  ++users_;
  const auto work = [&] {
    const bool is_long = !room_.world.is_orderly && room_.world.happens(0.05);
    room_.world.sleep(room_.world.between(0, is_long ? 300'000 : 3'000));
  };
  // What is asked for all requests of a turn, before they come, says nothing of them.
  const bool was_good = is_mutated(Mutation::check_before_sample) && may_answer(epoch);
  if (is_mutated(Mutation::check_before_sample)) work();
  const size_t floor = room_.history.floor(ref_);
  const bool was_dropped = room_.history.is_dropped(ref_);
  std::vector<uint64_t> writes = writes_;
  work();
  const bool may_answer_it =
      is_mutated(Mutation::check_before_sample) ? was_good : may_answer(epoch);
  --users_;
  if (room_.process.dead || !may_answer_it || !is_there()) return std::nullopt;
  room_.history.read(ref_, writes, floor, was_dropped);
  return writes;
}

bool ToyPartition::clone(uint32_t child) {
  rocksdb::FileSystem& files = *claim_->file_system();
  const std::vector<uint64_t> writes = writes_;
  auto target = claim_->clone_target(fmt::format("r{}", child));
  if (!target) return false;
  const std::string beside = *target + ".tmp";
  std::unique_ptr<rocksdb::FSWritableFile> log;
  if (!files.CreateDir(beside, {}, nullptr).ok() ||
      !files.NewWritableFile(beside + "/000001.log", {}, &log, nullptr).ok()) {
    return false;
  }
  const rocksdb::Slice bytes(reinterpret_cast<const char*>(writes.data()), writes.size() * 8);
  return log->Append(bytes, {}, nullptr).ok() && log->Close({}, nullptr).ok() &&
         files.RenameFile(beside, *target, {}, nullptr).ok();
}

std::optional<uint32_t> ToyPartition::split(const Split& split) {
  ++users_;
  const bool pauses = !is_mutated(Mutation::writes_while_cloning);
  while (writing_ && !room_.process.dead) room_.world.sleep(2'000);
  std::optional<uint32_t> published;
  if (state_ == State::open && !room_.process.dead) {
    if (pauses) writing_ = true;
    const uint64_t epoch = epoch_;
    const auto is_mine = [&] {
      return !room_.process.dead && state_ == State::open && epoch_ == epoch;
    };
    const auto child = split.intend(epoch);
    const bool is_first = is_mutated(Mutation::publish_first);
    is_cloning_ = true;
    bool is_made = child && is_mine() && (is_first || (clone(*child) && clone(*child + 1)));
    is_cloning_ = false;
    while (is_made && is_mine()) {
      const auto is_done = split.publish(*child);
      if (is_done && *is_done) published = child;
      if (is_done || is_mutated(Mutation::resume_in_doubt)) break;
      room_.world.sleep(100'000);
    }
    if (published && is_first && is_mine()) static_cast<void>(clone(*child) && clone(*child + 1));
    if (published && is_mine()) {
      state_ = State::opening;
      drop_claim();
      state_ = State::closed;
    }
    if (pauses) writing_ = false;
  }
  --users_;
  return published;
}

void ToyPartition::close() {
  if (state_ != State::open) return;
  state_ = State::closing;
  const bool waits_for_reads = !is_mutated(Mutation::serve_while_releasing);
  while ((writing_ || (users_ > 0 && waits_for_reads)) && !room_.process.dead) {
    room_.world.sleep(2'000);
  }
  // Others may be in the middle of something, or a write in doubt has claimed it again.
  if (room_.process.dead || state_ != State::closing) return;
  drop_claim();
  state_ = State::closed;
}

}  // namespace orrery::nodes::simulation
