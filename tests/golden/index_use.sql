# items
{"id":"1","a":1,"b":"x","t":"Apple pie","l":[1,2],"o":{"n":1},"e":[{"k":"p","v":1},{"k":"q","v":2}],"f":true}
{"id":"2","a":2,"b":"y","t":"apple tart","l":[2,3],"o":{"n":2},"e":[{"k":"p","v":3}],"f":false}
{"id":"3","a":3,"b":"x","t":"Plum cake","l":[],"o":{"n":3},"f":true}
{"id":"4","a":"1","b":null,"t":"plum jam","l":"no"}
{"id":"5","b":"z","t":5,"o":[1]}
{"id":"6","a":null,"b":["x"],"t":"apple pie","l":[[1]],"o":{"n":"3"}}

# equality
SELECT VALUE c.id FROM c WHERE c.a = 1
---- index /a/? point
"1"

# equality, constant first
SELECT VALUE c.id FROM c WHERE 1 = c.a
---- index /a/? point
"1"

# equality with null
SELECT VALUE c.id FROM c WHERE c.a = null
---- index /a/? point
"6"

# equality with a boolean
SELECT VALUE c.id FROM c WHERE c.f = true
---- index /f/? point
"1"
"3"

# a property as a condition
SELECT VALUE c.id FROM c WHERE c.f
---- index /f/? point
"1"
"3"

# not a property
SELECT VALUE c.id FROM c WHERE NOT c.f
---- index /f/? point
"2"

# equality of a nested property
SELECT VALUE c.id FROM c WHERE c.o.n = 2
---- index /o/n/? point
"2"

# equality with an array
SELECT VALUE c.id FROM c WHERE c.b = ["x"]
---- index /b/? point
"6"

# not equal
SELECT VALUE c.id FROM c WHERE c.a != 1
---- index /a/? range
"2"
"3"
"4"
"6"

# not of not equal
SELECT VALUE c.id FROM c WHERE NOT (c.a != 1)
---- index /a/? point
"1"

# less
SELECT VALUE c.id FROM c WHERE c.a < 2
---- index /a/? range
"1"

# less or equal
SELECT VALUE c.id FROM c WHERE c.a <= 2
---- index /a/? range
"1"
"2"

# greater
SELECT VALUE c.id FROM c WHERE c.a > 1
---- index /a/? range
"2"
"3"

# greater or equal
SELECT VALUE c.id FROM c WHERE c.a >= 2
---- index /a/? range
"2"
"3"

# greater, constant first
SELECT VALUE c.id FROM c WHERE 2 <= c.a
---- index /a/? range
"2"
"3"

# not less
SELECT VALUE c.id FROM c WHERE NOT (c.a < 2)
---- index /a/? range
"2"
"3"

# a range from both sides
SELECT VALUE c.id FROM c WHERE c.a > 1 AND c.a <= 3
---- index /a/? range
"2"
"3"

# a range that is empty
SELECT VALUE c.id FROM c WHERE c.a > 3 AND c.a < 1
---- index nothing

# a range of two types
SELECT VALUE c.id FROM c WHERE c.a > 1 AND c.a < "b"
---- index nothing

# in
SELECT VALUE c.id FROM c WHERE c.a IN (1, 3, "1")
---- index /a/? point
"1"
"3"
"4"

# not in
SELECT VALUE c.id FROM c WHERE c.a NOT IN (1, 3)
---- index /a/? range
"2"
"4"
"6"

# between
SELECT VALUE c.id FROM c WHERE c.a BETWEEN 2 AND 3
---- index /a/? range
"2"
"3"

# not between
SELECT VALUE c.id FROM c WHERE c.a NOT BETWEEN 2 AND 3
---- index /a/? range
"1"

# and
SELECT VALUE c.id FROM c WHERE c.a = 1 AND c.b = "x"
---- index /a/? point and /b/? point
"1"

# or
SELECT VALUE c.id FROM c WHERE c.a = 1 OR c.b = "y"
---- index /a/? point or /b/? point
"1"
"2"

# or of the same property
SELECT VALUE c.id FROM c WHERE c.a = 1 OR c.a > 2
---- index /a/? range
"1"
"3"

