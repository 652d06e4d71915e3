"""Orrery judged by the vendor's Python SDK, azure-cosmos, unmodified.

Each function is one test; its docstring is the title by which docs/compat names it. Prints TAP, ends with 1 when
one failed. Needs ORRERY_ENDPOINT (https), ORRERY_KEY and ORRERY_CERT (the server's cert.pem).
"""

import os
import sys
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone

from azure.core import MatchConditions
from azure.cosmos import CosmosClient, PartitionKey, ThroughputProperties, exceptions
from azure.cosmos.documents import SSLConfiguration

ITEMS = 240
COLORS = ["red", "green", "blue"]


def items(container):
    """items: create, read, replace, upsert, delete, etags, and what is not there"""
    made = container.create_item({"id": "1", "pk": "a", "text": "grüß 🌍", "n": 1})
    same(container.read_item("1", "a")["text"], "grüß 🌍")
    replaced = container.replace_item("1", {**made, "n": 2})
    same((replaced["n"], replaced["_etag"] != made["_etag"]), (2, True))
    fails(412, lambda: container.replace_item(
        "1", made, etag=made["_etag"], match_condition=MatchConditions.IfNotModified))
    fails(409, lambda: container.create_item({"id": "1", "pk": "a"}))
    same(container.upsert_item({"id": "1", "pk": "a", "n": 3})["n"], 3)
    same(container.upsert_item({"id": "1", "pk": "b", "n": 4})["n"], 4)
    container.delete_item("1", "a")
    fails(404, lambda: container.read_item("1", "a"))
    same(container.read_item("1", "b")["n"], 4)


def many_items(container):
    """bulk: items are written by many threads, and read_items reads them at once"""
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(container.create_item, map(item, range(ITEMS))))
    wanted = [(str(n), key(n)) for n in range(0, ITEMS, 3)]
    same(sorted(int(found["id"]) for found in container.read_items(wanted)), list(range(0, ITEMS, 3)))
    same(len(list(container.read_all_items())), ITEMS)


def queries(container):
    """queries: parameters, one key, pages and continuations"""
    query = "SELECT VALUE c.n FROM c WHERE c.n < @n"
    found = container.query_items(query, parameters=[{"name": "@n", "value": 50}], enable_cross_partition_query=True)
    same(sorted(found), list(range(50)))
    of_key = list(container.query_items("SELECT * FROM c ORDER BY c.n", partition_key=key(7)))
    same([it["n"] for it in of_key], [n for n in range(ITEMS) if key(n) == key(7)])
    first = container.query_items("SELECT * FROM c", partition_key=key(7), max_item_count=3).by_page()
    page = list(next(first))
    rest = container.query_items("SELECT * FROM c", partition_key=key(7), max_item_count=3) \
        .by_page(first.continuation_token)
    same(sorted(it["n"] for it in page + [it for page in rest for it in page]), [it["n"] for it in of_key])


def ordered_queries(container):
    """queries over partitions: ORDER BY, TOP, OFFSET LIMIT, DISTINCT"""
    same(ask(container, "SELECT VALUE c.n FROM c ORDER BY c.n DESC"), list(reversed(range(ITEMS))))
    same(ask(container, "SELECT VALUE c.n FROM c ORDER BY c.n DESC", max_item_count=7), list(reversed(range(ITEMS))))
    same(ask(container, "SELECT TOP 5 VALUE c.n FROM c ORDER BY c.n"), list(range(5)))
    same(ask(container, "SELECT VALUE c.n FROM c ORDER BY c.n OFFSET 100 LIMIT 10"), list(range(100, 110)))
    same(sorted(ask(container, "SELECT DISTINCT VALUE c.color FROM c")), sorted(COLORS))
    same(ask(container, "SELECT c.color, c.n FROM c ORDER BY c.color, c.n DESC")[:1], [{"color": "blue", "n": 239}])


def aggregates(container):
    """queries over partitions: COUNT, SUM, MIN, MAX, AVG"""
    for function, result in [("COUNT", ITEMS), ("SUM", sum(range(ITEMS))), ("MIN", 0), ("MAX", ITEMS - 1),
                             ("AVG", (ITEMS - 1) / 2)]:
        same(ask(container, f"SELECT VALUE {function}(c.n) FROM c"), [result])


