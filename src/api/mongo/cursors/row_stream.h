// Documents on their way to a client, one after the other, as BSON: what a cursor has.
#pragma once

#include <cstddef>
#include <string>

#include "api/mongo/bson/error.h"
#include "base/budget.h"

namespace orrery::mongo {

// One thread at a time. The budget is started anew for each batch.
class RowStream {
 public:
  virtual ~RowStream() = default;
  // False at the end, and from then on.
  virtual Answer<bool> next(std::string& bson) = 0;
  // A batch begins: throughput is asked for. A batch is done: lets go of snapshots, and pays.
  virtual Answer<void> begin_batch() { return {}; }
  virtual double end_batch(size_t /*bytes_returned*/) { return 0; }
  // What it keeps in memory until the next batch.
  virtual size_t memory() const { return 0; }

  Budget budget;
};

}  // namespace orrery::mongo
