// Operators that take dates apart and put them together.
#include <limits>

#include <fmt/format.h>

#include "api/mongo/expression/dates.h"
#include "api/mongo/expression/operators.h"

namespace orrery::mongo {
namespace {

using Part = int64_t (*)(const LocalTime&);

int64_t weekday_of(const LocalTime& time) {  // 1: Sunday
  return iso_week_of(time.days).weekday % 7 + 1;
}
int64_t day_of_year(const LocalTime& time) {
  return time.days - days_of({.year = time.date.year, .month = 1, .day = 1}) + 1;
}
// Weeks start on Sundays; days before the first one are in week 0.
int64_t week_of(const LocalTime& time) {
  return (day_of_year(time) + 7 - weekday_of(time)) / 7;
}

class DatePartNode : public ExpressionNode {
 public:
  DatePartNode(Part part, bool is_long, Node date, Node zone)
      : part_(part), is_long_(is_long), date_(std::move(date)), zone_(std::move(zone)) {}
  Answer<Value> evaluate(Evaluation& evaluation) const override {
    if (evaluation.budget.spend(4)) return evaluation.over();
    auto date = date_->evaluate(evaluation);
    if (!date) return date;
    Value given;
    if (zone_) {
      auto value = zone_->evaluate(evaluation);
      if (!value) return value;
      given = std::move(*value);
    }
    if (is_nullish(*date)) return Value::make_null();
    auto zone = require_zone(given, zone_ != nullptr);
    if (!zone) return pass(std::move(zone.error()));
    if (!*zone) return Value::make_null();
    auto ms = require_date(*date);
    if (!ms) return pass(std::move(ms.error()));
    const int64_t part = part_(local_time((*zone)->to_local(*ms)));
    return is_long_ ? make_int64(part) : make_int32(part);
  }