def group_by(container):
    """GROUP BY: of one key; over partitions this SDK has none, and is told so"""
    query = "SELECT c.color, COUNT(1) AS n FROM c GROUP BY c.color"
    groups = container.query_items(query, partition_key=key(7))
    same({group["color"]: group["n"] for group in groups}, count(it["color"] for it in map(item, range(ITEMS))
                                                                 if it["pk"] == key(7)))
    fails(400, lambda: ask(container, query))


def change_feed(container):
    """change feed: from the beginning, from a time, from a continuation, of a feed range"""
    changes = container.query_items_change_feed(start_time="Beginning", max_item_count=50)
    same(sorted(it["n"] for it in changes), list(range(ITEMS)))
    position = container.client_connection.last_response_headers["etag"]
    container.upsert_item({**item(5), "changed": True})
    later = container.query_items_change_feed(continuation=position)
    same([it["id"] for it in later], ["5"])
    long_ago = datetime(2020, 1, 1, tzinfo=timezone.utc)
    same(len(list(container.query_items_change_feed(start_time=long_ago))), ITEMS)
    ranges = list(container.read_feed_ranges())
    found = [it["n"] for part in ranges
             for it in container.query_items_change_feed(feed_range=part, start_time="Beginning")]
    same((len(ranges) > 1, sorted(found)), (True, list(range(ITEMS))))
    of_key = container.query_items_change_feed(partition_key=key(5), start_time="Beginning")
    same([it["id"] for it in of_key][-1], "5")


def all_versions(database):
    """change feed: all versions and deletes"""
    container = database.create_container("versions", PartitionKey("/pk"), change_feed_policy={"retentionDuration": 5})
    list(container.query_items_change_feed(mode="AllVersionsAndDeletes", start_time="Now"))
    position = container.client_connection.last_response_headers["etag"]
    container.create_item({"id": "v", "pk": "a", "n": 1})
    container.upsert_item({"id": "v", "pk": "a", "n": 2})
    container.delete_item("v", "a")
    changes = list(container.query_items_change_feed(mode="AllVersionsAndDeletes", continuation=position))
    same([change["metadata"]["operationType"] for change in changes], ["create", "replace", "delete"])
    same([change["current"].get("n") for change in changes], [1, 2, None])


def batch(container):
    """batch: all kinds of operations, and none of them when one fails"""
    results = container.execute_item_batch([
        ("create", ({"id": "b1", "pk": "batch", "n": 1},)),
        ("upsert", ({"id": "b2", "pk": "batch", "n": 2},)),
        ("patch", ("b1", [{"op": "incr", "path": "/n", "value": 10}])),
        ("replace", ("b2", {"id": "b2", "pk": "batch", "n": 20})),
        ("read", ("b1",)),
        ("delete", ("b2",)),
    ], "batch")
    same([result["statusCode"] for result in results], [201, 201, 200, 200, 200, 204])
    same(results[4]["resourceBody"]["n"], 11)
    try:
        container.execute_item_batch([("delete", ("b1",)), ("create", ({"id": "b1", "pk": "other"},))], "batch")
    except exceptions.CosmosBatchOperationError as error:
        same((error.error_index, error.status_code), (1, 400))
    else:
        raise AssertionError("a batch with an item of another key was taken")
    same(container.read_item("b1", "batch")["n"], 11)


def patch(container):
    """patch: operations and a condition"""
    container.create_item({"id": "p", "pk": "patch", "n": 1, "list": [1, 2], "old": True})
    patched = container.patch_item("p", "patch", [
        {"op": "incr", "path": "/n", "value": 4}, {"op": "add", "path": "/list/-", "value": 3},
        {"op": "remove", "path": "/old"}, {"op": "set", "path": "/deep", "value": {"x": None}},
    ], filter_predicate="FROM c WHERE c.n = 1")
    same((patched["n"], patched["list"], "old" in patched, patched["deep"]), (5, [1, 2, 3], False, {"x": None}))
    fails(412, lambda: container.patch_item("p", "patch", [{"op": "incr", "path": "/n", "value": 1}],
                                            filter_predicate="FROM c WHERE c.n = 1"))


