// See commit_tail.h.
#include "partition/commit_tail.h"

#include <new>
#include <utility>

#include "partition/store.h"
#include "partition/writer.h"

namespace orrery::partition {

void CommitTail::add(uint64_t first, uint64_t count, std::string_view bytes) noexcept {
  const MutexLock lock(mutex_);
  const uint64_t last = first + count - 1;
  bool kept = first == last_ + 1 && bytes_ + bytes.size() <= bytes_max_;
  if (kept) {
    try {
      batches_.push_back(
          {.first = first, .last = last, .time_ms = clock_.now_ms(), .bytes = std::string(bytes)});
      bytes_ += bytes.size();
    } catch (const std::bad_alloc&) {
      kept = false;
    }
  }
  if (!kept) {  // a gap: it begins again after this one
    batches_.clear();
    bytes_ = 0;
    after_ = last;
  }
  last_ = last;
}

Result<CommitPage> CommitTail::read(uint64_t after, size_t bytes_max) {
  const MutexLock lock(mutex_);
  if (after < after_ || after > last_) {
    return fail(Code::precondition_failed,
                "not all commits since then are known any more: copy the partition again");
  }
  while (!batches_.empty() && batches_.front().last <= after) {
    bytes_ -= batches_.front().bytes.size();
    after_ = batches_.front().last;
    batches_.pop_front();
  }
  CommitPage page;
  size_t bytes = 0;
  for (const CommitBatch& batch : batches_) {
    if (!page.batches.empty() && bytes + batch.bytes.size() > bytes_max) {
      page.more = true;
      break;
    }
    bytes += batch.bytes.size();
    page.batches.push_back(batch);
  }
  page.sequence = page.batches.empty() ? last_ : page.batches.back().last;
  // Another of the same millisecond may follow the last one.
  page.until_ms = page.more ? page.batches.back().time_ms - 1 : clock_.now_ms() - 1;
  return page;
}

Result<CommitPage> CommitFollower::read(const std::shared_ptr<Partition>& partition, uint64_t after,
                                        size_t bytes_max) {
  Writer& writer = Writer::of(*partition);
  Store& store = writer.store();
  if (partition_.lock() != partition || generation_ != store.generation() || !tail_) {
    const Writer::Paused paused(writer);
    const Store::Use use(store);
    if (auto ok = use.ok(); !ok) return pass(ok.error());
    tail_ = std::make_shared<CommitTail>(writer.clock(), store.db().GetLatestSequenceNumber());
    store.add_tail(tail_);
    partition_ = partition;
    generation_ = store.generation();
  }
  return tail_->read(after, bytes_max);
}

}  // namespace orrery::partition
