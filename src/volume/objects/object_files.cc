// See object_files.h.
#include "volume/objects/object_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "volume/objects/mutation.h"

namespace orrery::volume {

using rocksdb::IOStatus;

IOStatus fenced() {
  return IOStatus::IOFenced("another owner has taken this partition over");
}

IOStatus to_io_status(const Outcome& outcome, std::string_view doing) {
  switch (outcome.applied) {
    case Applied::done:
      return IOStatus::OK();
    case Applied::differs:
    case Applied::exists:
    case Applied::absent:
      return fenced();
    case Applied::full:
      return IOStatus::NoSpace(std::string(doing), outcome.message);
    case Applied::unknown:
    case Applied::failed:
      break;
  }
  return IOStatus::IOError(std::string(doing), outcome.message);
}

IOStatus to_io_status(const Error& error) {
  if (error.code == Code::not_found) return IOStatus::PathNotFound(error.message);
  if (error.code == Code::corrupt) return IOStatus::Corruption(error.message);
  return IOStatus::IOError(error.message);
}

namespace {

// A log in memory is written when it has this much, though nobody has asked for it.
constexpr size_t kLogBufferBytes = 1ULL << 20;
// How many stripes of a table are on their way at once.
constexpr size_t kStripesInFlight = 4;
constexpr size_t kPieceBytes = BlockCache::kPieceBytes;
constexpr size_t kCachedReadBytesMax = 256ULL << 10;

class LogWriter final : public FileWriter {
 public:
  LogWriter(std::shared_ptr<Root> root, std::string path, FileEntry entry, uint64_t size)
      : FileWriter(std::move(root), std::move(path), std::move(entry)), size_(size) {}

  IOStatus append(std::string_view bytes) override {
    MutexLock lock(mutex_);
    if (root_->standing() != Standing::owner) return fenced();
    buffer_.append(bytes);
    size_ += bytes.size();
    return buffer_.size() < kLogBufferBytes ? IOStatus::OK() : write_out();
  }

  IOStatus sync() override {
    MutexLock lock(mutex_);
    if (root_->standing() != Standing::owner) return fenced();
    return write_out();
  }

  // No object is cut: the entry says how much of the extents counts.
  IOStatus truncate(uint64_t size) override {
    MutexLock lock(mutex_);
    if (root_->standing() != Standing::owner) return fenced();
    if (IOStatus written = write_out(); !written.ok()) return written;
    if (size == size_) return IOStatus::OK();
    if (size > size_) return IOStatus::NotSupported("a log is not made longer by truncating it");
    auto reader = FileReader::open(root_->store(), entry_);
    if (!reader) return IOStatus::IOError(reader.error().message);
    FileEntry cut = entry_;
    uint64_t start = 0;
    for (size_t i = 0; i < cut.extents.size(); ++i) {
      const uint64_t bytes = extent_size(i);
      cut.extents[i] = std::min(bytes, size > start ? size - start : 0);
      start += bytes;
    }
    cut.extents.emplace_back();
    if (Outcome put = root_->put(path_, cut); !put.is_done()) return to_io_status(put, "truncate");
    entry_ = std::move(cut);
    size_ = size;
    extent_bytes_ = 0;
    extent_made_ = false;
    return IOStatus::OK();
  }

  uint64_t size() const override {
    MutexLock lock(mutex_);
    return size_;
  }

 private:
  uint64_t extent_size(size_t i) const ORRERY_REQUIRES(mutex_) {
    return entry_.extents[i].value_or(extent_bytes_);
  }

