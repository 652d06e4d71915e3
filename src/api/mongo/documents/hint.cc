// See hint.h.
#include "api/mongo/documents/hint.h"

#include <fmt/format.h>

#include "api/mongo/bson/types.h"
#include "api/mongo/collections/index_specs.h"

namespace orrery::mongo {

Answer<Hint> resolve_hint(const cluster::Routing& routing, const Value& hint) {
  if (is_nullish(hint) || (hint.is_object() && hint.size() == 0)) return Hint{};
  if (!hint.is_string() && !hint.is_object()) {
    return refuse(kFailedToParse, "Hint must be a string or an object");
  }
  if (const Value natural = hint.find("$natural"); !natural.is_undefined()) {
    if (!natural.is_number() || (natural.number() != 1 && natural.number() != -1)) {
      return refuse(kFailedToParse, "$natural hint must be 1 or -1");
    }
    return Hint{natural.number() > 0 ? Hint::Kind::natural : Hint::Kind::reverse_natural};
  }
  const IndexSpec id = id_index();
  if (hint.is_string() ? hint.text() == id.name : is_same_key(hint, id.key)) {
    return Hint{Hint::Kind::id};
  }
  for (const IndexSpec& index : definition_of(routing).indexes) {
    if (hint.is_string() ? hint.text() == index.name : is_same_key(hint, index.key)) {
      return Hint{Hint::Kind::index, &index};
    }
  }
  return refuse(kBadValue,
                fmt::format("error processing query: ns={}.{}: planner returned error :: caused by "
                            ":: hint provided does not correspond to an existing index: {}",
                            routing.database->name, routing.container->spec.name, shown(hint)));
}

}  // namespace orrery::mongo
