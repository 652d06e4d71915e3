# items
{"id":"1","a":{"b":{"c":[10,20]}},"list":[1,[2,3],{"k":4}],"m n":{"x-y":1},"grid":[[1,2],[3]]}
{"id":"2","a":{"b":null},"list":"text","grid":[]}
{"id":"3","list":{"k":1}}

# the container by any name
SELECT VALUE anything.id FROM anything WHERE anything.id = "1"
----
"1"

# root
SELECT VALUE root.id FROM root
----
"1"
"2"
"3"

# an alias with AS
SELECT VALUE x.id FROM c AS x WHERE x.id = "2"
----
"2"

# an alias without AS
SELECT VALUE x.id FROM c x WHERE x.id = "2"
----
"2"

# the old name is gone
SELECT VALUE c.id FROM c AS x
---- error SC2001

# names are case-sensitive
SELECT VALUE C.id FROM c
---- error SC2001

# a path is the source
SELECT VALUE b FROM c.a.b
----
{"c":[10,20]}
null

# star of a path
SELECT * FROM c.a.b
----
{"c":[10,20]}
null

# an index in a path
SELECT VALUE x FROM c.a.b.c[1] AS x
----
20

# quoted names in a path
SELECT VALUE x FROM c["m n"]["x-y"] AS x
----
1

# elements of a path
SELECT VALUE e FROM e IN c.list
----
1
[2,3]
{"k":4}

# elements of elements
SELECT VALUE n FROM c JOIN row IN c.grid JOIN n IN row
----
1
2
3

# a string and an object have no elements
SELECT VALUE c.id FROM c JOIN e IN c.list
----
"1"
"1"
"1"

# a join with a value
SELECT c.id, l FROM c JOIN l IN c.grid[0]
----
{"id":"1","l":1}
{"id":"1","l":2}

# a cross join
SELECT x, y FROM c JOIN x IN c.a.b.c JOIN y IN c.a.b.c
----
{"x":10,"y":10}
{"x":10,"y":20}
{"x":20,"y":10}
{"x":20,"y":20}

# a join over an undefined path removes the row
SELECT VALUE c.id FROM c JOIN e IN c.a.b.c
----
"1"
"1"

# a join over a function
SELECT c.id, kv.k FROM c JOIN kv IN OBJECTTOARRAY(c.a)
----
{"id":"1","k":"b"}
{"id":"2","k":"b"}

# filters see all sources
SELECT VALUE e FROM c JOIN e IN c.a.b.c WHERE c.id = "1" AND e > 10
----
20

# star of several sources
SELECT * FROM c JOIN e IN c.list
---- error single input set

# star of nothing
SELECT *
---- error FROM

# no container
SELECT 1 AS one, "two" AS two
----
{"one":1,"two":"two"}

# no container, and nothing
SELECT VALUE undefined
----

# rows without a container
SELECT VALUE x FROM x IN (SELECT VALUE [3, 2, 1])
----
3
2
1

# rows without a container, filtered and joined
SELECT x, y FROM x IN (SELECT VALUE [1, 2]) JOIN y IN (SELECT VALUE ["a", "b"]) WHERE x = 2
----
{"x":2,"y":"a"}
{"x":2,"y":"b"}

# numbers index arrays only
SELECT VALUE c.a[0] FROM c
----

# strings index objects only
SELECT VALUE c.list["k"] FROM c
----
1

# a missing path is undefined all the way
SELECT VALUE c.no.such.path FROM c
----

# an index that is computed
SELECT VALUE c.a.b.c[1 - 1] FROM c
----
10
