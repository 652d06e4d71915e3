# ARRAY_AVG([1, 2, 3, 4])
SELECT VALUE ARRAY_AVG([1, 2, 3, 4])
----
2.5

# ARRAY_AVG([])
SELECT VALUE ARRAY_AVG([])
----

# ARRAY_AVG([1, "a"])
SELECT VALUE ARRAY_AVG([1, "a"])
----

# ARRAY_AVG("a")
SELECT VALUE ARRAY_AVG("a")
----

# ARRAY_CONCAT([1], [2, 3])
SELECT VALUE ARRAY_CONCAT([1], [2, 3])
----
[1,2,3]

# ARRAY_CONCAT([1], [2], [3])
SELECT VALUE ARRAY_CONCAT([1], [2], [3])
----
[1,2,3]

# ARRAY_CONCAT([], [])
SELECT VALUE ARRAY_CONCAT([], [])
----
[]

# ARRAY_CONCAT([1], 2)
SELECT VALUE ARRAY_CONCAT([1], 2)
----

# ARRAY_CONCAT([1], null)
SELECT VALUE ARRAY_CONCAT([1], null)
----

# ARRAY_CONTAINS([1, 2, 3], 2)
SELECT VALUE ARRAY_CONTAINS([1, 2, 3], 2)
----
true

# ARRAY_CONTAINS([1, 2, 3], 5)
SELECT VALUE ARRAY_CONTAINS([1, 2, 3], 5)
----
false

# ARRAY_CONTAINS([1, 2, 3], "2")
SELECT VALUE ARRAY_CONTAINS([1, 2, 3], "2")
----
false

# ARRAY_CONTAINS([null], null)
SELECT VALUE ARRAY_CONTAINS([null], null)
----
true

# ARRAY_CONTAINS([], 1)
SELECT VALUE ARRAY_CONTAINS([], 1)
----
false

# ARRAY_CONTAINS([[1]], [1])
SELECT VALUE ARRAY_CONTAINS([[1]], [1])
----
true

# ARRAY_CONTAINS([{"a": 1, "b": 2}], {"a": 1})
SELECT VALUE ARRAY_CONTAINS([{"a": 1, "b": 2}], {"a": 1})
----
false

# ARRAY_CONTAINS([{"a": 1, "b": 2}], {"a": 1}, true)
SELECT VALUE ARRAY_CONTAINS([{"a": 1, "b": 2}], {"a": 1}, true)
----
true

# ARRAY_CONTAINS([{"a": 1, "b": 2}], {"b": 2, "a": 1})
SELECT VALUE ARRAY_CONTAINS([{"a": 1, "b": 2}], {"b": 2, "a": 1})
----
true

# ARRAY_CONTAINS([{"a": 1, "b": 2}], {"a": 2}, true)
SELECT VALUE ARRAY_CONTAINS([{"a": 1, "b": 2}], {"a": 2}, true)
----
false

# ARRAY_CONTAINS("abc", "a")
SELECT VALUE ARRAY_CONTAINS("abc", "a")
----

# ARRAY_CONTAINS([1], undefined)
SELECT VALUE ARRAY_CONTAINS([1], undefined)
----

# ARRAY_CONTAINS_ANY([1, 2, 3], 5, 3)
SELECT VALUE ARRAY_CONTAINS_ANY([1, 2, 3], 5, 3)
----
true

# ARRAY_CONTAINS_ANY([1, 2, 3], 5, 6)
SELECT VALUE ARRAY_CONTAINS_ANY([1, 2, 3], 5, 6)
----
false

# ARRAY_CONTAINS_ALL([1, 2, 3], 1, 3)
SELECT VALUE ARRAY_CONTAINS_ALL([1, 2, 3], 1, 3)
----
true

# ARRAY_CONTAINS_ALL([1, 2, 3], 1, 5)
SELECT VALUE ARRAY_CONTAINS_ALL([1, 2, 3], 1, 5)
----
false

# ARRAY_LENGTH([1, 2])
SELECT VALUE ARRAY_LENGTH([1, 2])
----
2

# ARRAY_LENGTH([])
SELECT VALUE ARRAY_LENGTH([])
----
0

# ARRAY_LENGTH("ab")
SELECT VALUE ARRAY_LENGTH("ab")
----

# ARRAY_LENGTH(null)
SELECT VALUE ARRAY_LENGTH(null)
----

# ARRAY_LENGTH({"a": 1})
SELECT VALUE ARRAY_LENGTH({"a": 1})
----

# ARRAY_MAX([3, 1, 2])
SELECT VALUE ARRAY_MAX([3, 1, 2])
----
3

# ARRAY_MAX(["b", 1])
SELECT VALUE ARRAY_MAX(["b", 1])
----
"b"

# ARRAY_MAX([])
SELECT VALUE ARRAY_MAX([])
----

