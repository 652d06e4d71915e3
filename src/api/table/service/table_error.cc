// See table_error.h.
#include "api/table/service/table_error.h"

#include <array>

#include "api/table/service/xml.h"
#include "face/http_error.h"

namespace orrery::table {
namespace {

struct Row {
  ErrorCode code;
  int status;
  std::string_view name;
  std::string_view message;
};

using enum ErrorCode;

// In the order of the enumeration. Messages that the vendor's clients or their tests look for are
// the vendor's.
constexpr auto kRows = std::to_array<Row>({
    {atom_format_not_supported, 415, "AtomFormatNotSupported",
     "Atom is not supported: ask for application/json."},
    {authentication_failed, 403, "AuthenticationFailed",
     "Server failed to authenticate the request: the signature is missing or does not match."},
    {authorization_failure, 403, "AuthorizationFailure",
     "This request is not authorized to perform this operation."},
    {authorization_permission_mismatch, 403, "AuthorizationPermissionMismatch",
     "This request is not authorized to perform this operation using this permission."},
    {authorization_protocol_mismatch, 403, "AuthorizationProtocolMismatch",
     "This request is not authorized to perform this operation using this protocol."},
    {authorization_resource_type_mismatch, 403, "AuthorizationResourceTypeMismatch",
     "This request is not authorized to perform this operation using this resource type."},
    {authorization_service_mismatch, 403, "AuthorizationServiceMismatch",
     "This request is not authorized to perform this operation using this service."},
    {authorization_source_ip_mismatch, 403, "AuthorizationSourceIPMismatch",
     "This request is not authorized to perform this operation using this source IP."},
    {commands_in_batch_act_on_different_partitions, 400, "CommandsInBatchActOnDifferentPartitions",
     "All commands in a batch must operate on same entity group."},
    {condition_headers_not_supported, 400, "ConditionHeadersNotSupported",
     "This operation takes no condition headers."},
    {content_length_exceeded, 400, "ContentLengthExceeded",
     "The content is longer than the limit of 4 MB."},
    {cors_preflight_failure, 403, "CorsPreflightFailure",
     "CORS not enabled or no matching rule found for this request."},
    {duplicate_properties_specified, 400, "DuplicatePropertiesSpecified",
     "A property is specified more than one time."},
    {entity_already_exists, 409, "EntityAlreadyExists", "The specified entity already exists."},
    {entity_not_found, 404, "EntityNotFound", "The entity to update was not found."},
    {entity_too_large, 400, "EntityTooLarge",
     "The entity is larger than the maximum allowed size (1MB)."},
    {host_information_not_present, 400, "HostInformationNotPresent",
     "The request has neither a host header nor an absolute URI."},
    {insufficient_account_permissions, 403, "InsufficientAccountPermissions",
     "Write operations to the secondary location are not allowed."},
    {internal_error, 500, "InternalError", "The server encountered an internal error."},
    {invalid_authentication_info, 400, "InvalidAuthenticationInfo",
     "Authentication information is not given in the correct format. Check the value of the "
     "Authorization header."},
    {invalid_duplicate_row, 400, "InvalidDuplicateRow",
     "The batch has more than one command for one entity."},
    {invalid_header_value, 400, "InvalidHeaderValue",
     "The value for one of the HTTP headers is not in the correct format."},
    {invalid_input, 400, "InvalidInput", "One of the request inputs is not valid."},
    {invalid_operation, 400, "InvalidOperation", "The operation is not possible here."},
    {invalid_query_parameter_value, 400, "InvalidQueryParameterValue",
     "The value of one of the query parameters is not valid."},
    {invalid_resource_name, 400, "InvalidResourceName",
     "The specified resource name contains invalid characters."},
    {invalid_uri, 400, "InvalidUri", "The request URI is not valid."},
    {invalid_value_type, 400, "InvalidValueType", "The value is not of the type that it has."},
    {invalid_xml_document, 400, "InvalidXmlDocument", "XML specified is not syntactically valid."},
    {invalid_xml_node_value, 400, "InvalidXmlNodeValue",
     "The value of one of the XML nodes is not in the correct format."},
    {json_format_not_supported, 415, "JsonFormatNotSupported", "JSON is not supported here."},
    {key_value_too_large, 400, "KeyValueTooLarge", "A key may have at most 1024 bytes."},
    {media_type_not_supported, 415, "MediaTypeNotSupported",
     "None of the provided media types are supported."},
    {method_not_allowed, 405, "MethodNotAllowed", "This resource does not take this method."},
    {missing_required_header, 400, "MissingRequiredHeader", "A required header is missing."},
    {not_implemented, 501, "NotImplemented",
     "The requested operation is not implemented on the specified resource."},
    {operation_timed_out, 500, "OperationTimedOut",
     "The operation did not finish within the time it has."},
    {out_of_range_input, 400, "OutOfRangeInput", "One of the request inputs is out of range."},
    {out_of_range_query_parameter_value, 400, "OutOfRangeQueryParameterValue",
     "A query parameter is outside the permissible range."},
    {properties_need_value, 400, "PropertiesNeedValue",
     "The values are not specified for all properties in the entity."},
    {property_name_invalid, 400, "PropertyNameInvalid", "The property name is invalid."},
    {property_name_too_long, 400, "PropertyNameTooLong",
     "The property name exceeds the maximum allowed length (255)."},
    {property_value_too_large, 400, "PropertyValueTooLarge",
     "The property value exceeds the maximum allowed size (64KB)."},
    {quota_exceeded, 403, "QuotaExceeded", "A quota of the account or the table is used up."},
    {request_body_too_large, 413, "RequestBodyTooLarge",
     "The request body is too large and exceeds the maximum permissible limit."},
    {resource_not_found, 404, "ResourceNotFound", "The specified resource does not exist."},
    {resource_out_of_range, 400, "OutOfRangeInput",
     "The specified resource name length is not within the permissible limits."},
    {server_busy, 503, "ServerBusy", "The server is busy: try again later."},
    {table_already_exists, 409, "TableAlreadyExists", "The table specified already exists."},
    {table_being_deleted, 409, "TableBeingDeleted", "The table is being deleted: try again later."},
    {table_not_found, 404, "TableNotFound", "The table specified does not exist."},
    {throttled, 429, "TooManyRequests", "The request rate is too large: try again later."},
    {too_many_properties, 400, "TooManyProperties",
     "The entity has more than 252 properties beside the system's."},
    {update_condition_not_satisfied, 412, "UpdateConditionNotSatisfied",
     "The update condition specified in the request was not satisfied."},
    {x_method_incorrect_count, 400, "XMethodIncorrectCount",
     "There may be one X-HTTP-Method header only."},
    {x_method_incorrect_value, 400, "XMethodIncorrectValue",
     "X-HTTP-Method may be MERGE, PATCH, PUT or DELETE."},
    {x_method_not_using_post, 400, "XMethodNotUsingPost",
     "X-HTTP-Method is for POST requests only."},
});

constexpr bool in_order() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].code) != i) return false;
  }
  return kRows.back().code == x_method_not_using_post;
}
static_assert(in_order());

