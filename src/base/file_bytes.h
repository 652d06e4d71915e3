// All of some bytes of a file at an offset, however many system calls that takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace orrery {

// How many there were, fewer than asked for only at the end of the file. Nothing on an error, which
// errno tells.
std::optional<size_t> read_at(int fd, uint64_t offset, std::span<char> into);
// False on an error, which errno tells.
bool write_at(int fd, uint64_t offset, std::string_view bytes);

}  // namespace orrery
