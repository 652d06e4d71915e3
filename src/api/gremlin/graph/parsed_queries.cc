// See parsed_queries.h.
#include "api/gremlin/graph/parsed_queries.h"

#include <utility>

#include "query/parse/parser.h"

namespace orrery::gremlin {

Result<std::shared_ptr<const query::Query>> ParsedQueries::get(const std::string& text) {
  {
    const MutexLock lock(mutex_);
    if (const auto known = all_.find(text); known != all_.end()) return known->second;
  }
  auto parsed = query::parse_query(text);
  if (!parsed) return fail(Code::internal, "a query of a traversal: " + parsed.error().message);
  auto made = std::make_shared<const query::Query>(std::move(*parsed));
  if (text.size() > kTextBytesMax) return made;
  const MutexLock lock(mutex_);
  if (all_.size() >= kMost) all_.clear();
  all_.emplace(text, made);
  return made;
}

}  // namespace orrery::gremlin
