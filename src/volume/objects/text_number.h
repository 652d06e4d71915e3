// Decimal numbers in attributes and entries of objects.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace orrery::volume {

// Nothing when the text is anything but a number that fits.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [read_to, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || read_to != end) return std::nullopt;
  return number;
}

}  // namespace orrery::volume
