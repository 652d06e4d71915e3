# items
{"id":"1","v":1,"w":[1,2],"o":{"a":1,"b":2}}
{"id":"2","v":1.0,"w":[1,2],"o":{"b":2,"a":1}}
{"id":"3","v":"1","w":[2,1],"o":{"a":1}}
{"id":"4","v":null,"w":[]}
{"id":"5","w":[]}
{"id":"6","v":null}
{"id":"7","v":true}
{"id":"8","v":0}
{"id":"9","v":""}
{"id":"10","v":false}

# values, falsy ones too; undefined is no row
SELECT DISTINCT VALUE c.v FROM c
----
1
"1"
null
true
0
""
false

# arrays
SELECT DISTINCT VALUE c.w FROM c
----
[1,2]
[2,1]
[]

# objects, whatever the order of their members
SELECT DISTINCT VALUE c.o FROM c
----
{"a":1,"b":2}
{"a":1}

# columns
SELECT DISTINCT c.v FROM c WHERE c.id IN ("1", "2", "4", "5", "6")
----
{"v":1}
{"v":null}
{}

# elements
SELECT DISTINCT VALUE e FROM c JOIN e IN c.w
----
1
2

# top of distinct
SELECT DISTINCT TOP 2 VALUE c.v FROM c
---- count 2

# offset of distinct
SELECT DISTINCT VALUE c.w FROM c OFFSET 2 LIMIT 5
---- count 1

# whole items
SELECT DISTINCT * FROM c.o
----
{"a":1,"b":2}
{"a":1}
