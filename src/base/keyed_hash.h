// A hash for tables of what clients send: SipHash, with a key of its own in every process. Nobody
// outside can tell what falls into one bucket, so nobody can make a table slow.
// Differs from run to run: it is not for anything that is stored, sent, or put in order by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace orrery {

uint64_t keyed_hash(std::string_view bytes);

struct KeyedHash {
  using is_transparent = void;
  size_t operator()(std::string_view bytes) const { return static_cast<size_t>(keyed_hash(bytes)); }
};

template <class Text, class Value>
using KeyedMap = std::unordered_map<Text, Value, KeyedHash, std::equal_to<>>;
template <class Text>
using KeyedSet = std::unordered_set<Text, KeyedHash, std::equal_to<>>;

}  // namespace orrery
