# 1 + 2 * 3
SELECT VALUE 1 + 2 * 3
----
7

# (1 + 2) * 3
SELECT VALUE (1 + 2) * 3
----
9

# 7 % 3
SELECT VALUE 7 % 3
----
1

# -7 % 3
SELECT VALUE -7 % 3
----
-1

# 7.5 % 2
SELECT VALUE 7.5 % 2
----
1.5

# -(5)
SELECT VALUE -(5)
----
-5

# +5
SELECT VALUE +5
----
5

# - "5"
SELECT VALUE - "5"
----

# 2 - 3 - 4
SELECT VALUE 2 - 3 - 4
----
-5

# 100 / 10 / 5
SELECT VALUE 100 / 10 / 5
----
2

# 1 / 4
SELECT VALUE 1 / 4
----
0.25

# 0.1 + 0.2
SELECT VALUE 0.1 + 0.2
----
0.30000000000000004

# 9007199254740992 + 1
SELECT VALUE 9007199254740992 + 1
----
9007199254740992

# 9007199254740991 + 1 = 9007199254740992
SELECT VALUE 9007199254740991 + 1 = 9007199254740992
----
true

# 1e308 * 10 > 1e308
SELECT VALUE 1e308 * 10 > 1e308
----
true

# 0 / 0 = 0 / 0
SELECT VALUE 0 / 0 = 0 / 0
----
true

# 1 & 3
SELECT VALUE 1 & 3
----
1

# 1 | 2
SELECT VALUE 1 | 2
----
3

# 5 ^ 1
SELECT VALUE 5 ^ 1
----
4

# ~5
SELECT VALUE ~5
----
-6

# 1 << 4
SELECT VALUE 1 << 4
----
16

# -16 >> 2
SELECT VALUE -16 >> 2
----
-4

# -1 >>> 28
SELECT VALUE -1 >>> 28
----
15

# 1 << 33
SELECT VALUE 1 << 33
----
2

# "a" || "b"
SELECT VALUE "a" || "b"
----
"ab"

# "a" || 1
SELECT VALUE "a" || 1
----

# "a" || null
SELECT VALUE "a" || null
----

# 1 + "1"
SELECT VALUE 1 + "1"
----

# 1 + null
SELECT VALUE 1 + null
----

# 1 + undefined
SELECT VALUE 1 + undefined
----

# 1 + true
SELECT VALUE 1 + true
----

# "a" + "b"
SELECT VALUE "a" + "b"
----

# [1] + [2]
SELECT VALUE [1] + [2]
----

# NOT true
SELECT VALUE NOT true
----
false

# NOT false
SELECT VALUE NOT false
----
true

# NOT null
SELECT VALUE NOT null
----

# NOT 1
SELECT VALUE NOT 1
----

# NOT undefined
SELECT VALUE NOT undefined
----

# undefined ?? 1
SELECT VALUE undefined ?? 1
----
1

# null ?? 1
SELECT VALUE null ?? 1
----
null

# undefined ?? undefined ?? 3
SELECT VALUE undefined ?? undefined ?? 3
----
3

# false ?? 1
SELECT VALUE false ?? 1
----
false

# true ? 1 : 2
SELECT VALUE true ? 1 : 2
----
1

# null ? 1 : 2
SELECT VALUE null ? 1 : 2
----
2

# undefined ? 1 : 2
SELECT VALUE undefined ? 1 : 2
----
2

# 1 ? 1 : 2
SELECT VALUE 1 ? 1 : 2
----
2

# true ? undefined : 2
SELECT VALUE true ? undefined : 2
----

# false ? 1 : true ? 2 : 3
SELECT VALUE false ? 1 : true ? 2 : 3
----
2

# 5 BETWEEN 1 AND 5
SELECT VALUE 5 BETWEEN 1 AND 5
----
true

# 0 BETWEEN 1 AND 5
SELECT VALUE 0 BETWEEN 1 AND 5
----
false

# 5 NOT BETWEEN 1 AND 5
SELECT VALUE 5 NOT BETWEEN 1 AND 5
----
false

# "b" BETWEEN "a" AND "c"
SELECT VALUE "b" BETWEEN "a" AND "c"
----
true

# "b" BETWEEN 1 AND 5
SELECT VALUE "b" BETWEEN 1 AND 5
----

# undefined BETWEEN 1 AND 5
SELECT VALUE undefined BETWEEN 1 AND 5
----

# 2 IN (1, 2, 3)
SELECT VALUE 2 IN (1, 2, 3)
----
true

# 4 IN (1, 2, 3)
SELECT VALUE 4 IN (1, 2, 3)
----
false

# 4 NOT IN (1, 2, 3)
SELECT VALUE 4 NOT IN (1, 2, 3)
----
true

# "2" IN (1, 2, 3)
SELECT VALUE "2" IN (1, 2, 3)
----
false

# null IN (1, null)
SELECT VALUE null IN (1, null)
----
true

# undefined IN (1, 2)
SELECT VALUE undefined IN (1, 2)
----

# [1] IN ([1], [2])
SELECT VALUE [1] IN ([1], [2])
----
true

# "abc" LIKE "a%"
SELECT VALUE "abc" LIKE "a%"
----
true

# "abc" LIKE "A%"
SELECT VALUE "abc" LIKE "A%"
----
false

