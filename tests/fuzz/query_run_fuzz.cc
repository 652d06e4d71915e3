// A query and an item from outside, end to end: whatever parses and binds runs to its end, in
// pages, within its budget, and gives JSON; and its plan, if it has one, is a query that parses.
//
// The input is a query, a zero byte, and an item.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/cosmos/query/gateway_plan.h"
#include "query/bind/bind.h"
#include "query/parse/parser.h"
#include "query/run/execute.h"
#include "query/run/memory_space.h"
#include "value/json.h"

namespace {

using namespace orrery::query;

constexpr size_t kMaxPages = 20;
constexpr size_t kMaxStops = 50;  // some hundred thousand rows

void require(bool condition) {
  if (!condition) std::abort();
}

void run(const BoundQuery& bound, const std::string& item) {
  MemorySpace space({item});
  size_t stops = 0;
  PageLimits limits;
  limits.rows = 3;
  limits.stop = [&stops] { return ++stops > kMaxStops; };
  std::optional<Position> position;
  for (size_t page_number = 0; page_number < kMaxPages; ++page_number) {
    Context context;
    auto page = run_page(bound, space, position ? &*position : nullptr, limits, context);
    if (!page) {
      require(!page.error().message.empty());
      return;
    }
    require(page->rows.size() <= limits.rows);
    for (std::string_view row : page->rows) {
      require(orrery::value::JsonDocument::parse(row).has_value());
    }
    if (!page->next || stops > kMaxStops) return;
    require(!position || *page->next != *position);
    position = page->next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t cut = input.find('\0');
  const std::string_view text = input.substr(0, cut);
  std::string item = cut == std::string_view::npos ? "{}" : std::string(input.substr(cut + 1));
  if (!orrery::value::JsonDocument::parse(item)) item = "{}";
  const auto query = parse_query(text);
  if (!query) return 0;
  const Parameters parameters;
  if (const auto plan = orrery::cosmos::make_gateway_plan(*query, {}, parameters);
      plan && !plan->hybrid) {
    std::string rewritten = plan->info.rewritten_query;
    constexpr std::string_view kFilter = "{documentdb-formattableorderbyquery-filter}";
    if (const size_t at = rewritten.find(kFilter); at != std::string::npos) {
      rewritten.replace(at, kFilter.size(), "true");
    }
    require(rewritten.empty() || rewritten.size() > kMaxQueryBytes || parse_query(rewritten));
  }
  const auto bound = bind_query(*query, parameters);
  if (bound) run(**bound, item);
  return 0;
}
