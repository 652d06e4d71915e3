// Documents by how far they are from a point: the nearest first, and of those that are as far in
// the order of their keys. Bounded in bytes.
//
// Threading: one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/mongo/bson/error.h"
#include "api/mongo/match/match.h"

namespace orrery::mongo {

class NearQueue {
 public:
  static constexpr size_t kBytesMax = size_t{100} << 20;

  struct Document {
    double distance_m = 0;
    std::string key;  // of the item
    std::string body;
  };

  // Both outlive it.
  NearQueue(const Matcher::Near& near, Evaluation& evaluation)
      : near_(near), evaluation_(evaluation) {}

  // A document without a place, or out of the distances that are asked for, is left out.
  Answer<void> add(std::string_view key, std::string_view body);
  bool empty() const { return heap_.empty(); }
  // Of the nearest one. Not if empty().
  double distance_m() const { return heap_.front().distance_m; }
  Document take();
  size_t bytes() const { return bytes_; }

 private:
  const Matcher::Near& near_;
  Evaluation& evaluation_;
  std::vector<Document> heap_;
  size_t bytes_ = 0;
};

}  // namespace orrery::mongo
