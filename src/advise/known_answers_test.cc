// The advisor on containers whose right answer is known: 24 situations, each with many samples,
// with few, and among requests that have nothing to do with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "advise/test_answers.h"
#include "advise/test_owner_sets.h"
#include "advise/test_property_sets.h"
#include "advise/test_time_sets.h"

namespace orrery::advise {

namespace {

using test::Known;

class KnownAnswers : public ::testing::TestWithParam<Known (*)()> {};

TEST_P(KnownAnswers, OfManySamples) {
  const Known known = GetParam()();
  test::expect_answer(test::report_on(known.set), known.answer);
}

// A situation with fewer samples: no more than so many.
Known with_samples(Known known, size_t items, size_t requests) {
  known.set.sampled_items = std::min(known.set.sampled_items, items);
  known.set.sampled_requests = std::min(known.set.sampled_requests, requests);
  return known;
}

TEST_P(KnownAnswers, OfAThousandItemsAndFourHundredRequests) {
  const Known known = with_samples(GetParam()(), 1'000, 400);
  test::expect_answer(test::report_on(known.set), known.answer);
}

TEST_P(KnownAnswers, WithATenthOfTheRequestsUnrelated) {
  Known known = with_samples(GetParam()(), 2'000, 2'000);
  known.set.noise = 0.1;
  test::expect_answer(test::report_on(known.set), known.answer);
}

constexpr std::array kSituations = {
    &test::readings,     &test::long_histories,   &test::quiet_logs, &test::busy_logs,
    &test::hot_stream,   &test::invoices,         &test::profiles,   &test::even_tenants,
    &test::huge_tenants, &test::three_levels,     &test::orders,     &test::carts,
    &test::bookings,     &test::players,          &test::cities,     &test::missing_accounts,
    &test::tickets,      &test::nested,           &test::stock,      &test::quoted_names,
    &test::timelines,    &test::mixed_references, &test::unasked,    &test::hardly_anything};
static_assert(kSituations.size() == 24);

INSTANTIATE_TEST_SUITE_P(Situations, KnownAnswers, ::testing::ValuesIn(kSituations),
                         [](const auto& one) { return one.param().set.name; });

}  // namespace
}  // namespace orrery::advise
