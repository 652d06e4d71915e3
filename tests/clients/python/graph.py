"""Orrery's graphs judged by gremlinpython, unmodified: texts and bytecode, over wss.

Each function is one test; its docstring is the title by which docs/compat names it. Prints TAP, ends with 1 when
one failed. Needs ORRERY_GREMLIN (wss), ORRERY_KEY and ORRERY_CERT (the server's cert.pem), and the graph db/people,
which is partitioned by /pk and empty.
"""

import os
import ssl
import sys
import traceback

from gremlin_python.driver import client, serializer
from gremlin_python.driver.driver_remote_connection import DriverRemoteConnection
from gremlin_python.driver.protocol import GremlinServerError
from gremlin_python.process.anonymous_traversal import traversal
from gremlin_python.process.graph_traversal import __
from gremlin_python.process.strategies import ReadOnlyStrategy, SubgraphStrategy
from gremlin_python.process.traversal import Cardinality, Merge, Order, P, T

USER = "/dbs/db/colls/people"


def tls():
    return ssl.create_default_context(cafile=os.environ["ORRERY_CERT"])


def text_client(form=None, user=USER):
    return client.Client(
        os.environ["ORRERY_GREMLIN"], "g", username=user, password=os.environ["ORRERY_KEY"],
        message_serializer=form or serializer.GraphSONSerializersV2d0(), ssl_options=tls())


def texts(g):
    """texts: the quick start of the vendor's documentation, with bindings"""
    asks = text_client()
    run = lambda text, bindings=None: asks.submit(text, bindings).all().result()
    run("g.V().drop()")
    for name, age in [("thomas", 44), ("mary", 39), ("ben", 30)]:
        made = run("g.addV('person').property('id', i).property('name', i).property('age', a).property('pk', 'pk')",
                   {"i": name, "a": age})
        same(made[0]["properties"]["name"][0]["value"], name)
    run("g.V('thomas').addE('knows').to(g.V('mary'))")
    run("g.V('thomas').addE('knows').to(g.V('ben'))")
    same(sorted(run("g.V('thomas').out('knows').values('name')")), ["ben", "mary"])
    same(run("g.V().hasLabel('person').has('age', gt(40)).values('name')"), ["thomas"])
    answer = asks.submit("g.V().count()")
    same(answer.all().result(), [3])
    same(answer.status_attributes["x-ms-status-code"], 200)
    asks.close()


def bytecode(g):
    """bytecode: adds, hops, repeat, order, group, upserts"""
    g.V().drop().iterate()
    for name, age in [("marko", 29), ("vadas", 27), ("josh", 32)]:
        g.add_v("person").property("id", name).property("pk", "p").property("age", age).iterate()
    g.V("marko").add_e("knows").to(__.V("vadas")).property("weight", 0.5).iterate()
    g.V("marko").add_e("knows").to(__.V("josh")).property("weight", 1.0).iterate()
    g.V("josh").add_e("knows").to(__.V("vadas")).iterate()
    same(g.V("marko").out("knows").order().by("age", Order.desc).id_().to_list(), ["josh", "vadas"])
    same(g.V("marko").out_e().has("weight", P.gt(0.7)).in_v().id_().to_list(), ["josh"])
    same(sorted(g.V("marko").repeat(__.out()).emit().id_().to_list()), ["josh", "vadas", "vadas"])
    same(g.V().group_count().by(T.label).next(), {"person": 3})
    same(g.V().has("age", P.within(27, 29)).count().next(), 2)
    for _ in range(2):
        g.merge_v({T.id: "peter", T.label: "person", "pk": "p"}).option(Merge.on_create, {"age": 35}).iterate()
    same(g.V().count().next(), 4)
    g.V("peter").property(Cardinality.list_, "tag", "a").property(Cardinality.list_, "tag", "b").iterate()
    same(g.V("peter").values("tag").to_list(), ["a", "b"])
    same(g.V("peter").value_map("age").next(), {"age": [35]})
    same([str(x) for x in g.V("marko").out().path().by("age").limit(1).next().objects][0], "29")


def strategies(g):
    """strategies: read-only and subgraphs"""
    fails(lambda: g.with_strategies(ReadOnlyStrategy()).add_v("x").iterate(), 597)
    adults = g.with_strategies(SubgraphStrategy(vertices=__.has("age", P.gte(30))))
    same(sorted(adults.V().id_().to_list()), ["josh", "peter"])


def errors(g):
    """errors: their codes and texts, and GraphBinary is told what to use"""
    fails(lambda: g.add_v("person").property("id", "marko").property("pk", "p").iterate(), 500)
    wrong = text_client(user="/dbs/db/colls/none")
    fails(lambda: wrong.submit("g.V()").all().result(), 500)
    wrong.close()
    binary = text_client(form=serializer.GraphBinarySerializersV1())
    error = fails(lambda: binary.submit("g.V()").all().result(), 498)
    same("GraphSON" in str(error), True)
    binary.close()


def same(actual, expected):
    if actual != expected:
        raise AssertionError(f"{actual!r} instead of {expected!r}")


def fails(code_of, status):
    try:
        given = code_of()
    except GremlinServerError as error:
        same(error.status_code, status)
        return error
    raise AssertionError(f"should fail with {status}, and gave {given!r}")


def main():
    remote = DriverRemoteConnection(
        os.environ["ORRERY_GREMLIN"], "g", username=USER, password=os.environ["ORRERY_KEY"],
        message_serializer=serializer.GraphSONSerializersV3d0(), ssl_options=tls())
    g = traversal().with_(remote)
    failed = 0
    for test in [texts, bytecode, strategies, errors]:
        try:
            test(g)
            print(f"ok - {test.__doc__}")
        except Exception:
            failed += 1
            print(f"not ok - {test.__doc__}")
            print("".join(f"  # {line}\n" for line in traceback.format_exc().splitlines()), end="")
        sys.stdout.flush()
    remote.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
