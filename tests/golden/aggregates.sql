# items
{"id":"1","n":1,"s":"b","b":true,"m":1,"l":[1,2,3]}
{"id":"2","n":2.5,"s":"a","b":false,"m":"x","l":[]}
{"id":"3","n":-4,"s":"ä","b":true,"m":null,"l":[7]}
{"id":"4","s":"","m":[1],"d":1}
{"id":"5","n":9007199254740992,"m":{"k":1},"d":1}

# count of rows
SELECT VALUE COUNT(1) FROM c
----
5

# one row has no order
SELECT VALUE AVG(c.n) FROM c WHERE c.n < 5 ORDER BY c.n
----
-0.16666666666666666

# one row has no order, whatever it would be
SELECT COUNT(1) AS n FROM c ORDER BY c.s DESC
----
{"n":5}

# count of a property leaves out undefined
SELECT VALUE COUNT(c.n) FROM c
----
4

# count of null
SELECT VALUE COUNT(c.m) FROM c
----
5

# count of undefined
SELECT VALUE COUNT(undefined) FROM c
----
0

# count of items
SELECT VALUE COUNT(c) FROM c
----
5

# count of nothing
SELECT VALUE COUNT(1) FROM c WHERE false
----
0

# countif
SELECT VALUE COUNTIF(c.b) FROM c
----
2

# countif of an expression
SELECT VALUE COUNTIF(c.n > 0) FROM c
----
3

# sum
SELECT VALUE SUM(c.n) FROM c WHERE c.n < 100
----
-0.5

# sum past 2^53
SELECT VALUE SUM(c.n) FROM c WHERE c.n >= 0
----
9007199254740996

# sum of strings is undefined
SELECT VALUE SUM(c.s) FROM c
----

# sum over several types is undefined
SELECT VALUE SUM(c.m) FROM c
----

# sum of nothing
SELECT VALUE SUM(c.nope) FROM c
----
0

# avg
SELECT VALUE AVG(c.n) FROM c WHERE c.id IN ("1", "2")
----
1.75

# avg of nothing
SELECT VALUE AVG(c.nope) FROM c
----

# avg over several types is undefined
SELECT VALUE AVG(c.m) FROM c
----

# avg leaves out undefined
SELECT VALUE AVG(c.d) FROM c
----
1

# min and max of numbers
SELECT MIN(c.n) AS lo, MAX(c.n) AS hi FROM c
----
{"lo":-4,"hi":9007199254740992}

# min and max of strings
SELECT MIN(c.s) AS lo, MAX(c.s) AS hi FROM c
----
{"lo":"","hi":"ä"}

# min and max of booleans
SELECT MIN(c.b) AS lo, MAX(c.b) AS hi FROM c
----
{"lo":false,"hi":true}

# min and max in the order of types
SELECT MIN(c.m) AS lo, MAX(c.m) AS hi FROM c WHERE c.id IN ("1", "2", "3")
----
{"lo":null,"hi":"x"}

# min and max with an array among the values
SELECT VALUE MAX(c.m) FROM c
----

# min of nothing
SELECT VALUE MIN(c.nope) FROM c
----

# several, with names
SELECT COUNT(1) AS n, SUM(c.d) AS d FROM c
----
{"n":5,"d":2}

# several, without
SELECT COUNT(1), SUM(c.d) FROM c
----
{"$1":5,"$2":2}

# of an expression
SELECT VALUE SUM(c.n * 2 + 1) FROM c WHERE c.id IN ("1", "2")
----
9

# of a join
SELECT VALUE SUM(e) FROM c JOIN e IN c.l
----
13

# aggregates in arithmetic
SELECT VALUE SUM(c.d) / COUNT(1) FROM c
---- single
0.4

# aggregates in an object
SELECT VALUE {"n": COUNT(1), "both": [MIN(c.d), MAX(c.d)]} FROM c
---- single
{"n":5,"both":[1,1]}

# a list of values
SELECT VALUE MAKELIST(c.b) FROM c
---- single
[true,false,true]

# a set of values
SELECT VALUE ARRAY_LENGTH(MAKESET(c.b)) FROM c
---- single
2

# names in any case
select value count(1) from c
----
5

# the number of arguments
SELECT VALUE COUNT(1, 2) FROM c
---- error SC2050

# none
SELECT VALUE SUM() FROM c
---- error

# count of distinct rows
SELECT VALUE COUNT(1) FROM (SELECT DISTINCT VALUE c.d FROM c)
----
1

# count of distinct rows, named
SELECT COUNT(1) AS n FROM (SELECT DISTINCT c.b FROM c) AS x
----
{"n":3}

# an aggregate over an aggregate of all items
SELECT VALUE x.n + 1 FROM (SELECT COUNT(1) AS n FROM c) AS x
---- single
6

# of the first few
SELECT VALUE COUNT(1) FROM (SELECT TOP 3 c.id FROM c) AS x
---- single
3

# a property beside an aggregate
SELECT c.id, COUNT(1) FROM c
---- error SC2102

# sorting one row by what it is made of
SELECT COUNT(1) FROM c ORDER BY c.id
----
{"$1":5}
