// An item of another face as this face shows it: JSON, made of what the container's codec reads
// from the stored body, with this face's system properties.
//
//  - `id` is the row: as it is when it can be an id, otherwise "hex:" and its bytes in hexadecimal.
//    Rows that begin with "hex:" are written in hexadecimal too, so each id names one row.
//  - The item's own members follow. One that has the name of a system property, or `id`, is shown
//    with a $ in front, and so is one that has such a name after one or more $.
//  - _rid, _self, _etag, _attachments and _ts are as an own item has them.
//
// What JSON has not, in a form that loses no part of the value (its type is not told):
//   numbers              all digits of int64 and decimal; "NaN", "Infinity", "-Infinity", and a
//                        decimal beyond all doubles as a string
//   date                 "2026-11-16T02:51:45.123Z", with four more digits where it has ticks;
//                        "… ms" (since 1970) beyond the years 0 to 9999
//   guid, object id      "6f9619ff-8b86-d011-b42d-00cf4fc964ff"; 24 hexadecimal digits
//   binary               base64; of a subtype other than 0: {"base64":"…","subtype":n}
//   timestamp            its 64 bits as a number
//   regular expression   "/pattern/options"
//   code                 its text; with a scope: {"code":"…","scope":"base64 of its encoding"}
//   min key, max key     "MinKey", "MaxKey"
//   undefined            null
//
// Pure; any thread may call.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cluster/routing.h"
#include "partition/item.h"
#include "value/path.h"

namespace orrery::cosmos {

std::string shown_item_id(std::string_view row);
// Nothing: no row is shown with this id.
std::optional<std::string> row_of_shown_id(std::string_view id);

// A member of an item, and a path into it, by the names that they are shown with.
std::string shown_member(std::string_view name);
std::string shown_path(value::Path path);

// Code::corrupt when the body is not one of the container's encoding, Code::unsupported when this
// program does not know the encoding.
Result<std::string> foreign_item_json(const cluster::Routing& routing, std::string_view row,
                                      const partition::Item& item);

}  // namespace orrery::cosmos
