// Queries written in JavaScript: chain, filter, map and the others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "script/host_fixture.h"

namespace orrery::script {
namespace {

using testing::HasSubstr;

class QueryApiTest : public HostTest {
 protected:
  QueryApiTest() {
    operations.documents = {
        {"a",
         R"({"id":"a","name":"Ann","age":40,"tags":["x","y"],"kids":[{"n":"Al","pets":["p1","p2"]}]})"},
        {"b", R"({"id":"b","name":"Bob","age":25,"tags":["z"],"kids":[]})"},
        {"c",
         R"({"id":"c","name":"Cid","age":30,"tags":[["u"]],"kids":[{"n":"Bo","pets":["p3"]}]})"},
    };
  }
  // What the query gives to its callback.
  std::string feed(const std::string& query) {
    return does("const done = (err, feed) => r.setBody(err ? String(err) : feed); " + query);
  }
};

TEST_F(QueryApiTest, FiltersAndMaps) {
  EXPECT_EQ(feed("__.filter((d) => d.age < 35, (err, feed) => r.setBody(feed.map((d) => d.id)));"),
            R"(["b","c"])");
  EXPECT_EQ(feed("__.map((d) => d.age * 2, done);"), "[80,50,60]");
  EXPECT_EQ(feed("__.pluck('name', done);"), R"(["Ann","Bob","Cid"])");
  EXPECT_EQ(feed("__.chain().filter(d => d.age > 26).pluck('name').value(done);"),
            R"(["Ann","Cid"])");
  EXPECT_EQ(feed("getContext().getCollection().map(__, (d) => d.id, {}, done);"),
            R"(["a","b","c"])");
}

TEST_F(QueryApiTest, FlattensSortsAndUnwinds) {
  EXPECT_EQ(feed("__.chain().pluck('tags').flatten().value(done);"), R"(["x","y","z","u"])");
  EXPECT_EQ(feed("__.chain().pluck('tags').flatten(true).value(done);"), R"(["x","y","z",["u"]])");
  EXPECT_EQ(feed("__.chain().sortBy(d => d.age).pluck('id').value(done);"), R"(["b","c","a"])");
  EXPECT_EQ(feed("__.chain().sortByDescending(d => d.name).pluck('id').value(done);"),
            R"(["c","b","a"])");
  EXPECT_EQ(feed("__.chain().unwind(d => d.kids, (d, k) => ({ d: d.id, k }))"
                 ".unwind(x => x.k.pets, (x, p) => x.d + x.k.n + p).value(done);"),
            R"(["aAlp1","aAlp2","cBop3"])");
  EXPECT_EQ(feed("__.unwind(d => d.tags, {}, done);"), R"(["x","y","z",["u"]])");
}

TEST_F(QueryApiTest, PagesAreOfResults) {
  EXPECT_EQ(feed(R"(
    const pages = [];
    function page(continuation) {
      const query = __.chain().pluck("tags").flatten(true);
      query.value({ pageSize: 3, continuation }, (err, feed, options) => {
        pages.push(feed.length);
        if (options.continuation) page(options.continuation); else r.setBody(pages);
      });
    }
    page();)"),
            "[3,1]");
  EXPECT_EQ(feed(R"(
    const found = [];
    function page(continuation) {
      __.sortBy(d => d.age, { pageSize: 1, continuation }, (err, feed, options) => {
        found.push(feed[0].id);
        if (options.continuation) page(options.continuation); else r.setBody(found);
      });
    }
    page();)"),
            R"(["b","c","a"])");
  EXPECT_EQ(
      feed("__.filter(d => d.id === 'c', { pageSize: 1 }, (e, feed) => r.setBody(feed.length));"),
      "1");
}

TEST_F(QueryApiTest, ResultsGoToTheResponseWithoutACallback) {
  EXPECT_EQ(feed("if (!__.pluck('id').isAccepted) throw 1;"), R"("[\"a\",\"b\",\"c\"]")");
}

TEST_F(QueryApiTest, ErrorsReachTheCallback) {
  EXPECT_EQ(feed("__.map((d) => d.none.x, done);"), R"("TypeError: d.none is undefined")");
  EXPECT_THAT(feed("__.filter('not a function');"), HasSubstr("needs a function"));
  EXPECT_THAT(feed("__.chain().map(x => x, {}, done);"), HasSubstr("value()"));
  limits.script_operations = 1;
  EXPECT_EQ(feed("__.readDocuments(__.getSelfLink()); r.setBody(__.pluck('id').isAccepted);"),
            "false");
}

}  // namespace
}  // namespace orrery::script
