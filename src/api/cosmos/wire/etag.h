// Etags: the version of an item, or the revision of a resource, as 32 hexadecimal digits grouped as
// a UUID. Without the quotes that they have on the wire.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "partition/item.h"

namespace orrery::cosmos {

std::string etag_text(const partition::Version& version);
void append_etag(std::string& out, const partition::Version& version);
// Empty when it is not an etag of this form.
std::optional<partition::Version> parse_etag(std::string_view text);

// If-Match and the like: `"etag"`, `etag`, or `*` (empty: any). An etag that this server never
// returned matches no item.
std::optional<partition::Version> parse_etag_condition(std::string_view header);

// Of a database, a container or a named resource, by its revision and the time that it was made.
std::string etag_text(uint64_t revision, int64_t changed_s);
template <class Resource>
std::string etag_of(const Resource& resource) {
  return etag_text(resource.revision, resource.changed_s);
}

}  // namespace orrery::cosmos
