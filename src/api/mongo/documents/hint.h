// Which index a command asks to be used: `hint`, an index's name or its key, or {$natural: 1}.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>

#include "api/mongo/bson/error.h"
#include "api/mongo/collections/definition.h"
#include "cluster/routing.h"
#include "value/value.h"

namespace orrery::mongo {

struct Hint {
  enum class Kind : uint8_t { none, natural, reverse_natural, id, index };
  Kind kind = Kind::none;
  const IndexSpec* index = nullptr;  // of Kind::index; belongs to the routing
};

// Code 9 when it is neither a name nor a key, 2 when the collection has no such index.
Answer<Hint> resolve_hint(const cluster::Routing& routing, const value::Value& hint);

}  // namespace orrery::mongo
