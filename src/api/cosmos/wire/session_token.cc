// A scanner over lists of session tokens, without copies: see session_token.h for the grammar. What
// is demanded of a range that was split is demanded of its children.
#include "api/cosmos/wire/session_token.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace orrery::cosmos {
namespace {

template <class T>
bool parse_whole(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view take_until(std::string_view& rest, char separator) {
  const size_t at = rest.find(separator);
  const std::string_view taken = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
  return taken;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

struct Token {
  uint32_t range_id = 0;
  uint64_t lsn = 0;
};

bool parse_token(std::string_view text, Token& token) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  if (!parse_whole(text.substr(0, colon), token.range_id)) return false;
  std::string_view rest = text.substr(colon + 1);
  if (rest.find('#') == std::string_view::npos) return parse_whole(rest, token.lsn);
  if (rest.ends_with('#')) return false;

  int64_t version = 0;
  if (!parse_whole(take_until(rest, '#'), version)) return false;
  if (!parse_whole(take_until(rest, '#'), token.lsn)) return false;
  while (!rest.empty()) {
    std::string_view progress = take_until(rest, '#');
    const size_t equals = progress.find('=');
    uint32_t region = 0;
    int64_t local = 0;  // clients write -1 for a region that they know nothing of
    if (equals == std::string_view::npos || !parse_whole(progress.substr(0, equals), region) ||
        !parse_whole(progress.substr(equals + 1), local)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void append_session_token(std::string& out, uint32_t range_id, uint64_t lsn) {
  std::array<char, 48> digits;
  char* const end = digits.data() + digits.size();
  char* at = std::to_chars(digits.data(), end, range_id).ptr;
  for (const char c : std::string_view(":-1#")) *at++ = c;
  at = std::to_chars(at, end, lsn).ptr;
  out.append(digits.data(), static_cast<size_t>(at - digits.data()));
}

std::string session_token(uint32_t range_id, uint64_t lsn) {
  std::string out;
  append_session_token(out, range_id, lsn);
  return out;
}

Result<std::optional<uint64_t>> lsn_required(std::string_view list, uint32_t range_id,
                                             std::span<const uint32_t> ancestors) {
  if (list.size() > kMaxSessionTokenBytes) {
    return fail(Code::invalid, "The session token has " + std::to_string(list.size()) +
                                   " bytes; at most " + std::to_string(kMaxSessionTokenBytes) +
                                   " are taken. Send the token of the last response only.");
  }
  std::optional<uint64_t> required;
  size_t entries = 0;
  std::string_view rest = list;
  while (!rest.empty()) {
    if (++entries > kMaxSessionTokenEntries) {
      return fail(Code::invalid, "The session token lists more than " +
                                     std::to_string(kMaxSessionTokenEntries) +
                                     " partition ranges. Send those of this container only.");
    }
    const std::string_view text = trimmed(take_until(rest, ','));
    if (text.empty()) continue;
    Token token;
    if (!parse_token(text, token)) {
      return fail(Code::invalid, "\"" + std::string(text.substr(0, 100)) +
                                     "\" is not a session token: one looks like 0:-1#42. Send back "
                                     "the x-ms-session-token header as it was returned.");
    }
    const bool ours = token.range_id == range_id ||
                      std::ranges::find(ancestors, token.range_id) != ancestors.end();
    if (ours && (!required || token.lsn > *required)) required = token.lsn;
  }
  return required;
}

}  // namespace orrery::cosmos