# "abc" LIKE "_b_"
SELECT VALUE "abc" LIKE "_b_"
----
true

# "abc" LIKE "_b"
SELECT VALUE "abc" LIKE "_b"
----
false

# "abc" LIKE "%"
SELECT VALUE "abc" LIKE "%"
----
true

# "" LIKE "%"
SELECT VALUE "" LIKE "%"
----
true

# "" LIKE ""
SELECT VALUE "" LIKE ""
----
true

# "abc" LIKE "[a-c]bc"
SELECT VALUE "abc" LIKE "[a-c]bc"
----
true

# "dbc" LIKE "[^a-c]bc"
SELECT VALUE "dbc" LIKE "[^a-c]bc"
----
true

# "abc" NOT LIKE "a%"
SELECT VALUE "abc" NOT LIKE "a%"
----
false

# "50%" LIKE "50!%" ESCAPE "!"
SELECT VALUE "50%" LIKE "50!%" ESCAPE "!"
----
true

# "505" LIKE "50!%" ESCAPE "!"
SELECT VALUE "505" LIKE "50!%" ESCAPE "!"
----
false

# 5 LIKE "5"
SELECT VALUE 5 LIKE "5"
----

# "5" LIKE 5
SELECT VALUE "5" LIKE 5
----

# "a.c" LIKE "a.c"
SELECT VALUE "a.c" LIKE "a.c"
----
true

# "abc" LIKE "a.c"
SELECT VALUE "abc" LIKE "a.c"
----
false

# 1 = 1 AND 2 = 2
SELECT VALUE 1 = 1 AND 2 = 2
----
true

# true AND undefined
SELECT VALUE true AND undefined
----

# false AND undefined
SELECT VALUE false AND undefined
----
false

# true OR undefined
SELECT VALUE true OR undefined
----
true

# false OR undefined
SELECT VALUE false OR undefined
----

# 1 = 1 OR 1 = 2 AND 1 = 2
SELECT VALUE 1 = 1 OR 1 = 2 AND 1 = 2
----
true

# NOT (1 = 2)
SELECT VALUE NOT (1 = 2)
----
true

# NOT 1 = 2
SELECT VALUE NOT 1 = 2
----

# 1 = 1.0
SELECT VALUE 1 = 1.0
----
true

# 1 != 2
SELECT VALUE 1 != 2
----
true

# 1 <> 2
SELECT VALUE 1 <> 2
----
true

# "a" < "b"
SELECT VALUE "a" < "b"
----
true

# "B" < "a"
SELECT VALUE "B" < "a"
----
true

# "a" < "aa"
SELECT VALUE "a" < "aa"
----
true

# "" < "a"
SELECT VALUE "" < "a"
----
true

# [1, 2] = [1, 2]
SELECT VALUE [1, 2] = [1, 2]
----
true

# [1, 2] = [2, 1]
SELECT VALUE [1, 2] = [2, 1]
----
false

# {"a": 1, "b": 2} = {"b": 2, "a": 1}
SELECT VALUE {"a": 1, "b": 2} = {"b": 2, "a": 1}
----
true

# {"a": 1} = {"a": 2}
SELECT VALUE {"a": 1} = {"a": 2}
----
false

# {"a": {"b": [1, {"c": 2}]}}.a.b[1].c
SELECT VALUE {"a": {"b": [1, {"c": 2}]}}.a.b[1].c
----
2

# [1, 2, 3][1]
SELECT VALUE [1, 2, 3][1]
----
2

# [1, 2, 3][3]
SELECT VALUE [1, 2, 3][3]
----

# [1, 2, 3][-1]
SELECT VALUE [1, 2, 3][-1]
----

# [1, 2, 3][0.5]
SELECT VALUE [1, 2, 3][0.5]
----

# {"a": 1}["a"]
SELECT VALUE {"a": 1}["a"]
----
1

# {"a": 1}["A"]
SELECT VALUE {"a": 1}["A"]
----

# "abc".length
SELECT VALUE "abc".length
----

# null.a
SELECT VALUE null.a
----

# [1, undefined, 2]
SELECT VALUE [1, undefined, 2]
----
[1,2]

# {"a": undefined, "b": 1}
SELECT VALUE {"a": undefined, "b": 1}
----
{"b":1}

# {'single': 'quotes'}
SELECT VALUE {'single': 'quotes'}
----
{"single":"quotes"}

# {unquoted: 1}
SELECT VALUE {unquoted: 1}
----
{"unquoted":1}

# "tab\tquote\"slash\/back\\u\u00e9"
SELECT VALUE "tab\tquote\"slash\/back\\u\u00e9"
----
"tab\tquote\"slash/back\\u\u00e9"

# 'it\'s'
SELECT VALUE 'it\'s'
----
"it's"

# "\ud83d\ude00"
SELECT VALUE "\ud83d\ude00"
----
"😀"

# LENGTH("😀")
SELECT VALUE LENGTH("😀")
----
1

# 0x1F
SELECT VALUE 0x1F
----
31

# 1e3
SELECT VALUE 1e3
----
1000

# .5
SELECT VALUE .5
----
0.5

# TRUE
SELECT VALUE TRUE
----
true

# NULL
SELECT VALUE NULL
----
null
