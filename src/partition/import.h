// Puts the files of a partition, as export.h gave them, into a volume: restoring a backup.
//
// The files are a partition of the volume once finish() has opened them. Before that a mark among
// them keeps everybody from opening them (kBeingImported in store.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "partition/commit_tail.h"
#include "partition/partition.h"
#include "volume/volume.h"

namespace orrery::partition {

class Import {
 public:
  // Code::conflict when there are files of that name.
  static Result<Import> begin(volume::Volume& volume, std::string_view volume_name);
  Import(Import&&) noexcept;
  ~Import();

  // `next` gives the file's bytes, piece by piece; an empty piece is the end.
  Status put(std::string_view file, const std::function<Result<std::string>()>& next);
  // Where the files are, for who puts some there by links: only of a volume in a local directory.
  const std::string& directory() const;
  // Opens the partition, after applying the commits that `next` gives, in order, until it gives
  // nothing: Code::corrupt when one is missing before another. Gives the LSN of the newest commit
  // that is in it.
  using NextCommit = std::function<Result<std::optional<CommitBatch>>()>;
  Result<uint64_t> finish(const Shared& shared, const NextCommit& next = {});

 private:
  Import(volume::Volume& volume, std::string_view volume_name,
         std::unique_ptr<volume::Claim> claim);
  Status apply(const Shared& shared, const NextCommit& next);

  volume::Volume& volume_;
  const std::string volume_name_;
  std::unique_ptr<volume::Claim> claim_;
};

}  // namespace orrery::partition
