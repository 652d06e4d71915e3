// Databases of other faces, as this face shows them: read-only, and scaled, under ids FACE:NAME.
// docs/decisions/0022 says what one face may see of another's.
//
// An own database comes first wherever a name could mean two: so nothing that this face made is
// ever hidden. check_own_id() keeps new databases from having such a name.
//
// Threading: any thread; nothing blocks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/cosmos/operation.h"
#include "base/result.h"
#include "catalog/catalog.h"

namespace orrery::cosmos {

inline bool is_own(const catalog::Database& database) {
  return database.face == kFaceName;
}

// NAME of an own database, FACE:NAME of another.
std::string shown_id(const catalog::Database& database);

// The database of another face that an id of the form FACE:NAME names. It need not be there. The
// views are of `id`.
std::optional<catalog::DatabaseName> foreign_name(std::string_view id);

// By face, then by name.
std::vector<catalog::DatabasePtr> foreign_databases(const catalog::Catalog& catalog);

// What a request that would change a foreign database, or anything in it, is answered.
Error belongs_to_another_face(const catalog::Database& database);

// Code::invalid when the id of a new own database would read like that of another face's: FACE: is
// one of `other_faces`, or has databases in this account.
Status check_own_id(const catalog::Catalog& catalog, std::span<const std::string> other_faces,
                    std::string_view id);

// dbs/ID, or dbs/ID/colls/CONTAINER. Names of other faces may have any character.
std::string name_path(const catalog::Database& database, std::string_view container = {});

}  // namespace orrery::cosmos
