// GraphSON in and out, and messages.
#include "api/gremlin/wire/graphson.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/gremlin/wire/message.h"
#include "value/json.h"

namespace orrery::gremlin {
namespace {

using testing::HasSubstr;

std::string written(const Value& value, GraphSon form) {
  std::string out;
  EXPECT_TRUE(append_graphson(out, value, form));
  return out;
}

std::string read(std::string_view json) {
  auto document = value::JsonDocument::parse(json);
  if (!document) return "not JSON";
  auto argument = read_graphson(document->root());
  return argument ? print(*argument) : "refused: " + argument.error().message;
}

TEST(GraphSonOut, NumbersListsAndMaps) {
  const Value value =
      Value::map({{Value::text("a"), Value::list({Value::integer(1), Value::real(2)})}});
  EXPECT_EQ(written(value, GraphSon::untyped), R"({"a":[1,2.0]})");
  EXPECT_EQ(written(value, GraphSon::v2),
            R"({"a":[{"@type":"g:Int32","@value":1},{"@type":"g:Double","@value":2.0}]})");
  EXPECT_EQ(
      written(value, GraphSon::v3),
      R"({"@type":"g:Map","@value":["a",{"@type":"g:List","@value":[{"@type":"g:Int32","@value":1},{"@type":"g:Double","@value":2.0}]}]})");
}

TEST(GraphSonOut, Elements) {
  auto vertex = std::make_shared<Vertex>();
  vertex->key.id = "1";
  vertex->label = "person";
  auto name = std::make_shared<VertexProperty>();
  name->id = "p1";
  name->key = "name";
  name->value = Value::text("marko");
  vertex->properties.push_back(name);
  EXPECT_EQ(
      written(Value::of(vertex), GraphSon::untyped),
      R"({"id":"1","label":"person","type":"vertex","properties":{"name":[{"id":"p1","value":"marko"}]}})");
  auto edge = std::make_shared<Edge>();
  edge->key.id = "7";
  edge->label = "knows";
  edge->out = {"1", {}};
  edge->in = {"2", {}};
  EXPECT_EQ(
      written(Value::of(edge), GraphSon::untyped),
      R"({"id":"7","label":"knows","type":"edge","inVLabel":"","outVLabel":"","inV":"2","outV":"1"})");
}

TEST(GraphSonIn, TypesOfBothVersions) {
  EXPECT_EQ(read(R"({"@type":"g:Int64","@value":5})"), "5");
  EXPECT_EQ(read(R"({"@type":"g:Map","@value":["a",{"@type":"g:Int32","@value":1}]})"), "{a=1}");
  EXPECT_EQ(read(R"({"@type":"g:P","@value":{"predicate":"within","value":[1,2]}})"),
            "within(1,2)");
  EXPECT_EQ(read(R"({"@type":"g:T","@value":"id"})"), "id");
  EXPECT_EQ(read(R"({"@type":"g:Bytecode","@value":{"step":[["V"],["has","a",1]]}})"),
            "[V().has(a,1)]");
  EXPECT_THAT(read(R"({"@type":"g:Lambda","@value":{}})"), HasSubstr("g:Lambda"));
  EXPECT_THAT(read(R"({"@type":"g:Bytecode","@value":{"step":[["nothing"]]}})"),
              HasSubstr("nothing"));
}

TEST(Messages, AreReadWithAndWithoutAMimeType) {
  const std::string json =
      R"json({"requestId":{"@type":"g:UUID","@value":"u"},"op":"eval","processor":"","args":{"gremlin":"g.V()"}})json";
  Message message;
  ASSERT_TRUE(read_message(json, false, message));
  EXPECT_EQ(message.id, "u");
  EXPECT_EQ(message.text("gremlin"), "g.V()");
  const std::string mime = "application/vnd.gremlin-v3.0+json";
  ASSERT_TRUE(read_message(static_cast<char>(mime.size()) + mime + json, true, message));
  EXPECT_EQ(message.form, GraphSon::v3);
  const std::string binary = "application/vnd.graphbinary-v1.0";
  EXPECT_EQ(
      read_message(static_cast<char>(binary.size()) + binary + "\x81", true, message).error().code,
      Code::unsupported);
  EXPECT_FALSE(read_message("", true, message));
}

}  // namespace
}  // namespace orrery::gremlin