# not of and
SELECT VALUE c.id FROM c WHERE NOT (c.a = 1 AND c.b = "x")
---- index /a/? range or /b/? range
"2"
"3"
"4"
"5"
"6"

# not of or
SELECT VALUE c.id FROM c WHERE NOT (c.a = 1 OR c.b = "y")
---- index /a/? range and /b/? range
"3"
"4"
"6"

# and with what the index does not tell
SELECT VALUE c.id FROM c WHERE c.b = "x" AND c.a = c.o.n
---- index /b/? point
"1"
"3"

# or with what the index does not tell
SELECT VALUE c.id FROM c WHERE c.b = "x" OR c.a = c.o.n
---- index none
"1"
"2"
"3"

# two properties compared
SELECT VALUE c.id FROM c WHERE c.a = c.o.n
---- index none
"1"
"2"
"3"

# startswith
SELECT VALUE c.id FROM c WHERE STARTSWITH(c.t, "apple")
---- index /t/? range
"2"
"6"

# not startswith
SELECT VALUE c.id FROM c WHERE NOT STARTSWITH(c.t, "apple")
---- index /t/? range
"1"
"3"
"4"

# startswith, whatever the case
SELECT VALUE c.id FROM c WHERE STARTSWITH(c.t, "apple", true)
---- index /t/? scan
"1"
"2"
"6"

# like a prefix
SELECT VALUE c.id FROM c WHERE c.t LIKE "apple%"
---- index /t/? range
"2"
"6"

# like a whole
SELECT VALUE c.id FROM c WHERE c.t LIKE "plum jam"
---- index /t/? point
"4"

# like a suffix
SELECT VALUE c.id FROM c WHERE c.t LIKE "%pie"
---- index /t/? scan
"1"
"6"

# like with a prefix and more
SELECT VALUE c.id FROM c WHERE c.t LIKE "a%e"
---- index /t/? scan
"6"

# not like
SELECT VALUE c.id FROM c WHERE c.t NOT LIKE "%pie"
---- index /t/? scan
"2"
"3"
"4"

# contains
SELECT VALUE c.id FROM c WHERE CONTAINS(c.t, "p")
---- index /t/? scan
"1"
"2"
"4"
"6"

# contains, whatever the case
SELECT VALUE c.id FROM c WHERE CONTAINS(c.t, "PL", true)
---- index /t/? scan
"1"
"2"
"3"
"4"
"6"

# endswith
SELECT VALUE c.id FROM c WHERE ENDSWITH(c.t, "pie")
---- index /t/? scan
"1"
"6"

# regexmatch
SELECT VALUE c.id FROM c WHERE REGEXMATCH(c.t, "^[Pp]lum")
---- index /t/? scan
"3"
"4"

# stringequals
SELECT VALUE c.id FROM c WHERE STRINGEQUALS(c.t, "apple pie")
---- index /t/? point
"6"

# stringequals, whatever the case
SELECT VALUE c.id FROM c WHERE STRINGEQUALS(c.t, "apple pie", true)
---- index /t/? scan
"1"
"6"

# a function of one property
SELECT VALUE c.id FROM c WHERE LOWER(c.t) = "apple pie"
---- index /t/? scan
"1"
"6"

# arithmetic with one property
SELECT VALUE c.id FROM c WHERE c.a * 2 = 4
---- index /a/? scan
"2"

# a default for what is missing
SELECT VALUE c.id FROM c WHERE (c.a ?? 0) = 0
---- index /a/? scan or /a/? missing
"5"

# is_defined
SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.a)
---- index /a/? range
"1"
"2"
"3"
"4"
"6"

# not is_defined
SELECT VALUE c.id FROM c WHERE NOT IS_DEFINED(c.a)
---- index /a/? missing
"5"

# is_null
SELECT VALUE c.id FROM c WHERE IS_NULL(c.a)
---- index /a/? point
"6"

# not is_null
SELECT VALUE c.id FROM c WHERE NOT IS_NULL(c.a)
---- index /a/? range or /a/? missing
"1"
"2"
"3"
"4"
"5"

