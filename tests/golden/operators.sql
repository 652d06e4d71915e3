# items
{"id":"1","values":[{},{"v":null},{"v":false},{"v":true},{"v":1},{"v":2},{"v":"a"},{"v":"b"},{"v":[1]},{"v":{"x":1}}]}

# + over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v + r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",2,3,"-","-","-","-"]
["-","-","-","-",3,4,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# - over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v - r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",0,-1,"-","-","-","-"]
["-","-","-","-",1,0,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# * over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v * r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",1,2,"-","-","-","-"]
["-","-","-","-",2,4,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# / over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v / r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",1.0,0.5,"-","-","-","-"]
["-","-","-","-",2.0,1.0,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# % over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v % r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",0.0,1.0,"-","-","-","-"]
["-","-","-","-",0.0,0.0,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# & over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v & r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",1,0,"-","-","-","-"]
["-","-","-","-",0,2,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# | over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v | r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",1,3,"-","-","-","-"]
["-","-","-","-",3,2,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# ^ over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v ^ r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",0,3,"-","-","-","-"]
["-","-","-","-",3,0,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# << over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v << r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",2,4,"-","-","-","-"]
["-","-","-","-",4,8,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# >> over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v >> r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",0,0,"-","-","-","-"]
["-","-","-","-",1,0,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# >>> over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v >>> r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-",0,0,"-","-","-","-"]
["-","-","-","-",1,0,"-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# = over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v = r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",true,false,false,false,false,false,false,false,false]
["-",false,true,false,false,false,false,false,false,false]
["-",false,false,true,false,false,false,false,false,false]
["-",false,false,false,true,false,false,false,false,false]
["-",false,false,false,false,true,false,false,false,false]
["-",false,false,false,false,false,true,false,false,false]
["-",false,false,false,false,false,false,true,false,false]
["-",false,false,false,false,false,false,false,true,false]
["-",false,false,false,false,false,false,false,false,true]

# != over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v != r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",false,true,true,true,true,true,true,true,true]
["-",true,false,true,true,true,true,true,true,true]
["-",true,true,false,true,true,true,true,true,true]
["-",true,true,true,false,true,true,true,true,true]
["-",true,true,true,true,false,true,true,true,true]
["-",true,true,true,true,true,false,true,true,true]
["-",true,true,true,true,true,true,false,true,true]
["-",true,true,true,true,true,true,true,false,true]
["-",true,true,true,true,true,true,true,true,false]

# <> over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v <> r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",false,true,true,true,true,true,true,true,true]
["-",true,false,true,true,true,true,true,true,true]
["-",true,true,false,true,true,true,true,true,true]
["-",true,true,true,false,true,true,true,true,true]
["-",true,true,true,true,false,true,true,true,true]
["-",true,true,true,true,true,false,true,true,true]
["-",true,true,true,true,true,true,false,true,true]
["-",true,true,true,true,true,true,true,false,true]
["-",true,true,true,true,true,true,true,true,false]

# < over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v < r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",false,"-","-","-","-","-","-","-","-"]
["-","-",false,true,"-","-","-","-","-","-"]
["-","-",false,false,"-","-","-","-","-","-"]
["-","-","-","-",false,true,"-","-","-","-"]
["-","-","-","-",false,false,"-","-","-","-"]
["-","-","-","-","-","-",false,true,"-","-"]
["-","-","-","-","-","-",false,false,"-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# <= over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v <= r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",true,"-","-","-","-","-","-","-","-"]
["-","-",true,true,"-","-","-","-","-","-"]
["-","-",false,true,"-","-","-","-","-","-"]
["-","-","-","-",true,true,"-","-","-","-"]
["-","-","-","-",false,true,"-","-","-","-"]
["-","-","-","-","-","-",true,true,"-","-"]
["-","-","-","-","-","-",false,true,"-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# > over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v > r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",false,"-","-","-","-","-","-","-","-"]
["-","-",false,false,"-","-","-","-","-","-"]
["-","-",true,false,"-","-","-","-","-","-"]
["-","-","-","-",false,false,"-","-","-","-"]
["-","-","-","-",true,false,"-","-","-","-"]
["-","-","-","-","-","-",false,false,"-","-"]
["-","-","-","-","-","-",true,false,"-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# >= over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v >= r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-",true,"-","-","-","-","-","-","-","-"]
["-","-",true,false,"-","-","-","-","-","-"]
["-","-",true,true,"-","-","-","-","-","-"]
["-","-","-","-",true,false,"-","-","-","-"]
["-","-","-","-",true,true,"-","-","-","-"]
["-","-","-","-","-","-",true,false,"-","-"]
["-","-","-","-","-","-",true,true,"-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# AND over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v AND r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-",false,"-","-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]
[false,false,false,false,false,false,false,false,false,false]
["-","-",false,true,"-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]
["-","-",false,"-","-","-","-","-","-","-"]

# OR over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v OR r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-",true,"-","-","-","-","-","-"]
["-","-","-",true,"-","-","-","-","-","-"]
["-","-",false,true,"-","-","-","-","-","-"]
[true,true,true,true,true,true,true,true,true,true]
["-","-","-",true,"-","-","-","-","-","-"]
["-","-","-",true,"-","-","-","-","-","-"]
["-","-","-",true,"-","-","-","-","-","-"]
["-","-","-",true,"-","-","-","-","-","-"]
["-","-","-",true,"-","-","-","-","-","-"]
["-","-","-",true,"-","-","-","-","-","-"]

# || over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v || r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","aa","ab","-","-"]
["-","-","-","-","-","-","ba","bb","-","-"]
["-","-","-","-","-","-","-","-","-","-"]
["-","-","-","-","-","-","-","-","-","-"]

# ?? over all types: a row for each left side, "-" where the result is undefined
SELECT VALUE ARRAY(SELECT VALUE (l.v ?? r.v) ?? "-" FROM r IN c["values"])
FROM c JOIN l IN c["values"]
---- ordered
["-",null,false,true,1,2,"a","b",[1],{"x":1}]
[null,null,null,null,null,null,null,null,null,null]
[false,false,false,false,false,false,false,false,false,false]
[true,true,true,true,true,true,true,true,true,true]
[1,1,1,1,1,1,1,1,1,1]
[2,2,2,2,2,2,2,2,2,2]
["a","a","a","a","a","a","a","a","a","a"]
["b","b","b","b","b","b","b","b","b","b"]
[[1],[1],[1],[1],[1],[1],[1],[1],[1],[1]]
[{"x":1},{"x":1},{"x":1},{"x":1},{"x":1},{"x":1},{"x":1},{"x":1},{"x":1},{"x":1}]

# NOT before a value of each type
SELECT VALUE ARRAY(SELECT VALUE (NOT r.v) ?? "-" FROM r IN c["values"]) FROM c
----
["-","-",true,false,"-","-","-","-","-","-"]

# - before a value of each type
SELECT VALUE ARRAY(SELECT VALUE (- r.v) ?? "-" FROM r IN c["values"]) FROM c
----
["-","-","-","-",-1,-2,"-","-","-","-"]

# + before a value of each type
SELECT VALUE ARRAY(SELECT VALUE (+ r.v) ?? "-" FROM r IN c["values"]) FROM c
----
["-","-","-","-",1,2,"-","-","-","-"]

# ~ before a value of each type
SELECT VALUE ARRAY(SELECT VALUE (~ r.v) ?? "-" FROM r IN c["values"]) FROM c
----
["-","-","-","-",-2,-3,"-","-","-","-"]

# only true passes a filter
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE r.v
----
true

# what is neither true nor false passes neither a filter nor its opposite
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE NOT r.v
----
false

# a comparison with undefined keeps nothing
SELECT VALUE COUNT(1) FROM c JOIN r IN c["values"] WHERE r.v = undefined
----
0

# not equal keeps other types, and leaves out undefined
SELECT VALUE COUNT(1) FROM c JOIN r IN c["values"] WHERE r.v != 1
----
8

# a range keeps one type
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE r.v >= "a"
----
"a"
"b"

# a range of numbers and the rest by OR
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE r.v > 1 OR r.v = null
----
2
null

# between over all types
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE r.v BETWEEN 1 AND 2
----
1
2

# not between leaves out other types
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE r.v NOT BETWEEN 2 AND 3
----
1

# in a list of several types
SELECT VALUE r.v FROM c JOIN r IN c["values"] WHERE r.v IN (null, 2, "a", [1], {"x": 1})
----
null
2
"a"
[1]
{"x":1}
