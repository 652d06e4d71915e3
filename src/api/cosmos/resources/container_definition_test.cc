// Definitions of databases and containers: what is kept, which defaults appear, what is refused,
// and what a replacement may change.
#include "api/cosmos/resources/container_definition.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "api/cosmos/resources/container_policies.h"
#include "value/json.h"

namespace orrery::cosmos {
namespace {

catalog::ContainerSpec parsed_container(std::string_view body) {
  auto spec = parse_container_definition(body);
  EXPECT_TRUE(spec.has_value()) << body << ": " << spec.error().message;
  return spec.value_or(catalog::ContainerSpec{});
}

// A container with a key and one more member.
std::string with(std::string_view member) {
  return R"({"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2},)" +
         std::string(member) + "}";
}

void expect_invalid(std::string_view body, std::string_view expected = "") {
  auto spec = parse_container_definition(body);
  ASSERT_FALSE(spec.has_value()) << body;
  EXPECT_EQ(spec.error().code, Code::invalid) << body;
  EXPECT_NE(spec.error().message.find(expected), std::string::npos) << spec.error().message;
}

std::string member(const catalog::ContainerSpec& spec, std::string_view name) {
  auto document = value::JsonDocument::parse("{" + spec.face_json + "}");
  EXPECT_TRUE(document.has_value()) << spec.face_json;
  if (!document) return "";
  const value::Node* node = document->root().find(name);
  return node == nullptr ? "" : std::string(node->raw);
}

TEST(ContainerDefinition, WritesOutTheDefaults) {
  const auto spec = parsed_container(R"({"id":"orders","partitionKey":{"paths":["/city"]}})");
  EXPECT_EQ(spec.name, "orders");
  EXPECT_EQ(
      spec.face_json,
      R"("indexingPolicy":{"indexingMode":"consistent","automatic":true,"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/\"_etag\"/?"}]},)"
      R"("partitionKey":{"paths":["/city"],"kind":"Hash","version":1},)"
      R"("conflictResolutionPolicy":{"mode":"LastWriterWins","conflictResolutionPath":"/_ts","conflictResolutionProcedure":""},)"
      R"("geospatialConfig":{"type":"Geography"})");
  EXPECT_EQ(spec.key.placement, value::Placement::hash_v1);
  ASSERT_EQ(spec.key.paths.size(), 1U);
  EXPECT_TRUE(spec.indexed);
  EXPECT_FALSE(spec.default_life_ms.has_value());
  EXPECT_TRUE(spec.unique_keys.empty());
}

TEST(ContainerDefinition, ReadsItsOwnOutputBack) {
  const auto spec = parsed_container(with(
      R"("defaultTtl":60,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a","/b/c"]}]},"computedProperties":[{"name":"x","query":"SELECT VALUE c.y FROM c"}],"_rid":"AAAAAYAAAAE=","_ts":5)"));
  const auto again = parsed_container("{\"id\":\"c\"," + spec.face_json + "}");
  EXPECT_EQ(again.face_json, spec.face_json);
  EXPECT_EQ(again.key, spec.key);
  EXPECT_TRUE(check_replacement(spec, again).has_value());
}

TEST(ContainerDefinition, FixedContainers) {
  for (
      const char* body :
      {R"({"id":"c"})", R"({"id":"c","partitionKey":null})",
       R"({"id":"c","partitionKey":{"paths":["/_partitionKey"],"kind":"Hash","systemKey":true}})"}) {
    const auto spec = parsed_container(body);
    EXPECT_TRUE(spec.key.paths.empty());
    EXPECT_EQ(member(spec, "partitionKey"),
              R"({"paths":["/_partitionKey"],"kind":"Hash","systemKey":true})");
  }
}

