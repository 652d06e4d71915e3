// $dateToString and $dateFromString.
#include <fmt/format.h>

#include "api/mongo/expression/dates.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

constexpr std::string_view kIsoFormat = "%Y-%m-%dT%H:%M:%S.%LZ";

Answer<Value> do_to_string(const Arguments& arguments) {
  const Value& date = arguments[0];
  const Value& format = arguments[1];
  if (arguments.has(1) && !is_nullish(format)) {
    if (!format.is_string()) {
      return refuse(18533,
                    fmt::format("$dateToString requires that 'format' be a string, found: {} "
                                "with value {}",
                                type_name(format), shown(format)));
    }
    if (auto checked = check_format(format.text(), false); !checked) {
      return pass(std::move(checked.error()));
    }
  }
  if (is_nullish(date)) return arguments.has(3) ? arguments[3] : Value::make_null();
  if (arguments.has(1) && is_nullish(format)) return Value::make_null();
  auto zone = require_zone(arguments[2], arguments.has(2));
  if (!zone) return pass(std::move(zone.error()));
  if (!*zone) return Value::make_null();
  auto ms = require_date(date);
  if (!ms) return pass(std::move(ms.error()));
  auto text = format_date(*ms, arguments.has(1) ? format.text() : kIsoFormat, **zone);
  if (!text) return pass(std::move(text.error()));
  return Value::make_string(std::move(*text));
}

enum FromText : size_t { kText, kTextFormat, kTextZone, kTextOnError, kTextOnNull };

Answer<Value> do_from_string(const Arguments& arguments) {
  const Value& text = arguments[kText];
  const Value& format = arguments[kTextFormat];
  if (arguments.has(kTextFormat) && !is_nullish(format)) {
    if (!format.is_string()) {
      return refuse(40684, fmt::format("$dateFromString requires that 'format' be a string, found: "
                                       "{} with value {}",
                                       type_name(format), shown(format)));
    }
    if (auto checked = check_format(format.text(), true); !checked) {
      return pass(std::move(checked.error()));
    }
  }
  auto zone = require_zone(arguments[kTextZone], arguments.has(kTextZone));
  if (!zone) return pass(std::move(zone.error()));
  if (is_nullish(text))
    return arguments.has(kTextOnNull) ? arguments[kTextOnNull] : Value::make_null();
  if (!text.is_string()) {
    if (arguments.has(kTextOnError)) return arguments[kTextOnError];
    return refuse(kConversionFailure, fmt::format("$dateFromString requires that 'dateString' be a "
                                                  "string, found: {} with value {}",
                                                  type_name(text), shown(text)));
  }
  if (arguments.has(kTextFormat) && is_nullish(format)) return Value::make_null();
  if (!*zone) return Value::make_null();
  auto ms = parse_date(text.text(),
                       arguments.has(kTextFormat) ? std::optional(format.text()) : std::nullopt,
                       arguments.has(kTextZone) ? *zone : std::nullopt);
  if (ms) return make_date(*ms);
  if (arguments.has(kTextOnError)) return arguments[kTextOnError];
  return pass(std::move(ms.error()));
}

constexpr std::array kDateTextOperatorsNamed = {
    NamedOperator{
        "$dateToString",
        {Parameter{"date", 18628}, Parameter{"format"}, Parameter{"timezone"}, Parameter{"onNull"}},
        18534,
        18629,
        do_to_string},
    NamedOperator{"$dateFromString",
                  {Parameter{"dateString", 40542}, Parameter{"format"}, Parameter{"timezone"},
                   Parameter{"onError"}, Parameter{"onNull"}},
                  40541,
                  40540,
                  do_from_string},
};

}  // namespace

OperatorTables date_text_operators() {
  return {.named = kDateTextOperatorsNamed};
}

}  // namespace orrery::mongo