const Row& row_of(ErrorCode code) {
  return kRows[static_cast<size_t>(code)];
}

std::string whole_message(const TableError& error, const ErrorBody& body) {
  std::string message = error.message;
  message += "\nRequestId:";
  message += body.request_id;
  message += "\nTime:";
  message += body.time;
  return message;
}

ErrorCode code_of(Code code, bool cosmos_flavour) {
  switch (code) {
    case Code::invalid:
      return invalid_input;
    case Code::unauthorized:
      return authentication_failed;
    case Code::forbidden:
      return authorization_failure;
    case Code::not_found:
      return resource_not_found;
    case Code::conflict:
      return entity_already_exists;
    case Code::precondition_failed:
      return update_condition_not_satisfied;
    case Code::too_large:
      return request_body_too_large;
    case Code::partition_full:
    case Code::quota_exceeded:
      return quota_exceeded;
    case Code::throttled:
      return cosmos_flavour ? ErrorCode::throttled : server_busy;
    case Code::retry:
    case Code::would_wait:
    case Code::moved:
    case Code::elsewhere:
    case Code::behind:
    case Code::read_only:
    case Code::overloaded:
      return server_busy;
    case Code::unsupported:
      return not_implemented;
    case Code::corrupt:
    case Code::internal:
      return internal_error;
  }
  return internal_error;
}

}  // namespace

std::string_view name_of(ErrorCode code) {
  return row_of(code).name;
}

int status_of(ErrorCode code) {
  return row_of(code).status;
}

TableError table_error(ErrorCode code, std::string message) {
  if (message.empty()) message = row_of(code).message;
  return {.code = code, .message = std::move(message)};
}

TableError from_engine(Error error, bool cosmos_flavour) {
  TableError made = table_error(code_of(error.code, cosmos_flavour), std::move(error.message));
  made.retry_after_ms = error.retry_after_ms;
  return made;
}

std::string error_json(const TableError& error, const ErrorBody& body) {
  std::string out = R"({"odata.error":{"code":")";
  out += error.name();
  out += R"(","message":{"lang":"en-US","value":)";
  face::append_message(out, whole_message(error, body));
  out += "}}}";
  return out;
}

std::string error_xml(const TableError& error, const ErrorBody& body) {
  std::string out =
      R"(<?xml version="1.0" encoding="utf-8"?><m:error xmlns:m="http://schemas.microsoft.com/ado/)"
      R"(2007/08/dataservices/metadata"><m:code>)";
  out += error.name();
  out += R"(</m:code><m:message xml:lang="en-US">)";
  append_xml_text(out, whole_message(error, body));
  out += "</m:message></m:error>";
  return out;
}

}  // namespace orrery::table
