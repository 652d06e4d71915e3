# items
{"id":"1","select":1,"a b":2,"ünï":3,"quote\"d":4,"x":{"":5,"value":6}}

# keywords in any case
SeLeCt VaLuE c.id FrOm c WhErE c.id = "1" oRdEr By c.id aSc
----
"1"

# a comment at the end of a line
SELECT VALUE c.id -- the id
FROM c
----
"1"

# comments are of one line only
SELECT VALUE /* the id */ c.id FROM c
---- error SC1001

# over many lines, with tabs
SELECT
	VALUE
		c.id
FROM
	c
----
"1"

# a keyword as a quoted property
SELECT VALUE c["select"] FROM c
----
1

# a property with a space
SELECT VALUE c["a b"] FROM c
----
2

# a property in single quotes
SELECT VALUE c['a b'] FROM c
----
2

# a property with letters of any script
SELECT VALUE c["ünï"] FROM c
----
3

# a property with a quote
SELECT VALUE c["quote\"d"] FROM c
----
4

# a property without a name
SELECT VALUE c.x[""] FROM c
----
5

# an escape in a property
SELECT VALUE c["\u0061 b"] FROM c
----
2

# names that are not there
SELECT VALUE c["nope"] FROM c
----

# names given by AS
SELECT c.id AS theId, 1 AS one FROM c
----
{"theId":"1","one":1}

# names given without AS
SELECT c.id theId FROM c
----
{"theId":"1"}

# names given in quotes
SELECT c.id AS "the id" FROM c
---- error SC1001

# columns without a name are numbered
SELECT c.id, 1 + 1, "x", c.x["value"], c["a b"] FROM c
----
{"id":"1","$1":2,"$2":"x","value":6,"a b":2}

# parentheses
SELECT VALUE ((c.id)) FROM c WHERE ((((c.id = "1"))))
----
"1"

# a semicolon at the end
SELECT VALUE c.id FROM c;
---- error SC1010

# nothing
SELECT
---- error SC1001

# no FROM name
SELECT * FROM
---- error SC1001

# two filters
SELECT * FROM c WHERE c.a = 1 WHERE c.b = 2
---- error SC1001

# an open string
SELECT * FROM c WHERE c.a = "open
---- error SC1012

# an open bracket
SELECT VALUE [1, 2 FROM c
---- error SC1001

# a wrong word
SELEC * FROM c
---- error SC1001

# order of clauses
SELECT * FROM c ORDER BY c.id WHERE c.id = "1"
---- error SC1001

# an update
UPDATE c SET c.x = 1
---- error SC1001

# two columns of everything
SELECT *, c.id FROM c
---- error SC1001

# value with two expressions
SELECT VALUE c.id, c.x FROM c
---- error SC1001

# a function that does not exist
SELECT VALUE NOPE(1)
---- error SC2005

# too few arguments
SELECT VALUE CONCAT("a")
---- error SC2050

# too many arguments
SELECT VALUE ABS(1, 2)
---- error SC2050

# a function of the user
SELECT VALUE udf.f(1) FROM c
---- error udf.f

# a name that does not exist
SELECT VALUE d FROM c
---- error SC2001

# an empty list
SELECT * FROM c WHERE c.id IN ()
---- error SC1001
