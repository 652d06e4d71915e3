// String functions, and conversions from and to strings.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "query/functions/evaluator_fixture.h"
#include "query/functions/text.h"

namespace orrery::query {
namespace {

TEST(StringFunctions, Parts) {
  Evaluator call;
  EXPECT_EQ(call("CONCAT", R"(["Ferpal","Ropes"])"), R"("FerpalRopes")");
  EXPECT_EQ(call("CONCAT", R"(["a",1])"), "undefined");
  EXPECT_EQ(call("LEFT", R"(["AdventureWorks",5])"), R"("Adven")");
  EXPECT_EQ(call("LEFT", R"(["AdventureWorks",0])"), R"("")");
  EXPECT_EQ(call("LEFT", R"(["AdventureWorks",100])"), R"("AdventureWorks")");
  EXPECT_EQ(call("LEFT", R"(["abc",-1])"), R"("")");
  EXPECT_EQ(call("LEFT", R"(["abc",null])"), "undefined");
  EXPECT_EQ(call("RIGHT", R"(["AdventureWorks",5])"), R"("Works")");
  EXPECT_EQ(call("RIGHT", R"(["abc",0])"), R"("")");
  EXPECT_EQ(call("RIGHT", R"(["abc",100])"), R"("abc")");
  EXPECT_EQ(call("SUBSTRING", R"(["AdventureWorks",9,5])"), R"("Works")");
  EXPECT_EQ(call("SUBSTRING", R"(["AdventureWorks",0,-1])"), R"("")");
  EXPECT_EQ(call("SUBSTRING", R"(["abc",1,100])"), R"("bc")");
  EXPECT_EQ(call("SUBSTRING", R"(["abc",5,1])"), R"("")");
  EXPECT_EQ(call("SUBSTRING", R"(["abc",-1,2])"), R"("ab")");
  EXPECT_EQ(call("SUBSTRING", R"([5,0,1])"), "undefined");
}

TEST(StringFunctions, CountCodePoints) {
  Evaluator call;
  EXPECT_EQ(call("LENGTH", R"(["AdventureWorks"])"), "14");
  EXPECT_EQ(call("LENGTH", R"([""])"), "0");
  EXPECT_EQ(call("LENGTH", R"(["é😀漢"])"), "3");
  EXPECT_EQ(call("LENGTH", "[5]"), "undefined");
  EXPECT_EQ(call("SUBSTRING", R"(["é😀漢x",1,2])"), R"("😀漢")");
  EXPECT_EQ(call("LEFT", R"(["😀a",1])"), R"("😀")");
  EXPECT_EQ(call("RIGHT", R"(["a😀",1])"), R"("😀")");
  EXPECT_EQ(call("REVERSE", R"(["a😀é"])"), R"("é😀a")");
  EXPECT_EQ(call("INDEX_OF", R"(["é😀漢","漢"])"), "2");
  EXPECT_EQ(call("LASTINDEXOF", R"(["漢é漢","漢"])"), "2");
}

TEST(StringFunctions, Case) {
  Evaluator call;
  EXPECT_EQ(call("LOWER", R"(["ADVENTURE_Works"])"), R"("adventure_works")");
  EXPECT_EQ(call("UPPER", R"(["adventureWorks"])"), R"("ADVENTUREWORKS")");
  EXPECT_EQ(call("UPPER", R"(["straße ñ я ω ǆ"])"), R"("STRAßE Ñ Я Ω Ǆ")");
  EXPECT_EQ(call("LOWER", R"(["ÀÞ Ж Σ Ā"])"), R"("àþ ж σ ā")");
  EXPECT_EQ(call("LOWER", "[null]"), "undefined");
  EXPECT_EQ(to_upper(U'ÿ'), U'Ÿ');
  EXPECT_EQ(to_lower(U'İ'), U'İ');  // its lower case is two code points
  EXPECT_EQ(fold_case("ΑΣ ας"), fold_case("ας ΑΣ"));
}

TEST(StringFunctions, Trim) {
  Evaluator call;
  EXPECT_EQ(call("TRIM", R"(["  a b\t\n"])"), R"("a b")");
  EXPECT_EQ(call("TRIM", R"(["\u00a0\u3000a\u2003"])"), R"("a")");
  EXPECT_EQ(call("TRIM", R"(["   "])"), R"("")");
  EXPECT_EQ(call("TRIM", R"(["-_-AdventureWorks-_-","-_"])"), R"("AdventureWorks")");
  EXPECT_EQ(call("TRIM", R"(["-- a --","-"])"), R"(" a ")");
  EXPECT_EQ(call("LTRIM", R"(["  a  "])"), R"("a  ")");
  EXPECT_EQ(call("LTRIM", R"(["AdventureWorks","Adventure"])"), R"("Works")");
  EXPECT_EQ(call("LTRIM", R"(["AdventureWorks","Works"])"), R"("AdventureWorks")");
  EXPECT_EQ(call("LTRIM", R"(["AdventureWorks",""])"), R"("AdventureWorks")");
  EXPECT_EQ(call("RTRIM", R"(["  a  "])"), R"("  a")");
  EXPECT_EQ(call("RTRIM", R"(["AdventureWorks","Works"])"), R"("Adventure")");
  EXPECT_EQ(call("RTRIM", R"(["aéé","é"])"), R"("a")");
  EXPECT_EQ(call("TRIM", R"(["a",1])"), "undefined");
}

TEST(StringFunctions, ReplaceAndRepeat) {
  Evaluator call;
  EXPECT_EQ(call("REPLACE", R"(["AdventureWorksLT","LT","LT2"])"), R"("AdventureWorksLT2")");
  EXPECT_EQ(call("REPLACE", R"(["aaa","a",""])"), R"("")");
  EXPECT_EQ(call("REPLACE", R"(["aaa","","b"])"), "undefined");
  EXPECT_EQ(call("REPLACE", R"(["aaa","a",1])"), "undefined");
  EXPECT_EQ(call("REPLICATE", R"(["Cosmic",3])"), R"("CosmicCosmicCosmic")");
  EXPECT_EQ(call("REPLICATE", R"(["a",0])"), R"("")");
  EXPECT_EQ(call("REPLICATE", R"(["a",-1])"), "undefined");
  EXPECT_EQ(call("REPLICATE", R"(["a",10001])"), "undefined");
  EXPECT_EQ(call("REPLICATE", R"(["a",10000])").size(), 10002U);
  EXPECT_EQ(call("REPLICATE", R"(["",1e300])"), R"("")");
  EXPECT_EQ(call("REPLICATE", R"(["a",1e300])"), "undefined");
  EXPECT_EQ(call("REVERSE", R"(["AdventureWorks"])"), R"("skroWerutnevdA")");
}

TEST(StringFunctions, JoinAndSplit) {
  Evaluator call;
  EXPECT_EQ(call("STRINGJOIN", R"([["6","7","4"],"A"])"), R"("6A7A4")");
  EXPECT_EQ(call("STRINGJOIN", R"([[],"A"])"), R"("")");
  EXPECT_EQ(call("STRINGJOIN", R"([["6",7],"A"])"), "undefined");
  EXPECT_EQ(call("STRINGJOIN", R"([["6"],"undefined"])"), "undefined");
  EXPECT_EQ(call("STRINGSPLIT", R"(["xenmoun mountain bike","moun"])"),
            R"(["xen"," ","tain bike"])");
  EXPECT_EQ(call("STRINGSPLIT", R"(["Helmet",""])"), R"(["Helmet"])");
  EXPECT_EQ(call("STRINGSPLIT", R"(["",""])"), R"([""])");
  EXPECT_EQ(call("STRINGSPLIT", R"([",a,",","])"), R"(["","a",""])");
  EXPECT_EQ(call("STRINGSPLIT", R"(["a",1])"), "undefined");
}

TEST(Conversions, ReadJson) {
  Evaluator call;
  EXPECT_EQ(call("STRINGTOARRAY", R"(["[1, \"a\", [2]]"])"), R"([1,"a",[2]])");
  EXPECT_EQ(call("STRINGTOARRAY", R"(["['a']"])"), "undefined");
  EXPECT_EQ(call("STRINGTOARRAY", R"(["{}"])"), "undefined");
  EXPECT_EQ(call("STRINGTOARRAY", "[null]"), "undefined");
  EXPECT_EQ(call("STRINGTOBOOLEAN", R"(["  false "])"), "false");
  EXPECT_EQ(call("STRINGTOBOOLEAN", R"(["TRUE"])"), "undefined");
  EXPECT_EQ(call("STRINGTOBOOLEAN", "[true]"), "undefined");
  EXPECT_EQ(call("STRINGTONULL", R"([" null "])"), "null");
  EXPECT_EQ(call("STRINGTONULL", R"(["Null"])"), "undefined");
  EXPECT_EQ(call("STRINGTONUMBER", R"([" 60 "])"), "60");
  EXPECT_EQ(call("STRINGTONUMBER", R"(["-1.79769e+308"])"), "-1.79769e+308");
  EXPECT_EQ(call("STRINGTONUMBER", R"(["Hello"])"), "undefined");
  EXPECT_EQ(call("STRINGTONUMBER", R"(["NaN"])"), "undefined");
  EXPECT_EQ(call("STRINGTOOBJECT", R"(["{\"a\": {\"b\": 1}}"])"), R"({"a":{"b":1}})");
  EXPECT_EQ(call("STRINGTOOBJECT", R"(["{a:1}"])"), "undefined");
}

TEST(Conversions, ToString) {
  Evaluator call;
  EXPECT_EQ(call("TOSTRING", "[1.0000]"), R"("1")");
  EXPECT_EQ(call("TOSTRING", "[0.1234]"), R"("0.1234")");
  EXPECT_EQ(call("TOSTRING", "[false]"), R"("false")");
  EXPECT_EQ(call("TOSTRING", "[null]"), R"("null")");
  EXPECT_EQ(call("TOSTRING", "[[1, 2]]"), R"("[1,2]")");
  EXPECT_EQ(call("TOSTRING", R"([{"a": "b"}])"), R"("{\"a\":\"b\"}")");
  EXPECT_EQ(call("TOSTRING", R"(["Hello"])"), R"("Hello")");
  EXPECT_EQ(call("TOSTRING", R"(["undefined"])"), "undefined");
  const Value odd[] = {Value::make_number(std::nan("")),
                       Value::make_number(-std::numeric_limits<double>::infinity())};
  const Function& to_string = *find_function("ToString");
  EXPECT_EQ(to_string.call({odd, 1}, call.context).text(), "NaN");
  EXPECT_EQ(to_string.call({odd + 1, 1}, call.context).text(), "-Infinity");
}

}  // namespace
}  // namespace orrery::query
