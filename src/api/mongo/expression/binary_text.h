// Binary data as text and back: hex, base64, base64url, utf8, uuid; "auto" is uuid for subtype 4
// and base64 for the others. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/mongo/bson/error.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {

std::string hex_text(std::string_view bytes);
std::optional<std::string> bytes_of_hex(std::string_view text);

Answer<Value> binary_to_text(const Value& binary, std::string_view format);
Answer<Value> text_to_binary(std::string_view text, std::string_view format, uint8_t subtype);

}  // namespace orrery::mongo
