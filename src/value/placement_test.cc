// Effective keys against the published vectors, prefixes of hierarchical keys, and where
// ranges are cut.
#include "value/placement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <compare>
#include <random>
#include <set>

#include "base/bytes.h"
#include "value/hash_twin.h"
#include "value/ordered.h"

namespace orrery::value {
namespace {

using testing::HasSubstr;

KeyPart undefined() {
  return {};
}
KeyPart null() {
  return {.type = Type::null, .text = {}};
}
KeyPart boolean(bool value) {
  return {.type = Type::boolean, .boolean = value, .text = {}};
}
KeyPart number_part(double value) {
  return {.type = Type::number, .number = value, .text = {}};
}
KeyPart string(std::string text) {
  return {.type = Type::string, .text = std::move(text)};
}

KeyDefinition definition(Placement placement, size_t levels = 1) {
  KeyDefinition out{.placement = placement, .paths = {}};
  for (size_t i = 0; i < levels; ++i) {
    out.paths.push_back(parse_property_path("/level" + std::to_string(i)).value());
  }
  return out;
}

// What clients know of a key's placement.
std::string hex(Placement placement, const PartitionKey& key) {
  const KeyDefinition keys = definition(placement, key.size());
  return to_hex_upper(effective_key(keys, place(keys, key)));
}

// What clients compute for the same keys.
TEST(Placement, HashV2AgreesWithTheClients) {
  const std::pair<KeyPart, const char*> cases[] = {
      {undefined(), "11622DAA78F835834610ABE56EFF5CB5"},
      {null(), "378867E4430E67857ACE5C908374FE16"},
      {boolean(true), "0E711127C5B5A8E4726AC6DD306A3E59"},
      {boolean(false), "2FE1BE91E90A3439635E0E9E37361EF2"},
      {number_part(0), "155B95BEDAC4B1E9EC1CDC9BB0DDDE58"},
      {number_part(-0.0), "155B95BEDAC4B1E9EC1CDC9BB0DDDE58"},  // as 0: they are one key
      {number_part(-1), "19938E7A936C1C5B9E3AE842BBC16839"},
      {number_part(5.12345), "386AA59DBED2F6C4B6F4C1DCCB116E2A"},
      {string(""), "32E9366E637A71B4E710384B2F4970A0"},
      {string("Redmond"), "01620B162169497AFD85FA66E99F7376"},
      {string(std::string(101, 'a')), "08042541D30C8BF90D7092B1519AE0BC"},
  };
  for (const auto& [part, expected] : cases) {
    EXPECT_EQ(hex(Placement::hash_v2, {part}), expected);
    EXPECT_EQ(hex(Placement::multi_hash, {part}), expected);
  }
  EXPECT_EQ(hex(Placement::hash_v2, {string("Redmond"), number_part(5)}),
            "35C2C742D4AC84146A8DD48B4C5F55C1");
}

TEST(Placement, MultiHashIsOneHashALevel) {
  EXPECT_EQ(hex(Placement::multi_hash, {string("Redmond"), number_part(5), boolean(true)}),
            "01620B162169497AFD85FA66E99F7376"
            "19C08621B135968252FB34B4CF66F811"
            "0E711127C5B5A8E4726AC6DD306A3E59");
}

TEST(Placement, HashV1AgreesWithTheClients) {
  std::string hundred;
  for (int i = 0; i < 100; ++i) hundred += "62";
  const std::pair<KeyPart, std::string> cases[] = {
      {undefined(), "05C1D529E345DC00"},
      {null(), "05C1ED45D7475601"},
      {boolean(true), "05C1D7C5A903D803"},
      {boolean(false), "05C1DB857D857C02"},
      {number_part(0), "05C1BF6DA115600580"},
      {number_part(2), "05C1D93569113805C0"},
      {number_part(-1), "05C1D1A5BDDF9C054010"},
      {number_part(5.12345), "05C1E93B098DEE05C0153F9B35D5170F94"},
      {string(""), "05C1CF33970FF80800"},
      {string("Redmond"), "05C1EFFF3F1D82085366656E706F6500"},
      {string(std::string(100, 'a')), "05C1EB5921F70608" + hundred + "00"},
      {string(std::string(101, 'a')), "05C1EB5921F70608" + hundred + "00"},
      // The cut falls inside the two UTF-16 units of the last character.
      {string(std::string(99, 'a') + "😀x"), "05C1E153DB455808" + hundred.substr(2) + "F0C0BE00"},
  };
  for (const auto& [part, expected] : cases) EXPECT_EQ(hex(Placement::hash_v1, {part}), expected);
}

TEST(Placement, FixedContainersHaveOneUndefinedPart) {
  for (const Placement placement :
       {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash, Placement::range}) {
    const KeyDefinition fixed = definition(placement, 0);
    const auto item = JsonDocument::parse(R"({"id":"1"})").value();
    const PartitionKey key = extract_key(item.root(), fixed).value();
    EXPECT_EQ(key, PartitionKey{undefined()});
    EXPECT_EQ(place(fixed, key), place(fixed, {}));
    const KeyScope scope = place_prefix(fixed, {});
    EXPECT_EQ(scope.min, place(fixed, key));
    EXPECT_EQ(scope.max, scope.min + '\0');
    EXPECT_EQ(effective_key(fixed, scope.min), scope.min);
  }
}

TEST(Placement, ExtractsTheKeyOfAnItem) {
  const auto item =
      JsonDocument::parse(R"({"a":{"b":"x\ty"},"n":1.5,"t":true,"z":null,"list":[1],"o":{}})")
          .value();
  const auto extract = [&](std::initializer_list<const char*> paths) {
    KeyDefinition keys{.placement = Placement::multi_hash, .paths = {}};
    for (const char* path : paths) keys.paths.push_back(parse_property_path(path).value());
    return extract_key(item.root(), keys);
  };
  EXPECT_EQ(extract({"/a/b", "/n", "/t"}).value(),
            (PartitionKey{string("x\ty"), number_part(1.5), boolean(true)}));
  EXPECT_EQ(extract({"/z", "/nowhere", "/n/b"}).value(),
            (PartitionKey{null(), undefined(), undefined()}));
  EXPECT_THAT(extract({"/n", "/list"}).error().message, HasSubstr("/list is an array"));
  EXPECT_EQ(extract({"/n", "/list"}).error().code, Code::invalid);
  EXPECT_EQ(extract({"/o", "/a"}).value(), (PartitionKey{undefined(), undefined()}));
}

TEST(Placement, PrintsKeys) {
  EXPECT_EQ(to_json({string("Red\"mond"), number_part(5), boolean(true), null(), undefined()}),
            R"(["Red\"mond",5,true,null,{}])");
  EXPECT_EQ(to_json({}), "[]");
}

KeyPart random_part(std::mt19937_64& random) {
  switch (random() % 5) {
    case 0:
      return random() % 2 == 0 ? undefined() : null();
    case 1:
      return boolean(random() % 2 == 0);
    case 2: {
      const auto any = std::bit_cast<double>(static_cast<uint64_t>(random()));
      return number_part(
          random() % 2 == 0 && std::isfinite(any) ? any : static_cast<double>(random() % 20) - 10);
    }
    default: {
      static constexpr char kLetters[] = {'\x00', '\x01', 'a', 'b', '\x7F'};
      std::string text;
      for (uint64_t i = random() % 4; i > 0; --i) text.push_back(kLetters[random() % 5]);
      return string(std::move(text));
    }
  }
}

std::strong_ordering compare(const KeyPart& a, const KeyPart& b) {
  if (a.type != b.type) return a.type <=> b.type;
  switch (a.type) {
    case Type::boolean:
      return a.boolean <=> b.boolean;
    case Type::number:
      return a.number < b.number   ? std::strong_ordering::less
             : a.number > b.number ? std::strong_ordering::greater
                                   : std::strong_ordering::equal;
    case Type::string:
      return a.text <=> b.text;
    default:
      return std::strong_ordering::equal;
  }
}

TEST(RangePlacement, KeepsTheOrderOfTheKeys) {
  const KeyDefinition range = definition(Placement::range, 2);
  std::mt19937_64 random(21);
  for (int i = 0; i < 50000; ++i) {
    const PartitionKey a{random_part(random), random_part(random)};
    const PartitionKey b{random_part(random), random_part(random)};
    auto order = compare(a[0], b[0]);
    if (order == 0) order = compare(a[1], b[1]);
    ASSERT_EQ(order, place(range, a) <=> place(range, b)) << to_json(a) << " " << to_json(b);
    ASSERT_LT(place(range, a), placement_max());
    ASSERT_GT(place(range, a), placement_min());
  }
}

bool holds(const KeyScope& scope, std::string_view placement) {
  return scope.min <= placement && placement < scope.max && scope.only.has(placement);
}

TEST(Placement, PrefixScopesHoldExactlyTheirKeys) {
  std::mt19937_64 random(22);
  for (const Placement placement : {Placement::multi_hash, Placement::range}) {
    const KeyDefinition keys = definition(placement, 3);
    for (int i = 0; i < 10000; ++i) {
      const PartitionKey a{random_part(random), random_part(random), random_part(random)};
      PartitionKey b = a;
      for (KeyPart& part : b) {
        if (random() % 3 == 0) part = random_part(random);
      }
      for (size_t levels = 0; levels <= 3; ++levels) {
        const auto cut = static_cast<ptrdiff_t>(levels);
        const PartitionKey prefix(a.begin(), a.begin() + cut);
        const bool same = std::equal(prefix.begin(), prefix.end(), b.begin());
        ASSERT_EQ(same, holds(place_prefix(keys, prefix), place(keys, b)))
            << to_json(prefix) << " " << to_json(b);
      }
    }
  }
}

TEST(Placement, WholeHashKeysAreOnePoint) {
  for (const Placement placement : {Placement::hash_v1, Placement::hash_v2}) {
    const KeyScope scope = place_prefix(definition(placement), {string("Redmond")});
    EXPECT_EQ(scope.min, place(definition(placement), {string("Redmond")}));
    EXPECT_EQ(scope.max, scope.min + '\0');
    EXPECT_EQ(scope.only, LevelFilter{});
  }
}

TEST(Placement, KeysOfOneHashLieSideBySideAndApart) {
  const KeyDefinition keys = definition(Placement::hash_v2);
  for (const KeyPart& part :
       {string("alice"), string(std::string(2048, 'x')), number_part(5), null()}) {
    const KeyPart twin = hash_twin(part);
    const std::string a = place(keys, {part});
    const std::string b = place(keys, {twin});
    EXPECT_EQ(effective_key(keys, a), effective_key(keys, b)) << to_json({twin});
    EXPECT_NE(a, b);
    EXPECT_TRUE(holds(place_prefix(keys, {part}), a));
    EXPECT_FALSE(holds(place_prefix(keys, {part}), b));
    EXPECT_FALSE(holds(place_prefix(keys, {twin}), a));
    // Whatever boundary there is, both are on the same side of it.
    EXPECT_LE(effective_key(keys, a), std::min(a, b));
    EXPECT_GT(after_prefix(effective_key(keys, a)), std::max(a, b));
  }
}

TEST(Placement, PrefixesOfOneHashAreToldApart) {
  const KeyDefinition keys = definition(Placement::multi_hash, 3);
  const KeyPart alice = string("alice");
  const KeyPart twin = hash_twin(alice);
  const auto key = [&](const KeyPart& first, const KeyPart& second) {
    return place(keys, {first, second, number_part(1)});
  };
  const KeyScope of_alice = place_prefix(keys, {alice});
  EXPECT_EQ(of_alice.min, place_prefix(keys, {twin}).min);
  EXPECT_TRUE(holds(of_alice, key(alice, string("a"))));
  EXPECT_TRUE(holds(of_alice, key(alice, twin)));
  EXPECT_FALSE(holds(of_alice, key(twin, string("a"))));
  EXPECT_FALSE(holds(of_alice, key(twin, alice)));
  const KeyScope second = place_prefix(keys, {string("t"), alice});
  EXPECT_TRUE(holds(second, key(string("t"), alice)));
  EXPECT_FALSE(holds(second, key(string("t"), twin)));
  // A client's boundary can lie inside a prefix: then both have keys on both sides.
  std::set<bool> sides;
  const std::string boundary = of_alice.min + std::string(16, '\x20');
  for (int i = 0; i < 64; ++i) sides.insert(key(twin, number_part(i)) < boundary);
  EXPECT_EQ(sides.size(), 2U);
}

TEST(Placement, FirstVersionKeysThatAreCutAreToldApart) {
  const KeyDefinition keys = definition(Placement::hash_v1);
  const std::string hundred(100, 'a');
  const std::string placed = place(keys, {string(hundred)});
  for (const std::string& more : {hundred + "a", hundred + "b", hundred + hundred}) {
    const std::string other = place(keys, {string(more)});
    EXPECT_EQ(effective_key(keys, placed), effective_key(keys, other));
    EXPECT_NE(placed, other);
  }
}

TEST(Placement, MinusZeroIsZero) {
  for (const Placement placement :
       {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash, Placement::range}) {
    EXPECT_EQ(place(definition(placement), {number_part(-0.0)}),
              place(definition(placement), {number_part(0)}));
  }
}

std::vector<std::string> hex_all(const std::vector<std::string>& boundaries) {
  std::vector<std::string> out;
  for (const std::string& boundary : boundaries) out.push_back(to_hex_upper(boundary));
  return out;
}

TEST(Placement, DividesTheHashSpaceWhereTheVendorDoes) {
  using Boundaries = std::vector<std::string>;
  EXPECT_EQ(hex_all(divide_evenly(Placement::hash_v2, 2)),
            (Boundaries{"1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"}));
  EXPECT_EQ(hex_all(divide_evenly(Placement::multi_hash, 3)),
            (Boundaries{"15555555555555555555555555555555", "2AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}));
  EXPECT_EQ(hex_all(divide_evenly(Placement::hash_v2, 5)),
            (Boundaries{"0CCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC", "19999999999999999999999999999998",
                        "26666666666666666666666666666664", "33333333333333333333333333333330"}));
  EXPECT_EQ(hex_all(divide_evenly(Placement::hash_v1, 2)), (Boundaries{"05C1DFFFFFFFFC"}));
  EXPECT_TRUE(divide_evenly(Placement::hash_v2, 1).empty());
  EXPECT_TRUE(divide_evenly(Placement::hash_v2, 0).empty());
  EXPECT_TRUE(divide_evenly(Placement::range, 5).empty());
}

TEST(Placement, EvenRangesHoldEvenNumbersOfKeys) {
  for (const Placement placement :
       {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash}) {
    for (const uint32_t count : {2U, 5U, 16U, 1000U}) {
      const auto boundaries = divide_evenly(placement, count);
      ASSERT_EQ(boundaries.size(), count - 1);
      ASSERT_TRUE(std::ranges::is_sorted(boundaries, std::ranges::less_equal{}));
      if (count > 16) continue;
      std::vector<int> held(count);
      for (int i = 0; i < 16000; ++i) {
        const std::string key = place(definition(placement), {string("key" + std::to_string(i))});
        ++held[static_cast<size_t>(std::ranges::upper_bound(boundaries, key) - boundaries.begin())];
      }
      const int fair = 16000 / static_cast<int>(count);
      for (const int keys : held) {
        EXPECT_GT(keys, fair * 8 / 10);
        EXPECT_LT(keys, fair * 12 / 10);
      }
    }
  }
}

// Halving over and over stays strictly inside, until there is nothing left to halve.
TEST(Placement, MiddleIsStrictlyBetween) {
  std::mt19937_64 random(23);
  for (const Placement placement :
       {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash}) {
    for (int round = 0; round < 50; ++round) {
      std::string min(placement_min());
      std::string max(placement_max());
      int halvings = 0;
      for (;; ++halvings) {
        const std::string middle = middle_of(placement, min, max);
        if (middle.empty()) break;
        ASSERT_LT(min, middle);
        ASSERT_LT(middle, max);
        ASSERT_EQ(placement == Placement::hash_v1, middle.size() != 16);
        (random() % 2 == 0 ? min : max) = middle;
      }
      EXPECT_GE(halvings, placement == Placement::hash_v1 ? 31 : 125);
      EXPECT_LE(halvings, placement == Placement::hash_v1 ? 33 : 127);
    }
  }
  EXPECT_EQ(to_hex_upper(middle_of(Placement::hash_v2, "", "\xFF")),
            "20000000000000000000000000000000");
  EXPECT_EQ(to_hex_upper(middle_of(Placement::hash_v1, "", "\xFF")), "05C1E0");
  EXPECT_EQ(middle_of(Placement::range, "", "\xFF"), "");
  EXPECT_EQ(middle_of(Placement::hash_v2, "b", "a"), "");
  EXPECT_EQ(middle_of(Placement::hash_v2, "a", "a"), "");
}

TEST(Placement, MiddleAlsoTakesWholeKeysAsBounds) {
  for (const Placement placement :
       {Placement::hash_v1, Placement::hash_v2, Placement::multi_hash}) {
    const KeyDefinition keys = definition(placement, placement == Placement::multi_hash ? 2 : 1);
    for (int i = 0; i < 2000; ++i) {
      PartitionKey a{string(std::to_string(i))};
      PartitionKey b{number_part(i)};
      if (placement == Placement::multi_hash) {
        a.push_back(null());
        b.push_back(null());
      }
      const auto [min, max] = std::minmax({place(keys, a), place(keys, b)});
      const std::string middle = middle_of(placement, min, max);
      ASSERT_FALSE(middle.empty()) << i;
      ASSERT_LT(min, middle);
      ASSERT_LT(middle, max);
    }
    // Nothing lies between the bounds of one key.
    const KeyScope scope = place_prefix(keys, {string("x"), null()});
    EXPECT_EQ(middle_of(placement, scope.min, scope.max), "");
  }
}

}  // namespace
}  // namespace orrery::value
