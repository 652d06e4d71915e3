// Catalog records as JSON text and back. The catalog is small and read once at start, so its
// records favour being readable over being compact. Placement keys are written in hexadecimal.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "catalog/model.h"

namespace orrery::catalog {

std::string encode(const Database& database);
std::string encode(const Container& container);
std::string encode(const Resource& resource);
std::string encode(const Removal& removal);
Result<Database> decode_database(std::string_view text);
Result<Container> decode_container(std::string_view text);
Result<Resource> decode_resource(std::string_view text);
Result<Removal> decode_removal(std::string_view text);

}  // namespace orrery::catalog
