# items
{"id":"u"}
{"id":"n","v":null}
{"id":"f","v":false}
{"id":"t","v":true}
{"id":"i-","v":-1.5}
{"id":"i0","v":0}
{"id":"i9","v":9}
{"id":"i10","v":10}
{"id":"ibig","v":9007199254740992}
{"id":"s","v":""}
{"id":"sB","v":"B"}
{"id":"sa","v":"a"}
{"id":"saa","v":"aa"}
{"id":"sé","v":"é"}
{"id":"s日","v":"日"}

# the order of types, upwards: undefined, null, booleans, numbers, strings
SELECT VALUE c.id FROM c ORDER BY c.v
---- ordered
"u"
"n"
"f"
"t"
"i-"
"i0"
"i9"
"i10"
"ibig"
"s"
"sB"
"sa"
"saa"
"sé"
"s日"

# the order of types, downwards
SELECT VALUE c.id FROM c ORDER BY c.v DESC
---- ordered
"s日"
"sé"
"saa"
"sa"
"sB"
"s"
"ibig"
"i10"
"i9"
"i0"
"i-"
"t"
"f"
"n"
"u"

# asc may be said
SELECT VALUE c.v FROM c WHERE IS_NUMBER(c.v) ORDER BY c.v ASC
---- ordered
-1.5
0
9
10
9007199254740992

# rows that show nothing are left out
SELECT VALUE c.v FROM c WHERE c.id IN ("u", "n") ORDER BY c.v
---- ordered
null

# limited
SELECT VALUE c.id FROM c ORDER BY c.v OFFSET 3 LIMIT 2
---- ordered
"t"
"i-"

# limited, downwards
SELECT VALUE c.id FROM c ORDER BY c.v DESC OFFSET 1 LIMIT 2
---- ordered
"sé"
"saa"

# the first
SELECT TOP 1 VALUE c.id FROM c ORDER BY c.v DESC
---- ordered
"s日"

# an offset past the end
SELECT VALUE c.id FROM c ORDER BY c.v OFFSET 100 LIMIT 5
---- ordered

# a limit of nothing
SELECT VALUE c.id FROM c ORDER BY c.v OFFSET 0 LIMIT 0
---- ordered

# whole items
SELECT * FROM c WHERE c.v >= 9 ORDER BY c.v DESC
---- ordered
{"id":"ibig","v":9007199254740992}
{"id":"i10","v":10}
{"id":"i9","v":9}

# the key need not be shown
SELECT c.id FROM c WHERE c.v IN (true, false) ORDER BY c.v DESC
---- ordered
{"id":"t"}
{"id":"f"}

# items
{"id":"1","a":1,"b":"x","o":{"k":3},"l":[5,1]}
{"id":"2","a":2,"b":"x","o":{"k":1},"l":[4]}
{"id":"3","a":1,"b":"y","o":{"k":2},"l":[]}
{"id":"4","a":2,"b":"y","o":null}
{"id":"5","b":"x","l":[9]}

# two keys, both upwards
SELECT VALUE c.id FROM c ORDER BY c.a, c.b
---- ordered
"5"
"1"
"3"
"2"
"4"

# two keys, one downwards
SELECT VALUE c.id FROM c ORDER BY c.a ASC, c.b DESC
---- ordered
"5"
"3"
"1"
"4"
"2"

# two keys, both downwards
SELECT VALUE c.id FROM c ORDER BY c.a DESC, c.b DESC
---- ordered
"4"
"2"
"3"
"1"
"5"

# three keys
SELECT VALUE c.id FROM c ORDER BY c.b, c.a DESC, c.id
---- ordered
"2"
"1"
"5"
"4"
"3"

# a path
SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.o.k) ORDER BY c.o.k
---- ordered
"2"
"3"
"1"

# an element of an array
SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.l[0]) ORDER BY c.l[0] DESC
---- ordered
"5"
"1"
"2"

# rows of a join
SELECT c.id, n FROM c JOIN n IN c.l ORDER BY n
---- ordered
{"id":"1","n":1}
{"id":"2","n":4}
{"id":"1","n":5}
{"id":"5","n":9}

# with a filter over something else
SELECT VALUE c.id FROM c WHERE c.b = "x" ORDER BY c.id DESC
---- ordered
"5"
"2"
"1"

# quoted properties
SELECT VALUE c["id"] FROM c WHERE c["b"] = "y" ORDER BY c["id"] DESC
---- ordered
"4"
"3"

# an expression, where one partition answers
SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.a) ORDER BY c.a * -1, c.id
---- ordered single
"2"
"4"
"1"
"3"

# distinct and ordered
SELECT DISTINCT VALUE c.b FROM c ORDER BY c.b DESC
---- ordered
"y"
"x"

# distinct and ordered by what is shown, several columns
SELECT DISTINCT c.a, c.b FROM c ORDER BY c.a, c.b
---- ordered
{"b":"x"}
{"a":1,"b":"x"}
{"a":1,"b":"y"}
{"a":2,"b":"x"}
{"a":2,"b":"y"}

# distinct, ordered and limited
SELECT DISTINCT VALUE c.b FROM c ORDER BY c.b OFFSET 1 LIMIT 1
---- ordered
"y"

# groups are sorted by what they are grouped by
SELECT c.b, COUNT(1) AS n FROM c GROUP BY c.b ORDER BY c.b DESC
---- ordered single
{"b":"y","n":2}
{"b":"x","n":3}

# groups are not sorted by anything else
SELECT c.b, COUNT(1) AS n FROM c GROUP BY c.b ORDER BY c.a
---- error SC2102

# a rank needs a function
SELECT * FROM c ORDER BY RANK c.a
---- error SC1001
