// The vendor's roles on data: which principal may do what, on the account, a database or a
// container.
//
//   "roles":       [{"name":"order
//   writer","actions":["Microsoft.DocumentDB/databaseAccounts/readMetadata",
//                    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/*"]}],
//   "assignments": [{"principal":"<oid of a person, program or group>","role":"order writer",
//                    "scope":"/dbs/shop/colls/orders"}]
// A role is named by its name or its id. Built in are the vendor's Reader (…0001) and Contributor
// (…0002). What several assignments allow adds up; nothing can be taken away again.
//
// Threading: immutable; any thread may call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "account/bearer_token.h"
#include "base/result.h"
#include "value/document.h"

namespace orrery::cosmos {

// Sets of actions, one bit each.
using Actions = uint16_t;
namespace action {
inline constexpr Actions kReadMetadata = 1U << 0;
inline constexpr Actions kExecuteQuery = 1U << 1;
inline constexpr Actions kReadChangeFeed = 1U << 2;
inline constexpr Actions kExecuteProcedure = 1U << 3;
inline constexpr Actions kManageConflicts = 1U << 4;
inline constexpr Actions kCreate = 1U << 5;
inline constexpr Actions kRead = 1U << 6;
inline constexpr Actions kReplace = 1U << 7;
inline constexpr Actions kUpsert = 1U << 8;
inline constexpr Actions kDelete = 1U << 9;
inline constexpr Actions kItems = kCreate | kRead | kReplace | kUpsert | kDelete;
inline constexpr Actions kReader = kReadMetadata | kExecuteQuery | kReadChangeFeed | kRead;
inline constexpr Actions kContributor = kReader | kItems | kExecuteProcedure | kManageConflicts;
}  // namespace action

// Code::invalid for one that is not known. Case does not count.
Result<Actions> parse_action(std::string_view text);
// The names of all that are in the set, with commas between, as the vendor writes them.
std::string action_names(Actions actions);

class Roles {
 public:
  static constexpr size_t kMaxAssignments = 10'000;

  // Members "roles" and "assignments", both optional. Code::invalid, with what is wrong.
  static Result<Roles> parse(const value::Node& config);

  // On this container; without a container on the database, without both on the account.
  Actions rights(const account::Bearer& bearer, std::string_view database,
                 std::string_view container) const;
  // Anywhere: who may do something in the account may read its document, without which no client
  // starts.
  Actions rights_anywhere(const account::Bearer& bearer) const;

 private:
  struct Assignment {
    Actions actions = 0;
    std::string database;   // empty: all
    std::string container;  // empty: all
  };
  template <class Visit>
  void each_of(const account::Bearer& bearer, const Visit& visit) const;

  std::map<std::string, std::vector<Assignment>, std::less<>> by_principal_;
};

}  // namespace orrery::cosmos
