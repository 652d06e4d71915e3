// What a permission lets the holder of its token do, and whether a request is part of that.
//
// A permission is for a container, for one item or script of it, and in either case perhaps for one
// partition key alone; it lets one read, or do everything. The rules:
//   - The account document can be read with any token: clients need it to start.
//   - The definition and the partition key ranges of the granted container can be read with any
//     token for something in it: clients route by them. Changing or deleting the container is for
//     account keys, and so is everything outside it: databases, other containers, users, offers.
//   - A token for one item or script is for that alone, not for feeds, queries and triggers.
//   - With a partition key, a request about items must carry a key header that begins with the
//     granted key. The operations behind the header stay within it. (Refused are bulk requests,
//     which name a key with each operation instead, and addresses by resource id, which need none.)
//   - Without the right to write, GET, HEAD and queries are allowed.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/cosmos/wire/request_headers.h"
#include "api/cosmos/wire/resource_address.h"
#include "base/result.h"
#include "value/placement.h"

namespace orrery::cosmos {

struct Grant {
  bool may_write = false;
  ResourceAddress resource;                // dbs/…/colls/…, or one item or script in it
  std::optional<value::PartitionKey> key;  // nothing: any

  bool whole_container() const { return resource.count == 4; }
  // Whether both are for the same resource and key, whatever they allow.
  bool same_subject(const Grant& other) const;
};

// From the members that a permission's definition keeps, without braces or with them. Code::invalid
// when it is about something that cannot be granted.
Result<Grant> parse_grant(std::string_view definition);

struct GrantRequest {
  std::string_view method;
  const ResourceAddress& address;
  const RequestHeaders& headers;
  bool query = false;         // a query or a query plan
  bool in_container = false;  // the path is that of the granted container or inside it
};

// Code::forbidden, with what is missing, unless the grant covers the request.
Status check_grant(const Grant& grant, const GrantRequest& request);

}  // namespace orrery::cosmos
