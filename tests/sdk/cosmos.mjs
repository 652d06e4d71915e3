// The vendor's SDK, in the version that ORRERY_SDK asks for: 4.4.1, which Debian's Node.js runs, or "newest", for
// which node_modules has a Node.js of its own. Test files import it from here alone, so that each runs with either.
const newest = process.env.ORRERY_SDK === "newest";
const sdk = await import(newest ? "cosmos-newest" : "@azure/cosmos");

export const {
  ChangeFeedMode, ChangeFeedPolicy, ChangeFeedRetentionTimeSpan, ChangeFeedStartFrom, CosmosClient,
  EncryptionAlgorithm, EncryptionType, KeyEncryptionAlgorithm, PartitionKeyBuilder,
} = sdk;
