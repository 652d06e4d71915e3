// See export.h.
#include "partition/export.h"

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/file_system.h>
#include <rocksdb/metadata.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "partition/store.h"
#include "partition/writer.h"

namespace orrery::partition {
namespace {

constexpr std::string_view kCurrent = "CURRENT";
// The properties of a table, its metaindex and its footer are within this much of its end.
constexpr uint64_t kMarkBytes = 4096;

std::unexpected<Error> is_over() {
  return fail(Code::moved,
              "the partition was closed while its files were being copied: copy it again");
}

std::string name_of(const rocksdb::LiveFileStorageInfo& file) {
  std::string name = file.relative_filename;
  name.erase(0, name.find_first_not_of('/'));
  return name;
}

}  // namespace

Result<std::unique_ptr<Export>> Partition::begin_export() {
  {
    const Store::Use use(*store_);
    if (auto ok = use.ok(); !ok) return pass(ok.error());
    // Writes go on meanwhile: what they add is in the log, which is copied too.
    if (store_->mode() == Store::Mode::write && volume_.room(volume::Need::compaction)) {
      if (auto flushed = store_->flush(); !flushed) return pass(flushed.error());
    }
  }
  std::unique_ptr<Export> made;
  {
    // In this order: a run that opens the database again waits for every Use.
    const Writer::Paused paused(*writer_);
    const Store::Use use(*store_);
    if (auto ok = use.ok(); !ok) return pass(ok.error());
    if (const std::string reason = writer_->read_only_reason(); !reason.empty()) {
      return fail(Code::read_only,
                  fmt::format("the partition cannot be copied before its disk takes writes again: "
                              "{}",
                              reason));
    }
    rocksdb::DB& db = store_->db();
    rocksdb::Status status = db.DisableFileDeletions();
    if (!status.ok()) return pass(store_->translate(status, "holding the partition's files"));
    // From here on its end gives the files free.
    made.reset(new Export(weak_from_this(), store_->generation()));
    status = db.FlushWAL(/*sync=*/true);
    std::vector<rocksdb::LiveFileStorageInfo> files;
    rocksdb::LiveFilesStorageInfoOptions options;
    options.wal_size_for_flush = UINT64_MAX;  // it was just flushed
    if (status.ok()) status = db.GetLiveFilesStorageInfo(options, &files);
    if (!status.ok()) return pass(store_->translate(status, "listing the partition's files"));
    for (const rocksdb::LiveFileStorageInfo& file : files) {
      const std::string name = name_of(file);
      made->info_.files.push_back({.name = name, .size = file.size, .mark = {}});
      if (name == kCurrent) made->current_ = file.replacement_contents;
    }
    const PartitionRecord record = writer_->record();
    made->info_.lsn = record.lsn;
    made->info_.time_s = record.time_s;
    made->info_.usage = {record.bytes, record.items};
    made->info_.index_version = record.index_version;
    made->info_.sequence = db.GetLatestSequenceNumber();
  }
  if (auto marked = made->mark_tables(*this); !marked) return pass(marked.error());
  return made;
}

Export::~Export() {
  const auto partition = partition_.lock();
  if (!partition) return;
  const Store::Use use(*partition->store_);
  if (!use.ok() || partition->store_->generation() != generation_) return;
  partition->store_->db().EnableFileDeletions(/*force=*/false).PermitUncheckedError();
}

Status Export::mark_tables(const Partition& partition) {
  const Store::Use use(*partition.store_);
  if (auto ok = use.ok(); !ok) return ok;
  for (ExportedFile& file : info_.files) {
    if (!file.name.ends_with(".sst")) continue;
    const uint64_t from = file.size - std::min(file.size, kMarkBytes);
    auto end = read_file(partition, file.name, from, kMarkBytes);
    if (!end) return pass(end.error());
    const auto hash = sha256(*end);
    file.mark =
        to_hex_upper(std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size() / 2));
  }
  return {};
}

Result<std::string> Export::read(std::string_view file, uint64_t from, size_t size) const {
  const auto found = std::ranges::find(info_.files, file, &ExportedFile::name);
  if (found == info_.files.end()) {
    return fail(Code::not_found, fmt::format("the copy has no file '{}'", file));
  }
  if (from > found->size) return fail(Code::invalid, "that is beyond the end of the file");
  size = std::min<uint64_t>(size, found->size - from);
  if (file == kCurrent) return current_.substr(from, size);
  const auto partition = partition_.lock();
  if (!partition) return is_over();
  const Store::Use use(*partition->store_);
  if (auto ok = use.ok(); !ok) return pass(ok.error());
  if (partition->store_->generation() != generation_) return is_over();
  auto bytes = read_file(*partition, found->name, from, size);
  if (!bytes) return bytes;
  if (bytes->size() != size) {
    return fail(Code::corrupt, fmt::format("{} of a partition is shorter than it was: {} bytes at "
                                           "{} were asked for, and {} are there",
                                           file, size, from, bytes->size()));
  }
  return bytes;
}

Result<std::string> Export::read_file(const Partition& partition, const std::string& name,
                                      uint64_t from, size_t size) {
  const volume::Claim& claim = partition.store_->claim();
  std::unique_ptr<rocksdb::FSRandomAccessFile> file;
  rocksdb::IOStatus status = claim.file_system()->NewRandomAccessFile(
      claim.directory() + "/" + name, rocksdb::FileOptions(), &file, nullptr);
  std::string bytes(size, '\0');
  size_t done = 0;
  while (status.ok() && done < size) {
    rocksdb::Slice read;
    status = file->Read(from + done, size - done, rocksdb::IOOptions(), &read, bytes.data() + done,
                        nullptr);
    if (!status.ok() || read.empty()) break;
    if (read.data() != bytes.data() + done) {
      std::copy(read.data(), read.data() + read.size(), bytes.data() + done);
    }
    done += read.size();
  }
  if (!status.ok()) return pass(partition.store_->translate(status, "copying the partition"));
  bytes.resize(done);
  return bytes;
}

}  // namespace orrery::partition