TEST(ContainerDefinition, PartitionKeys) {
  auto key = [](std::string_view text) {
    return parsed_container(R"({"id":"c","partitionKey":)" + std::string(text) + "}").key;
  };
  EXPECT_EQ(key(R"({"paths":["/a"],"kind":"Hash","version":2})").placement,
            value::Placement::hash_v2);
  EXPECT_EQ(key(R"({"paths":["/a"],"kind":"Hash","version":"V2"})").placement,
            value::Placement::hash_v2);
  EXPECT_EQ(key(R"({"paths":["/a"],"version":"V1"})").placement, value::Placement::hash_v1);
  EXPECT_EQ(key(R"({"paths":["/a"],"kind":"Range"})").placement, value::Placement::hash_v1);
  const auto quoted_path = key(R"({"paths":["/\"home city\""]})");
  EXPECT_EQ(quoted_path.paths[0].steps[0].name, "home city");
  EXPECT_EQ(key(R"({"paths":["/properties/name"]})").paths[0].steps.size(), 2U);
  const auto several = key(R"({"paths":["/a","/b","/c"],"kind":"MultiHash","version":2})");
  EXPECT_EQ(several.placement, value::Placement::multi_hash);
  EXPECT_EQ(several.paths.size(), 3U);
  EXPECT_EQ(key(R"({"paths":["/a","/b"],"kind":"MultiHash"})").placement,
            value::Placement::multi_hash);

  auto refused = [](std::string_view text, std::string_view expected) {
    expect_invalid(R"({"id":"c","partitionKey":)" + std::string(text) + "}", expected);
  };
  refused("5", "partitionKey is 5");
  refused("{}", "partitionKey.paths is missing");
  refused(R"({"paths":[]})", "like /city");
  refused(R"({"paths":[5]})", "partitionKey.paths[0] is 5");
  refused(R"({"paths":["city"]})", "partitionKey.paths[0]");
  refused(R"({"paths":["/*"]})", "wildcard");
  refused(R"({"paths":["/a/?"]})", "wildcard");
  refused(R"({"paths":["/a/[]/b"]})", "wildcard");
  refused(R"({"paths":["/"]})", "partitionKey.paths[0]");
  refused(R"({"paths":["/a","/b"]})", "MultiHash");
  refused(R"({"paths":["/a","/b","/c","/d"],"kind":"MultiHash"})", "at most 3");
  refused(R"({"paths":["/a","/a"],"kind":"MultiHash"})", "twice");
  refused(R"({"paths":["/a","/b"],"kind":"MultiHash","version":1})", "version 2");
  refused(R"({"paths":["/a"],"kind":"List"})", "Hash, MultiHash");
  refused(R"({"paths":["/a"],"version":3})", "from 1 to 2");
  refused(R"({"paths":["/a"],"version":"V3"})", "use V1, V2");
  refused(R"({"paths":["/home city"]})",
          "only valid characters and not contain a trailing slash or wildcard character");
  refused(R"({"paths":["/\"a b\"/c d"]})", "in double quotes");
  refused(R"({"paths":["/it's"]})", "failed near position '3'");
  refused(R"({"paths":["id"]})",
          "The partition key component definition path 'id' could not be accepted");
  EXPECT_EQ(key(R"({"paths":["/'it\\'s here'/x"]})").paths[0].steps[0].name, "it's here");
}

TEST(ContainerDefinition, Names) {
  EXPECT_TRUE(check_resource_name("orders").has_value());
  EXPECT_TRUE(check_resource_name("caf\xC3\xA9 1").has_value());
  EXPECT_TRUE(check_resource_name(std::string(255, 'a')).has_value());
  std::string wide;
  for (int i = 0; i < 255; ++i) wide += "\xC3\xA9";
  EXPECT_TRUE(check_resource_name(wide).has_value());
  for (const std::string& name :
       {std::string(), std::string(256, 'a'), wide + "x", std::string("a/b"), std::string("a\\b"),
        std::string("a#b"), std::string("a?b"), std::string("a "), std::string("a\nb")}) {
    EXPECT_FALSE(check_resource_name(name).has_value()) << name;
  }
  expect_invalid("{}", "id is missing");
  expect_invalid(R"({"id":5})", "id is 5");
  expect_invalid(R"({"id":"a/b"})", "a/b");
  expect_invalid("[]", "object");
  expect_invalid("{", "not JSON");
  EXPECT_EQ(parse_database_definition(R"({"id":"shop"})"), "shop");
  EXPECT_FALSE(parse_database_definition(R"({"id":""})").has_value());
}

TEST(ContainerDefinition, DefaultTtl) {
  EXPECT_EQ(parsed_container(with(R"("defaultTtl":-1)")).default_life_ms, -1);
  EXPECT_EQ(parsed_container(with(R"("defaultTtl":2147483647)")).default_life_ms,
            2'147'483'647'000);
  EXPECT_EQ(member(parsed_container(with(R"("defaultTtl":60)")), "defaultTtl"), "60");
  EXPECT_EQ(parsed_container(with(R"("unknown":null)")).default_life_ms, std::nullopt);
  for (const char* ttl : {"null", "0", "-2", "1.5", "2147483648", "\"60\"", "true"}) {
    expect_invalid(with("\"defaultTtl\":" + std::string(ttl)), "defaultTtl is");
  }
}

TEST(ContainerDefinition, UniqueKeys) {
  const auto spec = parsed_container(
      with(R"("uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]},{"paths":["/a","/b/c"]}]})"));
  ASSERT_EQ(spec.unique_keys.size(), 2U);
  EXPECT_EQ(spec.unique_keys[1].size(), 2U);
  EXPECT_EQ(member(parsed_container(with(R"("uniqueKeyPolicy":{})")), "uniqueKeyPolicy"),
            R"({"uniqueKeys":[]})");
  auto refused = [](std::string_view keys, std::string_view expected) {
    expect_invalid(with(R"("uniqueKeyPolicy":{"uniqueKeys":)" + std::string(keys) + "}"), expected);
  };
  refused("5", "give an array");
  refused("[5]", "uniqueKeys[0] is 5");
  refused("[{}]", "paths is missing");
  refused(R"([{"paths":[]}])", "at least one");
  refused(R"([{"paths":["/a/*"]}])", "without wildcards");
  refused(R"([{"paths":["/a","/a"]}])", "twice");
  refused(R"([{"paths":["/a"]},{"paths":["/a"]}])", "twice");
  std::string many = "[";
  for (int i = 0; i < 11; ++i) {
    if (i != 0) many += ',';
    many += R"({"paths":["/p)" + std::to_string(i) + R"("]})";
  }
  refused(many + "]", "at most 10");
  std::string wide = R"([{"paths":[)";
  for (int i = 0; i < 17; ++i) {
    if (i != 0) wide += ',';
    wide += "\"/p" + std::to_string(i) + "\"";
  }
  refused(wide + "]}]", "at most 16");
}

TEST(ContainerDefinition, ConflictResolution) {
  EXPECT_EQ(
      member(
          parsed_container(with(
              R"("conflictResolutionPolicy":{"mode":"lastWriterWins","conflictResolutionPath":"/score"})")),
          "conflictResolutionPolicy"),
      R"({"mode":"LastWriterWins","conflictResolutionPath":"/score","conflictResolutionProcedure":""})");
  EXPECT_EQ(
      member(
          parsed_container(with(
              R"("conflictResolutionPolicy":{"mode":"Custom","conflictResolutionProcedure":"dbs/a/colls/b/sprocs/c"})")),
          "conflictResolutionPolicy"),
      R"({"mode":"Custom","conflictResolutionPath":"","conflictResolutionProcedure":"dbs/a/colls/b/sprocs/c"})");
  expect_invalid(with(R"("conflictResolutionPolicy":{"mode":"Random"})"), "Random");
  expect_invalid(
      with(R"("conflictResolutionPolicy":{"mode":"Custom","conflictResolutionPath":"/a"})"),
      "only the mode LastWriterWins");
  expect_invalid(with(R"("conflictResolutionPolicy":{"conflictResolutionProcedure":"x"})"),
                 "only the mode Custom");
  expect_invalid(with(R"("conflictResolutionPolicy":{"conflictResolutionPath":"a"})"), "path");
}

TEST(ContainerDefinition, ComputedProperties) {
  const std::string good =
      R"([{"name":"cp","query":"select value CONCAT(c.name, \" where \") from c"}])";
  EXPECT_EQ(member(parsed_container(with("\"computedProperties\":" + good)), "computedProperties"),
            good);
  auto refused = [](std::string_view name, std::string_view query) {
    expect_invalid(with(R"("computedProperties":[{"name":")" + std::string(name) +
                        R"(","query":")" + std::string(query) + R"("}])"),
                   "computedProperties[0]");
  };
  refused("", "SELECT VALUE c.a FROM c");
  refused("_ts", "SELECT VALUE c.a FROM c");
  refused("id", "SELECT VALUE c.a FROM c");
  refused("a/b", "SELECT VALUE c.a FROM c");
  refused("a", "");
  refused("a", "SELECT c.a FROM c");
  refused("a", "SELECT VALUE c.a");
  refused("a", "SELECT VALUE c.a FROM c WHERE c.b = 1");
  refused("a", "SELECT VALUE c.a FROM c JOIN d IN c.e");
  refused("a", "SELECT VALUE c.a FROM c ORDER BY c.a");
  refused("a", "SELECT VALUE c.a + FROM c");
  refused("a", "SELECT VALUE x.a FROM c");
  refused("a", "SELECT VALUE c FROM c IN d.e");
  expect_invalid(
      with(
          R"("computedProperties":[{"name":"a","query":"SELECT VALUE 1 FROM c"},{"name":"a","query":"SELECT VALUE 2 FROM c"}])"),
      "two computed properties");
  std::string many = "\"computedProperties\":[";
  for (int i = 0; i < 21; ++i) {
    if (i != 0) many += ',';
    many += R"({"name":"p)" + std::to_string(i) + R"(","query":"SELECT VALUE 1 FROM c"})";
  }
  expect_invalid(with(many + "]"), "at most 20");
}

TEST(ContainerDefinition, VectorsAndFullText) {
  const auto spec = parsed_container(with(
      R"("vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dimensions":1536,"distanceFunction":"Cosine"}]},
         "fullTextPolicy":{"defaultLanguage":"en-US","fullTextPaths":[{"path":"/t","language":"en-US"}]},
         "indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"quantizedFlat"}],"fullTextIndexes":[{"path":"/t"}]})"));
  EXPECT_EQ(
      member(spec, "vectorEmbeddingPolicy"),
      R"({"vectorEmbeddings":[{"path":"/v","dataType":"float32","dimensions":1536,"distanceFunction":"cosine"}]})");
  auto refused = [](std::string_view embedding) {
    expect_invalid(
        with(R"("vectorEmbeddingPolicy":{"vectorEmbeddings":[)" + std::string(embedding) + "]}"),
        "vectorEmbeddingPolicy.vectorEmbeddings[0]");
  };
  refused(R"({"path":"/v"})");
  refused(R"({"path":"v","dimensions":3})");
  refused(R"({"path":"/v","dimensions":0})");
  refused(R"({"path":"/v","dimensions":4097})");
  refused(R"({"path":"/v","dimensions":3,"dataType":"double"})");
  refused(R"({"path":"/v","dimensions":3,"distanceFunction":"manhattan"})");
  expect_invalid(with(R"("indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"flat"}]})"),
                 "not matching in Embedding's path");
  expect_invalid(
      with(
          R"("vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dimensions":506}]},"indexingPolicy":{"vectorIndexes":[{"path":"/v","type":"flat"}]})"),
      "at most 505");
  expect_invalid(with(R"("indexingPolicy":{"fullTextIndexes":[{"path":"/t"}]})"), "fullTextPolicy");
  parsed_container(with(
      R"("fullTextPolicy":{"defaultLanguage":"1033","fullTextPaths":[{"path":"/t","language":"1031"}]})"));
  expect_invalid(with(R"("fullTextPolicy":{"defaultLanguage":"english"})"), "en-US");
  expect_invalid(with(R"("fullTextPolicy":{"defaultLanguage":"103"})"), "en-US");
  expect_invalid(with(R"("fullTextPolicy":{"fullTextPaths":[{"path":"/t"},{"path":"/t"}]})"),
                 "twice");
}

TEST(ContainerDefinition, GeospatialConfig) {
  EXPECT_EQ(member(parsed_container(with(R"("geospatialConfig":{"type":"geometry"})")),
                   "geospatialConfig"),
            R"({"type":"Geometry"})");
  expect_invalid(with(R"("geospatialConfig":{"type":"Flat"})"), "Geography, Geometry");
  expect_invalid(
      with(
          R"("geospatialConfig":{"type":"Geometry"},"indexingPolicy":{"spatialIndexes":[{"path":"/l/*","types":["Point"]}]})"),
      "boundingBox");
  expect_invalid(
      with(
          R"("indexingPolicy":{"spatialIndexes":[{"path":"/l/*","boundingBox":{"xmin":0,"ymin":0,"xmax":1,"ymax":1}}]})"),
      "Geometry");
}

// Members of `path` and the policy's format version, of a container whose key is /pk.
std::string encrypting(std::string_view path, std::string_view type = "Deterministic",
                       std::string_view version = "1") {
  return with(fmt::format(
      R"("clientEncryptionPolicy":{{"policyFormatVersion":{},"includedPaths":[{{"encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256","path":"{}","clientEncryptionKeyId":"k","encryptionType":"{}"}}]}})",
      version, path, type));
}

TEST(ContainerDefinition, ClientEncryption) {
  const auto spec = parsed_container(encrypting("/s", "Randomized"));
  EXPECT_EQ(
      member(spec, "clientEncryptionPolicy"),
      R"({"includedPaths":[{"path":"/s","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}],"policyFormatVersion":1})")
      << "written alike, however it came";
  EXPECT_EQ(client_encryption_keys(spec.face_json).value(), std::vector<std::string>{"k"});
  parsed_container(encrypting("/id", "Deterministic", "2"));
  parsed_container(encrypting("/pk", "Deterministic", "2"));
  expect_invalid(encrypting("/id"), "policyFormatVersion");
  expect_invalid(encrypting("/pk"), "partition key");
  expect_invalid(encrypting("/id", "Randomized", "2"), "Deterministic");
  expect_invalid(encrypting("/pk", "Randomized", "2"), "Deterministic");
  expect_invalid(encrypting("/a/b"), "path");
  expect_invalid(encrypting("/s", "Secret"), "encryptionType");
  expect_invalid(encrypting("/s", "Randomized", "3"), "policyFormatVersion");
  expect_invalid(with(R"("clientEncryptionPolicy":{"includedPaths":[{"path":"/s"}]})"),
                 "clientEncryptionKeyId");
  const auto plain = parsed_container(with(R"("defaultTtl":5)"));
  EXPECT_EQ(check_replacement(spec, plain).error().code, Code::invalid);
  EXPECT_EQ(check_replacement(plain, spec).error().code, Code::invalid);
  EXPECT_TRUE(check_replacement(spec, parsed_container(encrypting("/s", "Randomized"))));
}

TEST(ContainerDefinition, OtherPolicies) {
  const auto spec = parsed_container(with(
      R"("analyticalStorageTtl":-1,"changeFeedPolicy":{"retentionDuration":10},"clientEncryptionPolicy":{"policyFormatVersion":1,"includedPaths":[{"path":"/s","clientEncryptionKeyId":"k","encryptionType":"Randomized","encryptionAlgorithm":"AEAD_AES_256_CBC_HMAC_SHA256"}]})"));
  EXPECT_EQ(member(spec, "analyticalStorageTtl"), "-1");
  EXPECT_EQ(member(spec, "changeFeedPolicy"), R"({"retentionDuration":10})");
  EXPECT_EQ(spec.history_s, 600);
  expect_invalid(with(R"("changeFeedPolicy":{"retentionDuration":-1})"), "retentionDuration");
  auto view = parse_container_definition(with(R"("materializedViewDefinition":{})"));
  ASSERT_FALSE(view.has_value());
  EXPECT_EQ(view.error().code, Code::unsupported);
}

// A20: the partition key of a container cannot be changed.
TEST(ContainerDefinition, ReplacementsKeepWhatIsFixed) {
  const auto old = parsed_container(with(
      R"("uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]},"vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dimensions":3}]})"));
  EXPECT_TRUE(check_replacement(old, old).has_value());
  auto changed = [&](std::string_view body, std::string_view what) {
    auto status = check_replacement(old, parsed_container(body));
    ASSERT_FALSE(status.has_value()) << body;
    EXPECT_EQ(status.error().code, Code::invalid);
    EXPECT_TRUE(status.error().message.starts_with(what)) << status.error().message;
  };
  const std::string unique = R"("uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/a"]}]})";
  const std::string vectors =
      R"("vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/v","dimensions":3}]})";
  const std::string key = R"("partitionKey":{"paths":["/pk"],"kind":"Hash","version":2})";
  changed("{\"id\":\"d\"," + key + "," + unique + "," + vectors + "}", "The id");
  changed("{\"id\":\"c\"," + unique + "," + vectors + "}", "The partition key");
  changed(R"({"id":"c","partitionKey":{"paths":["/other"],"version":2},)" + unique + "," + vectors +
              "}",
          "The partition key");
  changed(
      R"({"id":"c","partitionKey":{"paths":["/pk"],"version":1},)" + unique + "," + vectors + "}",
      "The partition key");
  changed("{\"id\":\"c\"," + key + "," + vectors + "}", "The uniqueKeyPolicy");
  changed("{\"id\":\"c\"," + key + "," + unique + "}", "The vectorEmbeddingPolicy");
  changed("{\"id\":\"c\"," + key + "," + unique + "," + vectors +
              R"(,"conflictResolutionPolicy":{"mode":"Custom"}})",
          "The conflictResolutionPolicy");
  EXPECT_TRUE(check_replacement(
                  old, parsed_container("{\"id\":\"c\"," + key + "," + unique +
                                        R"(,"defaultTtl":5,"indexingPolicy":{"indexingMode":"none"},
      "vectorEmbeddingPolicy":{"vectorEmbeddings":[{"path":"/w","dimensions":5},{"path":"/v","dimensions":3}]}})"))
                  .has_value());
}

TEST(ContainerDefinition, CompositeAndSpatialIndexesReachTheEngine) {
  const auto spec = [](std::string_view geometry) {
    const std::string box =
        geometry == "Geometry" ? R"(,"boundingBox":{"xmin":0,"ymin":0,"xmax":9,"ymax":9})" : "";
    return parse_container_definition(
               R"({"id":"c","partitionKey":{"paths":["/k"]},"geospatialConfig":{"type":")" +
               std::string(geometry) +
               R"("},"indexingPolicy":{"compositeIndexes":[[{"path":"/a"},)" +
               R"({"path":"/b"}]],"spatialIndexes":[{"path":"/p/*","types":["Point"])" + box +
               "}]}}")
        .value();
  };
  EXPECT_EQ(spec("Geography").composite_indexes.size(), 1U);
  EXPECT_EQ(spec("Geography").spatial_indexes.size(), 1U);
  EXPECT_EQ(spec("Geometry").composite_indexes.size(), 1U);
  EXPECT_TRUE(spec("Geometry").spatial_indexes.empty()) << "cells are of the Earth";
}

}  // namespace
}  // namespace orrery::cosmos
