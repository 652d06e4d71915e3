// Reading a container range by range: its items, its changes, or the rows of a query; and a table,
// which is read as one range.
//
// A cursor is a partition key range and how far it was read. When the range was split, the server
// answers 410, and each child goes on from the parent's position. When it was merged with another,
// the cursor goes on with the keys that it had, which are a part of the new range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/client.h"
#include "client/resources.h"
#include "value/json.h"

namespace orrery::client {

enum class FeedKind : uint8_t {
  items,    // all of them, in no order that means anything
  changes,  // the newest state of every item, in the order of their last writes; goes on for ever
  query,    // the rows of one query, of each range on its own
  entities  // of a table, in the order of their keys, with the types of their values
};

struct FeedSpec {
  ContainerName name;  // of a table: its name is that of the container
  FeedKind kind = FeedKind::items;
  std::string query;            // its text; of a table a filter
  std::string parameters_json;  // "[{\"name\":\"@a\",\"value\":1}]"; empty: none
  uint32_t items_max = 1'000;   // of one page
};

struct FeedCursor {
  KeyRange range;
  std::string continuation;  // empty: from the beginning
  bool is_part = false;      // `range` has fewer keys than the one with its id
};

struct FeedPage {
  value::JsonDocument document;
  double charge = 0;
  // Where to go on. Empty at the end of items and queries; changes always have one.
  std::string continuation;
  bool is_end = false;  // of items and queries: nothing follows. Of changes: nothing new now

  // The first item or row; Node::next leads to the others. Null when there are none.
  const value::Node* first() const;
  size_t count() const;
};

// What is read, from its beginning. Blocking.
Result<std::vector<FeedCursor>> first_cursors(Client& client, const FeedSpec& spec);
// The next page of a cursor, to be submitted or called.
Request feed_request(const Endpoint& endpoint, const FeedSpec& spec, const FeedCursor& cursor);
// Of an answer to that: Code::moved when the range was split or merged (see children_of).
Result<FeedPage> feed_page(const FeedSpec& spec, const FeedCursor& cursor, Result<Response> answer,
                           const std::string& where);

// The cursors that take the place of one whose range is gone, given the ranges there are now.
// Code::internal when they do not cover it.
Result<std::vector<FeedCursor>> children_of(const FeedCursor& gone,
                                            const std::vector<KeyRange>& ranges);

// Blocking: all ranges one after the other, following splits and merges.
class FeedReader {
 public:
  static Result<FeedReader> open(Client& client, FeedSpec spec);
  // Nothing at the end. For changes, the end is where every range had nothing new.
  Result<std::optional<FeedPage>> next();

 private:
  FeedReader(Client& client, FeedSpec spec, std::vector<FeedCursor> left)
      : client_(&client), spec_(std::move(spec)), left_(std::move(left)) {}

  Client* client_;
  FeedSpec spec_;
  std::vector<FeedCursor> left_;  // the last one is being read
};

}  // namespace orrery::client
