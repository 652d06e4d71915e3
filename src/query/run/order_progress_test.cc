// An OrderProgress survives encoding, and malformed ones are refused.
#include "query/run/order_progress.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::query {
namespace {

TEST(OrderProgressTest, ComesBackAsItWas) {
  OrderProgress scan;
  EXPECT_EQ(decode_order_progress(encode(scan)).value(), scan);
  scan.key = std::string("k\0\1", 3);
  scan.at_start = true;
  scan.by_key = true;
  scan.end.emplace();
  scan.end->key = "e";
  scan.end->rows_of_it = UINT64_MAX;
  scan.end->order = "[[1],[]]";
  scan.end->result_mark = Fingerprint{0, 1, 2};
  EXPECT_EQ(decode_order_progress(encode(scan)).value(), scan);
  const size_t without = encode(scan).size();
  scan.found.push_back({.key = "", .number = 7, .mark = {}});
  EXPECT_EQ(encode(scan).size(), without + encoded_size(scan.found.back()));
  scan.found.push_back({.key = "b", .number = 0, .mark = Fingerprint{}});
  EXPECT_EQ(decode_order_progress(encode(scan)).value(), scan);
}

TEST(OrderProgressTest, RefusesWhatIsNotOne) {
  OrderProgress scan;
  scan.key = "key";
  scan.end.emplace().order_mark = Fingerprint{};
  scan.found.push_back({.key = "b", .number = 12, .mark = {}});
  const std::string whole = encode(scan);
  const std::string without_rows = whole.substr(0, whole.size() - encoded_size(scan.found[0]));
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);
    EXPECT_EQ(decode_order_progress(cut).has_value(), cut == without_rows) << size;
  }
  EXPECT_FALSE(decode_order_progress(whole + "x"));
  EXPECT_FALSE(decode_order_progress("{\"no_room\":\"\",\"groups\":[]}"));
}

}  // namespace
}  // namespace orrery::query
