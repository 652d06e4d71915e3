// Containers that grow with time, and the keys that are right for them.
#pragma once

#include <string>

#include "advise/test_answers.h"

namespace orrery::advise::test {

inline Known readings() {
  return {.set = {.name = "readings",
                  .items = 4e8,
                  .gigabytes = 100,
                  .throughput = 30'000,
                  .days = 60,
                  .ru_s = 15'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/device", named("d", dice.below(5'000))},
                                    {"/ts", instant(t)},
                                    {"/day", day(t)},
                                    {"/site", one_of(dice, "north", "south", "east", "west")},
                                    {"/celsius", decimal(dice, -10, 40)}};
                      },
                  .times = {"/ts", "/day"},
                  .operations =
                      {{.share = 0.7, .op = "create"},
                       {.share = 0.25,
                        .op = "query",
                        .equal = {"/device"},
                        .range_s = {{"/ts", 86'400}},
                        .work_ru = 2,
                        .age_s = 43'200},
                       {.share = 0.03, .op = "query", .equal = {"/site", "/day"}, .work_ru = 4}}},
          .answer = {.best = {"/device"},
                     .never_best = {"/day", "/id", "/celsius", "/site", "day(/ts)"},
                     .disqualified = {{"/site", "few_values"}},
                     .warned = {{"/day", "hot_by_time"}},
                     .verdict = Verdict::choose,
                     .advice = {"container_per_period"}}};
}

