// See container_functions.h.
#include "api/cosmos/query/container_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "api/cosmos/resources/resource_kinds.h"
#include "api/cosmos/script/script_answer.h"

namespace orrery::cosmos {
namespace {

Error to_error(const std::string& name, const script::Failed& failed) {
  const bool started =
      failed.failure != script::Failure::busy && failed.failure != script::Failure::unable;
  std::string message =
      started ? fmt::format(
                    "Encountered exception while executing Javascript function 'udf.{}'. "
                    "Exception = {}",
                    name, failed.message)
              : fmt::format("The function 'udf.{}' did not start: {}", name, failed.message);
  if (!failed.stack.empty()) message += "\r\nStack trace: " + failed.stack;
  return {.code = started ? Code::invalid : Code::overloaded, .message = std::move(message)};
}

}  // namespace

std::optional<uint32_t> ContainerFunctions::find(std::string_view name) {
  const auto known = std::ranges::find_if(
      functions_, [&](const Function& one) { return one.resource->name == name; });
  if (known != functions_.end()) return static_cast<uint32_t>(known - functions_.begin());
  catalog::ResourcePtr resource = catalog_.resource(kFunctionKind, container_, name);
  if (!resource) return std::nullopt;
  functions_.push_back({std::move(resource), std::nullopt});
  return static_cast<uint32_t>(functions_.size() - 1);
}

Result<value::Value> ContainerFunctions::call(uint32_t function,
                                              std::vector<value::Value> arguments) {
  Function& called = functions_[function];
  const std::string& name = called.resource->name;
  if (!session_) {
    auto session = host_.functions();
    if (!session) return pass(to_error(name, session.error()));
    session_ = std::move(*session);
  }
  if (!called.loaded) {
    auto loaded = session_->load(name, script_source(called.resource->body));
    if (!loaded) return pass(to_error(name, loaded.error()));
    called.loaded = *loaded;
  }
  auto results = session_->call(*called.loaded, std::span(&arguments, 1));
  if (!results) return pass(to_error(name, results.error()));
  return std::move(results->front());
}

}  // namespace orrery::cosmos
