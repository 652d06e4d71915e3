// Properties that tell a time, and periods as parts of keys. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "value/document.h"

namespace orrery::advise {

enum class Period : uint8_t { none, hour, day, month };

// How fine a time is written. The finest first.
enum class TimeForm : uint8_t { instant, hour, day, month };

struct TimeValue {
  double s = 0;  // since 1970
  TimeForm form = TimeForm::instant;
};

// A text such as 2026-11, 2026-11-16, 2026-11-16T09 or 2026-11-16T09:15:00.5+01:00, or a number of
// seconds or milliseconds between 2000 and 2100. Nothing for what is no time.
std::optional<TimeValue> parse_time(std::string_view text);
std::optional<TimeValue> parse_time(double number);
std::optional<TimeValue> parse_time(const value::Node& node);

// The number of the period that a time lies in.
int64_t period_of(double s, Period period);
double period_seconds(Period period);
// The period as a key has it: 2026-11-16T09, 2026-11-16, 2026-11.
std::string period_text(int64_t number, Period period);
std::string_view to_text(Period period);

// 2026-11-16.
std::string date_text(double s);

}  // namespace orrery::advise
