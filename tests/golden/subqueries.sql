# items
{"id":"1","name":"bike","tags":[{"k":"color","v":"red"},{"k":"size","v":"m"}],"sizes":[3,1,2],"parts":[{"name":"wheel","uses":[{"n":1},{"n":2}]},{"name":"bell","uses":[]}]}
{"id":"2","name":"boat","tags":[{"k":"color","v":"blue"}],"sizes":[],"parts":[]}
{"id":"3","name":"kite","sizes":[5]}

# scalar
SELECT c.id, (SELECT VALUE c.name) AS n FROM c
----
{"id":"1","n":"bike"}
{"id":"2","n":"boat"}
{"id":"3","n":"kite"}

# scalar of an aggregate
SELECT c.id, (SELECT VALUE COUNT(1) FROM t IN c.tags) AS n FROM c
----
{"id":"1","n":2}
{"id":"2","n":1}
{"id":"3","n":0}

# scalar of several rows is undefined
SELECT c.id, (SELECT VALUE s FROM s IN c.sizes) AS s FROM c
----
{"id":"1"}
{"id":"2"}
{"id":"3","s":5}

# scalar with an object
SELECT VALUE (SELECT MIN(s) AS lo, MAX(s) AS hi FROM s IN c.sizes) FROM c
----
{"lo":1,"hi":3}
{}
{"lo":5,"hi":5}

# scalar in a filter
SELECT VALUE c.id FROM c WHERE (SELECT VALUE SUM(s) FROM s IN c.sizes) > 4
----
"1"
"3"

# a value computed once
SELECT c.id, x FROM c JOIN (SELECT VALUE CONCAT(c.name, "!")) AS x WHERE x = "boat!"
----
{"id":"2","x":"boat!"}

# several values computed once
SELECT x.lower, x.len FROM c JOIN (SELECT UPPER(c.name) AS lower, LENGTH(c.name) AS len) AS x WHERE c.id = "1"
----
{"lower":"BIKE","len":4}

# a join with a filtered array
SELECT c.id, t.v FROM c JOIN (SELECT VALUE t FROM t IN c.tags WHERE t.k = "color") AS t
----
{"id":"1","v":"red"}
{"id":"2","v":"blue"}

# a join over the elements of a subquery
SELECT c.id, s FROM c JOIN s IN (SELECT VALUE c.sizes)
----
{"id":"1","s":3}
{"id":"1","s":1}
{"id":"1","s":2}
{"id":"3","s":5}

# a list that is not in the items
SELECT c.id, x.word FROM c JOIN x IN (SELECT VALUE [{"k":"red","word":"rot"},{"k":"blue","word":"blau"}]) WHERE c.tags[0].v = x.k
----
{"id":"1","word":"rot"}
{"id":"2","word":"blau"}

# exists
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.v = "m")
----
"1"

# not exists
SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t.k = "size")
----
"2"
"3"

# exists as a value
SELECT c.id, EXISTS(SELECT VALUE s FROM s IN c.sizes WHERE s > 2) AS has FROM c
----
{"id":"1","has":true}
{"id":"2","has":false}
{"id":"3","has":true}

# exists of an undefined value
SELECT VALUE EXISTS(SELECT VALUE c.nope) FROM c WHERE c.id = "1"
----
false

# exists of a null
SELECT VALUE EXISTS(SELECT VALUE null)
----
true

# exists of an object without members
SELECT VALUE EXISTS(SELECT c.nope) FROM c WHERE c.id = "1"
----
true

# array
SELECT VALUE ARRAY(SELECT VALUE t.v FROM t IN c.tags) FROM c
----
["red","m"]
["blue"]
[]

# array of what is sorted
SELECT VALUE ARRAY(SELECT VALUE s FROM s IN c.sizes ORDER BY s DESC) FROM c WHERE c.id = "1"
----
[3,2,1]

# array of the first
SELECT VALUE ARRAY(SELECT TOP 2 VALUE s FROM s IN c.sizes ORDER BY s) FROM c WHERE c.id = "1"
----
[1,2]

# array with an offset
SELECT VALUE ARRAY(SELECT VALUE s FROM s IN c.sizes OFFSET 1 LIMIT 1) FROM c WHERE c.id = "1"
----
[1]

# array of distinct values
SELECT VALUE ARRAY(SELECT DISTINCT VALUE u FROM u IN [1, 2, 1, null, null]) FROM c WHERE c.id = "1"
---- error

# array of objects
SELECT VALUE ARRAY(SELECT t.k FROM t IN c.tags) FROM c WHERE c.id = "1"
----
[{"k":"color"},{"k":"size"}]

# arrays in arrays
SELECT VALUE ARRAY(SELECT p.name, ARRAY(SELECT VALUE u.n FROM u IN p.uses) AS uses FROM p IN c.parts) FROM c WHERE c.id = "1"
----
[{"name":"wheel","uses":[1,2]},{"name":"bell","uses":[]}]

# array in a filter
SELECT VALUE c.id FROM c WHERE ARRAY_LENGTH(ARRAY(SELECT VALUE s FROM s IN c.sizes WHERE s > 1)) = 2
----
"1"

# all
SELECT VALUE c.id FROM c WHERE ALL(SELECT VALUE s > 2 FROM s IN c.sizes)
----
"2"
"3"

# first
SELECT VALUE FIRST(SELECT VALUE s FROM s IN c.sizes) FROM c
----
3
5

# last
SELECT VALUE LAST(SELECT VALUE s FROM s IN c.sizes) FROM c
----
2
5

# the container inside a subquery is the item at hand
SELECT VALUE (SELECT VALUE COUNT(1) FROM c) FROM c
----
1
1
1

# a query in FROM
SELECT VALUE x.id FROM (SELECT c.id, c.name FROM c WHERE c.name != "boat") AS x
----
"1"
"3"

# a query in FROM, filtered again
SELECT VALUE x.n FROM (SELECT LENGTH(c.name) AS n, c.id FROM c) AS x WHERE x.id = "2"
----
4

# a query in FROM, joined
SELECT x.id, s FROM (SELECT c.id, c.sizes FROM c) AS x JOIN s IN x.sizes WHERE s > 2
----
{"id":"1","s":3}
{"id":"3","s":5}

# a query in a query in FROM
SELECT VALUE y FROM (SELECT VALUE x.id FROM (SELECT c.id FROM c) AS x) AS y
----
"1"
"2"
"3"

# grouped in FROM
SELECT VALUE x.n FROM (SELECT LENGTH(c.name) AS len, COUNT(1) AS n FROM c GROUP BY LENGTH(c.name)) AS x
---- single
3

# the first ones in FROM
SELECT VALUE x FROM (SELECT TOP 1 VALUE c.id FROM c ORDER BY c.id DESC) AS x
---- single
"3"

# names of the outer query are seen inside, not the other way round
SELECT VALUE t FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags)
---- error SC2001

# an inner name hides an outer one
SELECT VALUE ARRAY(SELECT VALUE c FROM c IN c.sizes) FROM c WHERE c.id = "3"
----
[5]

# a query in FROM puts its rows in order
SELECT VALUE t.name FROM (SELECT TOP 2 VALUE c FROM c ORDER BY c.name DESC) AS t
---- single
"kite"
"boat"

# and what skips rows of it skips the first
SELECT VALUE t.name FROM (SELECT TOP 3 VALUE c FROM c ORDER BY c.name DESC) AS t OFFSET 1 LIMIT 2
---- single
"boat"
"bike"
