# CONCAT("a", "b", "c")
SELECT VALUE CONCAT("a", "b", "c")
----
"abc"

# CONCAT("a", "")
SELECT VALUE CONCAT("a", "")
----
"a"

# CONCAT("a", 1)
SELECT VALUE CONCAT("a", 1)
----

# CONCAT("a", null)
SELECT VALUE CONCAT("a", null)
----

# CONCAT("a", undefined)
SELECT VALUE CONCAT("a", undefined)
----

# CONTAINS("Hello", "ell")
SELECT VALUE CONTAINS("Hello", "ell")
----
true

# CONTAINS("Hello", "ELL")
SELECT VALUE CONTAINS("Hello", "ELL")
----
false

# CONTAINS("Hello", "ELL", true)
SELECT VALUE CONTAINS("Hello", "ELL", true)
----
true

# CONTAINS("Hello", "")
SELECT VALUE CONTAINS("Hello", "")
----
true

# CONTAINS("", "x")
SELECT VALUE CONTAINS("", "x")
----
false

# CONTAINS("Hello", 1)
SELECT VALUE CONTAINS("Hello", 1)
----

# CONTAINS(null, "x")
SELECT VALUE CONTAINS(null, "x")
----

# CONTAINS("Hello", "ell", "yes")
SELECT VALUE CONTAINS("Hello", "ell", "yes")
----

# CONTAINS("straße", "AßE", true)
SELECT VALUE CONTAINS("straße", "AßE", true)
----
true

# CONTAINS_ANY_CI("Blue Bike", "RED", "bike")
SELECT VALUE CONTAINS_ANY_CI("Blue Bike", "RED", "bike")
----
true

# CONTAINS_ANY_CS("Blue Bike", "RED", "bike")
SELECT VALUE CONTAINS_ANY_CS("Blue Bike", "RED", "bike")
----
false

# CONTAINS_ALL_CI("Blue Bike", "BLUE", "bike")
SELECT VALUE CONTAINS_ALL_CI("Blue Bike", "BLUE", "bike")
----
true

# CONTAINS_ALL_CS("Blue Bike", "Blue", "bike")
SELECT VALUE CONTAINS_ALL_CS("Blue Bike", "Blue", "bike")
----
false

# ENDSWITH("abc", "bc")
SELECT VALUE ENDSWITH("abc", "bc")
----
true

# ENDSWITH("abc", "BC")
SELECT VALUE ENDSWITH("abc", "BC")
----
false

# ENDSWITH("abc", "BC", true)
SELECT VALUE ENDSWITH("abc", "BC", true)
----
true

# ENDSWITH("abc", "")
SELECT VALUE ENDSWITH("abc", "")
----
true

# ENDSWITH("abc", "xabc")
SELECT VALUE ENDSWITH("abc", "xabc")
----
false

# ENDSWITH(["abc"], "c")
SELECT VALUE ENDSWITH(["abc"], "c")
----

# INDEX_OF("banana", "na")
SELECT VALUE INDEX_OF("banana", "na")
----
2

# INDEX_OF("banana", "na", 3)
SELECT VALUE INDEX_OF("banana", "na", 3)
----
4

# INDEX_OF("banana", "x")
SELECT VALUE INDEX_OF("banana", "x")
----
-1

# INDEX_OF("banana", "")
SELECT VALUE INDEX_OF("banana", "")
----
0

# INDEX_OF("banana", null)
SELECT VALUE INDEX_OF("banana", null)
----

# INDEX_OF("aé日b", "b")
SELECT VALUE INDEX_OF("aé日b", "b")
----
3

# LASTINDEXOF("banana", "na")
SELECT VALUE LASTINDEXOF("banana", "na")
----
4

# LASTINDEXOF("banana", "x")
SELECT VALUE LASTINDEXOF("banana", "x")
----
-1

# LASTINDEXOF(5, "x")
SELECT VALUE LASTINDEXOF(5, "x")
----

# LEFT("hello", 2)
SELECT VALUE LEFT("hello", 2)
----
"he"

