// Positions in the change feed: what is taken says the same when it is written out again. The first
// line is If-None-Match, the rest If-Modified-Since.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/cosmos/wire/change_start.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cosmos;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line = input.find('\n');
  const std::string_view etag = input.substr(0, line);
  const std::string_view date = line == std::string_view::npos ? "" : input.substr(line + 1);
  const auto from = parse_change_start(etag, date);
  if (!from) return 0;
  if (from->now != (etag.find('*') != std::string_view::npos)) std::abort();
  if (from->since_s.has_value() != !date.empty()) std::abort();
  if (from->now) return 0;
  const auto again = parse_change_start('"' + std::to_string(from->position) + '"', "");
  if (!again || again->position != from->position) std::abort();
  return 0;
}
