// How this node's copy of the catalog asks the owner for changes: over the link between nodes, to
// whoever is the coordinator by then.
//
// Threading: any thread. change() blocks, until the answer, for kChangeDeadline, or until the
// catalog has another owner: the one that was asked may hang.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/thread_annotations.h"
#include "catalog/catalog.h"
#include "peer/link.h"

namespace orrery::cluster {

// The kinds of calls that engines make to one another. All begin so.
inline constexpr std::string_view kEngineCalls = "engine.";
inline constexpr const char* kChangeCall = "engine.change";
inline constexpr const char* kSplitCall = "engine.split";
inline constexpr const char* kMergeCall = "engine.merge";
inline constexpr const char* kExportCall = "engine.export";

inline constexpr std::chrono::milliseconds kChangeDeadline{5'000};

// Where the catalog's owner is: nothing when this node is it, empty when nobody knows.
using CoordinatorAddress = std::function<std::optional<std::string>()>;

class CatalogCaller final : public catalog::ChangeLink {
 public:
  explicit CatalogCaller(peer::Link& link) : link_(link) {}

  void set_coordinator(CoordinatorAddress address) {
    const MutexLock lock(mutex_);
    address_ = std::move(address);
  }
  std::optional<std::string> coordinator() const {
    const MutexLock lock(mutex_);
    return address_ ? address_() : std::optional<std::string>("");
  }

  Result<std::string> change(std::string request) override {
    const std::optional<std::string> address = coordinator();
    if (!address || address->empty()) {
      return std::unexpected(Error{.code = Code::overloaded,
                                   .message = "no node owns the catalog now: try again",
                                   .retry_after_ms = 100});
    }
    std::promise<Result<std::string>> promise;
    std::future<Result<std::string>> answer = promise.get_future();
    link_.call(*address, kChangeCall, std::move(request), kChangeDeadline,
               [promise = std::move(promise)](Result<std::string> given) mutable {
                 promise.set_value(std::move(given));
               });
    while (answer.wait_for(kLook) != std::future_status::ready) {
      if (coordinator() != address) return unknown("the catalog has another owner meanwhile");
    }
    try {
      return answer.get();
    } catch (const std::future_error&) {
      return unknown("the server ran out of memory");
    }
  }

 private:
  static constexpr std::chrono::milliseconds kLook{20};

  static std::unexpected<Error> unknown(std::string_view why) {
    return fail(Code::internal, fmt::format("{}: the change may be made or not", why));
  }

  peer::Link& link_;
  mutable Mutex mutex_;
  CoordinatorAddress address_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::cluster
