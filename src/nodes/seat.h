// What a node's coordination needs of the engine, and what it tells it: the catalog, which one node
// owns and the others follow, and the plan, which says who is to serve which range.
//
// Safety is the volume's (epochs, leases, claims that check for themselves). A plan only says where
// and when: one that is out of date, or two at once, lose and repeat nothing.
//
// Threads: Node calls from its own thread, and news() and catalog_lsn() from threads that answer
// other nodes too. All may block but for follow(), is_quiet() and catalog_lsn().
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace orrery::nodes {

// The volume's name of the partition that has the catalog. Its owner is the coordinator.
inline constexpr const char* kCatalogName = "catalog";

struct Member {
  std::string name;
  std::string address;
  std::string incarnation;
  bool draining = false;

  bool operator==(const Member&) const = default;
};

struct RangeRef {
  uint32_t container = 0;
  uint32_t range = 0;

  auto operator<=>(const RangeRef&) const = default;
};

struct RangeFacts {
  RangeRef ref;
  std::string volume_name;
  uint64_t bytes = 0;
  double load = 0;  // units a second lately; 0 unknown
};

// Of two plans the one with the larger term counts, then the one with the larger version.
struct Plan {
  uint64_t term = 0;  // the epoch of the catalog's claim by who made it
  uint64_t version = 0;
  std::vector<Member> members;          // by name
  std::map<RangeRef, uint32_t> owners;  // index into members

  // Null: nobody is named.
  const Member* owner_of(RangeRef ref) const {
    const auto found = owners.find(ref);
    return found == owners.end() ? nullptr : &members[found->second];
  }
  bool is_newer_than(const Plan& other) const {
    return term != other.term ? term > other.term : version > other.version;
  }
};

// What is new in the catalog, or all of it. The bytes are the engine's own.
struct News {
  uint64_t lsn = 0;
  std::string bytes;
};

class Seat {
 public:
  virtual ~Seat() = default;

  // --- the catalog -------------------------------------------------------------------------------
  // Claims it and opens it; its epoch. Code::moved: another node, which lives, has it.
  virtual Result<uint64_t> own_catalog() = 0;
  // Closes and releases it: this node goes on as a follower, or stops.
  virtual void disown_catalog() = 0;
  // As of which LSN this node has the catalog.
  virtual uint64_t catalog_lsn() const = 0;
  // At the owner, as a strong read: everything that was acknowledged before this call began. The
  // bytes are empty when nothing is new. Code::moved when this is not the owner, or may not be.
  virtual Result<News> news(uint64_t since) = 0;
  // At a follower.
  virtual Status apply(const News& news) = 0;
  // Of the catalog as this node has it. Load and size of those that this node serves.
  virtual std::vector<RangeFacts> ranges() const = 0;

  // --- partitions --------------------------------------------------------------------------------
  // From here on this plan counts. What it names this node for may be claimed, when a request needs
  // it. What it names another for is closed and released, in the background.
  virtual void follow(std::shared_ptr<const Plan> plan) = 0;
  // Nothing that a plan took away is still held.
  virtual bool is_quiet() const = 0;
  // Who has the partition, as its root says. Empty: nobody.
  virtual Result<std::string> owner_incarnation(const std::string& volume_name) = 0;
};

}  // namespace orrery::nodes
