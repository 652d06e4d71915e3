// Some members of a document, without decoding the others: what a filter or a group looks at is
// often a small part of a large document.
//
// Pure; any thread may call.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace orrery::mongo {

// Puts into `out` the document with those of its members that have one of these names. False: its
// bytes are no document, as far as they were looked at.
bool select_members(std::string_view bson, std::span<const std::string> names, std::string& out);

}  // namespace orrery::mongo
