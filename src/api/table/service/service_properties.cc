// See service_properties.h.
#include "api/table/service/service_properties.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "api/table/service/comma_list.h"
#include "api/table/service/xml.h"

namespace orrery::table {
namespace {

constexpr std::string_view kHead = R"(<?xml version="1.0" encoding="utf-8"?>)";
constexpr uint32_t kMaxRetentionDays = 365;
constexpr std::array<std::string_view, 8> kMethods = {"DELETE", "GET", "HEAD", "MERGE",
                                                      "PATCH",  "PUT", "POST", "OPTIONS"};

std::unexpected<TableError> bad_value(const char* name, std::string_view text,
                                      std::string_view wanted) {
  std::string message = "<";
  message += name;
  message += "> is \"";
  message += text.substr(0, 64);
  message += "\": ";
  message += wanted;
  message += '.';
  return refuse(ErrorCode::invalid_xml_node_value, std::move(message));
}

TableResult<bool> read_flag(const pugi::xml_node& node, const char* name) {
  const std::string_view text = child_text(node, name);
  if (text == "true" || text == "True" || text == "1") return true;
  if (text == "false" || text == "False" || text == "0") return false;
  return bad_value(name, text, "it must be true or false");
}

TableResult<uint32_t> read_number(const pugi::xml_node& node, const char* name) {
  const std::string_view text = child_text(node, name);
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return bad_value(name, text, "it must be a whole number");
  }
  return value;
}

TableResult<RetentionPolicy> read_retention(const pugi::xml_node& section) {
  const pugi::xml_node node = section.child("RetentionPolicy");
  RetentionPolicy policy;
  if (!node) return policy;
  auto enabled = read_flag(node, "Enabled");
  if (!enabled) return pass(enabled.error());
  policy.enabled = *enabled;
  if (!policy.enabled) return policy;
  auto days = read_number(node, "Days");
  if (!days) return pass(days.error());
  if (*days < 1 || *days > kMaxRetentionDays) {
    return bad_value("Days", std::to_string(*days), "it must be from 1 to 365");
  }
  policy.days = *days;
  return policy;
}

TableResult<Logging> read_logging(const pugi::xml_node& node) {
  Logging logging;
  if (const auto version = child_text(node, "Version"); !version.empty()) logging.version = version;
  for (const auto& [name, flag] :
       {std::pair{"Delete", &logging.deletes}, std::pair{"Read", &logging.reads},
        std::pair{"Write", &logging.writes}}) {
    auto value = read_flag(node, name);
    if (!value) return pass(value.error());
    *flag = *value;
  }
  auto retention = read_retention(node);
  if (!retention) return pass(retention.error());
  logging.retention = *retention;
  return logging;
}

TableResult<Metrics> read_metrics(const pugi::xml_node& node) {
  Metrics metrics;
  if (const auto version = child_text(node, "Version"); !version.empty()) metrics.version = version;
  auto enabled = read_flag(node, "Enabled");
  if (!enabled) return pass(enabled.error());
  metrics.enabled = *enabled;
  if (node.child("IncludeAPIs")) {
    auto apis = read_flag(node, "IncludeAPIs");
    if (!apis) return pass(apis.error());
    metrics.include_apis = *apis;
  }
  auto retention = read_retention(node);
  if (!retention) return pass(retention.error());
  metrics.retention = *retention;
  return metrics;
}

TableResult<CorsRule> read_rule(const pugi::xml_node& node) {
  CorsRule rule{.allowed_origins = std::string(child_text(node, "AllowedOrigins")),
                .allowed_methods = std::string(child_text(node, "AllowedMethods")),
                .allowed_headers = std::string(child_text(node, "AllowedHeaders")),
                .exposed_headers = std::string(child_text(node, "ExposedHeaders"))};
  if (rule.allowed_origins.empty()) {
    return bad_value("AllowedOrigins", "", "it must be a list of sites, or *");
  }
  bool known = !rule.allowed_methods.empty();
  for_each_in_list(rule.allowed_methods, [&](std::string_view method) {
    known = known && std::ranges::find(kMethods, method) != kMethods.end();
    return known;
  });
  if (!known)
    return bad_value("AllowedMethods", rule.allowed_methods, "it must be a list of methods");
  auto age = read_number(node, "MaxAgeInSeconds");
  if (!age) return pass(age.error());
  rule.max_age_s = *age;
  return rule;
}

TableResult<std::vector<CorsRule>> read_cors(const pugi::xml_node& node) {
  std::vector<CorsRule> rules;
  for (const pugi::xml_node& element : node.children("CorsRule")) {
    if (rules.size() == kMaxCorsRules) {
      return refuse(ErrorCode::invalid_xml_document,
                    "A service has at most " + std::to_string(kMaxCorsRules) + " CORS rules.");
    }
    auto rule = read_rule(element);
    if (!rule) return pass(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

template <class T>
TableStatus read_section(const pugi::xml_node& root, const char* name,
                         TableResult<T> (*read)(const pugi::xml_node&), T& into) {
  const pugi::xml_node node = root.child(name);
  if (!node) return {};
  auto value = read(node);
  if (!value) return pass(value.error());
  into = std::move(*value);
  return {};
}

std::string_view flag_text(bool flag) {
  return flag ? "true" : "false";
}

void append_retention(std::string& out, const RetentionPolicy& policy) {
  out += "<RetentionPolicy>";
  append_element(out, "Enabled", flag_text(policy.enabled));
  if (policy.enabled) append_element(out, "Days", std::to_string(policy.days));
  out += "</RetentionPolicy>";
}

void append_metrics(std::string& out, std::string_view name, const Metrics& metrics) {
  out += '<';
  out += name;
  out += '>';
  append_element(out, "Version", metrics.version);
  append_element(out, "Enabled", flag_text(metrics.enabled));
  if (metrics.include_apis) append_element(out, "IncludeAPIs", flag_text(*metrics.include_apis));
  append_retention(out, metrics.retention);
  out += "</";
  out += name;
  out += '>';
}

}  // namespace

TableResult<ServiceProperties> parse_service_properties(std::string_view xml,
                                                        ServiceProperties now) {
  pugi::xml_document document;
  auto root = load_xml(document, xml, "StorageServiceProperties");
  if (!root) return pass(root.error());
  for (const TableStatus& read :
       {read_section(*root, "Logging", &read_logging, now.logging),
        // What versions before 2013-08-15 call it.
        read_section(*root, "Metrics", &read_metrics, now.hour_metrics),
        read_section(*root, "HourMetrics", &read_metrics, now.hour_metrics),
        read_section(*root, "MinuteMetrics", &read_metrics, now.minute_metrics),
        read_section(*root, "Cors", &read_cors, now.cors)}) {
    if (!read) return pass(read.error());
  }
  return now;
}

std::string service_properties_xml(const ServiceProperties& properties) {
  std::string out(kHead);
  out += "<StorageServiceProperties><Logging>";
  append_element(out, "Version", properties.logging.version);
  append_element(out, "Delete", flag_text(properties.logging.deletes));
  append_element(out, "Read", flag_text(properties.logging.reads));
  append_element(out, "Write", flag_text(properties.logging.writes));
  append_retention(out, properties.logging.retention);
  out += "</Logging>";
  append_metrics(out, "HourMetrics", properties.hour_metrics);
  append_metrics(out, "MinuteMetrics", properties.minute_metrics);
  out += "<Cors>";
  for (const CorsRule& rule : properties.cors) {
    out += "<CorsRule>";
    append_element(out, "AllowedOrigins", rule.allowed_origins);
    append_element(out, "AllowedMethods", rule.allowed_methods);
    append_element(out, "AllowedHeaders", rule.allowed_headers);
    append_element(out, "ExposedHeaders", rule.exposed_headers);
    append_element(out, "MaxAgeInSeconds", std::to_string(rule.max_age_s));
    out += "</CorsRule>";
  }
  out += "</Cors></StorageServiceProperties>";
  return out;
}

std::string service_stats_xml(std::string_view last_sync) {
  std::string out(kHead);
  out += "<StorageServiceStats><GeoReplication><Status>live</Status>";
  append_element(out, "LastSyncTime", last_sync);
  out += "</GeoReplication></StorageServiceStats>";
  return out;
}

}  // namespace orrery::table
