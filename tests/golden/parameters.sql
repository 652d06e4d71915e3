# items
{"id":"1","v":1,"l":[1,2],"o":{"a":1}}
{"id":"2","v":"it's","l":[],"o":{}}
{"id":"3","v":null}
{"id":"4","v":true}

# a number
@v = 1
SELECT VALUE c.id FROM c WHERE c.v = @v
----
"1"

# a string that would have to be escaped
@v = "it's"
SELECT VALUE c.id FROM c WHERE c.v = @v
----
"2"

# null
@v = null
SELECT VALUE c.id FROM c WHERE c.v = @v
----
"3"

# a boolean
@v = true
SELECT VALUE c.id FROM c WHERE c.v = @v
----
"4"

# an array
@v = [1,2]
SELECT VALUE c.id FROM c WHERE c.l = @v
----
"1"

# an object
@v = {"a":1}
SELECT VALUE c.id FROM c WHERE c.o = @v
----
"1"

# an array to look in
@ids = ["1","4","9"]
SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(@ids, c.id)
----
"1"
"4"

# a path into a parameter
@p = {"ids":["2","3"]}
SELECT VALUE c.id FROM c WHERE c.id = @p.ids[1]
----
"3"

# a property named by a parameter
@name = "v"
SELECT VALUE c[@name] FROM c WHERE c.id = "4"
----
true

# several, in a list
@a = "1"
@b = "2"
SELECT VALUE c.id FROM c WHERE c.id IN (@a, @b)
----
"1"
"2"

# used twice
@a = 1
SELECT VALUE @a + @a FROM c WHERE c.v = @a
----
2

# parameters are values, never text of the query
@v = "1 OR true"
SELECT VALUE c.id FROM c WHERE c.id = @v
----

# a pattern
@like = "it%"
SELECT VALUE c.id FROM c WHERE c.v LIKE @like
----
"2"

# in a subquery
@least = 2
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE e FROM e IN c.l WHERE e >= @least)
----
"1"

# names are case-sensitive
@V = 1
SELECT VALUE c.id FROM c WHERE c.v = @v
---- error @v

# one that was not sent
SELECT * FROM c WHERE c.v = @nope
---- error @nope

# one that is not used is no error
@spare = 1
SELECT VALUE c.id FROM c WHERE c.id = "1"
----
"1"
