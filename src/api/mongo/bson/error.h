// The errors of MongoDB's protocol: a number that drivers act on, and a message for people. The
// number has a name of its own, which goes beside it into an answer.
//
// Everything below src/api/mongo that can fail for a client's reason gives an Answer<T>. Errors of
// the engine become one where its answer is taken.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace orrery::mongo {

// Those with a name of their own. Parsers and operators have many more numbers, which drivers show
// and nobody acts on: those are given as numbers, and are named LocationN.
enum ErrorCode : int32_t {
  kInternalError = 1,
  kBadValue = 2,
  kHostUnreachable = 6,
  kFailedToParse = 9,
  kUnauthorized = 13,
  kTypeMismatch = 14,
  kOverflow = 15,
  kInvalidLength = 16,
  kUserNotFound = 11,
  kProtocolError = 17,
  kAuthenticationFailed = 18,
  kIllegalOperation = 20,
  kNamespaceNotFound = 26,
  kIndexNotFound = 27,
  kPathNotViable = 28,
  kConflictingUpdateOperators = 40,
  kCursorNotFound = 43,
  kNamespaceExists = 48,
  kMaxTimeMsExpired = 50,
  kDollarPrefixedFieldName = 52,
  kInvalidIdField = 53,
  kInvalidBson = 22,
  kCommandNotFound = 59,
  kShardKeyNotFound = 61,
  kImmutableField = 66,
  kCannotCreateIndex = 67,
  kInvalidOptions = 72,
  kInvalidNamespace = 73,
  kIndexOptionsConflict = 85,
  kIndexKeySpecsConflict = 86,
  kWriteConflict = 112,
  kCommandNotSupported = 115,
  kConflictingOperationInProgress = 117,
  kDocumentValidationFailure = 121,
  kCommandNotSupportedOnView = 166,
  kInvalidPipelineOperator = 168,
  kClientMetadataCannotBeMutated = 186,
  kInvalidIndexSpecification = 197,
  kExceededMemoryLimit = 146,
  kTransactionTooOld = 225,
  kConversionFailure = 241,
  kSnapshotUnavailable = 246,
  kNoSuchTransaction = 251,
  kTransactionCommitted = 256,
  kTransactionTooLarge = 257,
  kNotImplemented = 238,
  kExceededTimeLimit = 262,
  kOperationNotSupportedInTransaction = 263,
  kChangeStreamFatalError = 280,
  kQueryExceededMemory = 292,
  kRoleNotFound = 31,
  kDuplicateKey = 11000,
  kUserExists = 51003,
  kInterrupted = 11601,
  kOverBudget = 16500,
};

struct Error {
  int32_t code = kInternalError;
  std::string message;
};

template <class T>
using Answer = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> refuse(int32_t code, std::string message) {
  return std::unexpected(Error{.code = code, .message = std::move(message)});
}

[[nodiscard]] inline std::unexpected<Error> pass(Error error) {
  return std::unexpected(std::move(error));
}

// The name that goes with a code: "BadValue", "Location40324".
std::string code_name(int32_t code);

}  // namespace orrery::mongo
