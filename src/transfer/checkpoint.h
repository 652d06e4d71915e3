// How far a transfer got, in a file, so that it can go on after it was stopped or killed. The file
// is replaced as a whole, and removed when the transfer is complete.
//
//   {"orrery":"checkpoint","version":1,"what":"import a.ndjson into db/c","position":{…},
//    "counts":{…},"rejects":{"path":…,"bytes":…},"output":{…}}
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "value/json.h"

namespace orrery::transfer {

struct TransferCounts {
  uint64_t read = 0;
  uint64_t written = 0;
  uint64_t present = 0;  // were there already
  uint64_t rejected = 0;
  uint64_t removed = 0;  // from a copy, since the original is gone
};

struct Checkpoint {
  std::string what;  // which transfer: one with another text does not go on from it
  std::string position_json;
  TransferCounts counts;
  std::string rejects_path;
  uint64_t rejects_bytes = 0;
  std::string output_json;  // of an export: how much of its files counts; empty: none
};

class CheckpointFile {
 public:
  // An empty path: no checkpoints.
  explicit CheckpointFile(std::string path) : path_(std::move(path)) {}

  bool is_used() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  // Nothing when there is no file. Code::invalid when it is of another transfer.
  struct Saved {
    value::JsonDocument document;
    Checkpoint checkpoint;        // without the two that are JSON
    const value::Node* position;  // in `document`
    const value::Node* output;    // likewise; may be null
  };
  Result<std::optional<Saved>> read(const std::string& what) const;
  Status write(const Checkpoint& checkpoint) const;
  void remove() const;

 private:
  std::string path_;
};

}  // namespace orrery::transfer
