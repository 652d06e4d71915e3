// A folder of backups.
//
//   LOCK                 held while a backup is written into it
//   backups/NAME.json    the manifest of a backup: written last, so it is there when all is
//   files/AB/AB12…       the files that manifests name, by their SHA-256: shared by all backups
//   partial              what is being written
//   staging-PID/         of `orrery verify`, while it runs
//
// Invariants
//  - Every file that a manifest names was durable before the manifest was.
//  - Only files that a manifest names are taken for there: what an interrupted backup left may be
//    less than whole, and is removed by the next one that ends.
//
// Threading: one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backup/manifest.h"
#include "base/file_descriptor.h"
#include "base/result.h"

namespace orrery::backup {

class Folder {
 public:
  // To write into: makes it when it is not there. Code::conflict when another process does.
  static Result<Folder> open_to_write(const std::string& path);
  // Code::not_found when it is no such folder.
  static Result<Folder> open_to_read(const std::string& path);

  const std::string& path() const { return path_; }
  // Names of all backups, oldest first.
  Result<std::vector<std::string>> names() const;
  // Code::not_found, or as decode_manifest().
  Result<Manifest> read(std::string_view name) const;
  // One that no backup has, of a time.
  Result<std::string> new_name(int64_t now_ms) const;

  std::string path_of(std::string_view sha256) const;

  // The hash of a table that is there, by its size and mark; empty: it is not.
  std::string find(uint64_t size, const std::string& mark) const;
  // Copies a file: `next` gives its bytes, piece by piece; an empty piece is the end. Gives the
  // hash.
  Result<std::string> put(const std::function<Result<std::string>()>& next);
  // Makes all durable, then the manifest.
  Status finish(const Manifest& manifest);
  // Removes what no manifest names. Gives how many bytes that were.
  Result<uint64_t> sweep();

 private:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  Status index_known();

  std::string path_;
  FileDescriptor lock_;
  std::map<std::pair<uint64_t, std::string>, std::string> known_;  // size and mark to hash
};

// Reads a file piece by piece, and checks its size and hash at the end: Code::corrupt.
class CheckedReader {
 public:
  static Result<std::unique_ptr<CheckedReader>> open(const std::string& path,
                                                     const BackedUpFile& file);
  ~CheckedReader();
  // An empty piece is the end, which was checked.
  Result<std::string> next();

 private:
  struct Impl;
  explicit CheckedReader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace orrery::backup
