// Reading the members of a definition that a client sent, with errors that name the member, show
// its value and say what is expected. Used by the parsers of this folder only.
//
// A member that is null counts as absent: several clients write out what they do not set.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "value/json.h"
#include "value/json_quoted.h"

namespace orrery::cosmos {

// The root of a parsed body, which must be an object.
Result<const value::Node*> checked_root(const Result<value::JsonDocument>& document);

// "indexingPolicy.indexingMode is "eager": use consistent, lazy or none."
std::unexpected<Error> bad_field(std::string_view where, const value::Node& found,
                                 std::string_view advice);
std::unexpected<Error> missing_field(std::string_view where, std::string_view advice);

std::string join(std::string_view where, std::string_view member);
std::string element(std::string_view where, size_t index);

// The member if it is there and of that type; null when it is absent; an error when it is of
// another type.
Result<const value::Node*> optional_member(const value::Node& object, std::string_view where,
                                           std::string_view name, value::Type type);
Result<const value::Node*> required_member(const value::Node& object, std::string_view where,
                                           std::string_view name, value::Type type);

// A string member that is one of `allowed` (compared without case), in the spelling of `allowed`;
// `otherwise` when it is absent, which is an error if that is empty.
Result<std::string_view> choice_member(const value::Node& object, std::string_view where,
                                       std::string_view name,
                                       std::initializer_list<std::string_view> allowed,
                                       std::string_view otherwise);

// A member that is a whole number in [min, max]; nothing when it is absent.
Result<std::optional<int64_t>> integer_member(const value::Node& object, std::string_view where,
                                              std::string_view name, int64_t min, int64_t max);

// Appends `,"name":json`, without the comma at the start of an object or of the text.
void append_member(std::string& out, std::string_view name, std::string_view json);
using value::quoted;

}  // namespace orrery::cosmos
