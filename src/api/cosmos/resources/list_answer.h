// The answer to a request for a list of resources: a page of it, by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/cosmos/call.h"
#include "api/cosmos/wire/continuation.h"
#include "api/cosmos/wire/feed_json.h"
#include "prices/request_units.h"

namespace orrery::cosmos {

// `all` is sorted by name; `rid` is the owner's and `feed` the list's name in the answer.
template <class Resource, class NameOf, class JsonOf>
void answer_list(Call& call, const Continuations& continuations, std::string_view rid,
                 std::string_view feed, const std::vector<Resource>& all, const NameOf& name_of,
                 const JsonOf& json_of) {
  auto page = page_of_names(call.headers, continuations, all, name_of);
  if (!page) return call.fail(page.error());
  std::string json = feed_head(rid, feed);
  for (const Resource& one : page->resources) append_feed_element(json, json_of(*one));
  if (!page->continuation.empty()) call.response.add("x-ms-continuation", page->continuation);
  call.charge(prices::feed_charge(json.size(), page->resources.size()));
  finish_feed(json, page->resources.size());
  call.response.add("x-ms-item-count", std::to_string(page->resources.size()));
  call.reply(200, std::move(json));
}

}  // namespace orrery::cosmos
