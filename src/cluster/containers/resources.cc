// See resources.h.
#include "cluster/containers/resources.h"

#include <fmt/format.h>

namespace orrery::cluster {
namespace {

// Whether the account may hold `more_count` more of `more_bytes` bytes.
Status check_resource_quota(const Limits& limits, const catalog::ResourceTotals& now,
                            uint64_t more_count, uint64_t one_bytes, uint64_t replaced_bytes) {
  if (one_bytes > limits.resource_bytes) {
    return fail(Code::too_large,
                fmt::format("the definition has {} bytes, and at most {} are allowed (the server's "
                            "limit resource-bytes)",
                            one_bytes, limits.resource_bytes));
  }
  if (now.count + more_count > limits.account_resources) {
    return fail(Code::quota_exceeded,
                fmt::format("the account has {} users, permissions and scripts, which is its "
                            "quota; delete some, or raise the server's limit account-resources",
                            now.count));
  }
  if (one_bytes > replaced_bytes &&
      now.bytes + one_bytes - replaced_bytes > limits.account_resources_bytes) {
    return fail(Code::quota_exceeded,
                fmt::format("the account's users, permissions and scripts have {} bytes, and {} is "
                            "the quota; delete some, or raise the server's limit "
                            "account-resources-bytes",
                            now.bytes, limits.account_resources_bytes));
  }
  return {};
}

}  // namespace

Result<catalog::ResourcePtr> Resources::create(uint8_t kind, uint32_t parent, std::string_view name,
                                               std::string body, uint64_t most,
                                               const Check& check) {
  MutexLock change(change_mutex_);
  if (check) {
    if (auto checked = check(); !checked) return pass(checked.error());
  }
  if (!catalog_.resource(kind, parent, name)) {  // otherwise the catalog says so
    if (catalog_.resources(kind, parent).size() >= most) {
      return fail(
          Code::quota_exceeded,
          fmt::format("there are {} of them already, and no more are allowed: delete one", most));
    }
    if (auto checked = check_resource_quota(limits_, catalog_.resource_totals(), 1,
                                            name.size() + body.size(), 0);
        !checked) {
      return pass(checked.error());
    }
  }
  return catalog_.create_resource(kind, parent, name, std::move(body));
}

Result<catalog::ResourcePtr> Resources::replace(uint32_t number, std::string_view name,
                                                std::string body,
                                                std::optional<uint64_t> if_revision,
                                                const Check& check) {
  MutexLock change(change_mutex_);
  if (check) {
    if (auto checked = check(); !checked) return pass(checked.error());
  }
  if (const catalog::ResourcePtr before = catalog_.resource(number)) {
    if (auto checked =
            check_resource_quota(limits_, catalog_.resource_totals(), 0, name.size() + body.size(),
                                 before->name.size() + before->body.size());
        !checked) {
      return pass(checked.error());
    }
  }
  return catalog_.replace_resource(number, name, std::move(body), if_revision);
}

Status Resources::remove(uint32_t number, std::optional<uint64_t> if_revision) {
  MutexLock change(change_mutex_);
  return catalog_.remove_resource(number, if_revision);
}

}  // namespace orrery::cluster
