// Waiting for an answer that comes through a callback.
#pragma once

#include <future>
#include <utility>

#include "base/result.h"

namespace orrery {

// Calls `start` with a callback, and waits until that has been called with a T. Code::overloaded
// when it was destroyed without having been called: memory ran out on the way (see survive.h).
template <class T, class Start>
Result<T> await(const Start& start) {
  std::promise<T> promise;
  std::future<T> answer = promise.get_future();
  start([promise = std::move(promise)](T given) mutable { promise.set_value(std::move(given)); });
  try {
    return answer.get();
  } catch (const std::future_error&) {
    return fail(Code::overloaded,
                "the server ran out of memory before this was finished: it may be done or not");
  }
}

}  // namespace orrery
