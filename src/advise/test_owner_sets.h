// Containers whose items belong to somebody (users, tenants, customers), and the keys that are
// right for them.
#pragma once

#include "advise/test_answers.h"

namespace orrery::advise::test {

inline Known profiles() {
  return {.set = {.name = "profiles",
                  .items = 4e6,
                  .gigabytes = 8,
                  .throughput = 20'000,
                  .days = 120,
                  .ru_s = 9'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        return Item{{"/id", named("u", dice.below(1'000'000'000))},
                                    {"/email", dice.quoted_id()},
                                    {"/country", named("country", dice.zipf(8, 1))},
                                    {"/premium", chance(dice, 0.1)},
                                    {"/seen", instant(t)}};
                      },
                  .times = {"/seen"},
                  .changes = {{"/seen", 0.9}},
                  .operations = {{.share = 0.8, .op = "read", .equal = {"/id"}},
                                 {.share = 0.12, .op = "replace"},
                                 {.share = 0.03, .op = "create"},
                                 {.share = 0.05, .op = "query", .equal = {"/email"}}}},
          .answer = {.best = {"/id"},
                     .never_best = {"/country", "/premium", "/seen"},
                     .disqualified = {{"/premium", "few_values"},
                                      {"/country", "few_values"},
                                      {"/seen", "changes"}},
                     .verdict = Verdict::choose}};
}

inline Known even_tenants() {
  const auto tenants = owners(60'000, [](Dice& dice) { return dice.zipf(3'000, 0.3); });
  return {.set = {.name = "even_tenants",
                  .items = 5e7,
                  .gigabytes = 60,
                  .throughput = 30'000,
                  .days = 300,
                  .ru_s = 14'000,
                  .make =
                      [tenants](Dice& dice, double t, bool) {
                        const size_t user = dice.below(tenants.size());
                        return Item{{"/id", dice.quoted_id()},
                                    {"/tenant", named("t", tenants[user])},
                                    {"/user", named("u", user)},
                                    {"/kind", one_of(dice, "note", "task", "file")},
                                    {"/created", instant(t)},
                                    {"/done", chance(dice, 0.4)}};
                      },
                  .times = {"/created"},
                  .changes = {{"/done", 0.5}},
                  .operations =
                      {{.share = 0.3, .op = "read", .equal = {"/id", "/tenant"}},
                       {.share = 0.35, .op = "query", .equal = {"/tenant", "/kind"}, .work_ru = 2},
                       {.share = 0.15, .op = "create"},
                       {.share = 0.1, .op = "replace"},
                       {.share = 0.1, .op = "batch", .batch = 3, .same = {"/tenant"}}}},
          .answer = {.best = {"/tenant"},
                     .never_best = {"/user", "/kind", "/id"},
                     .disqualified = {{"/user", "breaks_transactions"},
                                      {"/id", "breaks_transactions"},
                                      {"/kind", "few_values"}},
                     .verdict = Verdict::choose}};
}

