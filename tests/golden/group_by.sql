# items
{"id":"1","city":"Rome","age":30,"paid":true,"tags":["a","b"]}
{"id":"2","city":"Oslo","age":25,"paid":false,"tags":["b"]}
{"id":"3","city":"Rome","age":40,"paid":true,"tags":[]}
{"id":"4","city":null,"age":5}
{"id":"5","age":7,"tags":["a"]}
{"id":"6","city":"rome","age":"old"}
{"id":"7","city":["x"],"age":1}
{"id":"8","city":["x"],"age":2}

# each value is a group, undefined and null too
SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city
----
{"city":"Rome","n":2}
{"city":"Oslo","n":1}
{"city":null,"n":1}
{"n":1}
{"city":"rome","n":1}
{"city":["x"],"n":2}

# the key alone
SELECT c.paid FROM c GROUP BY c.paid
----
{"paid":true}
{"paid":false}
{}

# a key that is not shown
SELECT COUNT(1) AS n FROM c WHERE IS_STRING(c.city) GROUP BY c.city
----
{"n":2}
{"n":1}
{"n":1}

# value of a key
SELECT VALUE c.city FROM c WHERE IS_STRING(c.city) GROUP BY c.city
----
"Rome"
"Oslo"
"rome"

# value of an aggregate
SELECT VALUE COUNT(1) FROM c WHERE IS_STRING(c.city) GROUP BY c.city
----
2
1
1

# two keys
SELECT c.city, c.paid, COUNT(1) AS n FROM c WHERE c.city IN ("Rome", "Oslo") GROUP BY c.city, c.paid
----
{"city":"Rome","paid":true,"n":2}
{"city":"Oslo","paid":false,"n":1}

# an expression
SELECT LOWER(c.city) AS town, COUNT(1) AS n FROM c WHERE IS_STRING(c.city) GROUP BY LOWER(c.city)
----
{"town":"rome","n":3}
{"town":"oslo","n":1}

# several aggregates
SELECT c.city, SUM(c.age) AS s, AVG(c.age) AS a, MIN(c.age) AS lo, MAX(c.age) AS hi FROM c WHERE c.city IN ("Rome", "Oslo") GROUP BY c.city
----
{"city":"Rome","s":70,"a":35,"lo":30,"hi":40}
{"city":"Oslo","s":25,"a":25,"lo":25,"hi":25}

# a sum over something else is undefined, for its group
SELECT c.city, SUM(c.age) AS s FROM c WHERE c.city IN ("Rome", "rome") GROUP BY c.city
----
{"city":"Rome","s":70}
{"city":"rome"}

# over a join
SELECT t, COUNT(1) AS n, SUM(c.age) AS s FROM c JOIN t IN c.tags GROUP BY t
----
{"t":"a","n":2,"s":37}
{"t":"b","n":2,"s":55}

# no rows: no groups
SELECT c.city, COUNT(1) AS n FROM c WHERE c.id = "none" GROUP BY c.city
----

# with an offset
SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city OFFSET 4 LIMIT 10
---- count 2

# a path inside a key
SELECT c.city[0] AS first, COUNT(1) AS n FROM c WHERE IS_ARRAY(c.city) GROUP BY c.city[0]
----
{"first":"x","n":2}

# distinct over groups
SELECT DISTINCT COUNT(1) AS n FROM c WHERE IS_STRING(c.city) GROUP BY c.city
----
{"n":2}
{"n":1}

# an alias is not a key
SELECT c.city AS town, COUNT(1) FROM c GROUP BY town
---- error SC2001

# what is not grouped
SELECT c.city, c.age FROM c GROUP BY c.city
---- error SC2102

# star
SELECT * FROM c GROUP BY c.city
---- error SC2041

# a row of the group, through a subquery
SELECT c.city, (SELECT VALUE c.age) AS age FROM c GROUP BY c.city
---- error SC2102

# aggregates of aggregates
SELECT COUNT(SUM(c.age)) FROM c
---- error SC1001

# an aggregate in a filter
SELECT * FROM c WHERE COUNT(1) > 1
---- error SC1001

# groups of a subquery
SELECT c.id, ARRAY(SELECT t, COUNT(1) AS n FROM t IN c.tags GROUP BY t) AS tags FROM c WHERE c.id IN ("1", "3")
----
{"id":"1","tags":[{"t":"a","n":1},{"t":"b","n":1}]}
{"id":"3","tags":[]}
