// How the items of a face's containers are written, for another face that keeps its data in the
// same containers: both faces then see the same items. The face that owns the containers implements
// it, and the program gives it to the other one; neither includes the other.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "account/account.h"
#include "base/limits.h"
#include "base/result.h"
#include "cluster/engine.h"
#include "cluster/routing.h"
#include "partition/partition.h"

namespace orrery::face {

class SharedItems {
 public:
  virtual ~SharedItems() = default;
  // The face whose databases these are.
  virtual std::string_view face() const = 0;
  // The write of an item by its JSON: checked, placed, and with what the face adds to it. `verb` is
  // create, upsert or replace.
  virtual Result<partition::Write> make_write(partition::Verb verb, std::string_view json,
                                              const cluster::Routing& routing,
                                              const Limits& limits) const = 0;
  // A function that tells from an item's JSON a number which grows with the items made. For one
  // thread.
  virtual std::function<uint64_t(std::string_view)> age() const = 0;
  // What a token of the face lets its holder do with the items of this container.
  // Code::unauthorized: it is none; Code::forbidden: it is for something else, or not valid any
  // more.
  struct TokenGrant {
    bool may_write = false;
    std::optional<std::string> placement;  // of the only items that it is for; nothing: all
  };
  virtual Result<TokenGrant> open_token(std::string_view token, const cluster::Engine& engine,
                                        const account::Account& account,
                                        const cluster::Routing& routing, int64_t now_s) const = 0;
  // The version that an item has by its JSON's own mark, which the face has put there.
  virtual std::optional<partition::Version> version_of(std::string_view mark) const = 0;
};

}  // namespace orrery::face
