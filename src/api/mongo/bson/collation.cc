// See collation.h.
#include "api/mongo/bson/collation.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <unicode/coll.h>
#include <unicode/locid.h>
#include <unicode/tblcoll.h>

#include "api/mongo/bson/numbers.h"
#include "api/mongo/bson/types.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kSimple = "simple";

// Options that are on or off, with what ICU calls them.
struct Switch {
  std::string_view name;
  UColAttribute attribute;
};
constexpr std::array kSwitches = {
    Switch{"caseLevel", UCOL_CASE_LEVEL},
    Switch{"numericOrdering", UCOL_NUMERIC_COLLATION},
    Switch{"normalization", UCOL_NORMALIZATION_MODE},
    Switch{"backwards", UCOL_FRENCH_COLLATION},
};

// Options that are words.
struct Word {
  std::string_view name;
  UColAttribute attribute;
  std::string_view word;
  UColAttributeValue value;
};
constexpr std::array kWords = {
    Word{"caseFirst", UCOL_CASE_FIRST, "off", UCOL_OFF},
    Word{"caseFirst", UCOL_CASE_FIRST, "upper", UCOL_UPPER_FIRST},
    Word{"caseFirst", UCOL_CASE_FIRST, "lower", UCOL_LOWER_FIRST},
    Word{"alternate", UCOL_ALTERNATE_HANDLING, "non-ignorable", UCOL_NON_IGNORABLE},
    Word{"alternate", UCOL_ALTERNATE_HANDLING, "shifted", UCOL_SHIFTED},
};

constexpr std::array kStrengths = {UCOL_PRIMARY, UCOL_SECONDARY, UCOL_TERTIARY, UCOL_QUATERNARY,
                                   UCOL_IDENTICAL};

// What is given, and what the locale has by default for the rest.
Value whole_spec(const Value& spec, const icu::Collator& collator) {
  UErrorCode status = U_ZERO_ERROR;
  const auto is_on = [&](UColAttribute attribute) {
    return Value::make_bool(collator.getAttribute(attribute, status) == UCOL_ON);
  };
  const auto word_of = [&](std::string_view name, UColAttribute attribute) {
    const UColAttributeValue value = collator.getAttribute(attribute, status);
    for (const Word& one : kWords) {
      if (one.name == name && one.value == value) return Value::borrow_string(one.word);
    }
    return Value::borrow_string("off");
  };
  const auto strength = static_cast<size_t>(
      std::ranges::find(kStrengths, collator.getAttribute(UCOL_STRENGTH, status)) -
      kStrengths.begin());
  const bool is_space = spec.find("maxVariable") == Value::borrow_string("space");
  return Value::make_object({
      field("locale", spec.find("locale").to_owned()),
      field("caseLevel", is_on(UCOL_CASE_LEVEL)),
      field("caseFirst", word_of("caseFirst", UCOL_CASE_FIRST)),
      field("strength", make_int32(static_cast<int64_t>(strength + 1))),
      field("numericOrdering", is_on(UCOL_NUMERIC_COLLATION)),
      field("alternate", word_of("alternate", UCOL_ALTERNATE_HANDLING)),
      field("maxVariable", Value::borrow_string(is_space ? "space" : "punct")),
      field("normalization", is_on(UCOL_NORMALIZATION_MODE)),
      field("backwards", is_on(UCOL_FRENCH_COLLATION)),
      field("version", Value::borrow_string("57.1")),
  });
}

}  // namespace

struct Collation::Impl {
  std::unique_ptr<icu::Collator> collator;
};

Collation::Collation(std::unique_ptr<Impl> impl, value::Value spec)
    : impl_(std::move(impl)), spec_(std::move(spec)) {}

Collation::~Collation() = default;

