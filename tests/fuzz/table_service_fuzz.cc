// The XML of the Table face: whatever is taken is written, and read again as the same. A first byte
// that is a digit asks for service properties, any other for access policies.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/table/service/access_policy.h"
#include "api/table/service/cors.h"
#include "api/table/service/iso_time.h"
#include "api/table/service/service_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::table;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view xml = text.substr(1);
  (void)parse_iso_time(xml);
  if (text.front() < '0' || text.front() > '9') {
    const auto policies = parse_access_policies(xml);
    if (!policies) return 0;
    if (policies->size() > kMaxAccessPolicies) std::abort();
    const std::string written = access_policies_xml(*policies);
    const auto again = parse_access_policies(written);
    if (!again || access_policies_xml(*again) != written) std::abort();
    return 0;
  }
  const auto properties = parse_service_properties(xml);
  if (!properties) return 0;
  if (properties->cors.size() > kMaxCorsRules) std::abort();
  const std::string written = service_properties_xml(*properties);
  const auto again = parse_service_properties(written);
  if (!again || service_properties_xml(*again) != written) std::abort();
  const CorsRequest request{.origin = xml.substr(0, 16), .method = "GET", .request_headers = "a,b"};
  const std::string headers = cors_headers(properties->cors, request, "ETag: x\r\nDate: y\r\n");
  if (!headers.empty() && !headers.ends_with("\r\n")) std::abort();
  (void)answer_preflight(properties->cors, request);
  return 0;
}
