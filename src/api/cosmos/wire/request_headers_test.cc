// Request headers: found in any case and order, the first of a repeated one counts, others are left
// alone.
#include "api/cosmos/wire/request_headers.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

TEST(RequestHeaders, EveryKnownOneLandsInItsField) {
  const std::vector<std::pair<std::string_view, std::string_view RequestHeaders::*>> known = {
      {"A-IM", &RequestHeaders::a_im},
      {"x-ms-activity-id", &RequestHeaders::activity_id},
      {"Authorization", &RequestHeaders::authorization},
      {"x-ms-cosmos-offer-autopilot-settings", &RequestHeaders::autoscale},
      {"x-ms-cosmos-changefeed-wire-format-version", &RequestHeaders::change_feed_format},
      {"x-ms-consistency-level", &RequestHeaders::consistency},
      {"x-orrery-content-sha256", &RequestHeaders::content_sha256},
      {"x-ms-continuation", &RequestHeaders::continuation},
      {"Date", &RequestHeaders::date},
      {"x-ms-documentdb-query-enablecrosspartition", &RequestHeaders::enable_cross_partition},
      {"x-ms-end-epk", &RequestHeaders::end_epk},
      {"Host", &RequestHeaders::host},
      {"If-Match", &RequestHeaders::if_match},
      {"If-None-Match", &RequestHeaders::if_none_match},
      {"x-ms-indexing-directive", &RequestHeaders::indexing_directive},
      {"x-ms-cosmos-intended-collection-rid", &RequestHeaders::intended_container},
      {"x-ms-cosmos-batch-atomic", &RequestHeaders::batch_atomic},
      {"x-ms-cosmos-batch-continue-on-error", &RequestHeaders::batch_continue_on_error},
      {"x-ms-cosmos-is-batch-request", &RequestHeaders::is_batch},
      {"x-ms-documentdb-isquery", &RequestHeaders::is_query},
      {"x-ms-cosmos-is-query-plan-request", &RequestHeaders::is_query_plan},
      {"x-ms-documentdb-is-upsert", &RequestHeaders::is_upsert},
      {"x-ms-max-item-count", &RequestHeaders::max_item_count},
      {"x-ms-cosmos-migrate-offer-to-autopilot", &RequestHeaders::migrate_to_autoscale},
      {"x-ms-cosmos-migrate-offer-to-manual-throughput", &RequestHeaders::migrate_to_manual},
      {"x-ms-offer-throughput", &RequestHeaders::offer_throughput},
      {"x-ms-documentdb-partitionkey", &RequestHeaders::partition_key},
      {"x-ms-documentdb-partitionkeyrangeid", &RequestHeaders::partition_key_range},
      {"x-ms-cosmos-populateindexmetrics", &RequestHeaders::populate_index_metrics},
      {"x-ms-cosmos-populateindexmetrics-V2", &RequestHeaders::populate_index_metrics_v2},
      {"x-ms-documentdb-populatequerymetrics", &RequestHeaders::populate_query_metrics},
      {"x-ms-documentdb-populatepartitionstatistics",
       &RequestHeaders::populate_partition_statistics},
      {"x-ms-documentdb-populatequotainfo", &RequestHeaders::populate_quota},
      {"x-ms-documentdb-post-trigger-include", &RequestHeaders::post_trigger},
      {"x-ms-documentdb-pre-trigger-include", &RequestHeaders::pre_trigger},
      {"Prefer", &RequestHeaders::prefer},
      {"if-modified-since", &RequestHeaders::if_modified_since},
      {"x-ms-documentdb-script-enable-logging", &RequestHeaders::script_logging},
      {"x-ms-documentdb-responsecontinuationtokenlimitinkb",
       &RequestHeaders::continuation_limit_kb},
      {"x-ms-cosmos-supported-serialization-formats", &RequestHeaders::serialization_formats},
      {"x-ms-session-token", &RequestHeaders::session_token},
      {"x-ms-start-epk", &RequestHeaders::start_epk},
      {"x-ms-cosmos-supported-query-features", &RequestHeaders::supported_query_features},
      {"x-ms-documentdb-expiry-seconds", &RequestHeaders::token_expiry},
      {"x-orrery-whole-query", &RequestHeaders::whole_query},
      {"x-ms-version", &RequestHeaders::version},
      {"x-ms-date", &RequestHeaders::xms_date},
  };
  // As many as there are: each is empty until it is the one that was sent.
  EXPECT_EQ(known.size() * sizeof(std::string_view), sizeof(RequestHeaders));
  EXPECT_EQ(RequestHeaders::of({{"x-ms-documentdb-query", "True"}}).is_query, "True");
  for (const auto& [name, field] : known) {
    const RequestHeaders headers = RequestHeaders::of({{name, "value"}});
    for (const auto& [other, other_field] : known) {
      EXPECT_EQ(headers.*other_field, other == name ? "value" : "") << name << " " << other;
    }
  }
}

TEST(RequestHeaders, CaseDoesNotMatterAndTheFirstCounts) {
  const RequestHeaders headers = RequestHeaders::of(
      {{"IF-MATCH", "one"}, {"if-match", "two"}, {"X-Ms-DocumentDB-PartitionKey", "[1]"}});
  EXPECT_EQ(headers.if_match, "one");
  EXPECT_EQ(headers.partition_key, "[1]");
}

TEST(RequestHeaders, UnknownOnesOfAnyLengthAreLeftAlone) {
  const std::string very_long(500, 'x');
  const RequestHeaders headers = RequestHeaders::of(
      {{"", "v"}, {"x", "v"}, {"if-matcH2", "v"}, {"hosts", "v"}, {"data", "v"}, {very_long, "v"}});
  EXPECT_EQ(headers.if_match, "");
  EXPECT_EQ(headers.host, "");
  EXPECT_EQ(headers.date, "");
}

TEST(RequestHeaders, Switches) {
  for (std::string_view on : {"true", "True", "TRUE"}) EXPECT_TRUE(is_true(on));
  for (std::string_view off : {"", "false", "1", "yes", "true ", "tru"}) EXPECT_FALSE(is_true(off));
}

TEST(RequestHeaders, BinaryIsForWhoTakesNoText) {
  for (const auto& [formats, binary] :
       {std::pair("CosmosBinary", true), std::pair("cosmosbinary ", true),
        std::pair("HybridRow,CosmosBinary", true), std::pair("", false),
        std::pair("JsonText", false), std::pair("JsonText,CosmosBinary", false),
        std::pair("CosmosBinary, JsonText", false), std::pair("CosmosBinary|JsonText", false),
        std::pair("Binary", false)}) {
    RequestHeaders headers;
    headers.serialization_formats = formats;
    EXPECT_EQ(wants_binary(headers), binary) << formats;
  }
}

}  // namespace
}  // namespace orrery::cosmos
