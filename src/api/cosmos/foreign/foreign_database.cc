// See foreign_database.h.
#include "api/cosmos/foreign/foreign_database.h"

#include <fmt/format.h>

#include <algorithm>

namespace orrery::cosmos {

std::string shown_id(const catalog::Database& database) {
  if (is_own(database)) return database.name;
  return fmt::format("{}:{}", database.face, database.name);
}

std::optional<catalog::DatabaseName> foreign_name(std::string_view id) {
  const size_t colon = id.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const catalog::DatabaseName name{id.substr(0, colon), id.substr(colon + 1)};
  if (name.face.empty() || name.face == kFaceName) return std::nullopt;
  return name;
}

std::vector<catalog::DatabasePtr> foreign_databases(const catalog::Catalog& catalog) {
  std::vector<catalog::DatabasePtr> all = catalog.all_databases();
  std::erase_if(all, [](const catalog::DatabasePtr& one) { return is_own(*one); });
  return all;
}

Error belongs_to_another_face(const catalog::Database& database) {
  return {.code = Code::forbidden,
          .message = fmt::format("database '{}' belongs to the {} face: it can be read and scaled "
                                 "here, and changed there",
                                 shown_id(database), database.face)};
}

Status check_own_id(const catalog::Catalog& catalog, std::span<const std::string> other_faces,
                    std::string_view id) {
  const auto name = foreign_name(id);
  if (!name) return {};
  const bool is_face = std::ranges::find(other_faces, name->face) != other_faces.end();
  if (!is_face && catalog.databases(name->face).empty()) return {};
  return fail(Code::invalid,
              fmt::format("the id '{}' is how a database of the {} face is shown here: choose one "
                          "that does not begin with '{}:'",
                          id, name->face, name->face));
}

std::string name_path(const catalog::Database& database, std::string_view container) {
  std::string path = "dbs/" + shown_id(database);
  if (!container.empty()) (path += "/colls/") += container;
  return path;
}

}  // namespace orrery::cosmos
