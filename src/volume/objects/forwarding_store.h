// An object store that passes everything on to another. Tests derive from it what they want to
// count, refuse or lose. Included by tests only.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "volume/objects/object_store.h"

namespace orrery::volume {

class ForwardingStore : public ObjectStore {
 public:
  explicit ForwardingStore(std::shared_ptr<ObjectStore> base) : base_(std::move(base)) {}

  Outcome apply(const std::string& object, const ObjectChange& change) override {
    return base_->apply(object, change);
  }
  Result<ObjectState> inspect(const std::string& object) override { return base_->inspect(object); }
  Result<std::optional<std::string>> entry(const std::string& object,
                                           const std::string& name) override {
    return base_->entry(object, name);
  }
  Result<size_t> read(const std::string& object, uint64_t offset, std::span<char> into) override {
    return base_->read(object, offset, into);
  }
  Result<std::vector<std::string>> list(std::string_view prefix) override {
    return base_->list(prefix);
  }
  Result<double> free_share() override { return base_->free_share(); }
  std::string place() const override { return base_->place(); }

 private:
  const std::shared_ptr<ObjectStore> base_;
};

}  // namespace orrery::volume
