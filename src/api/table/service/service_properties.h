// The properties of the Table service (logging, metrics, CORS rules), as a client sets and gets
// them in XML, and its stats. Logging and metrics are kept and shown; the server has its own.
//
// A PUT sets the sections that it has; the others stay as they are.
//
// Input from outside: bounded in size, and no entities are expanded. Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/table/service/table_error.h"

namespace orrery::table {

inline constexpr size_t kMaxCorsRules = 5;

struct RetentionPolicy {
  bool enabled = false;
  uint32_t days = 0;  // 1 to 365 when enabled
  bool operator==(const RetentionPolicy&) const = default;
};
struct Logging {
  std::string version = "1.0";
  bool deletes = false;
  bool reads = false;
  bool writes = false;
  RetentionPolicy retention;
  bool operator==(const Logging&) const = default;
};
struct Metrics {
  std::string version = "1.0";
  bool enabled = false;
  std::optional<bool> include_apis;  // only when enabled
  RetentionPolicy retention;
  bool operator==(const Metrics&) const = default;
};
struct CorsRule {
  std::string allowed_origins;  // lists, separated by commas, as they were sent
  std::string allowed_methods;
  std::string allowed_headers;
  std::string exposed_headers;
  uint32_t max_age_s = 0;
  bool operator==(const CorsRule&) const = default;
};

struct ServiceProperties {
  Logging logging;
  Metrics hour_metrics;
  Metrics minute_metrics;
  std::vector<CorsRule> cors;
  bool operator==(const ServiceProperties&) const = default;
};

// `now` with the sections that are in the XML replaced.
TableResult<ServiceProperties> parse_service_properties(std::string_view xml,
                                                        ServiceProperties now = {});
std::string service_properties_xml(const ServiceProperties& properties);

// The answer of ?comp=stats: alive, and in step as of this HTTP date.
std::string service_stats_xml(std::string_view last_sync);

}  // namespace orrery::table
