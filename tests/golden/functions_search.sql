# FULLTEXTCONTAINS("the red mountain bike", "mountain")
SELECT VALUE FULLTEXTCONTAINS("the red mountain bike", "mountain")
----
true

# FULLTEXTCONTAINS("the red mountain bike", "MOUNTAIN")
SELECT VALUE FULLTEXTCONTAINS("the red mountain bike", "MOUNTAIN")
----
true

# FULLTEXTCONTAINS("the red mountain bike", "road")
SELECT VALUE FULLTEXTCONTAINS("the red mountain bike", "road")
----
false

# FULLTEXTCONTAINS("the red mountain bike", "mountain bike")
SELECT VALUE FULLTEXTCONTAINS("the red mountain bike", "mountain bike")
----
true

# FULLTEXTCONTAINS("the red mountain bike", "bike mountain")
SELECT VALUE FULLTEXTCONTAINS("the red mountain bike", "bike mountain")
----
false

# FULLTEXTCONTAINS(5, "road")
SELECT VALUE FULLTEXTCONTAINS(5, "road")
----

# FULLTEXTCONTAINSALL("the red mountain bike", "red", "bike")
SELECT VALUE FULLTEXTCONTAINSALL("the red mountain bike", "red", "bike")
----
true

# FULLTEXTCONTAINSALL("the red mountain bike", "red", "boat")
SELECT VALUE FULLTEXTCONTAINSALL("the red mountain bike", "red", "boat")
----
false

# FULLTEXTCONTAINSANY("the red mountain bike", "boat", "bike")
SELECT VALUE FULLTEXTCONTAINSANY("the red mountain bike", "boat", "bike")
----
true

# FULLTEXTCONTAINSANY("the red mountain bike", "boat", "car")
SELECT VALUE FULLTEXTCONTAINSANY("the red mountain bike", "boat", "car")
----
false

# VECTORDISTANCE([1, 0], [1, 0], true, {"distanceFunction": "euclidean"})
SELECT VALUE VECTORDISTANCE([1, 0], [1, 0], true, {"distanceFunction": "euclidean"})
----
0

# VECTORDISTANCE([1, 0], [0, 1], true, {"distanceFunction": "dotproduct"})
SELECT VALUE VECTORDISTANCE([1, 0], [0, 1], true, {"distanceFunction": "dotproduct"})
----
0

# VECTORDISTANCE([0, 3], [4, 0], true, {"distanceFunction": "euclidean"})
SELECT VALUE VECTORDISTANCE([0, 3], [4, 0], true, {"distanceFunction": "euclidean"})
----
5

# VECTORDISTANCE([1, 2], [2, 4], true, {"distanceFunction": "cosine"}) > 0.999
SELECT VALUE VECTORDISTANCE([1, 2], [2, 4], true, {"distanceFunction": "cosine"}) > 0.999
----
true

# VECTORDISTANCE([1, 2], [1, 2, 3])
SELECT VALUE VECTORDISTANCE([1, 2], [1, 2, 3])
----

# VECTORDISTANCE("a", [1, 2, 3])
SELECT VALUE VECTORDISTANCE("a", [1, 2, 3])
----