# LEFT("hello", 0)
SELECT VALUE LEFT("hello", 0)
----
""

# LEFT("hello", 99)
SELECT VALUE LEFT("hello", 99)
----
"hello"

# LEFT("hello", "2")
SELECT VALUE LEFT("hello", "2")
----

# LEFT("日本語", 2)
SELECT VALUE LEFT("日本語", 2)
----
"日本"

# LENGTH("")
SELECT VALUE LENGTH("")
----
0

# LENGTH("hello")
SELECT VALUE LENGTH("hello")
----
5

# LENGTH("日本語")
SELECT VALUE LENGTH("日本語")
----
3

# LENGTH(5)
SELECT VALUE LENGTH(5)
----

# LENGTH(null)
SELECT VALUE LENGTH(null)
----

# LENGTH([1, 2])
SELECT VALUE LENGTH([1, 2])
----

# LOWER("ÀBC")
SELECT VALUE LOWER("ÀBC")
----
"àbc"

# LOWER("")
SELECT VALUE LOWER("")
----
""

# LOWER(1)
SELECT VALUE LOWER(1)
----

# LTRIM("  a ")
SELECT VALUE LTRIM("  a ")
----
"a "

# LTRIM("xxa", "x")
SELECT VALUE LTRIM("xxa", "x")
----
"a"

# LTRIM(null)
SELECT VALUE LTRIM(null)
----

# RTRIM(" a  ")
SELECT VALUE RTRIM(" a  ")
----
" a"

# RTRIM("abb", "b")
SELECT VALUE RTRIM("abb", "b")
----
"a"

# TRIM("  a  ")
SELECT VALUE TRIM("  a  ")
----
"a"

# TRIM("")
SELECT VALUE TRIM("")
----
""

# TRIM(1)
SELECT VALUE TRIM(1)
----

# REGEXMATCH("abcd", "b.d")
SELECT VALUE REGEXMATCH("abcd", "b.d")
----
true

# REGEXMATCH("abcd", "^b")
SELECT VALUE REGEXMATCH("abcd", "^b")
----
false

# REGEXMATCH("ABCD", "b.d")
SELECT VALUE REGEXMATCH("ABCD", "b.d")
----
false

# REGEXMATCH("ABCD", "b.d", "i")
SELECT VALUE REGEXMATCH("ABCD", "b.d", "i")
----
true

# REGEXMATCH("ab cd", "a b c d", "x")
SELECT VALUE REGEXMATCH("ab cd", "a b c d", "x")
----
false

# REGEXMATCH("a\nb", "a.b")
SELECT VALUE REGEXMATCH("a\nb", "a.b")
----
false

# REGEXMATCH("a\nb", "a.b", "s")
SELECT VALUE REGEXMATCH("a\nb", "a.b", "s")
----
true

# REGEXMATCH("a\nb", "^b", "m")
SELECT VALUE REGEXMATCH("a\nb", "^b", "m")
----
true

# REGEXMATCH(1, "1")
SELECT VALUE REGEXMATCH(1, "1")
----

# REPLACE("banana", "na", "NA")
SELECT VALUE REPLACE("banana", "na", "NA")
----
"baNANA"

# REPLACE("banana", "x", "y")
SELECT VALUE REPLACE("banana", "x", "y")
----
"banana"

# REPLACE("banana", "a", "")
SELECT VALUE REPLACE("banana", "a", "")
----
"bnn"

# REPLACE("banana", 1, "")
SELECT VALUE REPLACE("banana", 1, "")
----

# REPLICATE("ab", 3)
SELECT VALUE REPLICATE("ab", 3)
----
"ababab"

# REPLICATE("ab", 0)
SELECT VALUE REPLICATE("ab", 0)
----
""

# REPLICATE("ab", -1)
SELECT VALUE REPLICATE("ab", -1)
----

# REPLICATE(1, 2)
SELECT VALUE REPLICATE(1, 2)
----

# REVERSE("abc")
SELECT VALUE REVERSE("abc")
----
"cba"

# REVERSE("")
SELECT VALUE REVERSE("")
----
""

