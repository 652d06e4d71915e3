// SASLprep (RFC 4013): the one form of a password, however it was typed. Pure.
#pragma once

#include <optional>
#include <string>

namespace orrery::mongo {

// Nothing when the text cannot be a password.
std::optional<std::string> sasl_prep(const std::string& text);

}  // namespace orrery::mongo
