// The request headers that this face reads, collected in one pass over what was sent.
#pragma once

#include <string_view>
#include <vector>

#include "net/http.h"

namespace orrery::cosmos {

// Each is empty when it was not sent. Views into the request.
struct RequestHeaders {
  std::string_view a_im;
  std::string_view activity_id;
  std::string_view authorization;
  std::string_view autoscale;
  std::string_view batch_atomic;
  std::string_view batch_continue_on_error;
  std::string_view change_feed_format;
  std::string_view consistency;
  std::string_view content_sha256;
  std::string_view continuation;
  std::string_view continuation_limit_kb;
  std::string_view date;
  std::string_view enable_cross_partition;
  std::string_view end_epk;
  std::string_view host;
  std::string_view if_match;
  std::string_view if_modified_since;
  std::string_view if_none_match;
  std::string_view indexing_directive;
  std::string_view is_batch;
  std::string_view is_query;
  std::string_view is_query_plan;
  std::string_view is_upsert;
  std::string_view max_item_count;
  std::string_view migrate_to_autoscale;
  std::string_view migrate_to_manual;
  std::string_view offer_throughput;
  std::string_view partition_key;
  std::string_view partition_key_range;
  std::string_view populate_index_metrics;
  std::string_view populate_index_metrics_v2;
  std::string_view intended_container;  // its resource id, by clients that encrypt
  std::string_view populate_partition_statistics;
  std::string_view populate_query_metrics;
  std::string_view populate_quota;
  std::string_view post_trigger;
  std::string_view pre_trigger;
  std::string_view prefer;
  std::string_view script_logging;
  std::string_view serialization_formats;
  std::string_view session_token;
  std::string_view start_epk;
  std::string_view supported_query_features;
  std::string_view token_expiry;
  std::string_view whole_query;
  std::string_view version;
  std::string_view xms_date;

  static RequestHeaders of(const std::vector<net::Header>& headers);
};

// "true" in any case: how clients write switches.
bool is_true(std::string_view header);
// Whether the write is to run triggers before or after it.
bool has_triggers(const RequestHeaders& headers);
// Whether the answer to a write is to have no body.
bool wants_minimal(const RequestHeaders& headers);
// Whether items are to come in binary JSON: who can read text as well gets that, as everybody else
// does.
bool wants_binary(const RequestHeaders& headers);

}  // namespace orrery::cosmos