# REVERSE("日本")
SELECT VALUE REVERSE("日本")
----
"本日"

# REVERSE(12)
SELECT VALUE REVERSE(12)
----

# RIGHT("hello", 2)
SELECT VALUE RIGHT("hello", 2)
----
"lo"

# RIGHT("hello", 0)
SELECT VALUE RIGHT("hello", 0)
----
""

# RIGHT("hello", 99)
SELECT VALUE RIGHT("hello", 99)
----
"hello"

# RIGHT(null, 1)
SELECT VALUE RIGHT(null, 1)
----

# STARTSWITH("abc", "ab")
SELECT VALUE STARTSWITH("abc", "ab")
----
true

# STARTSWITH("abc", "AB")
SELECT VALUE STARTSWITH("abc", "AB")
----
false

# STARTSWITH("abc", "AB", true)
SELECT VALUE STARTSWITH("abc", "AB", true)
----
true

# STARTSWITH("abc", "")
SELECT VALUE STARTSWITH("abc", "")
----
true

# STARTSWITH("abc", "abcd")
SELECT VALUE STARTSWITH("abc", "abcd")
----
false

# STARTSWITH("abc", undefined)
SELECT VALUE STARTSWITH("abc", undefined)
----

# STRINGEQUALS("abc", "ABC")
SELECT VALUE STRINGEQUALS("abc", "ABC")
----
false

# STRINGEQUALS("abc", "ABC", true)
SELECT VALUE STRINGEQUALS("abc", "ABC", true)
----
true

# STRINGEQUALS("abc", "abc")
SELECT VALUE STRINGEQUALS("abc", "abc")
----
true

# STRINGEQUALS("abc", 1)
SELECT VALUE STRINGEQUALS("abc", 1)
----

# STRINGJOIN(["a", "b", "c"], "-")
SELECT VALUE STRINGJOIN(["a", "b", "c"], "-")
----
"a-b-c"

# STRINGJOIN([], "-")
SELECT VALUE STRINGJOIN([], "-")
----
""

# STRINGJOIN(["a", 1], "-")
SELECT VALUE STRINGJOIN(["a", 1], "-")
----

# STRINGJOIN(["a"], "-")
SELECT VALUE STRINGJOIN(["a"], "-")
----
"a"

# STRINGSPLIT("a-b-c", "-")
SELECT VALUE STRINGSPLIT("a-b-c", "-")
----
["a","b","c"]

# STRINGSPLIT("abc", "-")
SELECT VALUE STRINGSPLIT("abc", "-")
----
["abc"]

# STRINGSPLIT("", "-")
SELECT VALUE STRINGSPLIT("", "-")
----
[""]

# STRINGSPLIT("abc", "")
SELECT VALUE STRINGSPLIT("abc", "")
----
["abc"]

# STRINGSPLIT("-a-", "-")
SELECT VALUE STRINGSPLIT("-a-", "-")
----
["","a",""]

# STRINGSPLIT(1, "-")
SELECT VALUE STRINGSPLIT(1, "-")
----

# SUBSTRING("hello", 1, 3)
SELECT VALUE SUBSTRING("hello", 1, 3)
----
"ell"

# SUBSTRING("hello", 3, 99)
SELECT VALUE SUBSTRING("hello", 3, 99)
----
"lo"

# SUBSTRING("hello", 9, 1)
SELECT VALUE SUBSTRING("hello", 9, 1)
----
""

# SUBSTRING("hello", 0, -1)
SELECT VALUE SUBSTRING("hello", 0, -1)
----
""

# SUBSTRING("hello", "0", 1)
SELECT VALUE SUBSTRING("hello", "0", 1)
----

# SUBSTRING("日本語", 1, 1)
SELECT VALUE SUBSTRING("日本語", 1, 1)
----
"本"

# UPPER("äbc")
SELECT VALUE UPPER("äbc")
----
"ÄBC"

# UPPER("abc")
SELECT VALUE UPPER("abc")
----
"ABC"

# UPPER(true)
SELECT VALUE UPPER(true)
----