  IOStatus write_out() ORRERY_REQUIRES(mutex_) {
    if (buffer_.empty()) return IOStatus::OK();
    if (extent_bytes_ >= kExtentBytes) {
      if (IOStatus begun = begin_extent(); !begun.ok()) return begun;
    }
    const std::string epoch = std::to_string(root_->epoch());
    ObjectChange change{.data = ObjectChange::Data::append, .bytes = buffer_};
    if (extent_made_) {
      change.presence = ObjectChange::Presence::must_be_there;
      change.attributes_equal = {{kEpoch, epoch}};
    } else {
      // A claimer makes the object, sealed, when it is not there yet.
      change.presence = ObjectChange::Presence::must_be_new;
      change.set_attributes = {{kEpoch, epoch}};
    }
    if (is_mutated(Mutation::no_append_guard)) {
      change.presence = ObjectChange::Presence::any;
      change.attributes_equal.clear();
    }
    const Outcome appended = root_->store().apply(entry_.object(entry_.extents.size() - 1), change);
    if (!appended.is_done()) {
      root_->refused(appended.applied);
      return to_io_status(appended, "append to a log");
    }
    extent_made_ = true;
    extent_bytes_ += buffer_.size();
    buffer_.clear();
    return IOStatus::OK();
  }

  IOStatus begin_extent() ORRERY_REQUIRES(mutex_) {
    FileEntry longer = entry_;
    longer.extents.back() = extent_bytes_;
    longer.extents.emplace_back();
    if (Outcome put = root_->put(path_, longer); !put.is_done()) {
      return to_io_status(put, "begin an extent of a log");
    }
    entry_ = std::move(longer);
    extent_bytes_ = 0;
    extent_made_ = false;
    return IOStatus::OK();
  }

  std::string buffer_ ORRERY_GUARDED_BY(mutex_);
  uint64_t size_ ORRERY_GUARDED_BY(mutex_) = 0;          // with what is in memory
  uint64_t extent_bytes_ ORRERY_GUARDED_BY(mutex_) = 0;  // of the last extent
  bool extent_made_ ORRERY_GUARDED_BY(mutex_) = false;
};

// Stripes of one file on their way.
class StripesInFlight {
 public:
  ~StripesInFlight() { static_cast<void>(wait_for_fewer_than(1)); }

  // Waits while too many are on their way.
  void start(ObjectStore& store, const std::string& object, ObjectChange change,
             std::string bytes) {
    static_cast<void>(wait_for_fewer_than(kStripesInFlight));
    {
      MutexLock lock(mutex_);
      ++count_;
    }
    // The bytes live until the answer.
    auto held = std::make_unique<std::string>(std::move(bytes));
    change.bytes = *held;
    store.start(object, change, [this, held = std::move(held)](Outcome outcome) {
      MutexLock lock(mutex_);
      if (!outcome.is_done() && failure_.is_done()) failure_ = std::move(outcome);
      --count_;
      done_.notify_all();
    });
  }

  // The first failure of any so far.
  Outcome wait_for_fewer_than(size_t count) {
    MutexLock lock(mutex_);
    while (count_ >= count) done_.wait(mutex_);
    return failure_;
  }

 private:
  Mutex mutex_;
  CondVar done_;
  size_t count_ ORRERY_GUARDED_BY(mutex_) = 0;
  Outcome failure_ ORRERY_GUARDED_BY(mutex_);
};

class TableWriter final : public FileWriter {
 public:
  using FileWriter::FileWriter;

  IOStatus append(std::string_view bytes) override {
    MutexLock lock(mutex_);
    if (root_->standing() != Standing::owner) return fenced();
    size_ += bytes.size();
    while (!bytes.empty()) {
      const std::string_view piece = bytes.substr(0, kStripeBytes - tail_.size());
      tail_.append(piece);
      bytes.remove_prefix(piece.size());
      if (tail_.size() < kStripeBytes) break;
      if (IOStatus sent = send_tail(); !sent.ok()) return sent;
      tail_.clear();
      ++stripe_;
    }
    return IOStatus::OK();
  }

