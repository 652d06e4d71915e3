// What readers of the index take apart: terms, shapes, composite terms and stored definitions.
// Damaged ones are refused, and what is taken is never more than there is.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "partition/format.h"
#include "value/composite.h"
#include "value/shape.h"
#include "value/terms.h"

namespace {

namespace value = orrery::value;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);

  if (const auto term = value::term_size(bytes)) {
    require(*term > 0 && *term <= size);
    // What comes after a term is not looked at, and a part of one is none.
    require(value::term_size(bytes.substr(0, *term)) == *term);
    require(!value::term_size(bytes.substr(0, *term - 1)));
  }
  if (const auto paths = value::shape_paths(bytes)) {
    size_t sum = 0;
    for (const std::string_view path : *paths) sum += path.size();
    require(sum == size);
  }
  static const value::CompositeTerms terms(
      value::CompositeIndex{.parts = {{.path = {.steps = {{.name = "a"}}}},
                                      {.path = {.steps = {{.name = "b"}}}, .descending = true}}});
  static const std::string prefix = terms.all().from;
  const std::string composite = prefix + std::string(bytes);
  if (const auto parts = terms.decode(composite)) {
    require(parts->size() == 2);
    require(value::composite_term_size(composite) == composite.size());
  }
  if (const auto definition = orrery::partition::decode_definition(bytes)) {
    require(orrery::partition::decode_definition(
                orrery::partition::encode_definition(*definition)) == *definition);
  }
  if (const auto placement = orrery::partition::placement_of_term(bytes)) {
    require(placement->size() < size);
  }
  return 0;
}
