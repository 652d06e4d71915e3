// $group of documents that come in parts, each read by a thread of its own: what comes out is what
// one reader of all documents gives, in the same order.
#include "api/mongo/pipeline/group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "api/mongo/bson/test_ejson.h"
#include "api/mongo/pipeline/pipeline.h"

namespace orrery::mongo {
namespace {

using Random = std::mt19937_64;

// Documents in parts of about the same size; one part: they are not divided.
class DividedSource final : public Source {
 public:
  // `divided` becomes whether all parts were read.
  DividedSource(const std::vector<Value>& documents, size_t parts, bool& divided)
      : documents_(documents), parts_(parts), divided_(divided), all_(make_source(documents)) {}

  Answer<std::optional<Value>> next(Run& run) override { return all_->next(run); }
  Answer<bool> read_in_parts(PartReader& reader, Run& run) override {
    if (parts_ == 1) return false;
    reader.begin(parts_);
    std::vector<Answer<void>> outcomes(parts_);
    {
      std::vector<std::jthread> threads;
      for (size_t part = 0; part < parts_; ++part) {
        threads.emplace_back([&, part] { outcomes[part] = read_part(part, reader, run); });
      }
    }
    divided_ = std::ranges::all_of(outcomes, [](const auto& one) { return one.has_value(); });
    return divided_;
  }

 private:
  Answer<void> read_part(size_t part, PartReader& reader, const Run& whole) {
    Budget budget;
    Run run(budget);
    run.evaluation.collation = whole.evaluation.collation;
    run.memory_limit = whole.memory_limit / parts_;
    const auto at = [this](size_t i) {
      return documents_.begin() + static_cast<std::ptrdiff_t>(documents_.size() * i / parts_);
    };
    const auto source = make_source({at(part), at(part + 1)});
    return reader.read(part, *source, run);
  }

