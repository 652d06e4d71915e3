// For tests: another text with the same hash_v2 as a key, found by running Murmur3 x64-128
// backwards.
//
// The text has 31 characters. With the tag before it, it is two blocks of 16 bytes; the end mark is
// a tail that is the same for all texts. Whatever the first block leaves of the hash's state, there
// is exactly one second block that leads from there to the wanted hash. First blocks are tried
// until the second one is ASCII: some ten thousand of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "value/placement.h"

namespace orrery::value {

namespace twin_detail {

// The odd number by which a multiplication is undone.
constexpr uint64_t inverse(uint64_t of) {
  uint64_t result = of;
  for (int i = 0; i < 6; ++i)
    result *= 2 - of * result;  // each step doubles the bits that are right
  return result;
}

constexpr uint64_t kC1 = 0x87c37b91114253d5U;
constexpr uint64_t kC2 = 0x4cf5ad432745937fU;

struct State {
  uint64_t h1 = 0;
  uint64_t h2 = 0;

  void take(const char* block) {
    h1 ^= std::rotl(load_u64_le(block) * kC1, 31) * kC2;
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729U;
    h2 ^= std::rotl(load_u64_le(block + 8) * kC2, 33) * kC1;
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5U;
  }

  // The block that leads from here to `end`.
  std::string block_to(const State& end) const {
    const uint64_t mixed1 = std::rotr((end.h1 - 0x52dce729U) * inverse(5) - h2, 27) ^ h1;
    const uint64_t mixed2 = std::rotr((end.h2 - 0x38495ab5U) * inverse(5) - end.h1, 31) ^ h2;
    std::string block(16, '\0');
    store_u64_le(block.data(), std::rotr(mixed1 * inverse(kC2), 31) * inverse(kC1));
    store_u64_le(block.data() + 8, std::rotr(mixed2 * inverse(kC1), 33) * inverse(kC2));
    return block;
  }
};

constexpr uint64_t unfinish(uint64_t h) {
  h ^= h >> 33;
  h *= inverse(0xc4ceb9fe1a85ec53U);
  h ^= h >> 33;
  h *= inverse(0xff51afd7ed558ccdU);
  return h ^ h >> 33;
}

// The state after the last block and the tail of a message with this hash.
inline State before_the_end(State hash, size_t message_bytes) {
  hash.h2 -= hash.h1;
  hash.h1 -= hash.h2;
  hash = {unfinish(hash.h1), unfinish(hash.h2)};
  hash.h2 -= hash.h1;
  hash.h1 -= hash.h2;
  hash.h1 ^= message_bytes;
  hash.h2 ^= message_bytes;
  return hash;
}

}  // namespace twin_detail

// The 16 bytes that make a message of whole blocks one with this hash (as murmur3_x64_128 lays it
// out).
inline std::string last_block(std::string_view blocks, std::string_view hash) {
  twin_detail::State state;
  for (size_t at = 0; at < blocks.size(); at += 16) state.take(blocks.data() + at);
  return state.block_to(twin_detail::before_the_end(
      {load_u64_le(hash.data()), load_u64_le(hash.data() + 8)}, blocks.size() + 16));
}

// Different for each `which`.
inline KeyPart hash_twin(const KeyPart& of, unsigned which = 0) {
  const KeyDefinition one{.placement = Placement::hash_v2, .paths = {Path{}}};
  std::string hash(effective_key(one, place(one, {of})));
  std::ranges::reverse(hash);
  constexpr size_t kMessageBytes = 33;  // tag, text, end mark
  auto end = twin_detail::before_the_end({load_u64_le(hash.data()), load_u64_le(hash.data() + 8)},
                                         kMessageBytes);
  end.h1 ^= std::rotl(uint64_t{0xFF} * twin_detail::kC1, 31) * twin_detail::kC2;
  const auto is_ascii = [](char c) { return c > 0 && c < 0x7F; };
  std::string first =
      "\x08" + std::string(1, static_cast<char>('a' + which)) + std::string(14, '.');
  for (uint64_t tried = 0;; ++tried) {
    for (size_t i = 0; i < 8; ++i) first[2 + i] = "0123456789abcdef"[tried >> (4 * i) & 15];
    twin_detail::State state;
    state.take(first.data());
    const std::string second = state.block_to(end);
    if (!std::ranges::all_of(second, is_ascii)) continue;
    KeyPart part;
    part.type = Type::string;
    part.text = first.substr(1) + second;
    return part;
  }
}

}  // namespace orrery::value
