// Where records come from: files, or a container of an account.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "transfer/ledger.h"
#include "value/document.h"

namespace orrery::transfer {

struct Record {
  std::string text;    // JSON; of a rejected one what was there
  std::string reason;  // why the source rejects it; empty: it does not
  Mark mark;
};

class RecordSource {
 public:
  enum class Pull : uint8_t { record, wait, end };

  virtual ~RecordSource() = default;
  // Never waits: `wait` when there is nothing yet.
  virtual Result<Pull> pull(Record& record) = 0;
  // Moves requests on, for up to `wait_ms`; where there are none, nothing.
  virtual void turn(int wait_ms) { (void)wait_ms; }
  // The record with this mark, and all before it, are done.
  virtual void passed(const Mark& mark) = 0;

  // Whether position_json() covers all that was passed, and nothing else. A source that is read in
  // pages can go on only between two of them; records of one page come and pass one after the
  // other.
  virtual bool is_settled() const { return true; }

  // How far was passed, as JSON, and going on from there. resume() comes before the first pull().
  virtual std::string position_json() const = 0;
  virtual Status resume(const value::Node& position) = 0;

  // The file or the container of a mark.
  virtual std::string name_of(const Mark& mark) const = 0;

  // How much of it was read, from 0 to 1; nothing when that is not known.
  virtual std::optional<double> fraction() const = 0;
  virtual double charge() const { return 0; }
  virtual uint64_t throttled() const { return 0; }
};

}  // namespace orrery::transfer