inline Known huge_tenants() {
  const auto tenants =
      owners(60'000, [](Dice& dice) { return dice.heads(800, {0.33, 0.12, 0.06}); });
  return {.set = {.name = "huge_tenants",
                  .items = 6e8,
                  .gigabytes = 600,
                  .throughput = 50'000,
                  .partition_key = "[\"/tenant\"]",
                  .days = 180,
                  .ru_s = 20'000,
                  .make =
                      [tenants](Dice& dice, double t, bool) {
                        const size_t user = dice.below(tenants.size());
                        return Item{{"/id", dice.quoted_id()},
                                    {"/tenant", named("t", tenants[user])},
                                    {"/user", named("u", user)},
                                    {"/kind", one_of(dice, "mail", "event", "contact")},
                                    {"/at", instant(t)}};
                      },
                  .times = {"/at"},
                  .operations =
                      {{.share = 0.35, .op = "read", .equal = {"/id", "/tenant", "/user"}},
                       {.share = 0.3, .op = "query", .equal = {"/tenant", "/user"}, .work_ru = 2},
                       {.share = 0.15, .op = "query", .equal = {"/tenant"}, .work_ru = 5},
                       {.share = 0.2, .op = "create"}}},
          .answer = {.best = {"hier(/tenant,/user)", "hier(/tenant,/user,*", "hier(/tenant,/id)"},
                     .never_best = {"/tenant", "/kind"},
                     .disqualified = {{"/tenant", "limit"}},
                     .verdict = Verdict::change,
                     .advice = {"own_container", "hierarchy"},
                     .own_container = {"t00000", "t00001"}}};
}

// Asked for by tenant, by unit and by user; tenants and units would both pass the limit.
inline Known three_levels() {
  const auto tenants = owners(700, [](Dice& dice) { return dice.below(240); });
  const auto units = owners(50'000, [](Dice& dice) { return dice.below(700); });
  return {.set = {.name = "three_levels",
                  .items = 4e9,
                  .gigabytes = 6'144,
                  .throughput = 200'000,
                  .days = 180,
                  .ru_s = 60'000,
                  .make =
                      [tenants, units](Dice& dice, double, bool) {
                        const size_t user = dice.below(units.size());
                        return Item{{"/id", dice.quoted_id()},
                                    {"/tenant", named("t", tenants[units[user]])},
                                    {"/unit", named("d", units[user])},
                                    {"/user", named("u", user)},
                                    {"/kind", one_of(dice, "x", "y")}};
                      },
                  .operations =
                      {{.share = 0.15, .op = "query", .equal = {"/tenant"}, .work_ru = 4},
                       {.share = 0.25, .op = "query", .equal = {"/tenant", "/unit"}, .work_ru = 3},
                       {.share = 0.3, .op = "query", .equal = {"/tenant", "/unit", "/user"}},
                       {.share = 0.1, .op = "read", .equal = {"/id", "/tenant", "/unit", "/user"}},
                       {.share = 0.2, .op = "create"}}},
          .answer = {.best = {"hier(/tenant,/unit,/user)", "hier(/tenant,/user)",
                              "hier(/tenant,/unit,/id)", "hier(/tenant,/user,/id)"},
                     .never_best = {"/tenant", "/unit", "/user", "/kind"},
                     .disqualified = {{"/tenant", "limit"}},
                     .verdict = Verdict::choose}};
}

// Orders with their lines, which are written together and read by customer.
inline Known orders() {
  const auto customers = owners(400'000, [](Dice& dice) { return dice.zipf(40'000, 0.3); });
  return {.set = {.name = "orders",
                  .items = 9e7,
                  .gigabytes = 120,
                  .throughput = 25'000,
                  .days = 365,
                  .ru_s = 12'000,
                  .make =
                      [customers](Dice& dice, double t, bool) {
                        const size_t order = dice.below(customers.size());
                        return Item{{"/id", dice.quoted_id()},
                                    {"/customer", named("c", customers[order])},
                                    {"/order", named("o", order)},
                                    {"/status", one_of(dice, "new", "paid", "sent", "done")},
                                    {"/date", day(t)},
                                    {"/total", decimal(dice, 1, 900)}};
                      },
                  .times = {"/date"},
                  .changes = {{"/status", 0.8}},
                  .operations =
                      {{.share = 0.45, .op = "query", .equal = {"/customer"}, .work_ru = 3},
                       {.share = 0.15, .op = "query", .equal = {"/customer", "/order"}},
                       {.share = 0.2, .op = "batch", .batch = 4, .same = {"/customer", "/order"}},
                       {.share = 0.15, .op = "replace"},
                       {.share = 0.03, .op = "query", .equal = {"/status"}, .work_ru = 8}}},
          .answer = {.best = {"/customer"},
                     .never_best = {"/status", "/date", "/id", "/total"},
                     .disqualified = {{"/status", "few_values"}, {"/id", "breaks_transactions"}},
                     .warned = {{"/order", "fan_out"}},
                     .verdict = Verdict::choose}};
}

