// Indexing policies: defaults, which paths are indexed in the end, and what is refused.
#include "api/cosmos/resources/indexing_policy.h"

#include <gtest/gtest.h>

namespace orrery::cosmos {
namespace {

Result<IndexingPolicy> parsed_policy(std::string_view text) {
  auto document = value::JsonDocument::parse(text);
  EXPECT_TRUE(document.has_value()) << text;
  return parse_indexing_policy(&document->root());
}

std::string json(std::string_view text) {
  auto policy = parsed_policy(text);
  EXPECT_TRUE(policy.has_value()) << text << ": " << policy.error().message;
  return policy ? policy->json : "";
}

constexpr std::string_view kDefault =
    R"({"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],)"
    R"("excludedPaths":[{"path":"/\"_etag\"/?"}]})";

TEST(IndexingPolicy, HasTheVendorsDefault) {
  auto policy = parse_indexing_policy(nullptr);
  ASSERT_TRUE(policy.has_value());
  EXPECT_EQ(policy->json, kDefault);
  EXPECT_TRUE(policy->indexed);
  ASSERT_EQ(policy->rules.size(), 2U);
  EXPECT_TRUE(policy->rules[0].include);
  EXPECT_FALSE(policy->rules[1].include);
  EXPECT_EQ(policy->rules[1].path.path.steps[0].name, "_etag");
  EXPECT_EQ(json("{}"), kDefault);
  EXPECT_EQ(json(R"({"indexingMode":"Consistent","includedPaths":[],"excludedPaths":[]})"),
            kDefault);
  EXPECT_EQ(json(R"({"indexingMode":null,"includedPaths":null})"), kDefault);
  EXPECT_EQ(json(kDefault), kDefault);
}