  const std::vector<Value>& documents_;
  const size_t parts_;
  bool& divided_;
  const std::unique_ptr<Source> all_;
};

struct Case {
  std::vector<Value> documents;
  Value stages;
  std::shared_ptr<const Collation> collation = nullptr;
  size_t memory_limit = kStageMemory;
};

// What comes out, a line each; or "error N".
std::vector<std::string> run_case(const Case& one, size_t parts, bool& divided) {
  divided = false;
  Budget budget;
  Run run(budget);
  run.evaluation.collation = one.collation.get();
  run.memory_limit = one.memory_limit;
  const auto error = [](const Error& it) {
    return std::vector<std::string>{"error " + std::to_string(it.code)};
  };
  const auto pipeline = Pipeline::parse(one.stages, {.collation = one.collation});
  if (!pipeline) return error(pipeline.error());
  const auto source =
      pipeline->open(std::make_unique<DividedSource>(one.documents, parts, divided), run);
  if (!source) return error(source.error());
  std::vector<std::string> lines;
  for (;;) {
    const auto document = (*source)->next(run);
    if (!document) return error(document.error());
    if (!*document) return lines;
    lines.push_back(to_ejson(**document));
  }
}
std::vector<std::string> run_case(const Case& one, size_t parts) {
  bool divided = false;
  return run_case(one, parts, divided);
}

std::string_view one_of(Random& random, std::span<const std::string_view> choices) {
  return choices[random() % choices.size()];
}

// Some of them are equal, in one collation or another.
constexpr std::string_view kKeys[] = {
    R"(1)",
    R"({"$numberDouble": "1"})",
    R"({"$numberLong": "1"})",
    R"({"$numberDecimal": "1.0"})",
    R"({"$numberDouble": "NaN"})",
    R"({"$numberDecimal": "NaN"})",
    R"({"$numberDouble": "-0.0"})",
    R"(0)",
    R"({"$numberDecimal": "-0"})",
    R"(null)",
    R"("a")",
    R"("A")",
    R"("b")",
    R"("")",
    R"(true)",
    R"([1, "a"])",
    R"([{"$numberLong": "1"}, "A"])",
    R"({"x": 1, "y": "a"})",
    R"({"x": {"$numberDouble": "1"}, "y": "A"})",
    R"({"y": "a", "x": 1})",
    R"({"$date": 5})",
    R"({"$oid": "0102030405060708090a0b0c"})",
};
// Numbers whose sums are exact in every order.
constexpr std::string_view kValues[] = {
    R"(1)",
    R"(-7)",
    R"({"$numberLong": "4000000000"})",
    R"({"$numberDouble": "0.125"})",
    R"({"$numberDouble": "-3.5"})",
    R"({"$numberDecimal": "2.50"})",
    R"({"$numberDecimal": "-0.001"})",
    R"({"$numberDouble": "NaN"})",
    R"({"$numberDouble": "Infinity"})",
    R"("text")",
    R"("TEXT")",
    R"(null)",
    R"([1, 2])",
    R"({"p": 1})",
    R"({"q": {"$numberLong": "1"}, "p": "z"})",
    R"(false)",
};
constexpr std::string_view kAccumulators[] = {
    R"({"$sum": "$v"})",
    R"({"$sum": 1})",
    R"({"$avg": "$v"})",
    R"({"$min": "$v"})",
    R"({"$max": "$v"})",
    R"({"$first": "$v"})",
    R"({"$last": "$v"})",
    R"({"$push": "$v"})",
    R"({"$push": {"n": "$n", "v": "$v"}})",
    R"({"$addToSet": "$v"})",
    R"({"$count": {}})",
    R"({"$firstN": {"input": "$v", "n": 3}})",
    R"({"$lastN": {"input": "$v", "n": 3}})",
    R"({"$minN": {"input": "$v", "n": 4}})",
    R"({"$maxN": {"input": "$v", "n": 4}})",
    R"({"$top": {"sortBy": {"v": 1}, "output": "$n"}})",
    R"({"$bottom": {"sortBy": {"v": 1}, "output": "$n"}})",
    R"({"$topN": {"sortBy": {"v": -1}, "output": "$n", "n": 3}})",
    R"({"$bottomN": {"sortBy": {"v": 1}, "output": "$n", "n": 3}})",
    R"({"$median": {"input": "$v", "method": "approximate"}})",
    R"({"$percentile": {"input": "$v", "p": [0.1, 0.9], "method": "approximate"}})",
    R"({"$mergeObjects": {"$cond": [{"$eq": [{"$type": "$v"}, "object"]}, "$v", null]}})",
    R"({"$stdDevPop": "$v"})",
    R"({"$stdDevSamp": "$v"})",
};

std::vector<Value> random_documents(Random& random) {
  std::vector<Value> documents;
  const size_t count = random() % 120;
  // Of few keys, groups are large; of many, most parts meet some for the first time.
  const size_t keys = 1 + random() % std::size(kKeys);
  for (size_t n = 0; n < count; ++n) {
    std::string text = R"({"n": )" + std::to_string(n);
    if (random() % 10 != 0) {
      text += R"(, "k": )" + std::string(one_of(random, std::span(kKeys).first(keys)));
    }
    if (random() % 10 != 0) text += R"(, "v": )" + std::string(one_of(random, kValues));
    documents.push_back(from_ejson(text + "}"));
  }
  return documents;
}

Value random_stages(Random& random) {
  if (random() % 12 == 0) return from_ejson(R"([{"$count": "all"}])");
  if (random() % 12 == 0) return from_ejson(R"([{"$sortByCount": "$k"}])");
  static constexpr std::string_view kIds[] = {R"("$k")", R"("$k")", R"("$k")", R"(null)",
                                              R"({"k": "$k", "v": "$v"})"};
  std::string text = R"([{"$group": {"_id": )" + std::string(one_of(random, kIds));
  const size_t fields = random() % 5;
  for (size_t i = 0; i < fields; ++i) {
    text += R"(, "f)" + std::to_string(i) + R"(": )" + std::string(one_of(random, kAccumulators));
  }
  return from_ejson(text + "}}]");
}

TEST(Group, PartsGiveWhatOneReaderGives) {
  Random random(16);
  const auto collation = Collation::parse(from_ejson(R"({"locale": "en", "strength": 2})"));
  ASSERT_TRUE(collation);
  size_t divided_count = 0;
  for (int round = 0; round < 600; ++round) {
    const Case one = {.documents = random_documents(random),
                      .stages = random_stages(random),
                      .collation = round % 3 == 0 ? *collation : nullptr};
    bool divided = false;
    const auto alone = run_case(one, 1);
    ASSERT_EQ(run_case(one, 4, divided), alone) << round << " " << one.stages.to_json();
    divided_count += divided ? 1 : 0;
  }
  EXPECT_GT(divided_count, 300U);  // not all: those with a deviation are read by one
}

TEST(Group, TooMuchMemoryIsDecidedByOneReader) {
  Case one = {.documents = {}, .stages = from_ejson(R"([{"$group": {"_id": "$k"}}])")};
  for (int n = 0; n < 400; ++n) {
    one.documents.push_back(from_ejson(R"({"k": ")" + std::to_string(n % 100) + "\"}"));
  }
  // Every part has all groups: together they would keep four times as much as one reader.
  size_t enough = 1;
  for (;; enough *= 2) {
    one.memory_limit = enough;
    if (run_case(one, 1).size() == 100) break;
  }
  bool divided = true;
  EXPECT_EQ(run_case(one, 4, divided).size(), 100U);
  EXPECT_FALSE(divided);
  one.memory_limit = 8 * enough;
  EXPECT_EQ(run_case(one, 4, divided).size(), 100U);
  EXPECT_TRUE(divided);
  one.memory_limit = 64;
  EXPECT_EQ(run_case(one, 4), (std::vector<std::string>{"error 292"}));
}

TEST(Group, AnErrorIsThatOfTheFirstDocument) {
  Case one = {.documents = {},
              .stages = from_ejson(R"([{"$group": {"_id": {"$divide": [1, "$k"]}}}])")};
  for (int n = 0; n < 40; ++n) {
    one.documents.push_back(from_ejson(n == 15   ? R"({"k": "text"})"
                                       : n == 35 ? R"({"k": 0})"
                                                 : R"({"k": 2})"));
  }
  EXPECT_EQ(run_case(one, 4), run_case(one, 1));
  EXPECT_EQ(run_case(one, 1).front().substr(0, 5), "error");
}

// Sums of doubles lose no digits, whatever the parts.
TEST(Group, SumsOfPartsLoseNothing) {
  Case one = {.documents = {},
              .stages = from_ejson(R"([{"$group": {"_id": null, "s": {"$sum": "$v"}}}])")};
  for (const std::string_view v : {"1e16", "1", "-1e16", "1", "1e16", "1", "-1e16", "1"}) {
    one.documents.push_back(from_ejson(R"({"v": {"$numberDouble": ")" + std::string(v) + "\"}}"));
  }
  EXPECT_EQ(run_case(one, 1),
            (std::vector<std::string>{R"({"_id":null,"s":{"$numberDouble":"4.0"}})"}));
  for (const size_t parts : {2, 3, 4, 8}) EXPECT_EQ(run_case(one, parts), run_case(one, 1));
}

}  // namespace
}  // namespace orrery::mongo
