// Judges one key: what it would cost, how evenly it spreads, what it would break.
//
// The model. N partitions share the throughput evenly. Each request asks P of them, a query pays 2
// RU for each. From that follow the demand with this key, the share M of the busiest partition, and
// the throughput that must be bought so that it is not throttled. The score is a product of
// factors:
//   E cost        what an ideal key needs, of what this one needs
//   L locality    how many partitions reads and queries ask
//   G storage     how evenly bytes lie
//   V values      enough of them
//   H headroom    how near the largest value comes to the limit of a logical partition
//   S simplicity  parts that a client has to put together
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "advise/facts.h"
#include "advise/key_expression.h"
#include "advise/request_cost.h"

namespace orrery::advise {

struct Finding {
  std::string code;
  std::string text;
};

struct ShapeCost {
  double requests = 0;    // share of all requests
  double partitions = 0;  // that one asks, on average
  double fan_out_ru = 0;  // of ru: what asking them costs
  double ru = 0;          // of one, on average
};

struct Scored {
  KeyExpression key;
  std::string name;

  double score = 0;       // 0 to 100
  double rank_score = 0;  // less, when a simpler key is nearly as good
  double cost = 1;
  double locality = 1;
  double storage = 1;
  double values = 1;
  double headroom = 1;
  double simplicity = 1;

  double needed_ru = 0;
  double ideal_ru = 0;
  double fan_out = 0;       // 0: every read and query asks one partition; 1: all
  double keyed_ru = 0;      // of the demand: what goes to single values
  double request_skew = 1;  // the busiest partition's RU/s, of an even share
  double byte_skew = 1;
  std::string busiest_value;
  double busiest_share = 0;  // of what goes to single values
  double busiest_ru = 0;
  std::string largest_value;
  double largest_bytes = 0;
  double largest_at_horizon = 0;
  double limit_day = 0;  // when it reaches the limit, in seconds since 1970; 0: not in sight
  double distinct = 0;
  double distinct_low = 0;
  double distinct_high = 0;
  double changes_bound = 0;  // at most this share of updates changes it; 1: unknown
  double throttled = -1;     // share of 429 at the throughput; below 0: not simulated
  std::vector<ShapeCost> shapes;
  std::vector<Finding> hard;
  std::vector<Finding> warnings;

  bool disqualified() const { return !hard.empty(); }
  bool has(std::string_view code) const;
};

Scored score_key(const Facts& facts, const KeyExpression& key, const Rows& rows);

// Sets rank_score and orders: the best first, the disqualified last. Against noise a key must beat
// by 5 % what is simpler: a key with fewer of its parts, and the id where nobody names its own
// property.
void rank(const Facts& facts, std::vector<Scored>& candidates);

}  // namespace orrery::advise
