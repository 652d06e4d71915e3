// Who is to serve which range. Pure: what goes in decides what comes out.
//
//  - Whoever has a range keeps it, as long as it lives: a range that moves is not served for a
//    moment. A process that came back under the same name takes its ranges again.
//  - A range that nobody has goes to the least loaded node.
//  - A node that is new and was not heard of yet (Placing::strangers) gets nothing but what it had
//    under its name, and that for a moment (Placing::expected): others may not reach it.
//  - A node that is being drained gets nothing, and loses kMovesAtOnce ranges at a time.
//  - For balance ranges move only if nodes differ by more than a fifth of what is usual (kSlack),
//    and only if that makes them clearly less different. So a plan comes to rest.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "nodes/seat.h"

namespace orrery::nodes {

// Of one node. More would be parked for longer than a move takes.
inline constexpr uint32_t kMovesAtOnce = 4;
inline constexpr double kSlack = 0.2;

struct Placing {
  enum class Balance : uint8_t {
    no,
    worthwhile,  // within kSlack nothing moves
    as_good_as_possible
  };
  struct Holder {
    std::string incarnation;
    std::string name;  // empty: not known
  };

  std::vector<Member> members;  // that live, by name
  std::vector<RangeFacts> ranges;
  std::map<RangeRef, Holder> holders;      // who has it, or is to have it by the plan before
  std::map<RangeRef, std::string> pinned;  // by an operator, to a node's name
  std::set<std::string> busy;              // incarnations that nothing more is taken from now
  std::set<std::string> strangers;         // incarnations that were not heard of yet
  std::set<std::string> expected;          // those of them that have had no time to be
  Balance balance = Balance::no;
};

// An index into members for each range. Empty without members.
std::map<RangeRef, uint32_t> place(const Placing& placing);

}  // namespace orrery::nodes
