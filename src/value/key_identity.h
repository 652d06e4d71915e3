// The part of a placement key that tells two keys with the same hash apart: the key's own values.
// Murmur3 can be inverted, so anyone can make a key with the hash of another.
//
//   01 undefined | 02 null | 03 false | 04 true
//   10 + n       a number: n bytes (0 to 8), its IEEE bits, big-endian, without the zero bytes at
//                the end; -0 as 0
//   20 + n       a text of n bytes, 24 at most
//   40           any other text: the first 24 bytes of its SHA-256. Finding a collision takes about
//                2^96 attempts
//   41           a UUID as programs write it (8-4-4-4-12 lower-case hexadecimal digits): its 16
//                bytes
//
// The identity of a key is the concatenation of the identities of its parts. It is prefix-free: no
// part's identity is a prefix of another's. So the identity of the first levels of a key is a
// prefix of the identities of exactly the keys with these levels. Every index entry carries an
// identity, which is why long texts are replaced by a digest.
//
// Pure; any thread may call.
#pragma once

#include <string>
#include <string_view>

#include "value/placement.h"

namespace orrery::value {

inline constexpr size_t kDigestBytes = 24;

void append_identity(std::string& out, const KeyPart& part);
std::string identity_of(const PartitionKey& key);
// Of one size whatever the key: kDigestBytes of the identity's SHA-256.
std::string identity_digest(const PartitionKey& key);

}  // namespace orrery::value
