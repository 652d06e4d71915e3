// Continuation tokens: nothing that this server did not make is accepted, and what it makes of the
// same bytes reads back.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "api/cosmos/wire/continuation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace orrery::cosmos;
  static const Continuations tokens{orrery::account::Secret("fuzz")};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto position = tokens.decode(text, 7)) {
    if (tokens.encode(*position) != text) std::abort();
  }
  if (const auto position = tokens.decode_query(text, 7, 8)) {
    const auto again = tokens.encode(*position, kMaxContinuationBytes);
    if (!again || *again != text) std::abort();
  }
  (void)continuation_limit(text);
  if (const auto name = tokens.decode_name(text)) {
    if (tokens.encode_name(*name) != text) std::abort();
  }
  if (size > 2000) return 0;
  FeedPosition position;
  position.container = 7;
  position.after_placement = text.substr(0, size / 2);
  position.after_row = text.substr(size / 2);
  const auto back = tokens.decode(tokens.encode(position), 7);
  if (!back || *back != position) std::abort();

  QueryPosition query;
  query.container = 7;
  query.query_hash = 8;
  query.at.key = text.substr(0, size / 2);
  query.at.order = text.substr(size / 2);
  if (size >= 16) std::copy_n(data, 16, query.at.order_mark.emplace().begin());
  const auto token = tokens.encode(query, kMaxContinuationBytes);
  if (!token) std::abort();
  const auto same = tokens.decode_query(*token, 7, 8);
  if (!same || *same != query) std::abort();
  // A shorter one has all but the order values.
  const auto brief = tokens.encode(query, token->size() - 1);
  if (!brief) return 0;
  const auto less = tokens.decode_query(*brief, 7, 8);
  query.at.order.clear();
  if (!less || *less != query) std::abort();
  return 0;
}
