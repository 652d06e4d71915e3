# items
{"id":"1","l":[1,2,3]}
{"id":"2","l":[]}
{"id":"3","l":[4]}
{"id":"4"}
{"id":"5","l":[5,6]}

# top of nothing
SELECT TOP 0 * FROM c
----

# top of more than there is
SELECT TOP 100 VALUE c.id FROM c
----
"1"
"2"
"3"
"4"
"5"

# top counts rows, not items
SELECT TOP 4 VALUE e FROM c JOIN e IN c.l
---- ordered
1
2
3
4

# top leaves out rows that show nothing
SELECT TOP 4 VALUE c.l[0] FROM c
---- ordered
1
4
5

# offset in the middle of an item
SELECT VALUE e FROM c JOIN e IN c.l OFFSET 2 LIMIT 3
---- ordered
3
4
5

# offset past the end
SELECT VALUE c.id FROM c OFFSET 9 LIMIT 9
----

# limit of nothing
SELECT VALUE c.id FROM c OFFSET 0 LIMIT 0
----

# parameters
@o = 1
@l = 2
SELECT VALUE c.id FROM c OFFSET @o LIMIT @l
---- ordered
"2"
"3"

# top of a sum
SELECT TOP 1 VALUE COUNT(1) FROM c
----
5

# offset over a sum
SELECT VALUE COUNT(1) FROM c OFFSET 1 LIMIT 1
----

# a top that is negative
SELECT TOP -1 * FROM c
---- error SC

# a top that is no whole number
SELECT TOP 1.5 * FROM c
---- error SC2060

# a top that is no number
@n = "2"
SELECT TOP @n * FROM c
---- error SC2060

# a limit without an offset
SELECT * FROM c LIMIT 5
---- error SC1001

# an offset without a limit
SELECT * FROM c OFFSET 5
---- error SC1001

# top with offset and limit: the smaller of the two, after skipping
SELECT TOP 2 VALUE c.id FROM c ORDER BY c.id OFFSET 1 LIMIT 5
---- ordered
"2"
"3"

# limit smaller than top
SELECT TOP 5 VALUE c.id FROM c ORDER BY c.id DESC OFFSET 1 LIMIT 1
---- ordered
"4"