  IOStatus sync() override {
    MutexLock lock(mutex_);
    if (root_->standing() != Standing::owner) return fenced();
    if (known_size_ == size_) return IOStatus::OK();
    FileEntry written = entry_;
    if (size_ <= kInlineBytesMax && stripe_ == 0 && !in_stripes_) {
      written.kind = FileEntry::Kind::inline_bytes;
      written.bytes = tail_;
    } else {
      if (!tail_.empty()) {
        if (IOStatus sent = send_tail(); !sent.ok()) return sent;
      }
      if (Outcome sent = in_flight_.wait_for_fewer_than(1); !sent.is_done()) {
        return to_io_status(sent, "write a file");
      }
      written = entry_;
      written.size = size_;
    }
    if (Outcome put = root_->put(path_, written); !put.is_done()) {
      return to_io_status(put, "enter a file");
    }
    entry_ = std::move(written);
    known_size_ = size_;
    return IOStatus::OK();
  }

  IOStatus truncate(uint64_t size) override {
    MutexLock lock(mutex_);
    if (root_->standing() != Standing::owner) return fenced();
    if (size == size_) return IOStatus::OK();
    if (size < stripe_ * kStripeBytes || size > size_) {
      return IOStatus::NotSupported("a table is not cut");
    }
    size_ = size;
    tail_.resize(size - stripe_ * kStripeBytes);
    known_size_ = UINT64_MAX;
    return IOStatus::OK();
  }

  uint64_t size() const override {
    MutexLock lock(mutex_);
    return size_;
  }

 private:
  // The last stripe is replaced by a longer one as the file grows. What was synced of it stays.
  IOStatus send_tail() ORRERY_REQUIRES(mutex_) {
    if (!in_stripes_) {
      // The root names the objects before there are any. So whatever becomes of this process, the
      // next owner finds them.
      FileEntry entry = entry_;
      entry.kind = FileEntry::Kind::stripes;
      entry.bytes.clear();
      entry.size = 0;
      entry.token = root_->new_token();
      entry.file = root_->new_file();
      if (Outcome put = root_->put(path_, entry); !put.is_done()) {
        return to_io_status(put, "enter a file");
      }
      entry_ = std::move(entry);
      in_stripes_ = true;
    }
    ObjectChange change{.data = ObjectChange::Data::replace};
    if (stripe_ == 0) {
      change.set_attributes = {{kRefs, entry_.token + " "}};
      change.bytes = tail_;
      // Others are removed by what this one says, so it is there first.
      return to_io_status(root_->store().apply(entry_.object(0), change), "write a file");
    }
    in_flight_.start(root_->store(), entry_.object(stripe_), std::move(change), tail_);
    return IOStatus::OK();
  }

