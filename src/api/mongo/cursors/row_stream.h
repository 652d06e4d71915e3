// Documents on their way to a client, one after the other, as BSON: what a cursor has.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "api/mongo/bson/error.h"
#include "base/budget.h"
#include "value/value.h"

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
  // Whether its cursor stays when there is nothing more: something may come.
  virtual bool stays_open() const { return false; }
  // Of one that does: from where to go on with another.
  virtual std::optional<value::Value> resume_token() const { return std::nullopt; }
  // What it keeps in memory until the next batch.
  virtual size_t memory() const { return 0; }

  Budget budget;
  // Whether the command that asks for the batch has no time left, or nobody who waits for it. Any
  // thread may call, while the command runs.
  std::function<bool()> stop;
};

}  // namespace orrery::mongo