# is_bool
SELECT VALUE c.id FROM c WHERE IS_BOOL(c.f)
---- index /f/? range
"1"
"2"
"3"

# is_boolean
SELECT VALUE c.id FROM c WHERE IS_BOOLEAN(c.f)
---- index /f/? range
"1"
"2"
"3"

# is_number
SELECT VALUE c.id FROM c WHERE IS_NUMBER(c.a)
---- index /a/? range
"1"
"2"
"3"

# is_string
SELECT VALUE c.id FROM c WHERE IS_STRING(c.a)
---- index /a/? range
"4"

# is_array
SELECT VALUE c.id FROM c WHERE IS_ARRAY(c.l)
---- index /l/? point
"1"
"2"
"3"
"6"

# is_object
SELECT VALUE c.id FROM c WHERE IS_OBJECT(c.o)
---- index /o/? point
"1"
"2"
"3"
"6"

# is_primitive
SELECT VALUE c.id FROM c WHERE IS_PRIMITIVE(c.b)
---- index /b/? range
"1"
"2"
"3"
"4"
"5"

# is_integer
SELECT VALUE c.id FROM c WHERE IS_INTEGER(c.a)
---- index /a/? scan
"1"
"2"
"3"

# array_contains
SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.l, 2)
---- index /l/[]/? point
"1"
"2"

# array_contains twice
SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.l, 2) AND ARRAY_CONTAINS(c.l, 3)
---- index /l/[]/? point and /l/[]/? point
"2"

# array_contains an object in part
SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS(c.e, {"k": "p"}, true)
---- index /e/[]/k/? point
"1"
"2"

# array_contains of a list
SELECT VALUE c.id FROM c WHERE ARRAY_CONTAINS([1, 3], c.a)
---- index /a/? point
"1"
"3"

# not array_contains
SELECT VALUE c.id FROM c WHERE NOT ARRAY_CONTAINS(c.l, 2)
---- index none
"3"
"6"

# an element by its place
SELECT VALUE c.id FROM c WHERE c.l[0] = 2
---- index /l/[]/? point
"2"

# exists
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE e FROM e IN c.e WHERE e.k = "q")
---- index /e/[]/k/? point
"1"

# exists with two conditions
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE e FROM e IN c.e WHERE e.k = "p" AND e.v > 1)
---- index /e/[]/k/? point and /e/[]/v/? range
"2"

# exists with a range
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE x FROM x IN c.l WHERE x > 1 AND x < 3)
---- index /l/[]/? range
"1"
"2"

# not exists
SELECT VALUE c.id FROM c WHERE NOT EXISTS(SELECT VALUE x FROM x IN c.l)
---- index none
"3"
"4"
"5"

# join
SELECT c.id, e.v FROM c JOIN e IN c.e WHERE e.k = "p"
---- index /e/[]/k/? point
{"id":"1","v":1}
{"id":"2","v":3}

# join with a subquery
SELECT c.id, e FROM c JOIN (SELECT VALUE x FROM x IN c.l WHERE x > 1) e
---- index /l/[]/? range
{"id":"1","e":2}
{"id":"2","e":2}
{"id":"2","e":3}

# from the elements
SELECT VALUE e.v FROM e IN c.e WHERE e.v >= 2
---- index /e/[]/v/? range
2
3

# order by
SELECT VALUE c.id FROM c ORDER BY c.t
---- ordered index none by /t/?
"5"
"1"
"3"
"6"
"2"
"4"

# order by, downwards
SELECT VALUE c.id FROM c WHERE IS_NUMBER(c.a) ORDER BY c.a DESC
---- ordered index /a/? range by /a/?
"3"
"2"
"1"

# order by with a filter on another property
SELECT VALUE c.id FROM c WHERE c.b = "x" ORDER BY c.a DESC
---- ordered index /b/? point by /a/?
"3"
"1"

# order by several
SELECT VALUE c.id FROM c WHERE c.b = "x" ORDER BY c.b, c.a
---- ordered index /b/? point
"1"
"3"

# count
SELECT VALUE COUNT(1) FROM c
---- index none alone
6