  std::string tail_ ORRERY_GUARDED_BY(mutex_);  // from where the last stripe begins
  uint64_t stripe_ ORRERY_GUARDED_BY(mutex_) = 0;
  uint64_t size_ ORRERY_GUARDED_BY(mutex_) = 0;
  uint64_t known_size_ ORRERY_GUARDED_BY(mutex_) = 0;  // to the root
  bool in_stripes_ ORRERY_GUARDED_BY(mutex_) = false;
  StripesInFlight in_flight_;
};

}  // namespace

std::unique_ptr<FileWriter> make_log_writer(std::shared_ptr<Root> root, std::string path,
                                            FileEntry entry) {
  uint64_t size = 0;
  for (const std::optional<uint64_t>& extent : entry.extents) size += extent.value_or(0);
  return std::make_unique<LogWriter>(std::move(root), std::move(path), std::move(entry), size);
}

std::unique_ptr<FileWriter> make_table_writer(std::shared_ptr<Root> root, std::string path,
                                              FileEntry entry) {
  return std::make_unique<TableWriter>(std::move(root), std::move(path), std::move(entry));
}

Result<std::shared_ptr<FileReader>> FileReader::open(ObjectStore& store, FileEntry entry,
                                                     std::shared_ptr<BlockCache> cache) {
  std::shared_ptr<FileReader> reader(new FileReader(store, std::move(entry), std::move(cache)));
  switch (reader->entry_.kind) {
    case FileEntry::Kind::inline_bytes:
      reader->size_ = reader->entry_.bytes.size();
      break;
    case FileEntry::Kind::stripes:
      reader->size_ = reader->entry_.size;
      break;
    case FileEntry::Kind::log:
      for (size_t i = 0; i < reader->entry_.extents.size(); ++i) {
        reader->starts_.push_back(reader->size_);
        std::optional<uint64_t> size = reader->entry_.extents[i];
        if (!size) {
          auto state = store.inspect(reader->entry_.object(i));
          // It was entered, and nothing appended yet.
          if (!state && state.error().code != Code::not_found) return pass(state.error());
          size = state ? state->size : 0;
        }
        reader->size_ += *size;
      }
      break;
  }
  return reader;
}

bool FileReader::continues(const FileReader& before) const {
  return entry_.kind == before.entry_.kind && entry_.file == before.entry_.file &&
         size_ >= before.size_ && starts_.size() >= before.starts_.size() &&
         std::equal(before.starts_.begin(), before.starts_.end(), starts_.begin());
}

Result<size_t> FileReader::read(uint64_t offset, std::span<char> into) const {
  if (offset >= size_) return 0;
  into = into.first(std::min<uint64_t>(into.size(), size_ - offset));
  if (entry_.kind == FileEntry::Kind::inline_bytes) {
    std::memcpy(into.data(), entry_.bytes.data() + offset, into.size());
    return into.size();
  }
  size_t done = 0;
  while (done < into.size()) {
    const uint64_t at = offset + done;
    uint64_t number = at / kStripeBytes;
    uint64_t start = number * kStripeBytes;
    uint64_t end = std::min(start + kStripeBytes, size_);
    if (entry_.kind == FileEntry::Kind::log) {
      number = static_cast<uint64_t>(std::ranges::upper_bound(starts_, at) - starts_.begin()) - 1;
      start = starts_[number];
      end = number + 1 < starts_.size() ? starts_[number + 1] : size_;
    }
    const size_t wanted = std::min<uint64_t>(into.size() - done, end - at);
    // Compactions read long stretches once: they would push out what is read again and again.
    const bool cached =
        cache_ && entry_.kind == FileEntry::Kind::stripes && into.size() <= kCachedReadBytesMax;
    const size_t step =
        cached ? std::min<uint64_t>(wanted, kPieceBytes - (at - start) % kPieceBytes) : wanted;
    const std::span<char> part = into.subspan(done, step);
    const Status read =
        cached ? read_piece(number, at - start, part) : read_object(number, at - start, part);
    if (!read) return pass(read.error());
    done += step;
  }
  return done;
}

Status FileReader::read_object(uint64_t number, uint64_t offset, std::span<char> into) const {
  auto got = store_.read(entry_.object(number), offset, into);
  if (!got) return pass(got.error());
  if (*got == into.size()) return {};
  return fail(Code::corrupt, fmt::format("the object {} in {} is shorter than its file",
                                         entry_.object(number), store_.place()));
}

// Of one piece of the cache, which is read whole when it is not there.
Status FileReader::read_piece(uint64_t number, uint64_t offset, std::span<char> into) const {
  const uint64_t begin = offset / kPieceBytes * kPieceBytes;
  const std::string name = fmt::format("{}@{}", entry_.object(number), begin);
  if (cache_->find(name, offset - begin, into)) return {};
  const uint64_t object_end = std::min(kStripeBytes, size_ - number * kStripeBytes);
  std::string piece(std::min<uint64_t>(kPieceBytes, object_end - begin), '\0');
  if (auto read = read_object(number, begin, piece); !read) return read;
  std::memcpy(into.data(), piece.data() + (offset - begin), into.size());
  cache_->put(name, piece);
  return {};
}

}  // namespace orrery::volume
