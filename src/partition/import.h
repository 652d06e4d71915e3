// Puts the files of a partition, as export.h gave them, into a volume: restoring a backup.
//
// The files are a partition of the volume once finish() has opened them; should the process end
// before that, what is there is not opened by anybody, since the catalog is imported last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
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
  // Opens the partition: gives the LSN of the newest commit that is in it.
  Result<uint64_t> finish(const Shared& shared);

 private:
  Import(volume::Volume& volume, std::string_view volume_name,
         std::unique_ptr<volume::Claim> claim);

  volume::Volume& volume_;
  const std::string volume_name_;
  std::unique_ptr<volume::Claim> claim_;
};

}  // namespace orrery::partition