 private:
  Part part_;
  bool is_long_;
  Node date_;
  Node zone_;  // or null
};

template <Part kPart, bool kLong = false>
Answer<Node> parse_part(std::string_view name, const Value& spec, const ParseContext& context) {
  Value date = spec;
  Value zone;
  if (spec.is_object() && !is_operator(spec)) {
    for (const auto& [member, value] : spec.members()) {
      if (member != "date" && member != "timezone") {
        return refuse(40535, fmt::format("unrecognized option to {}: \"{}\"", name, member));
      }
    }
    date = spec.find("date");
    zone = spec.find("timezone");
    if (date.is_undefined()) {
      return refuse(40539,
                    fmt::format("missing 'date' argument to {}, provided: {}", name, shown(spec)));
    }
  } else if (spec.is_array()) {
    if (spec.size() != 1) {
      return refuse(40536, fmt::format("{} accepts exactly one argument if given an array, but was "
                                       "given {}",
                                       name, spec.size()));
    }
    date = spec.at(0);
  }
  auto date_node = parse_node(date, context);
  if (!date_node) return date_node;
  Node zone_node;
  if (!zone.is_undefined()) {
    auto node = parse_node(zone, context);
    if (!node) return node;
    zone_node = std::move(*node);
  }
  return std::make_shared<DatePartNode>(kPart, kLong, std::move(*date_node), std::move(zone_node));
}

Answer<Value> do_to_parts(const Arguments& arguments) {
  const Value& iso = arguments[2];
  auto zone = require_zone(arguments[1], arguments.has(1));
  if (!zone) return pass(std::move(zone.error()));
  if (!*zone) return Value::make_null();
  if (arguments.has(2)) {
    if (is_nullish(iso)) return Value::make_null();
    if (!iso.is_bool()) {
      return refuse(40521,
                    fmt::format("iso8601 must evaluate to a bool, found {}", type_name(iso)));
    }
  }
  if (is_nullish(arguments[0])) return Value::make_null();
  auto ms = require_date(arguments[0]);
  if (!ms) return pass(std::move(ms.error()));
  const LocalTime time = local_time((*zone)->to_local(*ms));
  std::vector<Value::Field> fields;
  const auto add_part = [&](std::string_view name, int64_t part) {
    fields.push_back(field(name, make_int32(part)));
  };
  if (iso.is_true()) {
    const IsoWeek week = iso_week_of(time.days);
    add_part("isoWeekYear", week.year);
    add_part("isoWeek", week.week);
    add_part("isoDayOfWeek", week.weekday);
  } else {
    add_part("year", time.date.year);
    add_part("month", time.date.month);
    add_part("day", time.date.day);
  }
  add_part("hour", time.hour);
  add_part("minute", time.minute);
  add_part("second", time.second);
  add_part("millisecond", time.ms);
  return Value::make_object(std::move(fields));
}

// $dateFromParts' parameters, in their order.
enum FromPart : size_t {
  kYear,
  kIsoYear,
  kMonth,
  kIsoWeek,
  kDay,
  kIsoDay,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kZone,
};
constexpr std::array<std::string_view, 10> kPartNames = {
    "year",         "isoWeekYear", "month",  "isoWeek", "day",
    "isoDayOfWeek", "hour",        "minute", "second",  "millisecond"};

Answer<Value> do_from_parts(const Arguments& arguments) {
  const bool is_iso = arguments.has(kIsoYear);
  std::array<int64_t, 10> parts = {1970, 1970, 1, 1, 1, 1, 0, 0, 0, 0};
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!arguments.has(i)) continue;
    if (is_nullish(arguments[i])) return Value::make_null();
    const auto number = exact_integer(arguments[i]);
    if (!number) {
      return refuse(40515,
                    fmt::format("'{}' must evaluate to an integer, found {} with value {}",
                                kPartNames[i], type_name(arguments[i]), shown(arguments[i])));
    }
    const bool is_year = i == kYear || i == kIsoYear;
    if (is_year && (*number < 1 || *number > 9999)) {
      return refuse(40523, fmt::format("'{}' must evaluate to an integer in the range 1 to 9999, "
                                       "found {}",
                                       kPartNames[i], *number));
    }
    const bool is_short = i != kSecond && i != kMillisecond;
    if (!is_year && is_short &&
        (*number < std::numeric_limits<int16_t>::min() ||
         *number > std::numeric_limits<int16_t>::max())) {
      return refuse(31034,
                    fmt::format("'{}' must evaluate to a value in the range [-32768, 32767]; "
                                "value {} is not in range",
                                kPartNames[i], *number));
    }
    parts[i] = *number;
  }
  auto zone = require_zone(arguments[kZone], arguments.has(kZone));
  if (!zone) return pass(std::move(zone.error()));
  if (!*zone) return Value::make_null();
  const int64_t days = is_iso ? days_of(IsoWeek{parts[kIsoYear], parts[kIsoWeek], parts[kIsoDay]})
                              : days_of(CivilDate{parts[kYear], parts[kMonth], parts[kDay]});
  int64_t ms = days * kMsInDay + parts[kHour] * kMsInHour + parts[kMinute] * kMsInMinute;
  int64_t seconds = 0;
  if (__builtin_mul_overflow(parts[kSecond], kMsInSecond, &seconds) ||
      __builtin_add_overflow(ms, seconds, &ms) ||
      __builtin_add_overflow(ms, parts[kMillisecond], &ms)) {
    return refuse(kOverflow, "$dateFromParts makes a date that is out of range");
  }
  return make_date((*zone)->to_utc(ms));
}

