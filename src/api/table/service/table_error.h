// The errors of the Table service: one row for each of the vendor's codes, with its status and its
// usual message, and how one is written into an answer.
//
// A TableError is what a handler of this face gives back. Errors of the engine become one with
// from_engine().
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace orrery::table {

enum class ErrorCode : uint8_t {
  atom_format_not_supported,
  authentication_failed,
  authorization_failure,
  authorization_permission_mismatch,
  authorization_protocol_mismatch,
  authorization_resource_type_mismatch,
  authorization_service_mismatch,
  authorization_source_ip_mismatch,
  commands_in_batch_act_on_different_partitions,
  condition_headers_not_supported,
  content_length_exceeded,
  cors_preflight_failure,
  duplicate_properties_specified,
  entity_already_exists,
  entity_not_found,
  entity_too_large,
  host_information_not_present,
  insufficient_account_permissions,
  internal_error,
  invalid_authentication_info,
  invalid_duplicate_row,
  invalid_header_value,
  invalid_input,
  invalid_operation,
  invalid_query_parameter_value,
  invalid_resource_name,
  invalid_uri,
  invalid_value_type,
  invalid_xml_document,
  invalid_xml_node_value,
  json_format_not_supported,
  key_value_too_large,
  media_type_not_supported,
  method_not_allowed,
  missing_required_header,
  not_implemented,
  operation_timed_out,
  out_of_range_input,
  out_of_range_query_parameter_value,
  properties_need_value,
  property_name_invalid,
  property_name_too_long,
  property_value_too_large,
  quota_exceeded,
  request_body_too_large,
  resource_not_found,
  resource_out_of_range,
  server_busy,
  table_already_exists,
  table_being_deleted,
  table_not_found,
  throttled,  // TooManyRequests: the Cosmos flavour's 429
  too_many_properties,
  update_condition_not_satisfied,
  x_method_incorrect_count,
  x_method_incorrect_value,
  x_method_not_using_post,
};

// The vendor's name of it ("EntityAlreadyExists") and its HTTP status.
std::string_view name_of(ErrorCode code);
int status_of(ErrorCode code);

struct TableError {
  ErrorCode code = ErrorCode::internal_error;
  std::string message;
  uint32_t retry_after_ms = 0;

  int status() const { return status_of(code); }
  std::string_view name() const { return name_of(code); }
};

template <class T>
using TableResult = std::expected<T, TableError>;
using TableStatus = TableResult<void>;

// With the vendor's usual message when none is given. One that is given says more than that.
TableError table_error(ErrorCode code, std::string message = {});
[[nodiscard]] inline std::unexpected<TableError> refuse(ErrorCode code, std::string message = {}) {
  return std::unexpected(table_error(code, std::move(message)));
}
[[nodiscard]] inline std::unexpected<TableError> pass(TableError error) {
  return std::unexpected(std::move(error));
}

// What an engine's error is called here. Callers that know better (which of table and entity was
// not found) say so themselves. `cosmos_flavour`: over budget is 429, and 503 otherwise.
TableError from_engine(Error error, bool cosmos_flavour = false);

// The body of an answer. The vendor's clients read RequestId and Time out of the message.
struct ErrorBody {
  std::string_view request_id;
  std::string_view time;  // 2026-11-16T12:00:00.0000000Z
};
std::string error_json(const TableError& error, const ErrorBody& body);
std::string error_xml(const TableError& error, const ErrorBody& body);

}  // namespace orrery::table
