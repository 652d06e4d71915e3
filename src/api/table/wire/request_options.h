// What a request asks for besides its resource: query parameters and headers, decoded.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/table/service/table_error.h"

namespace orrery::table {

// How much an answer says of itself.
enum class Metadata : uint8_t { none, minimal, full };
// The content type of answers with it.
std::string_view content_type_of(Metadata level);

struct QueryParameters {
  std::string filter;
  std::string select;
  std::string format;
  std::string comp;
  std::string restype;
  std::optional<std::string> top;
  std::optional<std::string> next_table;
  std::optional<std::string> next_partition;
  std::optional<std::string> next_row;
};
// `query`: after the '?', percent-encoded. Parameters of other names are passed over.
TableResult<QueryParameters> parse_query_parameters(std::string_view query);

// By $format, or else by Accept. 415 when no form of JSON is asked for.
TableResult<Metadata> metadata_of(std::string_view format, std::string_view accept);

// How many of a page; `most` when $top says nothing. 400 when it is not a number from 0 to `most`.
TableResult<size_t> parse_top(const std::optional<std::string>& top, size_t most);

// The names of $select; empty: all properties. "*" among them means all, too.
std::vector<std::string> parse_select(std::string_view select);

enum class Prefer : uint8_t { unsaid, content, no_content };
Prefer parse_prefer(std::string_view prefer);

// Keys as they travel in continuation headers: never empty, and only letters, digits and - _ .
std::string continuation_text(std::string_view key);
std::optional<std::string> parse_continuation(std::string_view text);
// A placement key in the place of a PartitionKey: the two are told apart.
std::string placement_continuation_text(std::string_view placement);
std::optional<std::string> parse_placement_continuation(std::string_view text);

}  // namespace orrery::table
