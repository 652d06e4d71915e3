// Date and time functions: datetime.h over values. The …STATIC functions and their plain forms are
// the same here: a query has one time.
#include "query/functions/arguments.h"
#include "query/functions/datetime.h"
#include "query/functions/groups.h"

namespace orrery::query {

namespace {

std::optional<Ticks> time_of(const Value& value) {
  return value.is_string() ? parse_datetime(value.text()) : std::nullopt;
}

std::optional<DatePart> date_part_of(const Value& value) {
  return value.is_string() ? parse_date_part(value.text()) : std::nullopt;
}

Value datetime(std::optional<Ticks> ticks) {
  return ticks && is_in_range(*ticks) ? string(format_datetime(*ticks)) : Value();
}

// `sign` times the count is added.
Value moved(const Value& part, const Value& count, std::optional<Ticks> from, int64_t sign) {
  const std::optional<DatePart> date_part = date_part_of(part);
  const std::optional<int64_t> amount = integer(count);
  if (!date_part || !amount || !from || *amount == INT64_MIN) return {};
  return datetime(add(*date_part, sign * *amount, *from));
}

Value ago(Arguments arguments, Context& context) {
  return moved(arguments[0], arguments[1], context.now_ticks, -1);
}

Value now(Arguments arguments, Context& context) {
  if (arguments.empty()) return datetime(context.now_ticks);
  if (arguments.size() == 1) return {};
  return moved(arguments[0], arguments[1], context.now_ticks, 1);
}

Value datetime_add(Arguments arguments, Context& /*context*/) {
  return moved(arguments[0], arguments[1], time_of(arguments[2]), 1);
}

Value datetime_bin(Arguments arguments, Context& /*context*/) {
  const std::optional<Ticks> time = time_of(arguments[0]);
  const std::optional<DatePart> part = date_part_of(arguments[1]);
  const std::optional<int64_t> size = arguments.size() > 2 ? integer(arguments[2]) : 1;
  const std::optional<Ticks> origin = arguments.size() > 3 ? time_of(arguments[3]) : 0;
  if (!time || !part || !size || !origin || *size < 1 || *origin < kWindowsEpoch) return {};
  return datetime(bin(*part, *size, *origin, *time));
}

Value datetime_diff(Arguments arguments, Context& /*context*/) {
  const std::optional<DatePart> part = date_part_of(arguments[0]);
  const std::optional<Ticks> start = time_of(arguments[1]);
  const std::optional<Ticks> end = time_of(arguments[2]);
  if (!part || !start || !end) return {};
  return number(static_cast<double>(difference(*part, *start, *end)));
}

Value datetime_format(Arguments arguments, Context& /*context*/) {
  const std::optional<Ticks> time = time_of(arguments[0]);
  if (!time || !arguments[1].is_string()) return {};
  return string(format_datetime(*time, arguments[1].text()));
}

Value datetime_from_parts(Arguments arguments, Context& /*context*/) {
  CalendarTime time;
  int64_t* const parts[] = {&time.year,   &time.month,  &time.day,     &time.hour,
                            &time.minute, &time.second, &time.fraction};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::optional<int64_t> part = integer(arguments[i]);
    if (!part) return {};
    *parts[i] = *part;
  }
  return datetime(from_calendar(time));
}

Value datetime_part(Arguments arguments, Context& /*context*/) {
  const std::optional<DatePart> part = date_part_of(arguments[0]);
  const std::optional<Ticks> time = time_of(arguments[1]);
  if (!part || !time) return {};
  return number(static_cast<double>(part_of(*part, *time)));
}

template <DatePart part>
Value one_part(Arguments arguments, Context& /*context*/) {
  const std::optional<Ticks> time = time_of(arguments[0]);
  return time ? number(static_cast<double>(part_of(part, *time))) : Value();
}

double to_timestamp(Ticks ticks) {
  // Towards the past, so that equal steps of time give equal steps of milliseconds around 1970.
  return std::floor(static_cast<double>(ticks) / static_cast<double>(kTicksPerMillisecond));
}

Value datetime_to_ticks(Arguments arguments, Context& /*context*/) {
  const std::optional<Ticks> time = time_of(arguments[0]);
  return time ? number(static_cast<double>(*time)) : Value();
}

Value datetime_to_timestamp(Arguments arguments, Context& /*context*/) {
  const std::optional<Ticks> time = time_of(arguments[0]);
  return time ? number(to_timestamp(*time)) : Value();
}

Value ticks_to_datetime(Arguments arguments, Context& /*context*/) {
  return datetime(integer(arguments[0]));
}

Value timestamp_to_datetime(Arguments arguments, Context& /*context*/) {
  const std::optional<int64_t> milliseconds = integer(arguments[0]);
  Ticks ticks = 0;
  if (!milliseconds || __builtin_mul_overflow(*milliseconds, kTicksPerMillisecond, &ticks)) {
    return {};
  }
  return datetime(ticks);
}

Value current_datetime(Arguments /*arguments*/, Context& context) {
  return datetime(context.now_ticks);
}

Value current_ticks(Arguments /*arguments*/, Context& context) {
  return number(static_cast<double>(context.now_ticks));
}

Value current_timestamp(Arguments /*arguments*/, Context& context) {
  return number(to_timestamp(context.now_ticks));
}

constexpr Function kDateFunctions[] = {
    {"AGO", 2, 2, ago, Depends::query},
    {"DATETIMEADD", 3, 3, datetime_add},
    {"DATETIMEBIN", 2, 4, datetime_bin},
    {"DATETIMEDIFF", 3, 3, datetime_diff},
    {"DATETIMEFORMAT", 2, 2, datetime_format},
    {"DATETIMEFROMPARTS", 3, 7, datetime_from_parts},
    {"DATETIMEPART", 2, 2, datetime_part},
    {"DATETIMETOTICKS", 1, 1, datetime_to_ticks},
    {"DATETIMETOTIMESTAMP", 1, 1, datetime_to_timestamp},
    {"DAY", 1, 1, one_part<DatePart::day>},
    {"GETCURRENTDATETIME", 0, 0, current_datetime, Depends::query},
    {"GETCURRENTDATETIMESTATIC", 0, 0, current_datetime, Depends::query},
    {"GETCURRENTTICKS", 0, 0, current_ticks, Depends::query},
    {"GETCURRENTTICKSSTATIC", 0, 0, current_ticks, Depends::query},
    {"GETCURRENTTIMESTAMP", 0, 0, current_timestamp, Depends::query},
    {"GETCURRENTTIMESTAMPSTATIC", 0, 0, current_timestamp, Depends::query},
    {"MONTH", 1, 1, one_part<DatePart::month>},
    {"NOW", 0, 2, now, Depends::query},
    {"TICKSTODATETIME", 1, 1, ticks_to_datetime},
    {"TIMESTAMPTODATETIME", 1, 1, timestamp_to_datetime},
    {"YEAR", 1, 1, one_part<DatePart::year>},
};

}  // namespace

std::span<const Function> date_functions() {
  return kDateFunctions;
}

}  // namespace orrery::query
