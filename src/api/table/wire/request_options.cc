// See request_options.h.
#include "api/table/wire/request_options.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii_case.h"
#include "base/bytes.h"

namespace orrery::table {
namespace {

// A token's first character says what it is of.
constexpr char kKeyMark = '1';
constexpr char kPlacementMark = '2';

std::string token_of(char mark, std::string_view bytes) {
  std::string text = mark + to_base64(bytes);
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c == '=' ? '.' : c;
  return text;
}

std::optional<std::string> parse_token(char mark, std::string_view text) {
  if (!text.starts_with(mark)) return std::nullopt;
  std::string base64(text.substr(1));
  for (char& c : base64) c = c == '-' ? '+' : c == '_' ? '/' : c == '.' ? '=' : c;
  auto bytes = from_base64(base64);
  if (!bytes) return std::nullopt;
  return std::move(*bytes);
}

TableResult<std::string> decode_parameter(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto decoded = percent_decode(spaced);
  if (!decoded) {
    return refuse(ErrorCode::invalid_query_parameter_value,
                  "A query parameter is not percent-encoded: " + decoded.error().message);
  }
  return std::move(*decoded);
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<Metadata> level_in(std::string_view text) {
  // As the vendor's clients write it.
  if (text == "application/json;odata=minimalmetadata") return Metadata::minimal;
  const std::string asked = lowered(text);
  if (!contains(asked, "json") && !contains(asked, "*/*")) return std::nullopt;
  if (contains(asked, "fullmetadata")) return Metadata::full;
  if (contains(asked, "nometadata")) return Metadata::none;
  return Metadata::minimal;
}

}  // namespace

std::string_view content_type_of(Metadata level) {
  switch (level) {
    case Metadata::none:
      return "application/json;odata=nometadata;streaming=true;charset=utf-8";
    case Metadata::minimal:
      return "application/json;odata=minimalmetadata;streaming=true;charset=utf-8";
    case Metadata::full:
      return "application/json;odata=fullmetadata;streaming=true;charset=utf-8";
  }
  return "application/json";
}

TableResult<QueryParameters> parse_query_parameters(std::string_view query) {
  QueryParameters all;
  while (!query.empty()) {
    const std::string_view one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), one.size() + 1));
    const size_t equals = std::min(one.find('='), one.size());
    auto name = decode_parameter(one.substr(0, equals));
    if (!name) return pass(name.error());
    const std::string_view coded = one.substr(std::min(equals + 1, one.size()));
    std::string* plain = *name == "$filter"   ? &all.filter
                         : *name == "$select" ? &all.select
                         : *name == "$format" ? &all.format
                         : *name == "comp"    ? &all.comp
                         : *name == "restype" ? &all.restype
                                              : nullptr;
    std::optional<std::string>* optional = *name == "$top"               ? &all.top
                                           : *name == "NextTableName"    ? &all.next_table
                                           : *name == "NextPartitionKey" ? &all.next_partition
                                           : *name == "NextRowKey"       ? &all.next_row
                                                                         : nullptr;
    if (plain == nullptr && optional == nullptr) continue;
    auto value = decode_parameter(coded);
    if (!value) return pass(value.error());
    if (plain != nullptr) {
      *plain = std::move(*value);
    } else {
      *optional = std::move(*value);
    }
  }
  return all;
}

TableResult<Metadata> metadata_of(std::string_view format, std::string_view accept) {
  if (auto level = level_in(format.empty() ? accept : format)) return *level;
  if (contains(accept, "atom") || accept.empty()) {
    return refuse(ErrorCode::atom_format_not_supported);
  }
  return refuse(ErrorCode::media_type_not_supported);
}

TableResult<size_t> parse_top(const std::optional<std::string>& top, size_t most) {
  if (!top || top->empty()) return most;
  size_t count = 0;
  const auto read = std::from_chars(top->data(), top->data() + top->size(), count);
  if (read.ec != std::errc() || read.ptr != top->data() + top->size() || count > most) {
    return refuse(ErrorCode::invalid_input, "$top is '" + top->substr(0, 40) +
                                                "': it must be a whole number from 0 to " +
                                                std::to_string(most) + ".");
  }
  return count;
}

std::vector<std::string> parse_select(std::string_view select) {
  std::vector<std::string> names;
  while (!select.empty()) {
    std::string_view name = select.substr(0, select.find(','));
    select.remove_prefix(std::min(select.size(), name.size() + 1));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (name == "*") return {};
    if (!name.empty()) names.emplace_back(name);
  }
  return names;
}

Prefer parse_prefer(std::string_view prefer) {
  if (prefer.empty()) return Prefer::unsaid;
  if (prefer == "return-no-content") return Prefer::no_content;  // as the vendor's clients write it
  const std::string asked = lowered(prefer);
  if (contains(asked, "return-no-content")) return Prefer::no_content;
  if (contains(asked, "return-content")) return Prefer::content;
  return Prefer::unsaid;
}

std::string continuation_text(std::string_view key) {
  return token_of(kKeyMark, key);
}

std::optional<std::string> parse_continuation(std::string_view text) {
  return parse_token(kKeyMark, text);
}

std::string placement_continuation_text(std::string_view placement) {
  return token_of(kPlacementMark, placement);
}

std::optional<std::string> parse_placement_continuation(std::string_view text) {
  return parse_token(kPlacementMark, text);
}

}  // namespace orrery::table
