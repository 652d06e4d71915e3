// Whether two containers have the same items, however many there are.
//
// Each side is read once. Every item counts into one of kBuckets sums by its identity (id and key,
// as the second container has keys); the order in which items come does not matter. Where sums
// differ, the items of those buckets are read again and compared one by one, as many buckets at a
// time as memory allows.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "client/resources.h"
#include "transfer/progress.h"

namespace orrery::transfer {

// A container to read, and with what.
struct Side {
  client::Client* client = nullptr;
  client::ContainerName name;
};

inline constexpr size_t kBuckets = 1 << 16;

struct Fingerprint {
  struct Sum {
    uint64_t items = 0;
    uint64_t low = 0;  // of the items' hashes, each added without carry
    uint64_t high = 0;
    bool operator==(const Sum&) const = default;
  };
  std::vector<Sum> buckets = std::vector<Sum>(kBuckets);
  uint64_t items = 0;
  uint64_t unplaced = 0;  // that can be in no container with this key

  bool operator==(const Fingerprint&) const = default;
};

struct Difference {
  enum class Kind : uint8_t {
    missing,   // in the first side alone
    extra,     // in the second side alone
    changed,   // in both, and not the same
    collided,  // several items of the first side would be one of the second
  };
  Kind kind;
  std::string id;
  std::string key_json;
  std::string key_hex;
};
std::string to_string(const Difference& difference);

class Comparison {
 public:
  // `key` is the second side's: identities are by it.
  Comparison(Side first, Side second, value::KeyDefinition key, std::function<bool()> stopped,
             Progress& progress);

  // Code::would_wait when it was stopped.
  Result<bool> are_equal();
  // After are_equal() said no: every difference, one call each.
  Status each_difference(const std::function<Status(const Difference&)>& take);

  const Fingerprint& first() const { return prints_[0]; }
  const Fingerprint& second() const { return prints_[1]; }
  // Forgets what the second side was, which was changed since.
  void reread_second() { is_read_[1] = false; }

 private:
  using TakeItem = std::function<Status(std::string_view json)>;
  Status scan(const Side& side, std::string_view phase, const TakeItem& take);
  Status read(size_t which);
  Status compare_buckets(const std::vector<bool>& chosen,
                         const std::function<Status(const Difference&)>& take);

  std::array<Side, 2> sides_;
  const value::KeyDefinition key_;
  const std::function<bool()> stopped_;
  Progress& progress_;
  std::array<Fingerprint, 2> prints_;
  std::array<bool, 2> is_read_ = {};
};

}  // namespace orrery::transfer
