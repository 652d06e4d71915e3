// Stored access policies of a table: at most five, each with an identifier that a shared access
// signature names in place of terms of its own. Read and written as XML:
//   <SignedIdentifiers><SignedIdentifier><Id>…</Id><AccessPolicy><Start>…</Start>
//   <Expiry>…</Expiry><Permission>raud</Permission></AccessPolicy></SignedIdentifier>…
//
// Input from outside: bounded in size, and no entities are expanded. Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/table/service/table_error.h"

namespace orrery::table {

inline constexpr size_t kMaxAccessPolicies = 5;
inline constexpr size_t kMaxPolicyIdBytes = 256;  // 64 characters

// Times are kept as they were sent, and checked (see auth/sas_time.h). Empty: not given.
struct AccessPolicy {
  std::string id;
  std::string start;
  std::string expiry;
  std::string permissions;  // of r a u d
  bool operator==(const AccessPolicy&) const = default;
};

TableResult<std::vector<AccessPolicy>> parse_access_policies(std::string_view xml);
std::string access_policies_xml(const std::vector<AccessPolicy>& policies);

}  // namespace orrery::table