# count with a filter
SELECT VALUE COUNT(1) FROM c WHERE c.b = "x"
---- index /b/? point alone
2

# count with two filters
SELECT VALUE COUNT(1) FROM c WHERE c.b = "x" AND c.a > 1
---- index /b/? point and /a/? range alone
1

# count of arrays that have an element
SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.l, 2)
---- index /l/[]/? point alone
2

# groups of arrays that have an element
SELECT c.l, COUNT(1) AS n FROM c WHERE ARRAY_CONTAINS(c.l, 2) GROUP BY c.l
---- index /l/[]/? point alone
{"l":[1,2],"n":1}
{"l":[2,3],"n":1}

# count of arrays that have an element with a member
SELECT VALUE COUNT(1) FROM c WHERE ARRAY_CONTAINS(c.e, {"k":"p"}, true)
---- index /e/[]/k/? point
2

# count of what is defined
SELECT VALUE COUNT(c.a) FROM c
---- index none alone
5

# min and max
SELECT MIN(c.o.n) AS l, MAX(c.o.n) AS h FROM c WHERE IS_NUMBER(c.o.n)
---- index /o/n/? range alone
{"l":1,"h":3}

# sum and average
SELECT SUM(c.o.n) AS s, AVG(c.o.n) AS v FROM c WHERE IS_NUMBER(c.o.n)
---- index /o/n/? range alone
{"s":6,"v":2}

# group by
SELECT c.b, COUNT(1) AS n FROM c GROUP BY c.b
---- index none alone
{"b":null,"n":1}
{"b":"x","n":2}
{"b":"y","n":1}
{"b":"z","n":1}
{"b":["x"],"n":1}

# group by and sum of another
SELECT c.b, SUM(c.o.n) AS s FROM c WHERE c.b > "" GROUP BY c.b
---- index /b/? range
{"b":"x","s":4}
{"b":"y","s":2}
{"b":"z","s":0}

# distinct
SELECT DISTINCT VALUE c.b FROM c
---- index none alone
null
"x"
"y"
"z"
["x"]


# items
{"id":"1","n":1,"l":[5],"o":{"a":1}}
{"id":"2","n":1,"l":[]}
{"id":"3","n":1}
{"id":"4","n":2,"l":[5]}
{"id":"5","n":1,"l":"x"}
{"id":"6","n":3,"l":[{"n":1,"k":[0]},{"n":2,"k":[1]}]}
{"id":"7","n":3,"l":[{"n":1,"k":[1]}]}

# a filter over the item does not say that there is an element
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE 1 FROM e IN c.l WHERE c.n = 1)
---- index /n/? point and /l/[]/? range alone
1

# nor one that is about the item or the element
SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE 1 FROM e IN c.l WHERE c.n = 1 OR e = 77)
---- index (/n/? point or /l/[]/? point) and /l/[]/? range
"1"

# one that is about the element does
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE 1 FROM e IN c.l WHERE c.n = 1 AND e = 5)
---- index /n/? point and /l/[]/? point alone
1

# in sums and groups
SELECT c.n, SUM(c.n) AS s FROM c WHERE EXISTS(SELECT VALUE e FROM e IN c.l WHERE c.n >= 1) GROUP BY c.n
----
{"n":1,"s":1}
{"n":2,"s":2}
{"n":3,"s":6}

# a value of the item must be there too
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE 1 FROM c.o WHERE c.n = 1)
---- index /n/? point and /o/? range alone
1

# the item itself is always there
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE 1 FROM c WHERE c.n = 1)
---- index /n/? point alone
4

# an undefined result is none
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE undefined FROM e IN c.l WHERE e = 5)
---- index /l/[]/? point
0

# elements of elements: entries do not tell whether they are of the same one
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE e FROM e IN c.l WHERE e.n = 1 AND EXISTS(SELECT VALUE f FROM f IN e.k WHERE f = 1))
---- index /l/[]/n/? point and /l/[]/k/[]/? point
1

# elements of rows
SELECT VALUE COUNT(1) FROM c WHERE EXISTS(SELECT VALUE 1 FROM e IN (SELECT VALUE f FROM f IN c.l))
---- index /l/[]/? range
0
