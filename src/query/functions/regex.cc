// See regex.h.
#include "query/functions/regex.h"

#include <re2/re2.h>

#include <algorithm>

namespace orrery::query {

namespace {

// In the cache of one query. Its memory is at most this many times kMaxProgramBytes.
constexpr size_t kMaxPatterns = 16;
constexpr size_t kMaxPatternBytes = 16384;
constexpr int64_t kMaxProgramBytes = 2 << 20;
// The most characters times program instructions that one match may take, at some nanoseconds each:
// a match cannot be interrupted.
constexpr uint64_t kMaxWork = 1 << 26;

// RE2 has no x modifier: white space and comments are taken out here, except where they are
// escaped or inside a set.
std::string without_space(std::string_view pattern) {
  std::string out;
  bool in_set = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char next = pattern[++i];
      // RE2 does not take every escaped character.
      if (next == ' ' || next == '#') {
        out.append({'[', next, ']'});
      } else {
        out.append({c, next});
      }
      continue;
    }
    if (c == '[') in_set = true;
    if (c == ']') in_set = false;
    if (!in_set && c == '#') {
      while (i < pattern.size() && pattern[i] != '\n') ++i;
      continue;
    }
    if (!in_set && (c == ' ' || (c >= '\t' && c <= '\r'))) continue;
    out.push_back(c);
  }
  return out;
}

std::unique_ptr<re2::RE2> compile(std::string_view pattern, std::string_view modifiers) {
  if (pattern.size() > kMaxPatternBytes) return nullptr;
  if (modifiers.find_first_not_of("msix") != std::string_view::npos) return nullptr;
  const auto has = [&](char modifier) { return modifiers.find(modifier) != modifiers.npos; };
  std::string text = has('x') ? without_space(pattern) : std::string(pattern);
  std::string flags;
  if (has('m')) flags.push_back('m');
  if (has('s')) flags.push_back('s');
  if (has('i')) flags.push_back('i');
  if (!flags.empty()) text = "(?" + flags + ")" + text;
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kMaxProgramBytes);
  auto compiled = std::make_unique<re2::RE2>(text, options);
  return compiled->ok() ? std::move(compiled) : nullptr;
}

}  // namespace

RegexCache::RegexCache() = default;
RegexCache::~RegexCache() = default;
RegexCache::RegexCache(RegexCache&&) noexcept = default;
RegexCache& RegexCache::operator=(RegexCache&&) noexcept = default;

RegexCache::Outcome RegexCache::match(std::string_view text, std::string_view pattern,
                                      std::string_view modifiers) {
  std::string key(modifiers);
  key.append(1, '\0').append(pattern);
  auto found = compiled_.find(key);
  if (found == compiled_.end()) {
    // A query has one or a few patterns. One that takes its patterns from its rows fills the cache,
    // which is then emptied.
    if (compiled_.size() >= kMaxPatterns) compiled_.clear();
    found = compiled_.emplace(std::move(key), compile(pattern, modifiers)).first;
  }
  if (found->second == nullptr) return Outcome::invalid;
  const auto instructions = static_cast<uint64_t>(std::max(found->second->ProgramSize(), 1));
  if (text.size() > kMaxWork / instructions) return Outcome::too_long;
  const re2::StringPiece piece(text.data(), text.size());
  return re2::RE2::PartialMatch(piece, *found->second) ? Outcome::match : Outcome::no_match;
}

}  // namespace orrery::query
