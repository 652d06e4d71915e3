// Date and time functions.
#include <gtest/gtest.h>

#include "query/functions/evaluator_fixture.h"

namespace orrery::query {
namespace {

TEST(DateTime, CalendarGoesThereAndBack) {
  EXPECT_EQ(format_datetime(kMinTicks), "0001-01-01T00:00:00.0000000Z");
  EXPECT_EQ(format_datetime(kMaxTicks), "9999-12-31T23:59:59.9999999Z");
  EXPECT_EQ(format_datetime(kWindowsEpoch), "1601-01-01T00:00:00.0000000Z");
  for (Ticks ticks = kMinTicks; ticks < kMaxTicks - 41 * kTicksPerDay;
       ticks += 41 * kTicksPerDay - 1) {
    ASSERT_EQ(from_calendar(to_calendar(ticks)), ticks);
    ASSERT_EQ(parse_datetime(format_datetime(ticks)), ticks);
  }
}

TEST(DateTime, ReadsTheDocumentedForms) {
  Evaluator call;
  for (const std::string_view valid :
       {"2024-12-12", "2024-12-12Z", "2024-12-12 20:21:25", "2024-12-12T20:21:25Z",
        "2024-12-12T20:21:25.123", "2024-12-12 20:21:25.1234567Z", "2024-02-29", "2000-02-29"}) {
    EXPECT_EQ(call("IS_DATETIME", "[\"" + std::string(valid) + "\"]"), "true") << valid;
  }
  for (const std::string_view invalid : {"",
                                         "2024",
                                         "2024-12",
                                         "2024-12-12T20Z",
                                         "2024-12-12 20:21:25.",
                                         "2024-12-12T20:21",
                                         "2024-12-12T20:21:25.12345678",
                                         "2024-12-12T20:21:25+01:00",
                                         "2023-02-29",
                                         "1900-02-29",
                                         "2024-13-01",
                                         "2024-00-01",
                                         "2024-01-32",
                                         "2024-01-01T24:00:00",
                                         "2024-01-01T00:60:00",
                                         "0000-01-01",
                                         "2024-1-1",
                                         " 2024-01-01",
                                         "2024-01-01ZZ",
                                         "2024-12-12X20:21:25"}) {
    EXPECT_EQ(call("IS_DATETIME", "[\"" + std::string(invalid) + "\"]"), "false") << invalid;
  }
}

TEST(DateFunctions, Add) {
  Evaluator call;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"(["yyyy",1,"2020-07-03"])", "2021-07-03T00:00:00.0000000Z"},
      {R"(["MM",-1,"2020-07-03"])", "2020-06-03T00:00:00.0000000Z"},
      {R"(["mm",1,"2020-01-31"])", "2020-02-29T00:00:00.0000000Z"},
      {R"(["year",1,"2020-02-29"])", "2021-02-28T00:00:00.0000000Z"},
      {R"(["dd",1,"2020-07-03"])", "2020-07-04T00:00:00.0000000Z"},
      {R"(["hh",-2,"2020-07-09T23:20:13.4575530Z"])", "2020-07-09T21:20:13.4575530Z"},
      {R"(["mi",90,"2020-07-03"])", "2020-07-03T01:30:00.0000000Z"},
      {R"(["ss",-25,"2020-07-03"])", "2020-07-02T23:59:35.0000000Z"},
      {R"(["ms",1,"2020-07-03"])", "2020-07-03T00:00:00.0010000Z"},
      {R"(["mcs",1,"2020-07-03"])", "2020-07-03T00:00:00.0000010Z"},
      {R"(["ns",250,"2020-07-03"])", "2020-07-03T00:00:00.0000002Z"},
  };
  for (const auto& [arguments, expected] : cases) {
    EXPECT_EQ(call("DATETIMEADD", arguments), "\"" + std::string(expected) + "\"") << arguments;
  }
  EXPECT_EQ(call("DATETIMEADD", R"(["week",1,"2020-07-03"])"), "undefined");
  EXPECT_EQ(call("DATETIMEADD", R"(["dd",1.5,"2020-07-03"])"), "undefined");
  EXPECT_EQ(call("DATETIMEADD", R"(["dd",1,"yesterday"])"), "undefined");
  EXPECT_EQ(call("DATETIMEADD", R"(["yyyy",9000,"2020-07-03"])"), "undefined");
  EXPECT_EQ(call("DATETIMEADD", R"(["dd",9e18,"2020-07-03"])"), "undefined");
  EXPECT_EQ(call("DATETIMEADD", R"(["ns",-9223372036854775808,"2020-07-03"])"), "undefined");
}

