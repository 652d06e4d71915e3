# items
{"id":"1","name":"Ann","age":30,"tags":["a","b"],"address":{"city":"Rome"}}
{"id":"2","name":"Bo","age":25,"tags":[],"address":{"city":"Oslo"}}
{"id":"3","name":"Cy","tags":["b"],"address":null}

# star
SELECT * FROM c WHERE c.id = "2"
----
{"id":"2","name":"Bo","age":25,"tags":[],"address":{"city":"Oslo"}}

# a list of properties leaves out what is undefined
SELECT c.id, c.age FROM c
----
{"id":"1","age":30}
{"id":"2","age":25}
{"id":"3"}

# aliases, and names for what has none
SELECT c.age + 1 AS next, c.age * 2, c.address.city FROM c WHERE c.id = "1"
----
{"next":31,"$1":60,"city":"Rome"}

# value drops undefined rows
SELECT VALUE c.age FROM c
----
30
25

# no container at all
SELECT VALUE 1 + 1
----
2

# objects and arrays
SELECT VALUE {"n": c.name, "list": [c.id, c.age, c.missing]} FROM c WHERE c.id != "2"
----
{"n":"Ann","list":["1",30]}
{"n":"Cy","list":["3"]}

# top
SELECT TOP 2 VALUE c.id FROM c
---- ordered
"1"
"2"

# offset and limit
SELECT VALUE c.id FROM c OFFSET 1 LIMIT 1
---- ordered
"2"

# a parameter for top
@n = 1
SELECT TOP @n VALUE c.id FROM c
----
"1"

# distinct
SELECT DISTINCT VALUE t FROM c JOIN t IN c.tags
----
"a"
"b"

# join multiplies rows
SELECT c.id, t FROM c JOIN t IN c.tags
----
{"id":"1","t":"a"}
{"id":"1","t":"b"}
{"id":"3","t":"b"}

# from a path
SELECT VALUE a.city FROM c.address a
----
"Rome"
"Oslo"

# iterating over a path
SELECT VALUE t FROM t IN c.tags
----
"a"
"b"
"b"

# a subquery as a source
SELECT c.id, s.n FROM c JOIN (SELECT COUNT(1) AS n FROM t IN c.tags) AS s
----
{"id":"1","n":2}
{"id":"2","n":0}
{"id":"3","n":1}

# exists
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags WHERE t = "b")
----
"1"
"3"

# array
SELECT VALUE ARRAY(SELECT VALUE UPPER(t) FROM t IN c.tags) FROM c
----
["A","B"]
[]
["B"]

# order by puts undefined first
SELECT VALUE c.id FROM c ORDER BY c.age
---- ordered
"3"
"2"
"1"

# order by two keys
SELECT VALUE c.id FROM c ORDER BY ARRAY_LENGTH(c.tags) DESC, c.id DESC
---- ordered single
"1"
"3"
"2"

# group by
SELECT t, COUNT(1) AS n FROM c JOIN t IN c.tags GROUP BY t
----
{"t":"a","n":1}
{"t":"b","n":2}

# group by an undefined key
SELECT c.age, COUNT(1) AS n FROM c GROUP BY c.age
----
{"age":25,"n":1}
{"age":30,"n":1}
{"n":1}

# aggregates without groups, of no rows
SELECT COUNT(1) AS n, SUM(c.age) AS total, MAX(c.age) AS most FROM c WHERE c.id = "9"
----
{"n":0,"total":0}

# aggregates
SELECT VALUE {"sum": SUM(c.age), "avg": AVG(c.age), "min": MIN(c.name)} FROM c
---- single
{"sum":55,"avg":27.5,"min":"Ann"}

# unknown names are refused
SELECT * FROM c WHERE d.x = 1
---- error SC2001

# unknown functions are refused
SELECT VALUE NOSUCH(c.id) FROM c
---- error SC2005

# star needs one source
SELECT * FROM c JOIN t IN c.tags
---- error single input set

# what is not grouped cannot be selected
SELECT c.name, COUNT(1) FROM c GROUP BY c.age
---- error SC2102

# parameters must be sent
SELECT * FROM c WHERE c.id = @id
---- error @id