def hierarchical_keys(database):
    """hierarchical keys: items, a prefix of the key in queries and in the change feed"""
    container = database.create_container("levels", PartitionKey(["/tenant", "/user", "/session"], kind="MultiHash"))
    for n in range(40):
        container.create_item({"id": str(n), "tenant": f"t{n % 2}", "user": f"u{n % 4}", "session": n})
    same(container.read_item("7", ["t1", "u3", 7])["id"], "7")
    same(len(list(container.query_items("SELECT * FROM c", partition_key=["t1"]))), 20)
    same(len(list(container.query_items("SELECT * FROM c", partition_key=["t1", "u3"]))), 10)
    same(len(list(container.query_items_change_feed(partition_key=["t1", "u3"], start_time="Beginning"))), 10)
    container.delete_item("7", ["t1", "u3", 7])
    fails(404, lambda: container.read_item("7", ["t1", "u3", 7]))


def throughput(database):
    """throughput: manual, changed, autoscale"""
    manual = database.create_container("manual", PartitionKey("/pk"), offer_throughput=1000)
    same(manual.get_throughput().offer_throughput, 1000)
    same(manual.replace_throughput(1500).offer_throughput, 1500)
    same(manual.get_throughput().offer_throughput, 1500)
    automatic = database.create_container("automatic", PartitionKey("/pk"), offer_throughput=ThroughputProperties(
        auto_scale_max_throughput=4000))
    same(automatic.get_throughput().auto_scale_max_throughput, 4000)
    automatic.replace_throughput(ThroughputProperties(auto_scale_max_throughput=5000))
    same(automatic.get_throughput().auto_scale_max_throughput, 5000)


def management(client, database):
    """databases and containers: lists, queries, replace, what is not there"""
    name = database.id
    same(name in [each["id"] for each in client.list_databases()], True)
    found = client.query_databases("SELECT * FROM c WHERE c.id = @id", parameters=[{"name": "@id", "value": name}])
    same([each["id"] for each in found], [name])
    container = database.create_container("rules", PartitionKey("/pk"), default_ttl=100)
    same(container.read()["defaultTtl"], 100)
    database.replace_container(container, PartitionKey("/pk"), default_ttl=200)
    same(container.read()["defaultTtl"], 200)
    same("rules" in [each["id"] for each in database.query_containers("SELECT * FROM c")], True)
    database.delete_container(container)
    fails(404, container.read)


def item(n):
    return {"id": str(n), "pk": key(n), "n": n, "color": COLORS[n % 3]}


def key(n):
    return f"key {n % 20}"


def ask(container, query, **options):
    return list(container.query_items(query, enable_cross_partition_query=True, **options))


def count(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return counts


def same(found, wanted):
    if found != wanted:
        raise AssertionError(f"found {found!r}, wanted {wanted!r}")


def fails(status, action):
    try:
        result = action()
    except exceptions.CosmosHttpResponseError as error:
        same(error.status_code, status)
    else:
        raise AssertionError(f"wanted {status}, found {result!r}")


def main():
    # On localhost this SDK verifies no certificate unless it is given one in this way.
    client = CosmosClient(os.environ["ORRERY_ENDPOINT"], os.environ["ORRERY_KEY"],
                          ssl_config=SSLConfiguration(), connection_verify=os.environ["ORRERY_CERT"])
    database = client.create_database(f"python-{uuid.uuid4()}")
    wide = database.create_container("wide", PartitionKey("/pk"), offer_throughput=30_000, indexing_policy={
        "compositeIndexes": [[{"path": "/color"}, {"path": "/n", "order": "descending"}]]})
    plain = database.create_container("plain", PartitionKey("/pk"))
    failed = 0
    for test, arguments in [
            (items, [plain]), (many_items, [wide]), (queries, [wide]), (ordered_queries, [wide]), (aggregates, [wide]),
            (group_by, [wide]), (change_feed, [wide]), (all_versions, [database]), (batch, [plain]), (patch, [plain]),
            (hierarchical_keys, [database]), (throughput, [database]), (management, [client, database])]:
        try:
            test(*arguments)
            print(f"ok - {test.__doc__}")
        except Exception:  # whatever the SDK throws is a failed test
            failed += 1
            print(f"not ok - {test.__doc__}")
            print("  # " + traceback.format_exc().replace("\n", "\n  # "))
    client.delete_database(database)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
