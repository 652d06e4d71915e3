// Where the answers of one traversal go: over a WebSocket in parts (connection.h), or to a page as
// one (page_answers.h).
//
// Threading: the thread that runs the traversal; the last answer may come from another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "api/gremlin/wire/message.h"

namespace orrery::gremlin {

struct Failure {
  int code = 0;             // of the protocol; the service's is in the attributes
  bool is_parsing = false;  // the traversal did not begin
  std::string message;
};

class Answers {
 public:
  virtual ~Answers() = default;

  // Some results, with commas between them; more will come. May wait until the client has taken
  // others. False: the client has gone, or takes nothing for too long.
  virtual bool part(const std::string& results, const Attributes& attributes) = 0;
  // Then one of these. `results`: null for none. They wait only if they may.
  virtual void last(const std::string* results, const Attributes& attributes, bool may_wait) = 0;
  virtual void fail(const Failure& failure, const Attributes& attributes, bool may_wait) = 0;

  virtual bool is_gone() const = 0;
  // Results beyond this are left out, and Attributes::is_cut is set. A traversal that only reads
  // ends there.
  struct Room {
    uint64_t results = UINT64_MAX;
    size_t bytes = SIZE_MAX;
  };
  virtual Room room() const { return {}; }
};

}  // namespace orrery::gremlin