// Mostly batches that belong to a cart: the present key is right.
inline Known carts() {
  const auto users = owners(150'000, [](Dice& dice) { return dice.below(30'000); });
  return {
      .set = {.name = "carts",
              .items = 4e7,
              .gigabytes = 50,
              .throughput = 30'000,
              .partition_key = "[\"/cart\"]",
              .days = 60,
              .ru_s = 14'000,
              .make =
                  [users](Dice& dice, double, bool) {
                    const size_t cart = dice.below(users.size());
                    return Item{{"/id", dice.quoted_id()},
                                {"/cart", named("cart", cart)},
                                {"/user", named("u", users[cart])},
                                {"/count", number(1 + dice.below(5))},
                                {"/sku", number(1 + dice.below(4'000))}};
                  },
              .changes = {{"/count", 0.8}},
              .operations = {{.share = 0.45, .op = "batch", .batch = 3, .same = {"/cart", "/user"}},
                             {.share = 0.35, .op = "query", .equal = {"/cart"}},
                             {.share = 0.1, .op = "read", .equal = {"/id", "/cart"}},
                             {.share = 0.1, .op = "query", .equal = {"/user"}}}},
      .answer = {.best = {"/cart"},
                 .never_best = {"/id", "/sku", "/count"},
                 .disqualified = {{"/id", "breaks_transactions"}, {"/sku", "breaks_transactions"}},
                 .verdict = Verdict::keep}};
}

// The present key is good, and another property is one to one with it.
inline Known bookings() {
  return {.set = {.name = "bookings",
                  .items = 7e7,
                  .gigabytes = 60,
                  .throughput = 20'000,
                  .partition_key = "[\"/account\"]",
                  .days = 300,
                  .ru_s = 9'000,
                  .make =
                      [](Dice& dice, double t, bool) {
                        const size_t account = dice.zipf(20'000, 0.3);
                        return Item{{"/id", dice.quoted_id()},
                                    {"/account", named("a", account)},
                                    {"/iban", named("a", account)},
                                    {"/booked", day(t)},
                                    {"/cents", number(1 + dice.below(99'999))}};
                      },
                  .times = {"/booked"},
                  .operations =
                      {{.share = 0.5, .op = "query", .equal = {"/account"}, .work_ru = 2},
                       {.share = 0.2, .op = "read", .equal = {"/id", "/account"}},
                       {.share = 0.2, .op = "create"},
                       {.share = 0.1, .op = "batch", .batch = 2, .same = {"/account", "/iban"}}}},
          .answer = {.best = {"/account"},
                     .never_best = {"/booked", "/cents", "/id"},
                     .warned = {{"/booked", "hot_by_time"}},
                     .verdict = Verdict::keep}};
}

// The present key is a random id, which spreads well and helps nearly no request.
inline Known players() {
  return {
      .set = {.name = "players",
              .items = 9e7,
              .gigabytes = 90,
              .throughput = 40'000,
              .partition_key = "[\"/id\"]",
              .days = 120,
              .ru_s = 18'000,
              .make =
                  [](Dice& dice, double t, bool) {
                    return Item{{"/id", dice.quoted_id()},
                                {"/player", named("p", dice.zipf(30'000, 0.3))},
                                {"/level", number(1 + dice.below(60))},
                                {"/region", one_of(dice, "eu", "us", "asia")},
                                {"/t", fmt::format("{:.0f}", t * 1'000)}};
                  },
              .times = {"/t"},
              .changes = {{"/level", 0.3}},
              .operations = {{.share = 0.7, .op = "query", .equal = {"/player"}, .work_ru = 1.5},
                             {.share = 0.2, .op = "create"},
                             {.share = 0.1, .op = "read", .equal = {"/id", "/player"}}}},
      .answer = {.best = {"/player"},
                 .never_best = {"/id", "/region", "/level"},
                 .disqualified = {{"/region", "few_values"}},
                 .warned = {{"/id", "fan_out"}},
                 .verdict = Verdict::change}};
}

// The largest city is a fifth of everything; most queries name the user.
inline Known cities() {
  const auto city_of = owners(50'000, [](Dice& dice) { return dice.zipf(300, 1.2); });
  return {.set = {.name = "cities",
                  .items = 2e8,
                  .gigabytes = 240,
                  .throughput = 60'000,
                  .partition_key = "[\"/city\"]",
                  .days = 150,
                  .ru_s = 35'000,
                  .make =
                      [city_of](Dice& dice, double, bool) {
                        const size_t user = dice.below(city_of.size());
                        return Item{{"/id", dice.quoted_id()},
                                    {"/city", named("city", city_of[user])},
                                    {"/user", named("u", user)},
                                    {"/active", chance(dice, 0.7)},
                                    {"/score", number(dice.below(101))}};
                      },
                  .operations = {{.share = 0.5, .op = "query", .equal = {"/user"}, .work_ru = 1.5},
                                 {.share = 0.2, .op = "query", .equal = {"/city"}, .work_ru = 3},
                                 {.share = 0.1, .op = "read", .equal = {"/id", "/user"}},
                                 {.share = 0.2, .op = "create"}}},
          .answer = {.best = {"/user"},
                     .never_best = {"/city", "/active", "/score", "/id"},
                     .disqualified = {{"/active", "few_values"}},
                     .warned = {{"/city", "hot_key"}},
                     .verdict = Verdict::change}};
}

}  // namespace orrery::advise::test
