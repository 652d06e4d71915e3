// See cors.h.
#include "api/table/service/cors.h"

#include <algorithm>

#include "api/table/service/comma_list.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

void append_header(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out += ": ";
  // No value can end its line.
  std::ranges::transform(value, std::back_inserter(out), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? ' ' : c;
  });
  out += "\r\n";
}

bool list_has(std::string_view list, std::string_view wanted) {
  bool found = false;
  for_each_in_list(list, [&](std::string_view value) {
    found = equals_ignore_case(value, wanted);
    return !found;
  });
  return found;
}

// A pattern is a header's name, or the start of names with a * at its end.
bool matches(std::string_view pattern, std::string_view name) {
  if (!pattern.ends_with('*')) return equals_ignore_case(pattern, name);
  pattern.remove_suffix(1);
  return equals_ignore_case(pattern, name.substr(0, pattern.size()));
}

bool any_matches(std::string_view patterns, std::string_view name) {
  bool found = false;
  for_each_in_list(patterns, [&](std::string_view pattern) {
    found = matches(pattern, name);
    return !found;
  });
  return found;
}

bool allows(const CorsRule& rule, const CorsRequest& request) {
  if (rule.allowed_origins != "*" && !list_has(rule.allowed_origins, request.origin)) return false;
  if (!list_has(rule.allowed_methods, request.method)) return false;
  bool headers_allowed = true;
  for_each_in_list(request.request_headers, [&](std::string_view name) {
    headers_allowed = any_matches(rule.allowed_headers, name);
    return headers_allowed;
  });
  return headers_allowed;
}

const CorsRule* first_match(const std::vector<CorsRule>& rules, const CorsRequest& request) {
  const auto found =
      std::ranges::find_if(rules, [&](const CorsRule& rule) { return allows(rule, request); });
  return found == rules.end() ? nullptr : &*found;
}

// The names that the rule has, and those of the answer's headers that its patterns match.
std::string exposed(std::string_view patterns, std::string_view answer_headers) {
  std::string out;
  const auto add = [&](std::string_view name) {
    if (!out.empty()) out += ',';
    out += name;
  };
  for_each_in_list(patterns, [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) add(pattern);
    return true;
  });
  while (!answer_headers.empty()) {
    const size_t end = answer_headers.find("\r\n");
    const std::string_view line = answer_headers.substr(0, end);
    answer_headers =
        end == std::string_view::npos ? std::string_view() : answer_headers.substr(end + 2);
    const std::string_view name = line.substr(0, line.find(':'));
    if (!name.empty() && any_matches(patterns, name) && !list_has(out, name)) add(name);
  }
  return out;
}

}  // namespace

TableResult<std::string> answer_preflight(const std::vector<CorsRule>& rules,
                                          const CorsRequest& request) {
  if (request.origin.empty() || request.method.empty()) {
    return refuse(ErrorCode::invalid_header_value,
                  "A required CORS header is not present. Send Origin and "
                  "Access-Control-Request-Method.");
  }
  const CorsRule* rule = first_match(rules, request);
  if (!rule) return refuse(ErrorCode::cors_preflight_failure);
  std::string out;
  append_header(out, "Access-Control-Allow-Origin",
                rule->allowed_origins == "*" ? "*" : request.origin);
  append_header(out, "Access-Control-Allow-Methods", request.method);
  if (!request.request_headers.empty()) {
    append_header(out, "Access-Control-Allow-Headers", request.request_headers);
  }
  append_header(out, "Access-Control-Max-Age", std::to_string(rule->max_age_s));
  if (rule->allowed_origins != "*") {
    append_header(out, "Access-Control-Allow-Credentials", "true");
    append_header(out, "Vary", "Origin");
  }
  return out;
}

std::string cors_headers(const std::vector<CorsRule>& rules, const CorsRequest& request,
                         std::string_view answer_headers) {
  std::string out;
  if (request.origin.empty() || rules.empty()) return out;
  const CorsRule* rule = first_match(rules, request);
  if (!rule) {
    append_header(out, "Vary", "Origin");
    return out;
  }
  append_header(out, "Access-Control-Allow-Origin",
                rule->allowed_origins == "*" ? "*" : request.origin);
  append_header(out, "Access-Control-Expose-Headers",
                exposed(rule->exposed_headers, answer_headers));
  if (rule->allowed_origins != "*") {
    append_header(out, "Access-Control-Allow-Credentials", "true");
    append_header(out, "Vary", "Origin");
  }
  return out;
}

}  // namespace orrery::table
