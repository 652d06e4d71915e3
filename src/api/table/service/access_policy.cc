// See access_policy.h.
#include "api/table/service/access_policy.h"

#include <algorithm>
#include <utility>

#include "api/table/service/iso_time.h"
#include "api/table/service/xml.h"

namespace orrery::table {
namespace {

TableStatus check(const AccessPolicy& policy, const std::vector<AccessPolicy>& before) {
  if (policy.id.empty() || policy.id.size() > kMaxPolicyIdBytes) {
    return refuse(ErrorCode::invalid_xml_node_value,
                  "The <Id> of an access policy has 1 to 64 characters.");
  }
  if (std::ranges::find(before, policy.id, &AccessPolicy::id) != before.end()) {
    return refuse(ErrorCode::invalid_xml_node_value,
                  "The access policy \"" + policy.id + "\" is there twice.");
  }
  for (const std::string& time : {policy.start, policy.expiry}) {
    if (!time.empty() && !parse_iso_time(time)) {
      return refuse(ErrorCode::invalid_xml_node_value,
                    "\"" + time.substr(0, 64) + "\" is no time like 2026-11-16T12:00:00Z.");
    }
  }
  if (policy.permissions.find_first_not_of("raud") != std::string::npos) {
    return refuse(ErrorCode::invalid_xml_node_value,
                  "\"" + policy.permissions.substr(0, 64) +
                      "\" are no permissions of a table: they are letters of r, a, u and d.");
  }
  return {};
}

}  // namespace

TableResult<std::vector<AccessPolicy>> parse_access_policies(std::string_view xml) {
  std::vector<AccessPolicy> policies;
  if (xml.empty()) return policies;
  pugi::xml_document document;
  auto root = load_xml(document, xml, "SignedIdentifiers");
  if (!root) return pass(root.error());
  for (const pugi::xml_node& element : root->children("SignedIdentifier")) {
    if (policies.size() == kMaxAccessPolicies) {
      return refuse(
          ErrorCode::invalid_xml_document,
          "A table has at most " + std::to_string(kMaxAccessPolicies) + " stored access policies.");
    }
    const pugi::xml_node terms = element.child("AccessPolicy");
    AccessPolicy policy{.id = std::string(child_text(element, "Id")),
                        .start = std::string(child_text(terms, "Start")),
                        .expiry = std::string(child_text(terms, "Expiry")),
                        .permissions = std::string(child_text(terms, "Permission"))};
    if (auto checked = check(policy, policies); !checked) return pass(checked.error());
    policies.push_back(std::move(policy));
  }
  return policies;
}

std::string access_policies_xml(const std::vector<AccessPolicy>& policies) {
  std::string out = R"(<?xml version="1.0" encoding="utf-8"?><SignedIdentifiers>)";
  for (const AccessPolicy& policy : policies) {
    out += "<SignedIdentifier>";
    append_element(out, "Id", policy.id);
    out += "<AccessPolicy>";
    if (!policy.start.empty()) append_element(out, "Start", policy.start);
    if (!policy.expiry.empty()) append_element(out, "Expiry", policy.expiry);
    if (!policy.permissions.empty()) append_element(out, "Permission", policy.permissions);
    out += "</AccessPolicy></SignedIdentifier>";
  }
  out += "</SignedIdentifiers>";
  return out;
}

}  // namespace orrery::table
