// What functions may know besides their arguments. One Context serves one running query; it is not
// shared between threads.
#pragma once

#include <cstdint>
#include <optional>
#include <random>

#include "query/functions/regex.h"

namespace orrery::query {

// How VectorDistance measures when the call does not say: the container's vector policy does.
enum class VectorMetric : uint8_t { cosine, dot_product, euclidean };

struct Context {
  // The time of the query in 100 ns ticks since 1970: fixed, so that every row sees the same.
  int64_t now_ticks = 0;
  std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): the caller seeds it
  // Of the row at hand, for DOCUMENTID.
  std::optional<double> document_id;
  VectorMetric vector_metric = VectorMetric::cosine;
  RegexCache regexes;
};

}  // namespace orrery::query
