// The user-defined functions of a container, for queries over its items: query::UserFunctions over
// script::Host. A function is compiled when it is first called, and all of a page's calls go to one
// worker.
//
// Threading: one thread at a time. It holds a worker from the first call on: it lives for one page.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "query/functions/context.h"
#include "script/host.h"

namespace orrery::cosmos {

class ContainerFunctions final : public query::UserFunctions {
 public:
  ContainerFunctions(script::Host& host, const catalog::Catalog& catalog, uint32_t container)
      : host_(host), catalog_(catalog), container_(container) {}

  // Whether a query names one.
  bool is_used() const { return !functions_.empty(); }
  std::optional<uint32_t> find(std::string_view name) override;
  Result<value::Value> call(uint32_t function, std::vector<value::Value> arguments) override;

 private:
  struct Function {
    catalog::ResourcePtr resource;
    std::optional<uint32_t> loaded;  // its number in the session
  };

  script::Host& host_;
  const catalog::Catalog& catalog_;
  const uint32_t container_;
  std::vector<Function> functions_;
  std::unique_ptr<script::FunctionSession> session_;
};

}  // namespace orrery::cosmos