Answer<std::shared_ptr<const Collation>> Collation::parse(const value::Value& spec) {
  if (!spec.is_object()) {
    return refuse(kTypeMismatch,
                  fmt::format("collation must be an object, but is {}", shown(spec)));
  }
  const Value locale = spec.find("locale");
  if (!locale.is_string()) {
    return refuse(kFailedToParse, "collation needs the string 'locale'");
  }
  if (locale.text() == kSimple) {
    if (spec.size() > 1) {
      return refuse(kBadValue, "the collation 'simple' takes no further options");
    }
    return std::shared_ptr<const Collation>();
  }
  const std::string name(locale.text());
  const icu::Locale found(name.c_str());
  UErrorCode status = U_ZERO_ERROR;
  auto impl = std::make_unique<Impl>();
  if (!found.isBogus() && found.getLanguage()[0] != '\0') {
    impl->collator.reset(icu::Collator::createInstance(found, status));
  }
  // What ICU does not know falls back to a locale that it does: en_XY to en.
  if (!impl->collator || U_FAILURE(status) ||
      std::string_view(impl->collator->getLocale(ULOC_VALID_LOCALE, status).getBaseName()) !=
          found.getBaseName()) {
    return refuse(kBadValue, fmt::format("Field 'locale' is invalid in: {}", shown(spec)));
  }
  status = U_ZERO_ERROR;
  for (const auto& [option, given] : spec.members()) {
    if (option == "locale" || option == "version") continue;
    if (option == "strength") {
      const auto strength = truncated_integer(given);
      if (!strength || *strength < 1 || *strength > 5) {
        return refuse(kBadValue,
                      fmt::format("collation's strength must be 1 to 5, not {}", shown(given)));
      }
      impl->collator->setAttribute(UCOL_STRENGTH, kStrengths[static_cast<size_t>(*strength - 1)],
                                   status);
      continue;
    }
    bool is_known = false;
    if (option == "maxVariable" && given.is_string()) {
      const bool is_punct = given.text() == "punct";
      is_known = is_punct || given.text() == "space";
      impl->collator->setMaxVariable(
          is_punct ? UCOL_REORDER_CODE_PUNCTUATION : UCOL_REORDER_CODE_SPACE, status);
    }
    for (const Switch& one : kSwitches) {
      if (one.name != option) continue;
      if (!given.is_bool()) {
        return refuse(kTypeMismatch, fmt::format("collation's {} must be true or false", option));
      }
      impl->collator->setAttribute(one.attribute, given.boolean() ? UCOL_ON : UCOL_OFF, status);
      is_known = true;
    }
    bool is_word = false;
    for (const Word& one : kWords) {
      if (one.name != option) continue;
      is_word = true;
      if (!given.is_string() || given.text() != one.word) continue;
      impl->collator->setAttribute(one.attribute, one.value, status);
      is_known = true;
    }
    if (!is_known) {
      return refuse(is_word ? kBadValue : kFailedToParse,
                    fmt::format("collation has no option {}: {}", option, shown(given)));
    }
  }
  if (U_FAILURE(status)) {
    return refuse(kBadValue, fmt::format("the collation {} cannot be had", shown(spec)));
  }
  Value whole = whole_spec(spec, *impl->collator);
  return std::shared_ptr<const Collation>(new Collation(std::move(impl), std::move(whole)));
}

std::strong_ordering Collation::compare(std::string_view a, std::string_view b) const {
  UErrorCode status = U_ZERO_ERROR;
  const auto order = impl_->collator->compareUTF8(
      icu::StringPiece(a.data(), static_cast<int32_t>(a.size())),
      icu::StringPiece(b.data(), static_cast<int32_t>(b.size())), status);
  return static_cast<int>(order) <=> 0;
}

std::string Collation::key(std::string_view text) const {
  const auto wide = icu::UnicodeString::fromUTF8(
      icu::StringPiece(text.data(), static_cast<int32_t>(text.size())));
  std::string key(text.size() * 3 + 16, '\0');
  const auto fill = [&] {
    return static_cast<size_t>(impl_->collator->getSortKey(
        wide, reinterpret_cast<uint8_t*>(key.data()), static_cast<int32_t>(key.size())));
  };
  if (const size_t size = fill(); size > key.size()) {
    key.resize(size);
    fill();
  } else {
    key.resize(size);
  }
  return key;
}

}  // namespace orrery::mongo