Answer<Value> do_ts_part(const Arguments& arguments, bool is_seconds) {
  const Value& timestamp = arguments[0];
  if (timestamp.type() != Type::timestamp) {
    return refuse(is_seconds ? 5687301 : 5687302,
                  fmt::format("{} requires a timestamp argument, found: {}", arguments.name,
                              type_name(timestamp)));
  }
  return make_int64(static_cast<int64_t>(is_seconds ? timestamp.timestamp() >> 32
                                                    : timestamp.timestamp() & 0xffffffff));
}
Answer<Value> do_ts_second(const Arguments& arguments) {
  return do_ts_part(arguments, true);
}
Answer<Value> do_ts_increment(const Arguments& arguments) {
  return do_ts_part(arguments, false);
}

constexpr NamedOperator kFromParts = {
    "$dateFromParts",
    {Parameter{"year"}, Parameter{"isoWeekYear"}, Parameter{"month"}, Parameter{"isoWeek"},
     Parameter{"day"}, Parameter{"isoDayOfWeek"}, Parameter{"hour"}, Parameter{"minute"},
     Parameter{"second"}, Parameter{"millisecond"}, Parameter{"timezone"}},
    40518,
    40519,
    do_from_parts};

constexpr std::array kDatePartsPositional = {
    PositionalOperator{"$tsSecond", 1, 1, do_ts_second, true},
    PositionalOperator{"$tsIncrement", 1, 1, do_ts_increment, true},
};

constexpr std::array kDatePartsNamed = {
    NamedOperator{"$dateToParts",
                  {Parameter{"date", 40522}, Parameter{"timezone"}, Parameter{"iso8601"}},
                  40520,
                  40524,
                  do_to_parts},
};

// Which parts go together is known before any is evaluated.
Answer<Node> parse_from_parts(std::string_view, const Value& spec, const ParseContext& context) {
  if (spec.is_object()) {
    const auto has = [&](std::string_view part) { return !spec.find(part).is_undefined(); };
    const bool is_iso = has("isoWeekYear") || has("isoWeek") || has("isoDayOfWeek");
    const bool is_natural = has("year") || has("month") || has("day");
    if (is_iso && is_natural) {
      return refuse(40489, "$dateFromParts does not allow mixing natural dates with ISO dates");
    }
    if (!has("year") && !has("isoWeekYear")) {
      return refuse(40516, "$dateFromParts requires either 'year' or 'isoWeekYear' to be present");
    }
  }
  return parse_named(kFromParts, spec, context);
}

constexpr std::array kDatePartsSpecial = {
    SpecialOperator{"$year", parse_part<[](const LocalTime& t) { return t.date.year; }>},
    SpecialOperator{"$month", parse_part<[](const LocalTime& t) { return t.date.month; }>},
    SpecialOperator{"$dayOfMonth", parse_part<[](const LocalTime& t) { return t.date.day; }>},
    SpecialOperator{"$hour", parse_part<[](const LocalTime& t) { return t.hour; }>},
    SpecialOperator{"$minute", parse_part<[](const LocalTime& t) { return t.minute; }>},
    SpecialOperator{"$second", parse_part<[](const LocalTime& t) { return t.second; }>},
    SpecialOperator{"$millisecond", parse_part<[](const LocalTime& t) { return t.ms; }>},
    SpecialOperator{"$dayOfYear", parse_part<day_of_year>},
    SpecialOperator{"$dayOfWeek", parse_part<weekday_of>},
    SpecialOperator{"$week", parse_part<week_of>},
    SpecialOperator{"$isoWeek",
                    parse_part<[](const LocalTime& t) { return iso_week_of(t.days).week; }>},
    SpecialOperator{"$isoDayOfWeek",
                    parse_part<[](const LocalTime& t) { return iso_week_of(t.days).weekday; }>},
    SpecialOperator{"$isoWeekYear",
                    parse_part<[](const LocalTime& t) { return iso_week_of(t.days).year; }, true>},
    SpecialOperator{"$dateFromParts", parse_from_parts},
};

}  // namespace

OperatorTables date_part_operators() {
  return {
      .positional = kDatePartsPositional, .named = kDatePartsNamed, .special = kDatePartsSpecial};
}

}  // namespace orrery::mongo
