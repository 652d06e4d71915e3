// Containers in which the property that queries name is missing, changes, is nested, or is no key
// at all; and too little to judge by.
#pragma once

#include "advise/test_answers.h"

namespace orrery::advise::test {

// Half of the items have no account: all of those would be one logical partition.
inline Known missing_accounts() {
  return {
      .set = {.name = "missing_accounts",
              .items = 8e7,
              .gigabytes = 90,
              .throughput = 20'000,
              .days = 200,
              .ru_s = 12'000,
              .make =
                  [](Dice& dice, double t, bool) {
                    Item item{{"/id", dice.quoted_id()},
                              {"/customer", named("", dice.below(20'000))},
                              {"/when", fmt::format("{:.0f}", t)},
                              {"/ok", chance(dice, 0.95)}};
                    const double at = dice.share();
                    if (at < 0.45) item["/account"] = named("acc", dice.below(9'000));
                    if (at > 0.95) item["/account"] = "null";
                    return item;
                  },
              .times = {"/when"},
              .operations = {{.share = 0.35, .op = "query", .equal = {"/account"}, .work_ru = 2},
                             {.share = 0.35, .op = "query", .equal = {"/customer"}, .work_ru = 2},
                             {.share = 0.25, .op = "create"},
                             {.share = 0.05, .op = "read", .equal = {"/id", "/customer"}}}},
      .answer = {.best = {"/customer"},
                 .never_best = {"/account", "/ok", "/id"},
                 .warned = {{"/account", "missing_values"}},
                 .verdict = Verdict::choose}};
}

// What most queries name changes in the life of an item.
inline Known tickets() {
  return {
      .set = {.name = "tickets",
              .items = 1.2e7,
              .gigabytes = 20,
              .throughput = 20'000,
              .days = 240,
              .ru_s = 8'000,
              .make =
                  [](Dice& dice, double t, bool) {
                    return Item{{"/id", dice.quoted_id()},
                                {"/assignee", named("agent", dice.below(2'500))},
                                {"/project", named("p", dice.zipf(1'800, 0.3))},
                                {"/state", one_of(dice, "open", "busy", "closed")},
                                {"/opened", day(t)}};
                  },
              .times = {"/opened"},
              .changes = {{"/assignee", 0.45}, {"/state", 0.7}},
              .operations =
                  {{.share = 0.4, .op = "query", .equal = {"/assignee", "/state"}, .work_ru = 2},
                   {.share = 0.3, .op = "query", .equal = {"/project"}, .work_ru = 2},
                   {.share = 0.2, .op = "replace"},
                   {.share = 0.1, .op = "create"}}},
      .answer = {.best = {"/project"},
                 .never_best = {"/assignee", "/state", "/opened"},
                 .disqualified = {{"/assignee", "changes"}, {"/state", "few_values"}},
                 .verdict = Verdict::choose}};
}

// The right key is two levels down; an array is beside it.
inline Known nested() {
  return {.set = {.name = "nested",
                  .items = 6e7,
                  .gigabytes = 70,
                  .throughput = 20'000,
                  .partition_key = "[\"/id\"]",
                  .ru_s = 12'000,
                  .make =
                      [](Dice& dice, double, bool) {
                        return Item{
                            {"/id", dice.quoted_id()},
                            {"/owner/account/id", named("own", dice.below(25'000))},
                            {"/owner/account/tier", named("tier", dice.heads(2, {0.9}))},
                            {"/address/zip", named("", dice.zipf(900, 0.9))},
                            {"/tags", fmt::format("[{},{}]", dice.below(99), dice.below(99))},
                            {"/meta/size", number(1 + dice.below(9'999))}};
                      },
                  .operations =
                      {{.share = 0.55, .op = "query", .equal = {"/owner/account/id"}, .work_ru = 2},
                       {.share = 0.1, .op = "query", .equal = {"/address/zip"}, .work_ru = 3},
                       {.share = 0.25, .op = "create"},
                       {.share = 0.1, .op = "read", .equal = {"/id", "/owner/account/id"}}}},
          .answer = {.best = {"/owner/account/id"},
                     .never_best = {"/address/zip", "/owner/account/tier", "/id", "/tags"},
                     .disqualified = {{"/owner/account/tier", "few_values"}},
                     .no_key = {"/tags"},
                     .verdict = Verdict::change}};
}

// Names with a space, with a dash, and values beyond ASCII.
inline Known quoted_names() {
  const std::string place = R"(/"delivery address"/"post-code")";
  const std::string driver = R"(/"Fahrer Nr")";
  const std::string express = R"(/"is express")";
  return {.set = {.name = "quoted_names",
                  .items = 5e7,
                  .gigabytes = 50,
                  .throughput = 20'000,
                  .ru_s = 12'000,
                  .make =
                      [=](Dice& dice, double, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {place, named("ZÜ-", dice.below(15'000))},
                                    {driver, named("d", dice.zipf(300, 1))},
                                    {"/weight", decimal(dice, 0, 30)},
                                    {express, chance(dice, 0.2)}};
                      },
                  .operations = {{.share = 0.6, .op = "query", .equal = {place}, .work_ru = 2},
                                 {.share = 0.1, .op = "query", .equal = {driver}, .work_ru = 3},
                                 {.share = 0.3, .op = "create"}}},
          .answer = {.best = {place},
                     .never_best = {driver, express, "/weight", "/id"},
                     .disqualified = {{express, "few_values"}},
                     .verdict = Verdict::choose}};
}

// Neither property spreads alone; together they do, and the queries name both.
inline Known stock() {
  return {.set = {.name = "stock",
                  .items = 2e8,
                  .gigabytes = 60,
                  .throughput = 60'000,
                  .days = 150,
                  .ru_s = 35'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/shop", named("shop", dice.zipf(60, 0.8))},
                                    {"/sku", named("sku", dice.zipf(500, 1))},
                                    {"/count", number(dice.below(51))},
                                    {"/at", instant(t)}};
                      },
                  .times = {"/at"},
                  .changes = {{"/count", 0.9}},
                  .operations =
                      {{.share = 0.55, .op = "query", .equal = {"/shop", "/sku"}, .work_ru = 1.5},
                       {.share = 0.4, .op = "create"},
                       {.share = 0.02, .op = "query", .equal = {"/sku"}, .work_ru = 4}}},
          .answer = {.best = {"join(/shop,/sku)", "join(/sku,/shop)"},
                     .never_best = {"/shop", "/sku", "/id", "/count"},
                     .disqualified = {{"/shop", "limit"}, {"/count", "few_values"}},
                     .warned = {{"/sku", "uneven"}, {"/shop", "uneven"}},
                     .verdict = Verdict::choose}};
}

// A reference that is an array in some items: as a key it would refuse those.
inline Known mixed_references() {
  return {.set = {.name = "mixed_references",
                  .items = 3e7,
                  .gigabytes = 40,
                  .throughput = 20'000,
                  .ru_s = 9'000,
                  .make =
                      [](Dice& dice, double, bool) {
                        const bool plain = dice.share() < 0.97;
                        return Item{{"/id", dice.quoted_id()},
                                    {"/ref", plain ? named("r", dice.below(9'000)) : "[1,2]"},
                                    {"/owner", named("o", dice.below(8'000))},
                                    {"/n", number(dice.below(10))}};
                      },
                  .operations = {{.share = 0.4, .op = "query", .equal = {"/ref"}, .work_ru = 2},
                                 {.share = 0.35, .op = "query", .equal = {"/owner"}, .work_ru = 2},
                                 {.share = 0.25, .op = "create"}}},
          .answer = {.best = {"/owner"},
                     .never_best = {"/ref", "/n", "/id"},
                     .disqualified = {{"/ref", "not_scalar"}},
                     .verdict = Verdict::choose}};
}

// Most reads name several authors in a list.
inline Known timelines() {
  return {
      .set = {.name = "timelines",
              .items = 3e8,
              .gigabytes = 150,
              .throughput = 50'000,
              .partition_key = "[\"/topic\"]",
              .days = 120,
              .ru_s = 25'000,
              .make =
                  [](Dice& dice, double t, bool) {
                    return Item{{"/id", dice.quoted_id()},
                                {"/author", named("a", dice.zipf(40'000, 0.3))},
                                {"/topic", named("t", dice.zipf(400, 1))},
                                {"/at", fmt::format("{:.0f}", t * 1'000)},
                                {"/likes", number(dice.below(5'001))}};
                  },
              .times = {"/at"},
              .changes = {{"/likes", 0.9}},
              .operations = {{.share = 0.4, .op = "query", .lists = {{"/author", 3}}, .work_ru = 2},
                             {.share = 0.25, .op = "query", .equal = {"/author"}, .work_ru = 2},
                             {.share = 0.08, .op = "query", .equal = {"/topic"}, .work_ru = 4},
                             {.share = 0.2, .op = "create"},
                             {.share = 0.07, .op = "patch", .equal = {"/id", "/author"}}}},
      .answer = {.best = {"/author"},
                 .never_best = {"/topic", "/likes", "/id", "/at"},
                 .disqualified = {{"/likes", "changes"}},
                 .warned = {{"/topic", "fan_out"}},
                 .verdict = Verdict::change}};
}

// Items of users with nothing to tell which requests there are.
inline Known unasked() {
  return {.set = {.name = "unasked",
                  .items = 3e7,
                  .gigabytes = 30,
                  .throughput = 20'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/user", named("u", dice.below(12'000))},
                                    {"/flag", chance(dice, 0.5)},
                                    {"/day", day(t)},
                                    {"/plan", one_of(dice, "a", "b", "c")}};
                      },
                  .times = {"/day"}},
          .answer = {.never_best = {"/flag", "/plan", "/day"},
                     .disqualified = {{"/flag", "few_values"}, {"/plan", "few_values"}},
                     .verdict = Verdict::insufficient,
                     .notes = {"no_workload"}}};
}

inline Known hardly_anything() {
  return {.set = {.name = "hardly_anything",
                  .items = 5e7,
                  .gigabytes = 50,
                  .throughput = 20'000,
                  .days = 10,
                  .ru_s = 9'000,
                  .make =
                      [](Dice& dice, double, bool) {
                        return Item{{"/id", dice.quoted_id()},
                                    {"/user", named("u", dice.below(9'000))},
                                    {"/flag", chance(dice, 0.5)}};
                      },
                  .operations = {{.share = 0.7, .op = "query", .equal = {"/user"}, .work_ru = 2},
                                 {.share = 0.3, .op = "create"}},
                  .sampled_items = 60,
                  .sampled_requests = 40},
          .answer = {.never_best = {"/flag"},
                     .verdict = Verdict::insufficient,
                     .notes = {"few_items", "few_requests"}}};
}

}  // namespace orrery::advise::test
