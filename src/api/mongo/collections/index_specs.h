// Indexes as commands specify them: checked, and added to a collection's definition.
//
// Pure; any thread may call.
#pragma once

#include <cstddef>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/collections/definition.h"
#include "value/value.h"

namespace orrery::mongo {

struct AddedIndexes {
  size_t count = 0;
  // One of them expires documents: those that are there have to be told by when.
  bool expires = false;
};
// Adds those of `given`, an array, that are not there. On error the definition is of no use. `ns`
// is for messages.
Answer<AddedIndexes> add_indexes(Definition& definition, const value::Value& given,
                                 std::string_view ns);

bool is_same_key(const value::Value& a, const value::Value& b);
bool is_id_key(const value::Value& key);

}  // namespace orrery::mongo