TEST(IndexingPolicy, KeepsWhatIsGiven) {
  EXPECT_EQ(json(R"({"indexingMode":"lazy","automatic":false,
               "includedPaths":[{"path":"/name/?","indexes":[{"kind":"Range","dataType":"String","precision":-1}]}],
               "excludedPaths":[{"path":"/*"}]})"),
            R"({"indexingMode":"lazy","automatic":false,"includedPaths":[{"path":"/name/?"}],)"
            R"("excludedPaths":[{"path":"/*"},{"path":"/\"_etag\"/?"}]})");
  // An index on the etag is the client's to ask for.
  EXPECT_EQ(json(R"({"includedPaths":[{"path":"/*"},{"path":"/_etag/?"}]})"),
            R"({"indexingMode":"consistent","automatic":true,)"
            R"("includedPaths":[{"path":"/*"},{"path":"/_etag/?"}],"excludedPaths":[]})");
}

TEST(IndexingPolicy, KindsOfIndexesAreToldToOldClientsOnly) {
  const auto document = value::JsonDocument::parse(
      R"({"includedPaths":[{"path":"/*","indexes":[{"kind":"Range","dataType":"String","precision":-1}]}]})");
  ASSERT_TRUE(document.has_value());
  for (const auto& [version, kept] : std::initializer_list<std::pair<std::string_view, bool>>{
           {"2018-08-31", true}, {"2018-12-31", false}, {"2020-07-15", false}, {"", false}}) {
    const auto policy = parse_indexing_policy(&document->root(), old_indexes_of(version));
    ASSERT_TRUE(policy.has_value());
    EXPECT_EQ(policy->json.find("indexes") != std::string::npos, kept) << version;
  }
}

TEST(IndexingPolicy, ASlashAloneIsTheWholeItem) {
  const auto old =
      parsed_policy(R"({"includedPaths":[{"path":"/"}],"excludedPaths":[{"path":"/a/?"}]})");
  const auto now =
      parsed_policy(R"({"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/?"}]})");
  ASSERT_TRUE(old.has_value() && now.has_value());
  EXPECT_EQ(old->rules, now->rules);
  EXPECT_NE(old->json.find(R"("includedPaths":[{"path":"/"}])"), std::string::npos) << old->json;
  EXPECT_FALSE(parsed_policy(R"({"includedPaths":[{"path":"/"},{"path":"/*"}]})").has_value());
}

TEST(IndexingPolicy, NoneIndexesNothing) {
  auto policy = parsed_policy(R"({"indexingMode":"none","includedPaths":[{"path":"/*"}]})");
  ASSERT_TRUE(policy.has_value());
  EXPECT_FALSE(policy->indexed);
  EXPECT_TRUE(policy->rules.empty());
  EXPECT_EQ(policy->json,
            R"({"indexingMode":"none","automatic":false,"includedPaths":[],"excludedPaths":[]})");
}

TEST(IndexingPolicy, CompositeSpatialVectorAndText) {
  auto policy =
      parsed_policy(R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b/c","order":"Descending"}]],
      "spatialIndexes":[{"path":"/loc/*","types":["Point","Polygon"]}],
      "vectorIndexes":[{"path":"/v","type":"diskann","indexingSearchListSize":100}],
      "fullTextIndexes":[{"path":"/text"}]})");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_NE(
      policy->json.find(
          R"("compositeIndexes":[[{"path":"/a","order":"ascending"},{"path":"/b/c","order":"descending"}]])"),
      std::string::npos)
      << policy->json;
  ASSERT_EQ(policy->vector_indexes.size(), 1U);
  EXPECT_EQ(policy->vector_indexes[0].type, "diskANN");
  EXPECT_EQ(policy->full_text_paths, std::vector<std::string>{"/text"});
  ASSERT_EQ(policy->composites.size(), 1U);
  ASSERT_EQ(policy->composites[0].parts.size(), 2U);
  EXPECT_FALSE(policy->composites[0].parts[0].descending);
  EXPECT_EQ(value::to_string(policy->composites[0].parts[1].path), "/b/c");
  EXPECT_TRUE(policy->composites[0].parts[1].descending);
  ASSERT_EQ(policy->spatial.size(), 1U);
  EXPECT_EQ(value::to_string(policy->spatial[0]), "/loc/*");
  EXPECT_FALSE(policy->any_spatial_index_is_boxed);
}

TEST(IndexingPolicy, WhatIsGivenTwiceIsIndexedOnce) {
  auto policy = parsed_policy(R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b"}],
      [{"path":"/a","order":"ascending"},{"path":"/\"b\""}],[{"path":"/b"},{"path":"/a"}]],
      "spatialIndexes":[{"path":"/l/*","types":["Point"]},{"path":"/l/*","types":["Polygon"]}]})");
  ASSERT_TRUE(policy.has_value()) << policy.error().message;
  EXPECT_EQ(policy->composites.size(), 2U);
  EXPECT_EQ(policy->spatial.size(), 1U);
}

TEST(IndexingPolicy, RefusesWhatMakesNoSense) {
  for (
      const char* text : {
          R"([])",
          R"({"indexingMode":"eager"})",
          R"({"indexingMode":5})",
          R"({"automatic":"yes"})",
          R"({"includedPaths":"/*"})",
          R"({"includedPaths":["/*"]})",
          R"({"includedPaths":[{}]})",
          R"({"includedPaths":[{"path":"name"}]})",
          R"({"includedPaths":[{"path":"/name/?"}]})",  // no /* anywhere
          R"({"excludedPaths":[{"path":"/name/?"}]})",  // no /* anywhere
          R"({"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/*"}]})",
          R"({"includedPaths":[{"path":"/*"},{"path":"/*"}]})",
          R"({"includedPaths":[{"path":"/*"},{"path":"/a/?"}],"excludedPaths":[{"path":"/\"a\"/?"}]})",
          R"({"includedPaths":[{"path":"/*","indexes":[{"kind":"Tree"}]}]})",
          R"({"includedPaths":[{"path":"/*","indexes":[{"kind":"Range","dataType":"Date"}]}]})",
          R"({"compositeIndexes":[[{"path":"/a"}]]})",
          R"({"compositeIndexes":[[{"path":"/a"},{"path":"/a"}]]})",
          R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"up"}]]})",
          R"({"compositeIndexes":[[{"path":"/a/?"},{"path":"/b/*"}]]})",
          R"({"compositeIndexes":[{"path":"/a"}]})",
          R"({"compositeIndexes":[[{"path":"/a"},{"path":"/b"},{"path":"/c"},{"path":"/d"},{"path":"/e"},{"path":"/f"},{"path":"/g"},{"path":"/h"},{"path":"/i"}]]})",
          R"({"spatialIndexes":[{"path":"/loc/*","types":["Circle"]}]})",
          R"({"spatialIndexes":[{"types":["Point"]}]})",
          R"({"spatialIndexes":[{"path":"/l/*","boundingBox":{"xmin":1,"ymin":0,"xmax":0,"ymax":1}}]})",
          R"({"vectorIndexes":[{"path":"/v"}]})",
          R"({"vectorIndexes":[{"path":"/v","type":"tree"}]})",
          R"({"vectorIndexes":[{"path":"/v","type":"flat","quantizationByteSize":8}]})",
          R"({"vectorIndexes":[{"path":"/v","type":"flat","indexingSearchListSize":50}]})",
          R"({"vectorIndexes":[{"path":"/v","type":"diskANN","indexingSearchListSize":5}]})",
          R"({"vectorIndexes":[{"path":"/v","type":"flat"},{"path":"/v","type":"flat"}]})",
          R"({"fullTextIndexes":[{"path":"/t/*"}]})",
          R"({"fullTextIndexes":[{"path":"/t"},{"path":"/t"}]})",
      }) {
    auto policy = parsed_policy(text);
    ASSERT_FALSE(policy.has_value()) << text;
    EXPECT_EQ(policy.error().code, Code::invalid) << text;
  }
}

TEST(IndexingPolicy, SaysWhereAndWhat) {
  auto policy = parsed_policy(R"({"includedPaths":[{"path":"/*"},{"path":"name"}]})");
  ASSERT_FALSE(policy.has_value());
  EXPECT_TRUE(policy.error().message.starts_with(
      "indexingPolicy.includedPaths[1].path is \"name\": give a path like"))
      << policy.error().message;
}

}  // namespace
}  // namespace orrery::cosmos
