// See ask_nodes.h.
#include "ops/ask_nodes.h"

#include <future>
#include <utility>

namespace orrery::ops {

std::vector<std::string> ask_nodes(peer::Link& link, const std::set<std::string>& addresses,
                                   const char* kind, const std::string& question) {
  std::vector<std::future<Result<std::string>>> asked;
  for (const std::string& address : addresses) {
    std::promise<Result<std::string>> promise;
    asked.push_back(promise.get_future());
    link.call(address, kind, question, kAnswerDeadline,
              [promise = std::move(promise)](Result<std::string> told) mutable {
                promise.set_value(std::move(told));
              });
  }
  std::vector<std::string> answers;
  for (auto& one : asked) {
    try {
      if (auto told = one.get()) answers.push_back(std::move(*told));
    } catch (const std::future_error&) {
      continue;  // memory ran out on the way: as one that did not answer
    }
  }
  return answers;
}

}  // namespace orrery::ops