# ARRAY_MIN([3, 1, 2])
SELECT VALUE ARRAY_MIN([3, 1, 2])
----
1

# ARRAY_MIN(["b", 1])
SELECT VALUE ARRAY_MIN(["b", 1])
----
1

# ARRAY_MIN([])
SELECT VALUE ARRAY_MIN([])
----

# ARRAY_MEDIAN([3, 1, 2])
SELECT VALUE ARRAY_MEDIAN([3, 1, 2])
----
2

# ARRAY_MEDIAN([4, 1, 2, 3])
SELECT VALUE ARRAY_MEDIAN([4, 1, 2, 3])
----
2.5

# ARRAY_MEDIAN([])
SELECT VALUE ARRAY_MEDIAN([])
----

# ARRAY_SUM([1, 2, 3.5])
SELECT VALUE ARRAY_SUM([1, 2, 3.5])
----
6.5

# ARRAY_SUM([])
SELECT VALUE ARRAY_SUM([])
----
0

# ARRAY_SUM([1, "a"])
SELECT VALUE ARRAY_SUM([1, "a"])
----

# ARRAY_SLICE([1, 2, 3, 4], 1)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], 1)
----
[2,3,4]

# ARRAY_SLICE([1, 2, 3, 4], 1, 2)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], 1, 2)
----
[2,3]

# ARRAY_SLICE([1, 2, 3, 4], -2)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], -2)
----
[3,4]

# ARRAY_SLICE([1, 2, 3, 4], -2, 1)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], -2, 1)
----
[3]

# ARRAY_SLICE([1, 2, 3, 4], -9)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], -9)
----
[1,2,3,4]

# ARRAY_SLICE([1, 2, 3, 4], 9)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], 9)
----
[]

# ARRAY_SLICE([1, 2, 3, 4], 0, 0)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], 0, 0)
----
[]

# ARRAY_SLICE([1, 2, 3, 4], 0, -1)
SELECT VALUE ARRAY_SLICE([1, 2, 3, 4], 0, -1)
----
[]

# ARRAY_SLICE("abc", 1)
SELECT VALUE ARRAY_SLICE("abc", 1)
----

# CHOOSE(1, "a", "b")
SELECT VALUE CHOOSE(1, "a", "b")
----
"a"

# CHOOSE(2, "a", "b")
SELECT VALUE CHOOSE(2, "a", "b")
----
"b"

# CHOOSE(0, "a", "b")
SELECT VALUE CHOOSE(0, "a", "b")
----

# CHOOSE(3, "a", "b")
SELECT VALUE CHOOSE(3, "a", "b")
----

# CHOOSE("1", "a", "b")
SELECT VALUE CHOOSE("1", "a", "b")
----

# OBJECTTOARRAY({"a": 1, "b": [2]})
SELECT VALUE OBJECTTOARRAY({"a": 1, "b": [2]})
----
[{"k":"a","v":1},{"k":"b","v":[2]}]

# OBJECTTOARRAY({"a": 1}, "name", "value")
SELECT VALUE OBJECTTOARRAY({"a": 1}, "name", "value")
----
[{"name":"a","value":1}]

# OBJECTTOARRAY({})
SELECT VALUE OBJECTTOARRAY({})
----
[]

# OBJECTTOARRAY([1])
SELECT VALUE OBJECTTOARRAY([1])
----

# OBJECTTOARRAY(null)
SELECT VALUE OBJECTTOARRAY(null)
----

# SETINTERSECT([1, 2, 3], [2, 5])
SELECT VALUE SETINTERSECT([1, 2, 3], [2, 5])
----
[2]

# SETINTERSECT([1], [])
SELECT VALUE SETINTERSECT([1], [])
----
[]

# SETINTERSECT([1], 1)
SELECT VALUE SETINTERSECT([1], 1)
----

# SETUNION([1, 2], [2, 3])
SELECT VALUE SETUNION([1, 2], [2, 3])
----
[1,2,3]

# SETUNION([1, 1], [])
SELECT VALUE SETUNION([1, 1], [])
----
[1]

# SETUNION(null, [])
SELECT VALUE SETUNION(null, [])
----

# SETDIFFERENCE([1, 2, 3], [2])
SELECT VALUE SETDIFFERENCE([1, 2, 3], [2])
----
[1,3]

# SETDIFFERENCE([1], [1])
SELECT VALUE SETDIFFERENCE([1], [1])
----
[]

# SETEQUAL([1, 2], [2, 1])
SELECT VALUE SETEQUAL([1, 2], [2, 1])
----
true

# SETEQUAL([1, 2], [1])
SELECT VALUE SETEQUAL([1, 2], [1])
----
false

# SETEQUAL([1, 1], [1])
SELECT VALUE SETEQUAL([1, 1], [1])
----
true

# SETEQUAL([1], "1")
SELECT VALUE SETEQUAL([1], "1")
----
