// BSON from outside: what is accepted is written again, and reads back as the same; and its
// members, selected by their names, are the same too.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/mongo/bson/bson_codec.h"
#include "api/mongo/bson/select_members.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  mongo::MemberSelector some({"a", "_id"});
  static_cast<void>(some.select(bytes));
  auto value = mongo::from_bson(bytes);
  if (!value) return 0;
  std::vector<std::string> names;
  for (const auto& [name, member] : value->members()) names.emplace_back(name);
  mongo::MemberSelector all(std::move(names));
  const auto selected = all.select(bytes);
  if (!selected || compare(*value, *selected, value::ValueOrder::typed) != 0) std::abort();
  auto written = mongo::to_bson(*value);
  if (!written) std::abort();
  auto again = mongo::from_bson(*written);
  if (!again || compare(*value, *again, value::ValueOrder::typed) != 0) std::abort();
  return 0;
}
