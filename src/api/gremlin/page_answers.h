// The answer to a traversal that a person runs at the console: all of it as one HTTP response.
//   200            {"results":[…],"more":false,"ms":1.5}, results as GraphSON without types; more:
//                  some were left out
//   anything else  {"code":…,"message":…}
//   x-ms-request-charge, x-ms-activity-id, x-ms-retry-after-ms   as headers
#pragma once

#include <string>
#include <utility>

#include "api/gremlin/answers.h"
#include "net/http.h"

namespace orrery::gremlin {

// A table of more is not read by anybody, and the page holds all of it.
inline constexpr uint64_t kPageResultsMax = 1'000;
inline constexpr size_t kPageBytesMax = 4ULL << 20;

class PageAnswers final : public Answers {
 public:
  explicit PageAnswers(net::Responder responder) : responder_(std::move(responder)) {}

  bool part(const std::string& results, const Attributes& attributes) override;
  void last(const std::string* results, const Attributes& attributes, bool may_wait) override;
  void fail(const Failure& failure, const Attributes& attributes, bool may_wait) override;
  bool is_gone() const override { return responder_.is_gone(); }
  Room room() const override { return {.results = kPageResultsMax, .bytes = kPageBytesMax}; }

 private:
  void send(int status, const Attributes& attributes, std::string json);

  net::Responder responder_;
  std::string results_;
};

}  // namespace orrery::gremlin
