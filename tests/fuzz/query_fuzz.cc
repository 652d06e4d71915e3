// Query text from outside: whatever parses prints as a text that parses to the same tree, and
// whatever does not says why, at a place inside the text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "query/parse/parser.h"
#include "query/parse/printer.h"

namespace {

using orrery::query::kMaxQueryBytes;
using orrery::query::Layout;
using orrery::query::parse_query;
using orrery::query::to_text;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto query = parse_query(text);
  if (!query) {
    const auto& error = query.error();
    require(!error.message.empty());
    require(error.start <= error.end && error.end <= size);
    require(error.line >= 1 && error.column >= 1);
    return 0;
  }
  require(same(query->clone(), *query));
  for (const Layout layout : {Layout::line, Layout::clauses}) {
    const std::string printed = to_text(*query, layout);
    // Parentheses and quotes are added, so what is printed may pass the limit of length.
    if (printed.size() > kMaxQueryBytes) continue;
    const auto again = parse_query(printed);
    require(again && same(*again, *query) && to_text(*again, layout) == printed);
  }
  return 0;
}
