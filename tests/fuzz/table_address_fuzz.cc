// Targets from outside: keys in paths. What names an entity names the same one when it is written
// again as a link.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/table/entities/entity_json.h"
#include "api/table/wire/address.h"
#include "api/table/wire/request_options.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::table;
  const std::string_view target(reinterpret_cast<const char*>(data), size);
  const size_t mark = target.find('?');
  if (mark != std::string_view::npos) (void)parse_query_parameters(target.substr(mark + 1));
  for (const std::string_view host : {"127.0.0.1:10002", "acct.table.example.org"}) {
    auto address = parse_address(target, host);
    if (!address) {
      require(!address.error().message.empty());
      continue;
    }
    if (address->resource != Resource::entity) continue;
    std::string link = "/acct/t(";
    append_key_predicate(link, address->partition_key, address->row_key);
    link += ')';
    auto again = parse_address(link, "127.0.0.1");
    require(again && again->resource == Resource::entity);
    require(again->partition_key == address->partition_key && again->row_key == address->row_key);
  }
  const std::string token = continuation_text(target);
  require(parse_continuation(token) == std::string(target));
  return 0;
}
