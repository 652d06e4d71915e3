# items
{"id":"1","_rid":"r1","text":"a red bike","v":[1,0]}
{"id":"2","_rid":"r2","text":"Red, red bikes with a bell","v":[0,1]}
{"id":"3","_rid":"r3","text":"the blue bike","v":[0.8,0.6]}
{"id":"4","_rid":"r4","text":"green boats sail far away","v":[0.6,0.8]}
{"id":"5","_rid":"r5","v":[-1,0]}
{"id":"6","_rid":"r6","text":"red mountain bikes: a trail guide"}

# by one term: rare, frequent in the text, short text
SELECT VALUE c.id FROM c WHERE FullTextContains(c.text, 'red') ORDER BY RANK FullTextScore(c.text, 'red')
---- ordered
"2"
"1"
"6"

# by two terms
SELECT VALUE c.id FROM c WHERE FullTextContains(c.text, 'bike') ORDER BY RANK FullTextScore(c.text, 'red', 'bike')
---- ordered
"1"
"2"
"6"
"3"

# by a list of terms, as objects
SELECT c.id FROM c WHERE c.id != '5' ORDER BY RANK FullTextScore(c.text, ['red', 'bike'])
---- ordered
{"id":"1"}
{"id":"2"}
{"id":"6"}
{"id":"3"}
{"id":"4"}

# by terms from parameters, and a filter by one
@terms = ["red","bike"]
@not = "1"
SELECT VALUE c.id FROM c WHERE c.id != @not AND FullTextContains(c.text, 'bike') ORDER BY RANK FullTextScore(c.text, @terms)
---- ordered
"2"
"6"
"3"

# the statistics are of all items, whatever the filter
SELECT VALUE c.id FROM c WHERE c.id IN ('2', '4') ORDER BY RANK FullTextScore(c.text, 'bell', 'green')
---- ordered
"2"
"4"

# no match is last, not left out
SELECT TOP 4 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'red', 'bike')
---- ordered
"1"
"2"
"6"
"3"

# every item is ranked
SELECT VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'zeppelin')
----
"1"
"2"
"3"
"4"
"5"
"6"

# TOP
SELECT TOP 2 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'red', 'bike')
---- ordered
"1"
"2"

# OFFSET LIMIT
SELECT VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'red', 'bike') OFFSET 1 LIMIT 2
---- ordered
"2"
"6"

# OFFSET beyond the end
SELECT VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, 'red') OFFSET 10 LIMIT 2
---- ordered

# a whole item
SELECT TOP 1 * FROM c ORDER BY RANK FullTextScore(c.text, 'blue')
---- ordered
{"id":"3","_rid":"r3","text":"the blue bike","v":[0.8,0.6]}

# by the distance of vectors: the nearest first, without one last
SELECT VALUE c.id FROM c ORDER BY RANK VectorDistance(c.v, [1, 0])
---- ordered
"1"
"3"
"4"
"2"
"5"
"6"

# RRF of a text and a vector
SELECT VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red', 'bike'), VectorDistance(c.v, [0.6, 0.8]))
---- ordered
"1"
"2"
"4"
"3"
"6"
"5"

# RRF with weights
SELECT VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red', 'bike'), VectorDistance(c.v, [0.6, 0.8]), [1, 2])
---- ordered
"4"
"3"
"2"
"1"
"6"
"5"

# RRF with weights from a parameter, and a vector from one
@weights = [2, 1]
@v = [0.6, 0.8]
SELECT TOP 3 VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red', 'bike'), VectorDistance(c.v, @v), @weights)
---- ordered
"1"
"2"
"3"

# a negative weight turns a score round
SELECT VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red', 'bike'), VectorDistance(c.v, [1, 0]), [1, -2])
---- ordered
"6"
"2"
"5"
"4"
"1"
"3"

# RRF by a distance where smaller is nearer
SELECT VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red', 'bike'), VectorDistance(c.v, [0, 1], true, {"distanceFunction": "euclidean"}))
---- ordered
"2"
"1"
"4"
"3"
"6"
"5"

# RRF of two text scores, with a page out of the middle
SELECT VALUE c.id FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red', 'bike'), FullTextScore(c.text, 'blue', 'bell')) OFFSET 1 LIMIT 3
---- ordered
"2"
"3"
"6"

# a term with an edit distance
SELECT TOP 1 VALUE c.id FROM c ORDER BY RANK FullTextScore(c.text, {"term": "grean", "distance": 1})
---- ordered
"4"

# what is no score
SELECT * FROM c ORDER BY RANK UPPER(c.text)
---- error must be followed by a VectorDistance, a FullTextScore or an RRF

# RRF of one score
SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red'))
---- error requires at least two scores

# as many weights as scores
SELECT * FROM c ORDER BY RANK RRF(FullTextScore(c.text, 'red'), FullTextScore(c.text, 'bike'), [1])
---- error as many weights

# a path through an object, as LINQ providers write it
SELECT TOP 1 VALUE FullTextContains(c.text, 'red') FROM c ORDER BY RANK FullTextScore({"a": 1, "f": c.text}["f"], 'red')
----
true

# no term
SELECT * FROM c ORDER BY RANK FullTextScore(c.text)
---- error at least one search term

# the text of an element
SELECT VALUE t FROM c JOIN t IN c.texts ORDER BY RANK FullTextScore(t.text, 'red')
---- error not of an element that JOIN gives

# with DISTINCT
SELECT DISTINCT c.text FROM c ORDER BY RANK FullTextScore(c.text, 'red')
---- error not supported with DISTINCT

# in a subquery
SELECT VALUE s FROM (SELECT * FROM c ORDER BY RANK FullTextScore(c.text, 'red')) s
---- error outermost query

# items
{"id":"1","_rid":"1","text":"red one two three four five"}
{"id":"2","_rid":"2","text":"red 10 20 30"}
{"id":"3","_rid":"3","text":"red who also were both there before me and well over him"}
{"id":"4","_rid":"4","text":"red-hot iron"}
{"id":"5","_rid":"5","text":"nothing"}

# numbers count twice, joined words once more, stop words nothing
SELECT VALUE c.id FROM c WHERE c.id != "5" ORDER BY RANK FullTextScore(c.text, 'red')
---- ordered
"3"
"4"
"1"
"2"
