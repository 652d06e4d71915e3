// Terms that are made before a write is queued are those that the stored item has, and the writer
// parses no body that it was given them for.
#include "partition/prepared_terms.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <random>

#include "partition/partition_fixture.h"
#include "value/test_codec.h"

namespace orrery::partition {
namespace {

using value::Value;

constexpr std::array<std::string_view, 3> kAdded = {"self", "version", "time"};

std::string to_text(const Version& version) {
  return fmt::format("{}.{}", version.lsn, version.range);
}

class TestFinisher final : public Finisher {
 public:
  std::string finish(std::string_view body, const Version& version,
                     const Origin& origin) const override {
    body.remove_suffix(1);
    return fmt::format(R"({},"self":"item/{}","version":"{}","time":{}}})", body, origin.number,
                       to_text(version), version.time_s);
  }
  std::span<const std::string_view> added_names() const override { return kAdded; }
  void each_added(const Version& version, const Origin& origin,
                  const std::function<void(const Value&)>& take) const override {
    take(Value::make_string(fmt::format("item/{}", origin.number)));
    take(Value::make_string(to_text(version)));
    take(Value::make_number(version.time_s));
  }
};

class CountingCodec final : public value::Codec {
 public:
  Result<value::Document> parse(std::string_view body) const override {
    ++parsed;
    return value::json_codec()->parse(body);
  }
  bool append(std::string& out, const Value& value, size_t most) const override {
    return value::json_codec()->append(out, value, most);
  }
  mutable std::atomic<int> parsed = 0;
};

TEST(TermSet, AFilledDraftIsTheSetOfTheWholeItem) {
  std::mt19937_64 random(91);
  const TestFinisher finisher;
  const Version version{.lsn = 77, .time_s = 1'700'000'000, .range = 3, .step = 1};
  const Origin origin{.range = 3, .number = 12};
  const std::array<const char*, 8> paths = {"/*",         "/a/*",    "/a/[]/?", "/time/?",
                                            "/version/?", "/self/*", "/b/?",    "/a/b/*"};
  const std::array<const char*, 5> parts = {"/a", "/time", "/b", "/version", "/missing"};
  const std::array<const char*, 6> values = {"1",          "\"x\"", "[1,1,{\"b\":2}]",
                                             "{\"b\":[]}", "null",  "{\"time\":5}"};
  for (int round = 0; round < 2000; ++round) {
    value::IndexDefinition definition;
    std::set<std::string> taken;
    for (uint64_t i = random() % 5; i > 0; --i) {
      const std::string path = paths[random() % paths.size()];
      if (!taken.insert(path).second) continue;
      definition.rules.push_back({value::parse_index_path(path).value(), random() % 3 != 0});
    }
    if (random() % 2 == 0) definition.always = {path_of("/time")};
    for (uint64_t i = random() % 3; i > 0; --i) {
      value::CompositeIndex& composite = definition.composites.emplace_back();
      for (uint64_t part = random() % 3 + 2; part > 0; --part) {
        composite.parts.push_back({path_of(parts[random() % parts.size()]), random() % 2 == 0});
      }
    }
    if (random() % 2 == 0) definition.order = value::ValueOrder::typed;
    const value::IndexPolicy policy(definition);
    std::string body = R"({"id":"1")";
    if (random() % 4 != 0) body += fmt::format(R"(,"a":{})", values[random() % values.size()]);
    if (random() % 4 != 0) body += fmt::format(R"(,"b":{})", values[random() % values.size()]);
    body += '}';

    const auto whole = value::JsonDocument::parse(finisher.finish(body, version, origin)).value();
    TermSet expected = TermSet::of(whole.root(), policy);
    const auto document = value::JsonDocument::parse(body).value();
    const auto draft = TermDraft::make(document.root(), policy, finisher.added_names());
    ASSERT_TRUE(draft);
    std::vector<std::string> added;
    finisher.each_added(version, origin, [&](const Value& value) {
      value::append_term_value(added.emplace_back(), value, definition.order);
    });
    TermSet filled =
        TermSet::complete(*draft, std::vector<std::string_view>(added.begin(), added.end()));
    ASSERT_EQ(filled.terms(), expected.terms());
    ASSERT_EQ(draft->shape(), expected.shape());
    filled.add_shape(5);
    expected.add_shape(5);
    TermSet moved = std::move(filled);
    ASSERT_EQ(moved.terms(), expected.terms());
    ASSERT_TRUE(std::ranges::is_sorted(moved.terms()));
  }
}

TEST(TermSet, ADraftStopsAtItsBound) {
  const auto document = value::JsonDocument::parse(R"({"a":[1,2,3,4,5,6,7,8,9]})").value();
  const auto policy = value::IndexPolicy::everything();
  EXPECT_TRUE(TermDraft::make(document.root(), policy, {}));
  EXPECT_FALSE(TermDraft::make(document.root(), policy, {}, 100));
}

class PreparedTermsTest : public PartitionTest {
 protected:
  void SetUp() override {
    schema_->codec = codec_;
    schema_->unique_keys = {{path_of("/u")}};
    partition_ = open();
  }
  Write prepared(Write write) const {
    write.finisher = finisher_;
    const auto document = value::JsonDocument::parse(write.body).value();
    write.prepared = PreparedTerms::make(document.root(), *write.schema, finisher_.get());
    EXPECT_NE(write.prepared, nullptr);
    return write;
  }
  void expect_terms() {
    EXPECT_EQ(sorted_terms(*partition_), expected_terms(*partition_, schema_->index));
  }

  const std::shared_ptr<CountingCodec> codec_ = std::make_shared<CountingCodec>();
  const std::shared_ptr<TestFinisher> finisher_ = std::make_shared<TestFinisher>();
  std::shared_ptr<Partition> partition_;
};

TEST_F(PreparedTermsTest, TheWriterParsesOnlyWhatIsReplaced) {
  ASSERT_FALSE(commit(*partition_, prepared(create("k", "1", R"("u":1,"a":[1,2])"))).error);
  ASSERT_FALSE(commit(*partition_, prepared(upsert("k", "2", R"("u":2,"a":{"b":1})"))).error);
  EXPECT_EQ(codec_->parsed, 0);
  expect_terms();
  ASSERT_FALSE(commit(*partition_, prepared(replace("k", "1", R"("u":3,"b":"x")"))).error);
  EXPECT_EQ(codec_->parsed, 1);
  expect_terms();
  ASSERT_FALSE(commit(*partition_, remove("k", "2")).error);
  EXPECT_EQ(codec_->parsed, 2);
  expect_terms();
}

TEST_F(PreparedTermsTest, UniqueValuesAreThoseOfTheBody) {
  ASSERT_FALSE(commit(*partition_, prepared(create("k", "1", R"("u":1)"))).error);
  EXPECT_EQ(code_of(commit(*partition_, prepared(create("k", "2", R"("u":1)")))), Code::conflict);
  // And the same when the writer reads them.
  EXPECT_EQ(code_of(commit(*partition_, create("k", "2", R"("u":1)"))), Code::conflict);
  ASSERT_FALSE(commit(*partition_, prepared(replace("k", "1", R"("u":2)"))).error);
  ASSERT_FALSE(commit(*partition_, prepared(create("k", "2", R"("u":1)"))).error);
  expect_terms();
}

TEST_F(PreparedTermsTest, RulesThatChangedOnTheWayCount) {
  Write late = prepared(create("k", "1", R"("u":1,"a":5,"b":6)"));
  auto next = std::make_shared<Schema>(*schema_);
  ++next->index_version;
  next->index = policy_of({{"/b/?", true}, {"/time/?", true}});
  schema_ = next;
  ASSERT_FALSE(commit(*partition_, prepared(create("k", "0", R"("u":0,"b":1)"))).error);
  EXPECT_EQ(codec_->parsed, 0);
  // With the old rules it comes back, and with the new ones its terms are made anew.
  auto outcome = commit(*partition_, std::move(late));
  ASSERT_EQ(code_of(outcome), Code::moved);
  ASSERT_EQ(outcome.returned.size(), 1U);
  outcome.returned.front().schema = schema_;
  ASSERT_FALSE(commit(*partition_, std::move(outcome.returned)).error);
  EXPECT_EQ(codec_->parsed, 1);
  expect_terms();
}

TEST_F(PreparedTermsTest, ARenamedItemKeepsThem) {
  ASSERT_FALSE(commit(*partition_, prepared(create("k", "1", R"("u":1,"a":5)"))).error);
  Write rename = prepared(replace("k", "2", R"("u":1,"a":6)"));
  rename.from = "1";
  ASSERT_FALSE(commit(*partition_, std::move(rename)).error);
  EXPECT_EQ(codec_->parsed, 1);  // what left
  expect_terms();
}

TEST_F(PreparedTermsTest, ManyAreLeftToTheWriter) {
  std::string array = "[0";
  for (int i = 1; i < 20'000; ++i) array += "," + std::to_string(i);
  Write large = create("k", "1", fmt::format(R"("u":1,"a":{}])", array));
  const auto document = value::JsonDocument::parse(large.body).value();
  EXPECT_EQ(PreparedTerms::make(document.root(), *schema_, finisher_.get()), nullptr);
  ASSERT_FALSE(commit(*partition_, std::move(large)).error);
  EXPECT_EQ(codec_->parsed, 1);
  // What depends on members that come later, too.
  schema_->unique_keys = {{path_of("/time")}};
  EXPECT_EQ(PreparedTerms::make(document.root(), *schema_, finisher_.get()), nullptr);
}

// Bodies that are not JSON: everything but their codec is the same.
TEST_F(PreparedTermsTest, TypedBodiesAreIndexedByTheirCodec) {
  auto typed = std::make_shared<Schema>();
  typed->codec = std::make_shared<value::TestCodec>();
  value::IndexDefinition definition = value::IndexPolicy::everything().definition();
  definition.order = value::ValueOrder::typed;
  typed->index = value::IndexPolicy(definition);
  typed->unique_keys = {{path_of("/n")}};
  auto partition = open("p2");
  const auto write = [&](Verb verb, std::string_view row, int64_t number) {
    Write out = write_of(verb, "k", row, typed);
    out.body = value::TestCodec::encode(
        Value::make_object({{Value::make_string("n"), Value::make_integer(number)},
                            {Value::make_string("t"), Value::make_date({number, 7})}}));
    const auto document = typed->codec->parse(out.body).value();
    if (number % 2 == 0) out.prepared = PreparedTerms::make(document.root(), *typed, nullptr);
    return out;
  };
  // Two numbers that are the same as doubles.
  constexpr int64_t kLarge = 9007199254740992;
  ASSERT_FALSE(commit(*partition, write(Verb::create, "1", kLarge)).error);
  ASSERT_FALSE(commit(*partition, write(Verb::create, "2", kLarge + 1)).error);
  EXPECT_EQ(code_of(commit(*partition, write(Verb::create, "3", kLarge))), Code::conflict);
  ASSERT_FALSE(commit(*partition, write(Verb::replace, "2", kLarge + 4)).error);
  Terms expected;
  for (const auto& [row, number] : {std::pair("1", kLarge), std::pair("2", kLarge + 4)}) {
    std::string n = value::term_path_of_member("n");
    value::append_term_value(n, Value::make_integer(number), value::ValueOrder::typed);
    std::string t = value::term_path_of_member("t");
    value::append_term_value(t, Value::make_date({number, 7}), value::ValueOrder::typed);
    expected.emplace_back(n, ItemKey{"k", row});
    expected.emplace_back(t, ItemKey{"k", row});
  }
  Terms found = sorted_terms(*partition);
  std::erase_if(found,
                [](const auto& entry) { return entry.first.starts_with(value::kShapeLead); });
  std::ranges::sort(expected);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace orrery::partition
