// What is said between a query and a view of a partition at another node: see remote_views.h.
//
// Each message is its members in the order below, as base/message_fields.h writes them. Whatever
// bytes come, decoding gives a message or Code::invalid, and takes no more memory than a small
// multiple of the bytes.
//
// Pure; any thread may call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orrery::cluster {

// The kinds of calls begin so.
inline constexpr std::string_view kViewsPrefix = "views.";

struct OpenView {
  static constexpr std::string_view kKind = "views.open";
  uint64_t container = 0;
  std::string placement;  // a key of the partition
  std::string min;
  std::string max;
  uint64_t identity_at = 0;     // of value::LevelFilter, and
  std::string levels;           // so are these
  std::optional<uint64_t> lsn;  // that the partition must have reached
};
struct ViewOpened {
  uint64_t view = 0;
  std::string max;  // where the partition, or what was asked for, ends
  uint64_t range = 0;
  uint64_t lsn = 0;
  bool is_indexed = false;
  bool entries_are_items = false;
  uint64_t items_at_most = 0;
};

struct Estimate {
  static constexpr std::string_view kKind = "views.estimate";
  uint64_t view = 0;
  std::string from;
  std::string to;
};
struct Estimated {
  uint64_t entries = 0;
};

struct FindShapes {
  static constexpr std::string_view kKind = "views.shapes";
  uint64_t view = 0;
  std::string term_path;
};
struct ShapesFound {
  std::vector<std::string> lacking;
  std::optional<std::string> others;
};

struct ReadEntries {
  static constexpr std::string_view kKind = "views.entries";
  uint64_t view = 0;
  std::string from;
  std::string to;
  bool descending = false;
  std::optional<std::pair<std::string, std::string>> after;  // term and key
  std::optional<std::string> seek;  // before the first: as query::EntryCursor::seek()
  uint64_t most = 0;
};
struct EntriesRead {
  std::vector<std::pair<std::string, std::string>> entries;  // term and key
  bool more = false;
};

struct ReadItems {
  static constexpr std::string_view kKind = "views.items";
  uint64_t view = 0;
  std::optional<std::string> after;
  bool inclusive = false;
  uint64_t most = 0;
};
// From the last one to the first.
struct ReadItemsDown {
  static constexpr std::string_view kKind = "views.items_down";
  uint64_t view = 0;
  std::optional<std::string> before;
  uint64_t most = 0;
};
struct ItemsRead {
  std::vector<std::pair<std::string, std::string>> items;  // key and body
  bool more = false;
};

struct FetchItems {
  static constexpr std::string_view kKind = "views.fetch";
  uint64_t view = 0;
  std::vector<std::string> keys;
};
struct ItemsFetched {
  std::vector<std::string> bodies;  // of the first keys, at least one; not of all if that is much
};

struct CloseView {
  static constexpr std::string_view kKind = "views.close";
  uint64_t view = 0;
};

template <class Message>
std::string encode_message(const Message& message);
template <class Message>
Result<Message> decode_message(std::string_view bytes);

}  // namespace orrery::cluster
