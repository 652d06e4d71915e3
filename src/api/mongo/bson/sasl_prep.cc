// See sasl_prep.h.
#include "api/mongo/bson/sasl_prep.h"

#include <unicode/unistr.h>
#include <unicode/usprep.h>

#include <algorithm>

namespace orrery::mongo {

std::optional<std::string> sasl_prep(const std::string& text) {
  if (std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 127; })) return text;
  UErrorCode status = U_ZERO_ERROR;
  UStringPrepProfile* const profile = usprep_openByType(USPREP_RFC4013_SASLPREP, &status);
  if (U_FAILURE(status)) return std::nullopt;
  const icu::UnicodeString from = icu::UnicodeString::fromUTF8(text);
  // Compatibility forms are 18 times as long at most.
  std::u16string to(static_cast<size_t>(from.length()) * 18 + 1, u'\0');
  const int32_t size =
      usprep_prepare(profile, from.getBuffer(), from.length(), to.data(),
                     static_cast<int32_t>(to.size()), USPREP_DEFAULT, nullptr, &status);
  usprep_close(profile);
  if (U_FAILURE(status)) return std::nullopt;
  std::string out;
  icu::UnicodeString(to.data(), size).toUTF8String(out);
  return out;
}

}  // namespace orrery::mongo