TEST(DateFunctions, NowAndAgo) {
  Evaluator call;
  EXPECT_EQ(call("NOW", "[]"), R"("2024-10-14T14:20:30.6668888Z")");
  EXPECT_EQ(call("NOW", R"(["ss",30])"), R"("2024-10-14T14:21:00.6668888Z")");
  EXPECT_EQ(call("NOW", R"(["ss"])"), "undefined");
  EXPECT_EQ(call("AGO", R"(["yyyy",-1])"), R"("2025-10-14T14:20:30.6668888Z")");
  EXPECT_EQ(call("AGO", R"(["ms",4])"), R"("2024-10-14T14:20:30.6628888Z")");
  EXPECT_EQ(call("GetCurrentDateTime", "[]"), R"("2024-10-14T14:20:30.6668888Z")");
  EXPECT_EQ(call("GetCurrentDateTimeStatic", "[]"), R"("2024-10-14T14:20:30.6668888Z")");
  EXPECT_EQ(call("GetCurrentTicks", "[]"), "17289156306668888");
  EXPECT_EQ(call("GetCurrentTicksStatic", "[]"), "17289156306668888");
  EXPECT_EQ(call("GetCurrentTimestamp", "[]"), "1728915630666");
  EXPECT_EQ(call("GetCurrentTimestampStatic", "[]"), "1728915630666");
  EXPECT_EQ(find_function("NOW")->depends, Depends::query);
}

TEST(DateFunctions, Bin) {
  Evaluator call;
  const auto bin_of = [&](const std::string& rest) {
    return call("DATETIMEBIN", R"(["2021-01-08T18:35:00.0000000",)" + rest + "]");
  };
  EXPECT_EQ(bin_of(R"("dd")"), R"("2021-01-08T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("hh")"), R"("2021-01-08T18:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("hh",5)"), R"("2021-01-08T15:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("dd",7)"), R"("2021-01-07T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("dd",7,"1601-01-01")"), R"("2021-01-04T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("yyyy")"), R"("2021-01-01T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("yyyy",10)"), R"("2020-01-01T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("mm",5)"), R"("2020-11-01T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("mm",1,"2000-01-20")"), R"("2020-12-20T00:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("dd",1,"2022-01-01T06:00:00")"), R"("2021-01-08T06:00:00.0000000Z")");
  EXPECT_EQ(bin_of(R"("dd",0)"), "undefined");
  EXPECT_EQ(bin_of(R"("dd",-1)"), "undefined");
  EXPECT_EQ(bin_of(R"("dd",1.5)"), "undefined");
  EXPECT_EQ(bin_of(R"("dd",7,"1600-12-31")"), "undefined");
  EXPECT_EQ(bin_of(R"("week")"), "undefined");
}

TEST(DateFunctions, Diff) {
  Evaluator call;
  const auto diff = [&](const std::string& part, bool forward) {
    const std::string a = R"("2019-02-04T16:00:00.0000000")";
    const std::string b = R"("2018-03-05T05:00:00.0000000")";
    return call("DATETIMEDIFF",
                "[\"" + part + "\"," + (forward ? b : a) + "," + (forward ? a : b) + "]");
  };
  EXPECT_EQ(diff("yyyy", false), "-1");
  EXPECT_EQ(diff("mm", false), "-11");
  EXPECT_EQ(diff("dd", false), "-336");
  EXPECT_EQ(diff("hh", false), "-8075");
  EXPECT_EQ(diff("ss", true), "29070000");
  EXPECT_EQ(diff("ms", true), "29070000000");
  EXPECT_EQ(diff("ns", true), "29070000000000000");
  EXPECT_EQ(call("DATETIMEDIFF",
                 R"(["hh","2020-01-01T01:00:00.1234527Z","2020-01-01T01:59:59.1234567Z"])"),
            "0");
  EXPECT_EQ(call("DATETIMEDIFF", R"(["dd","1969-12-31T23:59:59","1970-01-01"])"), "1");
  EXPECT_EQ(call("DATETIMEDIFF", R"(["dd",1,"1970-01-01"])"), "undefined");
}

TEST(DateFunctions, Parts) {
  Evaluator call;
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"yyyy", "2016"}, {"mm", "5"},   {"dd", "29"},      {"hh", "8"},         {"mi", "30"},
      {"ss", "0"},      {"ms", "130"}, {"mcs", "130161"}, {"ns", "130161700"},
  };
  for (const auto& [part, expected] : parts) {
    EXPECT_EQ(
        call("DATETIMEPART", "[\"" + std::string(part) + R"(","2016-05-29T08:30:00.1301617"])"),
        expected);
  }
  EXPECT_EQ(call("YEAR", R"(["1989-03-03T12:12:12.1234567Z"])"), "1989");
  EXPECT_EQ(call("MONTH", R"(["2024-01-10"])"), "1");
  EXPECT_EQ(call("DAY", R"(["2000-12-12T10:00:00"])"), "12");
  EXPECT_EQ(call("DAY", "[5]"), "undefined");
  EXPECT_EQ(call("DATETIMEFROMPARTS", "[2017,4,20]"), R"("2017-04-20T00:00:00.0000000Z")");
  EXPECT_EQ(call("DATETIMEFROMPARTS", "[2017,4,20,13,15,20,3456789]"),
            R"("2017-04-20T13:15:20.3456789Z")");
  EXPECT_EQ(call("DATETIMEFROMPARTS", "[-2000,-1,-1]"), "undefined");
  EXPECT_EQ(call("DATETIMEFROMPARTS", "[2023,2,29]"), "undefined");
  EXPECT_EQ(call("DATETIMEFROMPARTS", "[2017,4,20,24]"), "undefined");
}

