// See request_headers.h. Names are compared only with those of the same length, so that a request
// with twenty headers costs some thirty short comparisons.
#include "api/cosmos/wire/request_headers.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

struct Known {
  std::string_view name;
  std::string_view RequestHeaders::* field;
};

// By length, shortest first.
constexpr std::array kKnown = {
    Known{"a-im", &RequestHeaders::a_im},
    Known{"date", &RequestHeaders::date},
    Known{"host", &RequestHeaders::host},
    Known{"prefer", &RequestHeaders::prefer},
    Known{"if-match", &RequestHeaders::if_match},
    Known{"x-ms-date", &RequestHeaders::xms_date},
    Known{"x-ms-end-epk", &RequestHeaders::end_epk},
    Known{"x-ms-version", &RequestHeaders::version},
    Known{"authorization", &RequestHeaders::authorization},
    Known{"if-none-match", &RequestHeaders::if_none_match},
    Known{"x-ms-start-epk", &RequestHeaders::start_epk},
    Known{"x-ms-activity-id", &RequestHeaders::activity_id},
    Known{"if-modified-since", &RequestHeaders::if_modified_since},
    Known{"x-ms-continuation", &RequestHeaders::continuation},
    Known{"x-ms-session-token", &RequestHeaders::session_token},
    Known{"x-ms-max-item-count", &RequestHeaders::max_item_count},
    Known{"x-orrery-whole-query", &RequestHeaders::whole_query},
    // The Go SDK's name for x-ms-documentdb-isquery.
    Known{"x-ms-documentdb-query", &RequestHeaders::is_query},
    Known{"x-ms-offer-throughput", &RequestHeaders::offer_throughput},
    Known{"x-ms-consistency-level", &RequestHeaders::consistency},
    Known{"x-ms-documentdb-isquery", &RequestHeaders::is_query},
    Known{"x-ms-indexing-directive", &RequestHeaders::indexing_directive},
    Known{"x-orrery-content-sha256", &RequestHeaders::content_sha256},
    Known{"x-ms-cosmos-batch-atomic", &RequestHeaders::batch_atomic},
    Known{"x-ms-documentdb-is-upsert", &RequestHeaders::is_upsert},
    Known{"x-ms-cosmos-is-batch-request", &RequestHeaders::is_batch},
    Known{"x-ms-documentdb-partitionkey", &RequestHeaders::partition_key},
    Known{"x-ms-documentdb-expiry-seconds", &RequestHeaders::token_expiry},
    Known{"x-ms-cosmos-populateindexmetrics", &RequestHeaders::populate_index_metrics},
    Known{"x-ms-cosmos-is-query-plan-request", &RequestHeaders::is_query_plan},
    Known{"x-ms-documentdb-populatequotainfo", &RequestHeaders::populate_quota},
    Known{"x-ms-cosmos-intended-collection-rid", &RequestHeaders::intended_container},
    Known{"x-ms-cosmos-populateindexmetrics-v2", &RequestHeaders::populate_index_metrics_v2},
    Known{"x-ms-documentdb-partitionkeyrangeid", &RequestHeaders::partition_key_range},
    Known{"x-ms-documentdb-pre-trigger-include", &RequestHeaders::pre_trigger},
    Known{"x-ms-cosmos-batch-continue-on-error", &RequestHeaders::batch_continue_on_error},
    Known{"x-ms-cosmos-offer-autopilot-settings", &RequestHeaders::autoscale},
    Known{"x-ms-cosmos-supported-query-features", &RequestHeaders::supported_query_features},
    Known{"x-ms-documentdb-populatequerymetrics", &RequestHeaders::populate_query_metrics},
    Known{"x-ms-documentdb-post-trigger-include", &RequestHeaders::post_trigger},
    Known{"x-ms-documentdb-script-enable-logging", &RequestHeaders::script_logging},
    Known{"x-ms-cosmos-migrate-offer-to-autopilot", &RequestHeaders::migrate_to_autoscale},
    Known{"x-ms-cosmos-changefeed-wire-format-version", &RequestHeaders::change_feed_format},
    Known{"x-ms-documentdb-query-enablecrosspartition", &RequestHeaders::enable_cross_partition},
    Known{"x-ms-cosmos-supported-serialization-formats", &RequestHeaders::serialization_formats},
    Known{"x-ms-documentdb-populatepartitionstatistics",
          &RequestHeaders::populate_partition_statistics},
    Known{"x-ms-cosmos-migrate-offer-to-manual-throughput", &RequestHeaders::migrate_to_manual},
    Known{"x-ms-documentdb-responsecontinuationtokenlimitinkb",
          &RequestHeaders::continuation_limit_kb},
};

constexpr bool sorted_by_length() {
  for (size_t i = 1; i < kKnown.size(); ++i) {
    if (kKnown[i - 1].name.size() > kKnown[i].name.size()) return false;
  }
  return true;
}
static_assert(sorted_by_length());

constexpr size_t kLongest = kKnown.back().name.size();

// Where the names of each length begin; the last entry is the end.
constexpr std::array<uint8_t, kLongest + 2> make_starts() {
  std::array<uint8_t, kLongest + 2> starts{};
  size_t at = 0;
  for (size_t length = 0; length < starts.size(); ++length) {
    while (at < kKnown.size() && kKnown[at].name.size() < length) ++at;
    starts[length] = static_cast<uint8_t>(at);
  }
  return starts;
}
constexpr auto kStarts = make_starts();

// By which the two cases of an ASCII letter differ.
constexpr int kCaseBit = 0x20;

}  // namespace

RequestHeaders RequestHeaders::of(const std::vector<net::Header>& headers) {
  RequestHeaders known;
  for (const net::Header& header : headers) {
    const size_t length = header.name.size();
    if (length > kLongest) continue;
    for (size_t i = kStarts[length]; i < kStarts[length + 1]; ++i) {
      // Names of one length mostly begin alike and end differently.
      if (((kKnown[i].name.back() ^ header.name.back()) & ~kCaseBit) != 0) continue;
      // Most clients send them in lower case.
      if (kKnown[i].name != header.name && !equals_ignore_case(kKnown[i].name, header.name)) {
        continue;
      }
      // The first one counts, as with any header that may not repeat.
      if ((known.*kKnown[i].field).empty()) known.*kKnown[i].field = header.value;
      break;
    }
  }
  return known;
}

bool is_true(std::string_view header) {
  return equals_ignore_case(header, "true");
}

bool has_triggers(const RequestHeaders& headers) {
  return !headers.pre_trigger.empty() || !headers.post_trigger.empty();
}

bool wants_minimal(const RequestHeaders& headers) {
  return headers.prefer.find("return=minimal") != std::string_view::npos;
}

bool wants_binary(const RequestHeaders& headers) {
  const std::string_view formats = headers.serialization_formats;
  if (formats.empty()) return false;
  constexpr std::string_view kText = "JsonText";
  constexpr std::string_view kBinary = "CosmosBinary";
  bool has_binary = false;
  for (size_t at = 0; at <= formats.size();) {
    const size_t end = std::min(formats.find_first_of(",|", at), formats.size());
    std::string_view one = formats.substr(at, end - at);
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (equals_ignore_case(one, kText)) return false;
    has_binary = has_binary || equals_ignore_case(one, kBinary);
    at = end + 1;
  }
  return has_binary;
}

}  // namespace orrery::cosmos
