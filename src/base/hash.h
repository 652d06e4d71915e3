// Murmur3, by Austin Appleby (public domain): what hash placement is made of.
// Not for anything that an adversary must not predict: it can be inverted. SHA-256 is for that.
// Pure, and the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orrery {

uint32_t murmur3_x86_32(std::string_view bytes, uint32_t seed);

// The 16 bytes as the reference implementation lays them out on a little-endian machine: h1 then
// h2, each little-endian.
std::array<uint8_t, 16> murmur3_x64_128(std::string_view bytes, uint32_t seed);

std::array<uint8_t, 32> sha256(std::string_view bytes);

}  // namespace orrery
