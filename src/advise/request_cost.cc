// See request_cost.h.
#include "advise/request_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace orrery::advise {
namespace {

constexpr double kIdLookupRu = 0.1;  // finding an item by its id alone

// Partitions that m values are in, when these are N and chance decides.
double partitions_of_values(double values, double partitions) {
  if (values <= 1) return 1;
  return partitions * (1 - std::pow(1 - 1 / partitions, values));
}

}  // namespace

Asked ask(const Facts& facts, const KeyValues& values, const Holdings& holdings, uint32_t row) {
  const FactRequest& request = facts.requests[row];
  const Shape& shape = facts.shapes[request.shape];
  const double n = facts.partitions;
  const RequestKey key = values.of_request(request, row);
  Asked asked;
  asked.keyed = key.levels > 0;
  if (key.levels == values.levels()) {
    asked.partitions = partitions_of_values(key.values, n);
    asked.full = key.hashes[key.levels - 1];
  } else if (key.levels > 0) {
    const double bytes = holdings.share(key.levels, key.hashes[key.levels - 1]) *
                         facts.container_bytes * facts.growth;
    const double held = std::max(1.0, bytes / facts.settings.physical_limit_bytes);
    asked.partitions = std::min(n, held * key.values);
  } else {
    asked.partitions = n;
  }
  asked.first = key.hashes[0];
  const bool whole = key.levels == values.levels() && key.values <= 1;
  switch (shape.operation) {
    case RequestKind::query: {
      const double work = std::max(0.0, request.ru - kPageRu * shape.asked * shape.pages);
      asked.cost = work + kPageRu * asked.partitions;
      break;
    }
    case RequestKind::read:
      asked.cost = whole ? request.ru : kPageRu * asked.partitions + kIdLookupRu;
      break;
    case RequestKind::patch:
    case RequestKind::remove:
      asked.cost = request.ru + (whole ? 0 : kPageRu * asked.partitions + kIdLookupRu);
      break;
    case RequestKind::create:
    case RequestKind::upsert:
    case RequestKind::replace:
    case RequestKind::batch:
      asked.cost = request.ru;
      asked.partitions = 1;
      break;
  }
  return asked;
}

double ideal_cost(const Facts& facts, const FactRequest& request) {
  const Shape& shape = facts.shapes[request.shape];
  if (shape.operation != RequestKind::query) return request.ru;
  return std::max(0.0, request.ru - kPageRu * shape.asked * shape.pages) + kPageRu;
}

std::vector<Asked> requests_with(const Facts& facts, const KeyExpression& key,
                                 std::span<const uint32_t> rows) {
  const KeyValues values(facts, key);
  Rows all = all_rows(facts);
  const Holdings holdings(facts, values, all);
  std::vector<Asked> out;
  out.reserve(rows.size());
  for (const uint32_t row : rows) out.push_back(ask(facts, values, holdings, row));
  return out;
}

Rows all_rows(const Facts& facts) {
  Rows rows;
  rows.items.resize(facts.items.size());
  rows.requests.resize(facts.requests.size());
  std::iota(rows.items.begin(), rows.items.end(), 0);
  std::iota(rows.requests.begin(), rows.requests.end(), 0);
  return rows;
}

}  // namespace orrery::advise
