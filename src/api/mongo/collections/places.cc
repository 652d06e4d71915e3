// See places.h.
#include "api/mongo/collections/places.h"

namespace orrery::mongo {
namespace {

void add_places(const IndexSpec& index, std::vector<std::string>& paths) {
  for (const value::Value::Member& field : index.key.members()) {
    if (field.value.is_string() && field.value.text() == "2dsphere") paths.emplace_back(field.name);
  }
}

}  // namespace

std::vector<std::string> places_of(const IndexSpec& index) {
  std::vector<std::string> paths;
  add_places(index, paths);
  return paths;
}

std::vector<std::string> places_of(const Definition& definition) {
  std::vector<std::string> paths;
  for (const IndexSpec& index : definition.indexes) add_places(index, paths);
  return paths;
}

}  // namespace orrery::mongo
