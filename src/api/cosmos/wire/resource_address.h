// A request path, taken apart: which resource it names, and what of it a client signs.
//
// Pure; any thread may call. On the path of every request.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery::cosmos {

inline constexpr size_t kMaxPathSegments = 8;

// A request path, taken apart: /dbs/shop/colls/orders/docs/1 has the segments dbs, shop, colls,
// orders, docs, 1. An odd number of them is a feed.
struct ResourceAddress {
  std::array<std::string, kMaxPathSegments> segments;  // percent-decoded
  size_t count = 0;
  bool by_rid = false;  // the database, and so all of the path, is named by resource ids

  // As a client signs it; some clients sign the second form.
  std::string resource_type;
  std::string resource_link;
  std::string other_type;
  std::string other_link;
  bool has_other = false;

  bool is_feed() const { return count % 2 == 1; }
  // The name or resource id that follows `dbs`, `colls`, `docs`; empty when the path ends before.
  std::string_view database() const { return id_after(0); }
  std::string_view container() const { return id_after(2); }
  std::string_view child() const { return id_after(4); }

 private:
  std::string_view id_after(size_t at) const {
    return count > at + 1 ? std::string_view(segments[at + 1]) : std::string_view();
  }
};

// `path` may have slashes at both ends and a query, which is ignored; in the path of an item a
// question mark is a part of its id.
Result<ResourceAddress> address_of(std::string_view path);
// The same in place, for a call's own address, which is empty before and after an error: to move
// its dozen strings about costs as much as to read them.
Status take_apart(std::string_view path, ResourceAddress& address);

// Of a request for the addresses of direct mode, /addresses/?$resolveFor=…: what they are asked
// for. It is signed as a request for that feed.
bool asks_for_addresses(const ResourceAddress& address);
Result<ResourceAddress> resolved_for(std::string_view target);
// A value of a target's query, percent-decoded; empty: it is not there.
std::string query_option(std::string_view target, std::string_view name);

}  // namespace orrery::cosmos