TEST(DateFunctions, TicksAndTimestamps) {
  Evaluator call;
  EXPECT_EQ(call("DATETIMETOTICKS", R"(["2020-01-02T03:04:05.6789123Z"])"), "15779342456789124");
  EXPECT_EQ(call("DATETIMETOTIMESTAMP", R"(["2020-07-09T23:20:13.4575530Z"])"), "1594336813457");
  EXPECT_EQ(call("DATETIMETOTIMESTAMP", R"(["1969-12-31T23:59:59.9999Z"])"), "-1");
  EXPECT_EQ(call("DATETIMETOTICKS", R"(["now"])"), "undefined");
  EXPECT_EQ(call("TICKSTODATETIME", "[15973607943002652]"), R"("2020-08-13T23:19:54.3002652Z")");
  EXPECT_EQ(call("TICKSTODATETIME", "[-116444736000000000]"), R"("1601-01-01T00:00:00.0000000Z")");
  EXPECT_EQ(call("TICKSTODATETIME", "[1e30]"), "undefined");
  EXPECT_EQ(call("TICKSTODATETIME", R"(["1"])"), "undefined");
  EXPECT_EQ(call("TIMESTAMPTODATETIME", "[1594227912345]"), R"("2020-07-08T17:05:12.3450000Z")");
  EXPECT_EQ(call("TIMESTAMPTODATETIME", "[1e15]"), "undefined");
  EXPECT_EQ(call("TIMESTAMPTODATETIME", "[1.5]"), "undefined");
}

TEST(DateFunctions, Format) {
  Evaluator call;
  const auto format = [&](const std::string& pattern) {
    return call("DATETIMEFORMAT", R"(["2024-10-05 14:04:09.1230000",")" + pattern + "\"]");
  };
  EXPECT_EQ(format("yyyyMMdd"), R"("20241005")");
  EXPECT_EQ(format("yyyy-MM-dd [HH:mm:ss]"), R"("2024-10-05 [14:04:09]")");
  EXPECT_EQ(format("To\\\\da\\\\y i\\\\s: yyyy-MM-ddTHH:mm:ss.fff"),
            R"("Today is: 2024-10-05T14:04:09.123")");
  EXPECT_EQ(format("ss.FFFFFFF|fffffff|f"), R"("09.123|1230000|1")");
  EXPECT_EQ(format("d M yy y H h hh m s t tt"), R"("5 10 24 24 14 2 02 4 9 P PM")");
  EXPECT_EQ(format("dddd ddd MMMM MMM 'day'"), R"("Saturday Sat October Oct day")");
  EXPECT_EQ(call("DATETIMEFORMAT", R"(["2024-10-10 14:40:20","ss.FFF"])"), R"("20.")");
  EXPECT_EQ(call("DATETIMEFORMAT", R"(["x","ss"])"), "undefined");
  EXPECT_EQ(call("DATETIMEFORMAT", R"(["2024-10-10",1])"), "undefined");
}

}  // namespace
}  // namespace orrery::query
