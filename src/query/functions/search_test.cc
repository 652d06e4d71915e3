// Searching strings: CONTAINS and its like, regular expressions, full text, vectors.
#include <gtest/gtest.h>

#include "query/functions/evaluator_fixture.h"
#include "query/functions/full_text.h"
#include "query/functions/stemmer.h"

namespace orrery::query {
namespace {

TEST(SearchFunctions, ContainsStartsEnds) {
  Evaluator call;
  EXPECT_EQ(call("CONTAINS", R"(["AdventureWorks","ventureW"])"), "true");
  EXPECT_EQ(call("CONTAINS", R"(["AdventureWorks","works"])"), "false");
  EXPECT_EQ(call("CONTAINS", R"(["AdventureWorks","works",true])"), "true");
  EXPECT_EQ(call("CONTAINS", R"(["abc",""])"), "true");
  EXPECT_EQ(call("CONTAINS", R"(["ÉTÉ","é",true])"), "true");
  EXPECT_EQ(call("CONTAINS", R"(["abc",null])"), "undefined");
  EXPECT_EQ(call("CONTAINS", R"(["abc","a",1])"), "undefined");
  EXPECT_EQ(call("STARTSWITH", R"(["abc","A"])"), "false");
  EXPECT_EQ(call("STARTSWITH", R"(["abc","A",true])"), "true");
  EXPECT_EQ(call("STARTSWITH", R"(["abc","abcd"])"), "false");
  EXPECT_EQ(call("ENDSWITH", R"(["abc","bC",true])"), "true");
  EXPECT_EQ(call("ENDSWITH", R"(["abc","b"])"), "false");
  EXPECT_EQ(call("ENDSWITH", R"([1,"b"])"), "undefined");
  EXPECT_EQ(call("STRINGEQUALS", R"(["abc","ABC",true])"), "true");
  EXPECT_EQ(call("STRINGEQUALS", R"(["abc","ABC"])"), "false");
  EXPECT_EQ(call("STRINGEQUALS", R"(["abc",1])"), "undefined");
}

TEST(SearchFunctions, ContainsAllAndAny) {
  Evaluator call;
  const std::string text = R"("Have a nice day!")";
  const auto with = [&](const std::string& rest) { return "[" + text + "," + rest + "]"; };
  EXPECT_EQ(call("CONTAINS_ALL_CI", with(R"("HAVE","NICE","DAY!")")), "true");
  EXPECT_EQ(call("CONTAINS_ALL_CI", with(R"("had","nice")")), "false");
  EXPECT_EQ(call("CONTAINS_ALL_CI", with(R"("undefined","nice")")), "undefined");
  EXPECT_EQ(call("CONTAINS_ALL_CI", with(R"("undefined","had")")), "false");
  EXPECT_EQ(call("CONTAINS_ALL_CS", with(R"("Have","nice")")), "true");
  EXPECT_EQ(call("CONTAINS_ALL_CS", with(R"("HAVE","nice")")), "false");
  EXPECT_EQ(call("CONTAINS_ANY_CI", with(R"("undefined","NICE")")), "true");
  EXPECT_EQ(call("CONTAINS_ANY_CI", with(R"("undefined","had")")), "undefined");
  EXPECT_EQ(call("CONTAINS_ANY_CI", with(R"("had")")), "false");
  EXPECT_EQ(call("CONTAINS_ANY_CS", with(R"("HAVE","NICE")")), "false");
  EXPECT_EQ(call("CONTAINS_ANY_CS", R"([1,"a"])"), "undefined");
}

TEST(SearchFunctions, IndexOf) {
  Evaluator call;
  EXPECT_EQ(call("INDEX_OF", R"(["AdventureWorks","Works"])"), "9");
  EXPECT_EQ(call("INDEX_OF", R"(["AdventureWorks","Comets"])"), "-1");
  EXPECT_EQ(call("INDEX_OF", R"(["AdventureWorks","Works",5])"), "9");
  EXPECT_EQ(call("INDEX_OF", R"(["AdventureWorks","Adventure",5])"), "-1");
  EXPECT_EQ(call("INDEX_OF", R"(["abc","",1])"), "1");
  EXPECT_EQ(call("INDEX_OF", R"(["abc","a",99])"), "-1");
  EXPECT_EQ(call("INDEX_OF", R"(["abc",1])"), "undefined");
  EXPECT_EQ(call("LASTINDEXOF", R"(["abcdeabc","abc"])"), "5");
  EXPECT_EQ(call("LASTINDEXOF", R"(["abcdeabc","abc",6])"), "0");
  EXPECT_EQ(call("LASTINDEXOF", R"(["abcdeabc","abc",7])"), "5");
  EXPECT_EQ(call("LASTINDEXOF", R"(["abcdeabc","fg"])"), "-1");
}

TEST(SearchFunctions, RegexMatch) {
  Evaluator call;
  EXPECT_EQ(call("REGEXMATCH", R"(["abcd","ABC"])"), "false");
  EXPECT_EQ(call("REGEXMATCH", R"(["abcd","ABC","i"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["abcd","ab.",""])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["abcd","ab c","x"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["abcd","aB c # note","ix"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["ab cd","b\\ c[ ]?d","x"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["salt3824908","salt{1}"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["a\nb","^b"])"), "false");
  EXPECT_EQ(call("REGEXMATCH", R"(["a\nb","^b$","m"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["a\nb","a.b"])"), "false");
  EXPECT_EQ(call("REGEXMATCH", R"(["a\nb","a.b","s"])"), "true");
  EXPECT_EQ(call("REGEXMATCH", R"(["abc","("])"), "undefined");
  EXPECT_EQ(call("REGEXMATCH", R"(["abc","a","q"])"), "undefined");
  EXPECT_EQ(call("REGEXMATCH", R"(["abc",1])"), "undefined");
  // What makes a backtracking matcher run for years.
  const std::string text(5000, 'a');
  EXPECT_EQ(call("REGEXMATCH", R"([")" + text + R"(","^(a+)+$b"])"), "false");
}

TEST(FullText, Stems) {
  EXPECT_EQ(stem("bicycles"), stem("bicycle"));
  EXPECT_EQ(stem("caresses"), "caress");
  EXPECT_EQ(stem("ponies"), "poni");
  EXPECT_EQ(stem("hopping"), "hop");
  EXPECT_EQ(stem("filing"), "file");
  EXPECT_EQ(stem("agreed"), "agre");
  EXPECT_EQ(stem("relational"), "relat");
  EXPECT_EQ(stem("generalizations"), "gener");
  EXPECT_EQ(stem("adoption"), "adopt");
  EXPECT_EQ(stem("controlling"), "control");
  EXPECT_EQ(stem("sky"), "sky");
  EXPECT_EQ(stem("happy"), "happi");
  EXPECT_EQ(stem("été"), "été");
  EXPECT_EQ(stem("is"), "is");
}

TEST(FullText, Contains) {
  Evaluator call;
  const std::string text = R"("The red bicycle, and THREE mountain-bikes: 東京 2024.")";
  const auto with = [&](const std::string& rest) { return "[" + text + "," + rest + "]"; };
  EXPECT_EQ(call("FullTextContains", with(R"("Bicycles")")), "true");
  EXPECT_EQ(call("FullTextContains", with(R"("red bicycle")")), "true");
  EXPECT_EQ(call("FullTextContains", with(R"("bicycle red")")), "false");
  EXPECT_EQ(call("FullTextContains", with(R"("mountain bike")")), "true");
  EXPECT_EQ(call("FullTextContains", with(R"("bike")")), "true");
  EXPECT_EQ(call("FullTextContains", with(R"("bik")")), "false");
  EXPECT_EQ(call("FullTextContains", with(R"("the")")), "false");
  EXPECT_EQ(call("FullTextContains", with(R"("東京")")), "true");
  EXPECT_EQ(call("FullTextContains", with("5")), "undefined");
  EXPECT_EQ(call("FullTextContains", R"([5,"a"])"), "undefined");
  EXPECT_EQ(call("FullTextContains", with(R"({"term":"bycicle","distance":2})")), "true");
  EXPECT_EQ(call("FullTextContains", with(R"({"term":"rad","distance":1})")), "true");
  EXPECT_EQ(call("FullTextContains", with(R"({"term":"rad"})")), "false");
  EXPECT_EQ(call("FullTextContains", with(R"({"term":"rad","distance":3})")), "undefined");
  EXPECT_EQ(call("FullTextContainsAll", with(R"("red","2024")")), "true");
  EXPECT_EQ(call("FullTextContainsAll", with(R"("red","blue")")), "false");
  EXPECT_EQ(call("FullTextContainsAny", with(R"("blue","three")")), "true");
  EXPECT_EQ(call("FullTextContainsAny", with(R"("blue","green")")), "false");
}

TEST(FullText, ScoresRareTermsAndShortTextsHigher) {
  const FullTextStatistics statistics{.documents = 4, .words = 80, .hit_counts = {3, 1}};
  const auto score = [&](size_t words, std::vector<size_t> matches) {
    return score_bm25(words, matches, statistics);
  };
  EXPECT_EQ(score(10, {0, 0}), 0);
  EXPECT_GT(score(10, {0, 1}), score(10, {1, 0}));
  EXPECT_GT(score(10, {2, 0}), score(10, {1, 0}));
  EXPECT_GT(score(10, {1, 0}), score(40, {1, 0}));
  // By hand: idf = ln(1 + 1.5/3.5), length as the average of 20.
  EXPECT_NEAR(score(20, {1, 0}), 0.35667494393873, 1e-12);
}

TEST(FullText, ScoresAsAFunction) {
  Evaluator call;
  const auto score = [&](const std::string& arguments) {
    return std::stod(call("_FullTextScore", arguments));
  };
  // By hand: 4 documents of 2.5 words, 1 with the term. idf = ln(1 + 3.5/1.5) = 1.2039728; one
  // match in 2 words: 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2/2.5)) = 1.0891089.
  EXPECT_NEAR(score(R"(["red bike",["bike"],4,10,[1]])"), 1.3112575, 1e-6);
  // Two matches in 3 words: 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 3/2.5)) = 1.3017751.
  EXPECT_NEAR(score(R"(["bikes, red bikes",["bike"],4,10,[1]])"), 1.5673019, 1e-6);
  // Terms add up: idf of 3 in 4 is ln(1 + 1.5/3.5) = 0.3566749.
  EXPECT_NEAR(score(R"(["red bike",["bike","red"],4,10,[1,3]])"), 1.6997155, 1e-6);
  for (const char* no_match :
       {R"(["red car",["bike"],4,10,[1]])", R"([null,["bike"],4,10,[1]])", R"(["bike",[],4,10,[]])",
        R"(["bike",[7],4,10,[1]])", R"(["bike",["bike"],0,0,[0]])"}) {
    EXPECT_EQ(call("_FullTextScore", no_match), "0") << no_match;
  }
  for (const char* wrong : {R"(["bike","bike",4,10,[1]])", R"(["bike",["bike"],-1,10,[1]])",
                            R"(["bike",["bike"],4,"10",[1]])", R"(["bike",["bike"],4,10,["1"]])"}) {
    EXPECT_EQ(call("_FullTextScore", wrong), "undefined") << wrong;
  }
  EXPECT_EQ(call("_FullTextWordCount", R"(["the red bike"])"), "2");
  EXPECT_EQ(call("_FullTextWordCount", "[null]"), "0");
  // Numbers count twice, but for single digits; joined words once more; stop words and letters not.
  for (const auto& [text, length] :
       {std::pair("Those who also do well in the United States", "2"),
        std::pair("born March 16, 1973", "6"), std::pair("8 of 1,977, and 2.5.3 of 12.10", "7"),
        std::pair("the Arizona-Sonora Desert Museum", "5"),
        std::pair("19th-century K. Javits", "4"),
        std::pair("a thirty-page-long -x- 1963-69 pamphlet", "10"), std::pair("– & -", "0")}) {
    EXPECT_EQ(call("_FullTextWordCount", std::string("[\"") + text + "\"]"), length) << text;
  }
}

TEST(VectorDistance, Measures) {
  Evaluator call;
  EXPECT_EQ(call("VectorDistance", "[[1,0],[1,0]]"), "1");
  EXPECT_EQ(call("VectorDistance", "[[1,0],[0,2]]"), "0");
  EXPECT_EQ(call("VectorDistance", "[[3,4],[0,0]]"), "0");
  EXPECT_EQ(call("VectorDistance", R"([[1,2,3],[4,5,6],false,{"distanceFunction":"DotProduct"}])"),
            "32");
  EXPECT_EQ(call("VectorDistance", R"([[0,0],[3,4],true,{"distanceFunction":"euclidean"}])"), "5");
  EXPECT_EQ(call("VectorDistance", R"([[1],[1],true,{"dataType":"Float32"}])"), "1");
  EXPECT_EQ(call("VectorDistance", R"([[1],[1],true,{"distanceFunction":"manhattan"}])"),
            "undefined");
  EXPECT_EQ(call("VectorDistance", "[[1,2],[1]]"), "undefined");
  EXPECT_EQ(call("VectorDistance", "[[[1]],[[1]]]"), "undefined");
  EXPECT_EQ(call("VectorDistance", "[[],[]]"), "undefined");
  EXPECT_EQ(call("VectorDistance", "[null,[1]]"), "undefined");
}

}  // namespace
}  // namespace orrery::query
