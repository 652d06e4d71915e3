// How this node's copy of the catalog asks the owner for changes: over the link between nodes, to
// whoever is the coordinator by then.
//
// Threading: any thread. change() blocks, until the answer or for kChangeDeadline.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/await.h"
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
    auto answer = await<Result<std::string>>([&](auto done) {
      link_.call(*address, kChangeCall, std::move(request), kChangeDeadline, std::move(done));
    });
    return answer ? std::move(*answer) : pass(answer.error());
  }

 private:
  peer::Link& link_;
  mutable Mutex mutex_;
  CoordinatorAddress address_ ORRERY_GUARDED_BY(mutex_);
};

}  // namespace orrery::cluster
