// A request that a session stands for: what the page sent, signed as any client with a key of the
// same access would sign it, for the handler behind the console. So the page can do exactly what
// its key allows, by the same checks, and no face knows of sessions.
//
// Lifetime: holds everything that the request's views point to until its answer is sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "account/keys.h"
#include "base/result.h"
#include "net/http.h"

namespace orrery::console {

// What a signature of the main face covers of a path: /dbs/shop/colls/orders/docs has the type docs
// and the link dbs/shop/colls/orders. Percent escapes are decoded. Code::invalid when they cannot
// be.
struct SignedParts {
  std::string type;
  std::string link;
};
Result<SignedParts> signed_parts(std::string_view path);

class InnerRequest {
 public:
  // `target` begins with /admin/ for an operator's page, and is the main face's otherwise. Of the
  // headers it takes those that a page may set. Views into `outer` must stay valid as long as this.
  static Result<InnerRequest> sign(const net::Request& outer, std::string_view target,
                                   const account::KeyRing& keys, account::Access access,
                                   int64_t now_s);

  const net::Request& request() const { return request_; }

 private:
  InnerRequest() = default;
  void add(std::string_view name, std::string value);

  std::vector<std::unique_ptr<const std::string>> texts_;  // of the headers that are made here
  net::Request request_;
};

}  // namespace orrery::console
