// The numbers of RNTBD: tokens, resources and operations. docs/compat/direct.md says what each was
// checked against.
#pragma once

#include <cstdint>

namespace orrery::cosmos::direct {

namespace context_token {  // of the first frame, both ways
inline constexpr uint16_t kProtocolVersion = 0x0000;
inline constexpr uint16_t kClientVersion = 0x0001;
inline constexpr uint16_t kUserAgent = 0x0002;    // of a request
inline constexpr uint16_t kServerAgent = 0x0002;  // of the answer
inline constexpr uint16_t kServerVersion = 0x0003;
inline constexpr uint16_t kIdleTimeoutInSeconds = 0x0004;
inline constexpr uint16_t kUnauthenticatedTimeoutInSeconds = 0x0005;
}  // namespace context_token

namespace request_token {
inline constexpr uint16_t kResourceId = 0x0000;
inline constexpr uint16_t kAuthorization = 0x0001;
inline constexpr uint16_t kPayloadPresent = 0x0002;
inline constexpr uint16_t kDate = 0x0003;
inline constexpr uint16_t kPageSize = 0x0004;
inline constexpr uint16_t kSessionToken = 0x0005;
inline constexpr uint16_t kContinuation = 0x0006;
inline constexpr uint16_t kIndexingDirective = 0x0007;
inline constexpr uint16_t kMatch = 0x0008;
inline constexpr uint16_t kPreTrigger = 0x0009;
inline constexpr uint16_t kPostTrigger = 0x000A;
inline constexpr uint16_t kConsistency = 0x0010;
inline constexpr uint16_t kReplicaPath = 0x0013;
inline constexpr uint16_t kTokenExpiry = 0x0014;
inline constexpr uint16_t kDatabaseName = 0x0015;
inline constexpr uint16_t kContainerName = 0x0016;
inline constexpr uint16_t kItemName = 0x0017;
inline constexpr uint16_t kUserName = 0x0019;
inline constexpr uint16_t kPermissionName = 0x001A;
inline constexpr uint16_t kProcedureName = 0x001B;
inline constexpr uint16_t kFunctionName = 0x001C;
inline constexpr uint16_t kTriggerName = 0x001D;
inline constexpr uint16_t kConflictName = 0x0020;
inline constexpr uint16_t kPartitionKey = 0x002B;
inline constexpr uint16_t kRangeId = 0x002C;
inline constexpr uint16_t kRangeName = 0x0036;
inline constexpr uint16_t kScriptLogging = 0x003E;
inline constexpr uint16_t kAIm = 0x003F;
inline constexpr uint16_t kPopulateQuota = 0x0040;
inline constexpr uint16_t kPopulateQueryMetrics = 0x0042;
inline constexpr uint16_t kContinuationLimitKb = 0x0043;
inline constexpr uint16_t kIfModifiedSince = 0x0047;
inline constexpr uint16_t kTargetLsn = 0x004B;
inline constexpr uint16_t kTargetGlobalCommittedLsn = 0x004C;
inline constexpr uint16_t kTransportRequestId = 0x004D;
inline constexpr uint16_t kStartEpk = 0x0062;
inline constexpr uint16_t kEndEpk = 0x0063;
inline constexpr uint16_t kBatchAtomic = 0x0073;
inline constexpr uint16_t kBatchContinueOnError = 0x0074;
inline constexpr uint16_t kReturnPreference = 0x0082;
inline constexpr uint16_t kIntendedContainer = 0x009D;
inline constexpr uint16_t kPopulateIndexMetrics = 0x00A9;
inline constexpr uint16_t kChangeFeedFormat = 0x00B2;
inline constexpr uint16_t kPopulateIndexMetricsV2 = 0x00C2;
}  // namespace request_token

namespace response_token {
inline constexpr uint16_t kPayloadPresent = 0x0000;
inline constexpr uint16_t kContinuation = 0x0003;
inline constexpr uint16_t kEtag = 0x0004;
inline constexpr uint16_t kRetryAfterMs = 0x000C;
inline constexpr uint16_t kQuota = 0x000E;
inline constexpr uint16_t kUsage = 0x000F;
inline constexpr uint16_t kSchemaVersion = 0x0010;
inline constexpr uint16_t kLsn = 0x0013;
inline constexpr uint16_t kItemCount = 0x0014;
inline constexpr uint16_t kCharge = 0x0015;
inline constexpr uint16_t kOwnerFullName = 0x0017;
inline constexpr uint16_t kOwnerId = 0x0018;
inline constexpr uint16_t kQuorumAckedLsn = 0x001A;
inline constexpr uint16_t kSubstatus = 0x001C;
inline constexpr uint16_t kWriteQuorum = 0x001E;
inline constexpr uint16_t kReplicaSetSize = 0x001F;
inline constexpr uint16_t kRangeId = 0x0021;
inline constexpr uint16_t kScriptLog = 0x0025;
inline constexpr uint16_t kXpRole = 0x0026;
inline constexpr uint16_t kQueryMetrics = 0x0028;
inline constexpr uint16_t kGlobalCommittedLsn = 0x0029;
inline constexpr uint16_t kReadRegions = 0x0030;
inline constexpr uint16_t kItemLsn = 0x0032;
inline constexpr uint16_t kTransportRequestId = 0x0035;
inline constexpr uint16_t kLocalLsn = 0x003A;
inline constexpr uint16_t kQuorumAckedLocalLsn = 0x003B;
inline constexpr uint16_t kItemLocalLsn = 0x003C;
inline constexpr uint16_t kSessionToken = 0x003E;
inline constexpr uint16_t kIndexUtilization = 0x0044;
inline constexpr uint16_t kQueryExecutionInfo = 0x0045;
}  // namespace response_token

namespace resource {
inline constexpr uint16_t kDatabase = 0x01;
inline constexpr uint16_t kContainer = 0x02;
inline constexpr uint16_t kItem = 0x03;
inline constexpr uint16_t kUser = 0x05;
inline constexpr uint16_t kPermission = 0x06;
inline constexpr uint16_t kProcedure = 0x07;
inline constexpr uint16_t kConflict = 0x08;
inline constexpr uint16_t kTrigger = 0x09;
inline constexpr uint16_t kFunction = 0x0A;
inline constexpr uint16_t kAccount = 0x14;
inline constexpr uint16_t kRange = 0x16;
}  // namespace resource

namespace operation {
inline constexpr uint16_t kCreate = 0x01;
inline constexpr uint16_t kPatch = 0x02;
inline constexpr uint16_t kRead = 0x03;
inline constexpr uint16_t kReadFeed = 0x04;
inline constexpr uint16_t kDelete = 0x05;
inline constexpr uint16_t kReplace = 0x06;
inline constexpr uint16_t kExecute = 0x08;
inline constexpr uint16_t kSqlQuery = 0x09;
inline constexpr uint16_t kQuery = 0x0F;
inline constexpr uint16_t kHead = 0x11;
inline constexpr uint16_t kHeadFeed = 0x12;
inline constexpr uint16_t kUpsert = 0x13;
inline constexpr uint16_t kBatch = 0x25;
inline constexpr uint16_t kQueryPlan = 0x42;
}  // namespace operation

}  // namespace orrery::cosmos::direct
