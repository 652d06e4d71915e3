// How often a node does what. The times of leases are the volume's (LeaseTimes).
#pragma once

#include <cstdint>

namespace orrery::nodes {

struct NodeTimes {
  int64_t tick_us = 50'000;
  int64_t poll_us = 200'000;  // of rows, and of the catalog's root
  // The first by name claims a catalog without an owner at once, the others after this. Who does
  // not reach more than half of the others leaves it to them for so long.
  int64_t claim_after_us = 300'000;
  int64_t claim_unreached_us = 2'000'000;
  // For how long an answer to a follower waits for news, and how long a follower waits for it.
  int64_t news_wait_us = 200'000;
  int64_t follow_deadline_us = 1'200'000;
  // A coordinator whose answer is late by so much is probed.
  int64_t late_us = 300'000;
  // A node that answers no probe for this long cannot be reached.
  int64_t unreachable_us = 800'000;
  // A node that has not followed for so long is probed; after deaf_us it is of no use, reached or
  // not. It is revoked if more than half of all have followed.
  int64_t unheard_us = 800'000;
  int64_t deaf_us = 15'000'000;
  // A node that is new, and has not followed for so long, is given nothing until it does.
  int64_t newcomer_us = 500'000;
  int64_t loads_us = 2'000'000;     // a follower tells its loads
  int64_t balance_us = 10'000'000;  // between two plans for balance
};

}  // namespace orrery::nodes
