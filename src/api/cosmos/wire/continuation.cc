// Making and taking back continuation tokens: see continuation.h for their bytes. The tag is
// checked before anything in a token is believed.
#include "api/cosmos/wire/continuation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>

#include "base/bytes.h"

namespace orrery::cosmos {
namespace {

constexpr char kVersion = 1;
constexpr char kItems = 1;
constexpr char kNames = 2;
constexpr char kQuery = 3;
constexpr size_t kHeadBytes = 2;
constexpr size_t kSealBytes = 8;
constexpr size_t kQueryFieldBytes = 45;
constexpr size_t kTieNumberBytes = 4;
constexpr std::string_view kQueryHead = "{\"token\":\"";
constexpr std::string_view kQueryTail = "\"}";
constexpr char kHasOrderMark = 1;
constexpr char kHasResultMark = 2;
constexpr char kHasTieNumber = 4;

std::unexpected<Error> not_ours(std::string_view token, std::string_view reason) {
  // The first words are the vendor's, which clients look for.
  return fail(Code::invalid, "Invalid Continuation Token. The continuation token \"" +
                                 std::string(token.substr(0, 64)) + (token.size() > 64 ? "…" : "") +
                                 "\" cannot be used: " + std::string(reason) +
                                 " Send x-ms-continuation back as it was returned, or leave it out "
                                 "to start again.");
}

void append_sized(std::string& out, std::string_view text) {
  assert(text.size() <= 0xFFFF);
  const size_t at = out.size();
  out.resize(at + 2);
  store_u16_be(out.data() + at, static_cast<uint16_t>(text.size()));
  out += text;
}

bool take_string(std::string_view& in, std::string& out) {
  if (in.size() < 2) return false;
  const size_t size = load_u16_be(in.data());
  if (in.size() - 2 < size) return false;
  out = in.substr(2, size);
  in.remove_prefix(2 + size);
  return true;
}

bool take_mark(std::string_view& in, query::Fingerprint& out) {
  if (in.size() < out.size()) return false;
  std::copy_n(in.begin(), out.size(), out.begin());
  in.remove_prefix(out.size());
  return true;
}

}  // namespace

Result<size_t> continuation_limit(std::string_view header) {
  if (header.empty()) return kMaxContinuationBytes;
  size_t kilobytes = 0;
  const auto [end, error] =
      std::from_chars(header.data(), header.data() + header.size(), kilobytes);
  if (error != std::errc() || end != header.data() + header.size() || kilobytes == 0) {
    return fail(Code::invalid, "x-ms-documentdb-responsecontinuationtokenlimitinkb is \"" +
                                   std::string(header.substr(0, 40)) +
                                   "\": give a whole number from 1 on.");
  }
  return std::min(kilobytes, kMaxContinuationBytes / 1024) * 1024;
}

size_t position_bytes(size_t characters) {
  // Base64 makes four characters of three bytes; the rest is for the fields around the strings.
  constexpr size_t kFields = 128;
  return characters / 4 * 3 - kFields;
}

Continuations::Continuations(const account::Secret& secret)
    : seal_(secret.seal("continuations", kSealBytes)) {}

std::string Continuations::sealed(std::string bytes) const {
  std::string text = to_base64(seal_.close(std::move(bytes)));
  while (text.ends_with('=')) text.pop_back();
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

Result<std::string> Continuations::opened(std::string_view token, uint8_t kind) const {
  if (token.size() > kMaxContinuationBytes) {
    return not_ours(token, "it has more than " + std::to_string(kMaxContinuationBytes) + " bytes.");
  }
  if (token.find_first_of("+/=") != std::string_view::npos) {
    return not_ours(token, "it was not made by this server.");
  }
  std::string text(token);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  auto bytes = from_base64(text);
  if (!bytes || bytes->size() < kHeadBytes + kSealBytes) {
    return not_ours(token, "it was not made by this server.");
  }
  const auto opened = seal_.open(*bytes);
  if (!opened) return not_ours(token, "it was changed, or made by another account.");
  const std::string_view body = *opened;
  if (body[0] != kVersion) return not_ours(token, "it was made by another version of the server.");
  if (body[1] != static_cast<char>(kind))
    return not_ours(token, "it belongs to another kind of feed.");
  return std::string(body.substr(kHeadBytes));
}

std::string Continuations::encode(const FeedPosition& position) const {
  std::string bytes;
  bytes.reserve(kHeadBytes + 8 + position.after_placement.size() + position.after_row.size() +
                kSealBytes);
  bytes += kVersion;
  bytes += kItems;
  bytes.resize(kHeadBytes + 4);
  store_u32_be(bytes.data() + kHeadBytes, position.container);
  append_sized(bytes, position.after_placement);
  append_sized(bytes, position.after_row);
  return sealed(std::move(bytes));
}

Result<FeedPosition> Continuations::decode(std::string_view token, uint32_t container) const {
  auto bytes = opened(token, kItems);
  if (!bytes) return pass(bytes.error());
  std::string_view in = *bytes;
  FeedPosition position;
  if (in.size() < 4) return not_ours(token, "it is cut short.");
  position.container = load_u32_be(in.data());
  in.remove_prefix(4);
  if (!take_string(in, position.after_placement) || !take_string(in, position.after_row) ||
      !in.empty()) {
    return not_ours(token, "it is cut short.");
  }
  if (position.container != container) return not_ours(token, "it belongs to another container.");
  return position;
}

Result<std::string> Continuations::encode(const QueryPosition& position,
                                          size_t characters_max) const {
  const query::Position& at = position.at;
  const auto token = [&](std::string_view order) {
    std::string bytes;
    bytes += kVersion;
    bytes += kQuery;
    bytes.resize(kHeadBytes + kQueryFieldBytes);
    char* fields = bytes.data() + kHeadBytes;
    store_u32_be(fields, position.container);
    store_u64_be(fields + 4, position.query_hash);
    store_u64_be(fields + 12, position.range_hash);
    store_u64_be(fields + 20, at.rows_of_it);
    store_u64_be(fields + 28, at.skipped);
    store_u64_be(fields + 36, at.given);
    fields[44] = static_cast<char>((at.order_mark ? kHasOrderMark : 0) |
                                   (at.result_mark ? kHasResultMark : 0) |
                                   (at.tie_number ? kHasTieNumber : 0));
    for (const auto& mark : {at.order_mark, at.result_mark}) {
      if (mark) bytes.append(reinterpret_cast<const char*>(mark->data()), mark->size());
    }
    if (at.tie_number) {
      bytes.resize(bytes.size() + kTieNumberBytes);
      store_u32_be(bytes.data() + bytes.size() - kTieNumberBytes, *at.tie_number);
    }
    append_sized(bytes, at.key);
    append_sized(bytes, order);
    append_sized(bytes, at.gathered);
    return fmt::format("{}{}{}", kQueryHead, sealed(std::move(bytes)), kQueryTail);
  };
  if (at.order.size() < characters_max) {
    std::string whole = token(at.order);
    if (whole.size() <= characters_max) return whole;
  }
  if (at.key.size() + at.gathered.size() < characters_max) {
    std::string shorter = token("");
    if (shorter.size() <= characters_max) return shorter;
  }
  return fail(Code::invalid,
              "The continuation of this query does not fit into the " +
                  std::to_string(characters_max) +
                  " bytes that x-ms-documentdb-responsecontinuationtokenlimitinkb allows, or that "
                  "this server gives at most: allow more, or ask for larger pages.");
}

Result<QueryPosition> Continuations::decode_query(std::string_view token, uint32_t container,
                                                  uint64_t query_hash) const {
  if (token.starts_with(kQueryHead) && token.ends_with(kQueryTail)) {
    token.remove_prefix(kQueryHead.size());
    token.remove_suffix(kQueryTail.size());
  }
  auto bytes = opened(token, kQuery);
  if (!bytes) return pass(bytes.error());
  std::string_view in = *bytes;
  if (in.size() < kQueryFieldBytes) return not_ours(token, "it is cut short.");
  QueryPosition position;
  query::Position& at = position.at;
  position.container = load_u32_be(in.data());
  position.query_hash = load_u64_be(in.data() + 4);
  position.range_hash = load_u64_be(in.data() + 12);
  at.rows_of_it = load_u64_be(in.data() + 20);
  at.skipped = load_u64_be(in.data() + 28);
  at.given = load_u64_be(in.data() + 36);
  const char flags = in[44];
  in.remove_prefix(kQueryFieldBytes);
  if ((flags & kHasOrderMark) != 0 && !take_mark(in, at.order_mark.emplace())) {
    return not_ours(token, "it is cut short.");
  }
  if ((flags & kHasResultMark) != 0 && !take_mark(in, at.result_mark.emplace())) {
    return not_ours(token, "it is cut short.");
  }
  if ((flags & kHasTieNumber) != 0) {
    if (in.size() < kTieNumberBytes) return not_ours(token, "it is cut short.");
    at.tie_number = load_u32_be(in.data());
    in.remove_prefix(kTieNumberBytes);
  }
  if (!take_string(in, at.key) || !take_string(in, at.order) || !take_string(in, at.gathered) ||
      !in.empty()) {
    return not_ours(token, "it is cut short.");
  }
  if (position.container != container) return not_ours(token, "it belongs to another container.");
  if (position.query_hash != query_hash) return not_ours(token, "it belongs to another query.");
  return position;
}

std::string Continuations::encode_name(std::string_view after) const {
  std::string bytes;
  bytes += kVersion;
  bytes += kNames;
  append_sized(bytes, after);
  return sealed(std::move(bytes));
}

Result<std::string> Continuations::decode_name(std::string_view token) const {
  auto bytes = opened(token, kNames);
  if (!bytes) return pass(bytes.error());
  std::string_view in = *bytes;
  std::string after;
  if (!take_string(in, after) || !in.empty()) return not_ours(token, "it is cut short.");
  return after;
}

}  // namespace orrery::cosmos
