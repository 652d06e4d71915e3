# IS_ARRAY([])
SELECT VALUE IS_ARRAY([])
----
true

# IS_ARRAY({})
SELECT VALUE IS_ARRAY({})
----
false

# IS_ARRAY(undefined)
SELECT VALUE IS_ARRAY(undefined)
----
false

# IS_BOOL(true)
SELECT VALUE IS_BOOL(true)
----
true

# IS_BOOL("true")
SELECT VALUE IS_BOOL("true")
----
false

# IS_BOOL(undefined)
SELECT VALUE IS_BOOL(undefined)
----
false

# IS_BOOLEAN(false), another name of IS_BOOL
SELECT VALUE IS_BOOLEAN(false)
----
true

# IS_DEFINED(1)
SELECT VALUE IS_DEFINED(1)
----
true

# IS_DEFINED(null)
SELECT VALUE IS_DEFINED(null)
----
true

# IS_DEFINED(undefined)
SELECT VALUE IS_DEFINED(undefined)
----
false

# IS_DEFINED({}.a)
SELECT VALUE IS_DEFINED({}.a)
----
false

# IS_FINITE_NUMBER(1)
SELECT VALUE IS_FINITE_NUMBER(1)
----
true

# IS_FINITE_NUMBER("1")
SELECT VALUE IS_FINITE_NUMBER("1")
----
false

# IS_FINITE_NUMBER(1 / 0)
SELECT VALUE IS_FINITE_NUMBER(1 / 0)
----
false

# IS_FINITE_NUMBER(undefined)
SELECT VALUE IS_FINITE_NUMBER(undefined)
----
false

# IS_INTEGER(1)
SELECT VALUE IS_INTEGER(1)
----
true

# IS_INTEGER(1.5)
SELECT VALUE IS_INTEGER(1.5)
----
false

# IS_INTEGER("1")
SELECT VALUE IS_INTEGER("1")
----
false

# IS_INTEGER(9007199254740992)
SELECT VALUE IS_INTEGER(9007199254740992)
----
true

# IS_NULL(null)
SELECT VALUE IS_NULL(null)
----
true

# IS_NULL(0)
SELECT VALUE IS_NULL(0)
----
false

# IS_NULL(undefined)
SELECT VALUE IS_NULL(undefined)
----
false

# IS_NUMBER(1.5)
SELECT VALUE IS_NUMBER(1.5)
----
true

# IS_NUMBER("1")
SELECT VALUE IS_NUMBER("1")
----
false

# IS_NUMBER(0 / 0)
SELECT VALUE IS_NUMBER(0 / 0)
----
true

# IS_NUMBER(undefined)
SELECT VALUE IS_NUMBER(undefined)
----
false

# IS_OBJECT({})
SELECT VALUE IS_OBJECT({})
----
true

# IS_OBJECT([])
SELECT VALUE IS_OBJECT([])
----
false

# IS_OBJECT(null)
SELECT VALUE IS_OBJECT(null)
----
false

# IS_PRIMITIVE("a")
SELECT VALUE IS_PRIMITIVE("a")
----
true

# IS_PRIMITIVE(null)
SELECT VALUE IS_PRIMITIVE(null)
----
true

# IS_PRIMITIVE([1])
SELECT VALUE IS_PRIMITIVE([1])
----
false

# IS_PRIMITIVE({"a": 1})
SELECT VALUE IS_PRIMITIVE({"a": 1})
----
false

# IS_PRIMITIVE(undefined)
SELECT VALUE IS_PRIMITIVE(undefined)
----
false

# IS_STRING("")
SELECT VALUE IS_STRING("")
----
true

# IS_STRING(1)
SELECT VALUE IS_STRING(1)
----
false

# IS_STRING(undefined)
SELECT VALUE IS_STRING(undefined)
----
false

# IS_DATETIME("2024-01-01T00:00:00Z")
SELECT VALUE IS_DATETIME("2024-01-01T00:00:00Z")
----
true

# IS_DATETIME("yesterday")
SELECT VALUE IS_DATETIME("yesterday")
----
false

# IS_DATETIME(1)
SELECT VALUE IS_DATETIME(1)
----
false

# IIF(true, 1, 2)
SELECT VALUE IIF(true, 1, 2)
----
1

# IIF(false, 1, 2)
SELECT VALUE IIF(false, 1, 2)
----
2

# IIF("true", 1, 2)
SELECT VALUE IIF("true", 1, 2)
----
2

# IIF(undefined, 1, 2)
SELECT VALUE IIF(undefined, 1, 2)
----
2

# IIF(null, 1, 2)
SELECT VALUE IIF(null, 1, 2)
----
2

# IIF(1 = 1, undefined, 2)
SELECT VALUE IIF(1 = 1, undefined, 2)
----
