// See import.h.
#include "partition/import.h"

#include <fmt/format.h>
#include <rocksdb/file_system.h>

#include <utility>

#include "partition/store.h"

namespace orrery::partition {
namespace {

Status told(const rocksdb::IOStatus& status, std::string_view doing, std::string_view where) {
  if (status.ok()) return {};
  const bool is_full =
      status.IsNoSpace() || status.subcode() == rocksdb::IOStatus::SubCode::kNoSpace;
  return fail(is_full ? Code::read_only : Code::internal,
              fmt::format("{} {}: {}", doing, where, status.ToString()));
}

}  // namespace

Import::Import(volume::Volume& volume, std::string_view volume_name,
               std::unique_ptr<volume::Claim> claim)
    : volume_(volume), volume_name_(volume_name), claim_(std::move(claim)) {}

Import::Import(Import&&) noexcept = default;

Import::~Import() = default;

Result<Import> Import::begin(volume::Volume& volume, std::string_view volume_name) {
  if (volume.exists(volume_name)) {
    return fail(Code::conflict,
                fmt::format("there are files in {} already", volume.place(volume_name)));
  }
  auto claim = volume.claim(volume_name);
  if (!claim) return pass(claim.error());
  const rocksdb::IOStatus made = (*claim)->file_system()->CreateDirIfMissing(
      (*claim)->directory(), rocksdb::IOOptions(), nullptr);
  if (auto ok = told(made, "making", (*claim)->directory()); !ok) return pass(ok.error());
  Import import(volume, volume_name, std::move(*claim));
  if (auto marked = import.put(kBeingImported, [] { return std::string(); }); !marked) {
    return pass(marked.error());
  }
  return import;
}

const std::string& Import::directory() const {
  return claim_->directory();
}

Status Import::put(std::string_view file, const std::function<Result<std::string>()>& next) {
  const std::string path = fmt::format("{}/{}", claim_->directory(), file);
  std::unique_ptr<rocksdb::FSWritableFile> writing;
  const rocksdb::IOOptions options;
  rocksdb::IOStatus status =
      claim_->file_system()->NewWritableFile(path, rocksdb::FileOptions(), &writing, nullptr);
  while (status.ok()) {
    auto piece = next();
    if (!piece) return pass(piece.error());
    if (piece->empty()) break;
    status = writing->Append(*piece, options, nullptr);
  }
  if (status.ok()) status = writing->Sync(options, nullptr);
  if (status.ok()) status = writing->Close(options, nullptr);
  return told(status, "writing", path);
}

Status Import::apply(const Shared& shared, const NextCommit& next) {
  auto claim = volume_.claim(volume_name_);
  if (!claim) return pass(claim.error());
  auto opened = Store::open(shared, volume_, std::move(*claim), {});
  if (!opened) return pass(opened.error());
  Store& store = **opened;
  if (store.mode() != Store::Mode::write) {
    return fail(Code::read_only, "the disk has too little space: free some");
  }
  for (;;) {
    auto commit = next();
    if (!commit) return pass(commit.error());
    if (!*commit) break;
    const uint64_t latest = store.db().GetLatestSequenceNumber();
    if ((*commit)->first != latest + 1) {
      return fail(Code::corrupt, fmt::format("the archive of {} has no commits between {} and {}",
                                             volume_name_, latest, (*commit)->first));
    }
    rocksdb::WriteBatch batch(std::move((*commit)->bytes));
    const rocksdb::Status written = store.write(rocksdb::WriteOptions(), batch);
    if (!written.ok()) return pass(store.translate(written, "applying an archived commit"));
    store.acknowledge();
    if (store.db().GetLatestSequenceNumber() != (*commit)->last) {
      return fail(Code::corrupt,
                  fmt::format("an archived commit of {} is not what it says", volume_name_));
    }
  }
  return store.flush();
}

Result<uint64_t> Import::finish(const Shared& shared, const NextCommit& next) {
  std::unique_ptr<rocksdb::FSDirectory> directory;
  rocksdb::IOStatus status = claim_->file_system()->NewDirectory(
      claim_->directory(), rocksdb::IOOptions(), &directory, nullptr);
  if (status.ok()) status = directory->Fsync(rocksdb::IOOptions(), nullptr);
  if (status.ok()) {
    status = claim_->file_system()->DeleteFile(
        fmt::format("{}/{}", claim_->directory(), kBeingImported), rocksdb::IOOptions(), nullptr);
  }
  if (status.ok()) status = directory->Fsync(rocksdb::IOOptions(), nullptr);
  if (auto synced = told(status, "syncing", claim_->directory()); !synced) {
    return pass(synced.error());
  }
  claim_.reset();
  if (next) {
    if (auto applied = apply(shared, next); !applied) return pass(applied.error());
  }
  return Partition::stored_lsn(shared, volume_, volume_name_);
}

}  // namespace orrery::partition