// Few sources with so much of each that one passes the limit of a logical partition.
inline Known long_histories() {
  return {.set = {.name = "long_histories",
                  .items = 6e9,
                  .gigabytes = 1'536,
                  .throughput = 100'000,
                  .partition_key = "[\"/meter\"]",
                  .days = 90,
                  .ru_s = 40'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/meter", named("m", dice.below(200))},
                                    {"/ts", instant(t)},
                                    {"/day", day(t)},
                                    {"/kwh", decimal(dice, 0, 90)}};
                      },
                  .times = {"/ts", "/day"},
                  .operations = {{.share = 0.75, .op = "create"},
                                 {.share = 0.2,
                                  .op = "query",
                                  .equal = {"/meter"},
                                  .range_s = {{"/ts", 43'200}},
                                  .work_ru = 2,
                                  .age_s = 86'400}}},
          .answer = {.best = {"join(/meter,day(/ts))", "join(/meter,month(/ts))",
                              "join(/meter,/day)", "hier(/meter,/day)", "hier(/meter,/id)",
                              "hier(/meter,day(/ts))", "hier(/meter,month(/ts))"},
                     .never_best = {"/meter", "/day"},
                     .disqualified = {{"/meter", "limit"}},
                     .warned = {{"/day", "hot_by_time"}},
                     .verdict = Verdict::change}};
}

// Few writes, read by the day: nothing has to be spread, and the date is right.
inline Known quiet_logs() {
  return {.set = {.name = "quiet_logs",
                  .items = 3e6,
                  .gigabytes = 2,
                  .throughput = 400,
                  .days = 200,
                  .ru_s = 14,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/host", named("web", dice.below(40))},
                                    {"/ts", instant(t)},
                                    {"/day", day(t)},
                                    {"/level", named("level", dice.heads(3, {0.8, 0.15}))}};
                      },
                  .times = {"/ts", "/day"},
                  .operations = {{.share = 0.45, .op = "create"},
                                 {.share = 0.5,
                                  .op = "query",
                                  .equal = {"/day", "/level"},
                                  .work_ru = 2,
                                  .age_s = 172'800},
                                 {.share = 0.05, .op = "query", .equal = {"/host"}, .work_ru = 3}}},
          .answer = {.best = {"/day", "day(/ts)", "join(/day,/level)", "hier(/day,/level)"},
                     .never_best = {"/level", "/host", "/id"},
                     .warned = {{"/day", "hot_by_time"}},
                     .verdict = Verdict::choose}};
}

inline Known busy_logs() {
  return {.set = {.name = "busy_logs",
                  .items = 2e9,
                  .gigabytes = 900,
                  .throughput = 60'000,
                  .partition_key = "[\"/day\"]",
                  .ttl_s = 45 * 86'400,
                  .days = 45,
                  .ru_s = 35'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/host", named("web", dice.below(2'500))},
                                    {"/ts", instant(t)},
                                    {"/day", day(t)},
                                    {"/hour", value::quoted(instant(t).substr(1, 13))},
                                    {"/level", named("level", dice.heads(3, {0.8, 0.15}))}};
                      },
                  .times = {"/ts", "/day", "/hour"},
                  .operations = {{.share = 0.85, .op = "create"},
                                 {.share = 0.12,
                                  .op = "query",
                                  .equal = {"/host"},
                                  .range_s = {{"/ts", 3'600}},
                                  .work_ru = 2,
                                  .age_s = 7'200},
                                 {.share = 0.02,
                                  .op = "query",
                                  .equal = {"/day", "/level"},
                                  .work_ru = 6,
                                  .age_s = 43'200}}},
          .answer = {.best = {"/host"},
                     .never_best = {"/day", "/hour", "/level", "/id"},
                     .disqualified = {{"/level", "few_values"}},
                     .warned = {{"/day", "hot_by_time"}, {"/hour", "hot_by_time"}},
                     .verdict = Verdict::change}};
}

// One source has more writes than a partition takes. A hierarchy lifts the limit of size and not
// heat.
inline Known hot_stream() {
  return {.set = {.name = "hot_stream",
                  .items = 2e8,
                  .gigabytes = 60,
                  .throughput = 120'000,
                  .partition_key = "[\"/stream\"]",
                  .ttl_s = 60 * 86'400,
                  .days = 60,
                  .ru_s = 60'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/stream", named("s", dice.heads(400, {0.4}))},
                                    {"/at", instant(t)},
                                    {"/v", decimal(dice, 0, 1)}};
                      },
                  .times = {"/at"},
                  .operations = {{.share = 0.88, .op = "create"},
                                 {.share = 0.06,
                                  .op = "query",
                                  .equal = {"/stream"},
                                  .range_s = {{"/at", 600}},
                                  .work_ru = 3,
                                  .age_s = 3'600},
                                 {.share = 0.06, .op = "read", .equal = {"/id", "/stream"}}}},
          .answer = {.best = {"suffix(/stream,*", "join(/stream,/id)", "/id"},
                     .never_best = {"/stream", "hier(/stream,*"},
                     .disqualified = {{"/stream", "hot_key"},
                                      {"hier(/stream,/id)", "hot_key"},
                                      {"join(/stream,day(/at))", "hot_key"}},
                     .verdict = Verdict::change,
                     .own_container = {"s00000"}}};
}

// A number that only grows is no hot spot under a hash: every item has its own.
inline Known invoices() {
  return {
      .set = {.name = "invoices",
              .items = 1e8,
              .gigabytes = 120,
              .throughput = 30'000,
              .days = 200,
              .ru_s = 14'000,
              .make =
                  [](Dice& dice, double t, bool) {
                    return Item{{"/id", dice.quoted_id()},
                                {"/invoice", fmt::format("{:.0f}", t * 16)},
                                {"/clerk", named("k", dice.below(90))},
                                {"/issued", day(t)},
                                {"/sum", decimal(dice, 5, 5'000)}};
                  },
              .times = {"/issued"},
              .operations = {{.share = 0.6, .op = "query", .equal = {"/invoice"}, .work_ru = 0.5},
                             {.share = 0.35, .op = "create"},
                             {.share = 0.05,
                              .op = "query",
                              .equal = {"/issued"},
                              .work_ru = 9,
                              .age_s = 86'400}}},
      .answer = {.best = {"/invoice"},
                 .never_best = {"/issued", "/clerk", "/id"},
                 .warned = {{"/issued", "hot_by_time"}},
                 .not_warned = {{"/invoice", "hot_by_time"}},
                 .verdict = Verdict::choose}};
}

}  // namespace orrery::advise::test
