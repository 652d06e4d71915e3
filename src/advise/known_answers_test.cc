// The advisor on containers whose right answer is known: 24 situations, each with many samples,
// with few, and among requests that have nothing to do with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include "advise/test_answers.h"
#include "advise/test_owner_sets.h"
#include "advise/test_property_sets.h"
#include "advise/test_time_sets.h"

namespace orrery::advise {

namespace {

using test::Known;

// Made when its test runs: some take a while.
struct Situation {
  std::string_view name;
  Known (*make)();
};
// For the list of tests.
void PrintTo(const Situation& one, std::ostream* out) {
  *out << one.name;
}

class KnownAnswers : public ::testing::TestWithParam<Situation> {};

TEST_P(KnownAnswers, OfManySamples) {
  const Known known = GetParam().make();
  test::expect_answer(test::report_on(known.set), known.answer);
}

// A situation with fewer samples: no more than so many.
Known with_samples(Known known, size_t items, size_t requests) {
  known.set.sampled_items = std::min(known.set.sampled_items, items);
  known.set.sampled_requests = std::min(known.set.sampled_requests, requests);
  return known;
}

TEST_P(KnownAnswers, OfAThousandItemsAndFourHundredRequests) {
  const Known known = with_samples(GetParam().make(), 1'000, 400);
  test::expect_answer(test::report_on(known.set), known.answer);
}

TEST_P(KnownAnswers, WithATenthOfTheRequestsUnrelated) {
  Known known = with_samples(GetParam().make(), 2'000, 2'000);
  known.set.noise = 0.1;
  test::expect_answer(test::report_on(known.set), known.answer);
}

constexpr std::array kSituations = {
    Situation{"readings", &test::readings},
    Situation{"long_histories", &test::long_histories},
    Situation{"quiet_logs", &test::quiet_logs},
    Situation{"busy_logs", &test::busy_logs},
    Situation{"hot_stream", &test::hot_stream},
    Situation{"invoices", &test::invoices},
    Situation{"profiles", &test::profiles},
    Situation{"even_tenants", &test::even_tenants},
    Situation{"huge_tenants", &test::huge_tenants},
    Situation{"three_levels", &test::three_levels},
    Situation{"orders", &test::orders},
    Situation{"carts", &test::carts},
    Situation{"bookings", &test::bookings},
    Situation{"players", &test::players},
    Situation{"cities", &test::cities},
    Situation{"missing_accounts", &test::missing_accounts},
    Situation{"tickets", &test::tickets},
    Situation{"nested", &test::nested},
    Situation{"stock", &test::stock},
    Situation{"quoted_names", &test::quoted_names},
    Situation{"timelines", &test::timelines},
    Situation{"mixed_references", &test::mixed_references},
    Situation{"unasked", &test::unasked},
    Situation{"hardly_anything", &test::hardly_anything},
};
static_assert(kSituations.size() == 24);

INSTANTIATE_TEST_SUITE_P(Of, KnownAnswers, ::testing::ValuesIn(kSituations),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace orrery::advise
