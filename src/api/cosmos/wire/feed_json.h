// Feeds as they are returned: {"_rid":…,"Documents":[…],"_count":n}, and pages of a list by name.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/wire/continuation.h"
#include "api/cosmos/wire/request_headers.h"
#include "base/result.h"
#include "base/string_list.h"

namespace orrery::cosmos {

// The text up to and including the opening bracket.
std::string feed_head(std::string_view rid, std::string_view name);
void append_feed_element(std::string& json, std::string_view element);
void append_feed_elements(std::string& json, const StringList& elements);
void finish_feed(std::string& json, size_t count);

inline constexpr size_t kDefaultPage = 100;
inline constexpr size_t kLargestPage = 1000;

// A page of at most this many, from x-ms-max-item-count (-1 or absent: the default).
Result<size_t> page_size(std::string_view header, size_t default_size, size_t most);

template <class Resource>
struct NamedPage {
  std::vector<Resource> resources;
  std::string continuation;  // empty: this was the last page
};

// The page of `all` (sorted by name) that the request's headers ask for.
template <class Resource, class NameOf>
Result<NamedPage<Resource>> page_of_names(const RequestHeaders& headers,
                                          const Continuations& continuations,
                                          const std::vector<Resource>& all, const NameOf& name_of) {
  auto size = page_size(headers.max_item_count, kDefaultPage, kLargestPage);
  if (!size) return pass(size.error());
  auto from = all.begin();
  if (!headers.continuation.empty()) {
    auto after = continuations.decode_name(headers.continuation);
    if (!after) return pass(after.error());
    from = std::upper_bound(
        all.begin(), all.end(), *after,
        [&](const std::string& name, const Resource& one) { return name < name_of(one); });
  }
  const auto left = static_cast<size_t>(all.end() - from);
  const auto to = from + static_cast<std::ptrdiff_t>(std::min(*size, left));
  NamedPage<Resource> page;
  page.resources.assign(from, to);
  if (to != all.end()) page.continuation = continuations.encode_name(name_of(*(to - 1)));
  return page;
}

}  // namespace orrery::cosmos
