// The queries of traversals, parsed once. Their texts have parameters in the place of values, so
// that few different ones come again and again.
//
// Threading: any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "query/parse/ast.h"

namespace orrery::gremlin {

class ParsedQueries {
 public:
  // Code::internal when it is no query: the texts are made here.
  Result<std::shared_ptr<const query::Query>> get(const std::string& text);

 private:
  // Names of properties are in the texts, and clients choose those.
  static constexpr size_t kMost = 1000;
  static constexpr size_t kTextBytesMax = 4096;

  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const query::Query>> all_
      ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::gremlin
