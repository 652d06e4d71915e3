// Unique indexes of a definition, and the unique keys of the container that enforce them. A unique
// index is there as long as its key is: while it is built over documents that contradict it, the
// engine retires the key.
//
// Pure; any thread may call.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "api/mongo/collections/definition.h"
#include "catalog/model.h"
#include "value/path.h"

namespace orrery::mongo {

bool is_unique(const IndexSpec& index);
// What the key of a unique index is of.
std::vector<value::Path> unique_paths(const IndexSpec& index);
// Which documents it is of (condition_of()), as a condition of the collection's codec
// (document_codec.h). Empty: all.
std::string unique_condition_of(const IndexSpec& index);
// The number of the key that enforces a unique index. Nothing: there is none.
std::optional<size_t> unique_key_of(const catalog::ContainerSpec& spec, const IndexSpec& index);
// Retires the keys that no index of the definition has, and adds those that are missing.
void set_unique_keys(catalog::ContainerSpec& spec, const Definition& definition);

}  // namespace orrery::mongo
