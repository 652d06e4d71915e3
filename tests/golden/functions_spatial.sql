# ST_ISVALID({"type": "Point", "coordinates": [31.9, -4.8]})
SELECT VALUE ST_ISVALID({"type": "Point", "coordinates": [31.9, -4.8]})
----
true

# ST_ISVALID({"type": "Point", "coordinates": [31.9, -132.8]})
SELECT VALUE ST_ISVALID({"type": "Point", "coordinates": [31.9, -132.8]})
----
false

# ST_ISVALID({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
SELECT VALUE ST_ISVALID({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
----
true

# ST_ISVALID({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]})
SELECT VALUE ST_ISVALID({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1]]]})
----
false

# ST_ISVALID({"type": "LineString", "coordinates": [[0, 0], [1, 0]]})
SELECT VALUE ST_ISVALID({"type": "LineString", "coordinates": [[0, 0], [1, 0]]})
----
true

# ST_ISVALIDDETAILED({"type": "Point", "coordinates": [0, 0]}).valid
SELECT VALUE ST_ISVALIDDETAILED({"type": "Point", "coordinates": [0, 0]}).valid
----
true

# ST_ISVALIDDETAILED({"type": "Point", "coordinates": [0, 100]}).valid
SELECT VALUE ST_ISVALIDDETAILED({"type": "Point", "coordinates": [0, 100]}).valid
----
false

# ROUND(ST_DISTANCE({"type": "Point", "coordinates": [0, 0]}, {"type": "Point", "coordinates": [0, 1]}) / 1000)
SELECT VALUE ROUND(ST_DISTANCE({"type": "Point", "coordinates": [0, 0]}, {"type": "Point", "coordinates": [0, 1]}) / 1000)
----
111

# ST_DISTANCE({"type": "Point", "coordinates": [3, 4]}, {"type": "Point", "coordinates": [3, 4]})
SELECT VALUE ST_DISTANCE({"type": "Point", "coordinates": [3, 4]}, {"type": "Point", "coordinates": [3, 4]})
----
0

# ST_DISTANCE({"type": "Point", "coordinates": [3, 4]}, "here")
SELECT VALUE ST_DISTANCE({"type": "Point", "coordinates": [3, 4]}, "here")
----

# ST_WITHIN({"type": "Point", "coordinates": [0.5, 0.2]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
SELECT VALUE ST_WITHIN({"type": "Point", "coordinates": [0.5, 0.2]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
----
true

# ST_WITHIN({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
SELECT VALUE ST_WITHIN({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
----
false

# ST_INTERSECTS({"type": "LineString", "coordinates": [[-1, 0.2], [2, 0.2]]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
SELECT VALUE ST_INTERSECTS({"type": "LineString", "coordinates": [[-1, 0.2], [2, 0.2]]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
----
true

# ST_INTERSECTS({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
SELECT VALUE ST_INTERSECTS({"type": "Point", "coordinates": [5, 5]}, {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]})
----
false

# ST_AREA({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}) > 6000000000
SELECT VALUE ST_AREA({"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}) > 6000000000
----
true

# ST_AREA("here")
SELECT VALUE ST_AREA("here")
----
