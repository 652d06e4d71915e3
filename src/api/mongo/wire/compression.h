// How bodies of messages are compressed: snappy, zlib, zstd, each if the client asked for it in its
// handshake. Pure; any thread may call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"

namespace orrery::mongo {

// The protocol's numbers.
enum class Compressor : uint8_t { none = 0, snappy = 1, zlib = 2, zstd = 3 };

// In the order in which the server prefers them.
inline constexpr std::array kCompressors = {Compressor::zstd, Compressor::snappy, Compressor::zlib};
std::string_view to_text(Compressor compressor);
std::optional<Compressor> compressor_of(std::string_view name);

std::string compress(Compressor compressor, std::string_view bytes);
// Exactly `size` bytes, or an error. It takes no memory beyond them.
Answer<std::string> decompress(Compressor compressor, std::string_view bytes, size_t size);

}  // namespace orrery::mongo
