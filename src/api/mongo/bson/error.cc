// See error.h.
#include "api/mongo/bson/error.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace orrery::mongo {
namespace {

struct Name {
  int32_t code;
  std::string_view name;
};

constexpr std::array kNames = {
    Name{kInternalError, "InternalError"},
    Name{kBadValue, "BadValue"},
    Name{kHostUnreachable, "HostUnreachable"},
    Name{kFailedToParse, "FailedToParse"},
    Name{kUnauthorized, "Unauthorized"},
    Name{kTypeMismatch, "TypeMismatch"},
    Name{kOverflow, "Overflow"},
    Name{kInvalidLength, "InvalidLength"},
    Name{kUserNotFound, "UserNotFound"},
    Name{kRoleNotFound, "RoleNotFound"},
    Name{kProtocolError, "ProtocolError"},
    Name{kAuthenticationFailed, "AuthenticationFailed"},
    Name{kIllegalOperation, "IllegalOperation"},
    Name{kInvalidBson, "InvalidBSON"},
    Name{kNamespaceNotFound, "NamespaceNotFound"},
    Name{kIndexNotFound, "IndexNotFound"},
    Name{kPathNotViable, "PathNotViable"},
    Name{kConflictingUpdateOperators, "ConflictingUpdateOperators"},
    Name{kCursorNotFound, "CursorNotFound"},
    Name{kNamespaceExists, "NamespaceExists"},
    Name{kMaxTimeMsExpired, "MaxTimeMSExpired"},
    Name{kDollarPrefixedFieldName, "DollarPrefixedFieldName"},
    Name{kInvalidIdField, "InvalidIdField"},
    Name{kCommandNotFound, "CommandNotFound"},
    Name{kShardKeyNotFound, "ShardKeyNotFound"},
    Name{kImmutableField, "ImmutableField"},
    Name{kCannotCreateIndex, "CannotCreateIndex"},
    Name{kInvalidOptions, "InvalidOptions"},
    Name{kInvalidNamespace, "InvalidNamespace"},
    Name{kIndexOptionsConflict, "IndexOptionsConflict"},
    Name{kIndexKeySpecsConflict, "IndexKeySpecsConflict"},
    Name{kWriteConflict, "WriteConflict"},
    Name{kCommandNotSupported, "CommandNotSupported"},
    Name{kDocumentValidationFailure, "DocumentValidationFailure"},
    Name{kCommandNotSupportedOnView, "CommandNotSupportedOnView"},
    Name{kInvalidPipelineOperator, "InvalidPipelineOperator"},
    Name{175, "QueryPlanKilled"},
    Name{kClientMetadataCannotBeMutated, "ClientMetadataCannotBeMutated"},
    Name{kInvalidIndexSpecification, "InvalidIndexSpecificationOption"},
    Name{kNotImplemented, "NotImplemented"},
    Name{kConflictingOperationInProgress, "ConflictingOperationInProgress"},
    Name{kExceededMemoryLimit, "ExceededMemoryLimit"},
    Name{kTransactionTooOld, "TransactionTooOld"},
    Name{kSnapshotUnavailable, "SnapshotUnavailable"},
    Name{kNoSuchTransaction, "NoSuchTransaction"},
    Name{kTransactionCommitted, "TransactionCommitted"},
    Name{kTransactionTooLarge, "TransactionTooLarge"},
    Name{kExceededTimeLimit, "ExceededTimeLimit"},
    Name{kOperationNotSupportedInTransaction, "OperationNotSupportedInTransaction"},
    Name{kChangeStreamFatalError, "ChangeStreamFatalError"},
    Name{kQueryExceededMemory, "QueryExceededMemoryLimitNoDiskUseAllowed"},
    Name{kDuplicateKey, "DuplicateKey"},
    Name{kInterrupted, "Interrupted"},
    Name{kOverBudget, "RequestRateTooLarge"},
};

}  // namespace

std::string code_name(int32_t code) {
  const auto* const found = std::ranges::find(kNames, code, &Name::code);
  return found == kNames.end() ? fmt::format("Location{}", code) : std::string(found->name);
}

}  // namespace orrery::mongo
