// What nodes say to one another about coordination, as bytes for peer::Link. Each message begins
// with its format. Decoding takes any bytes; Code::invalid when they are no such message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nodes/seat.h"

namespace orrery::nodes {

// Kinds of calls. All of them begin with kKindPrefix, by which a node knows whose they are.
inline constexpr std::string_view kKindPrefix = "nodes.";
inline constexpr const char* kFollowKind = "nodes.follow";  // to the coordinator
inline constexpr const char* kPingKind = "nodes.ping";      // with the other's incarnation
inline constexpr const char* kDrainKind = "nodes.drain";    // to the node that is to be drained
inline constexpr const char* kMoveKind = "nodes.move";      // to the coordinator
inline constexpr const char* kRebalanceKind = "nodes.rebalance";  // to the coordinator, no bytes

// What a node knows of a range that it serves.
struct RangeLoad {
  RangeRef ref;
  uint64_t bytes = 0;
  double load = 0;

  bool operator==(const RangeLoad&) const = default;
};

// "What is new since I was told last?" The answer waits for news, but not for long.
struct FollowRequest {
  std::string incarnation;
  uint64_t catalog_lsn = 0;
  uint64_t plan_term = 0;  // of the plan that counts at the sender
  uint64_t plan_version = 0;
  bool quiet = false;                           // nothing that this plan took away is still held
  std::optional<std::vector<RangeLoad>> loads;  // now and then

  bool operator==(const FollowRequest&) const = default;
};
struct FollowAnswer {
  uint64_t term = 0;
  News news;
  std::optional<Plan> plan;  // if it is newer than the sender's
};

struct DrainRequest {
  std::string incarnation;  // whom it is for
  bool draining = true;     // false: it is to take partitions again
};
struct MoveRequest {
  RangeRef range;
  std::string to;  // a node's name
};

std::string encode(const FollowRequest& request);
std::string encode(const FollowAnswer& answer);
std::string encode(const DrainRequest& request);
std::string encode(const MoveRequest& request);
Result<FollowRequest> decode_follow_request(std::string_view bytes);
Result<FollowAnswer> decode_follow_answer(std::string_view bytes);
Result<DrainRequest> decode_drain_request(std::string_view bytes);
Result<MoveRequest> decode_move_request(std::string_view bytes);

}  // namespace orrery::nodes
