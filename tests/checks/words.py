"""No word of one protocol below src/api.

What is below the faces serves all of them. A word that only one protocol has (a header, a code, the
name of a product) is a sign that some of that face's meaning has sunk into a layer that others
use: the face translates instead. Code, comments, messages and tests are looked at alike.
"""

import re

import tree

# What may not be said, and what to say or do instead.
WORDS = [
    (r"cosmos|documentdb|azure|microsoft", "the name of a product: say what is done, not for whom"),
    (r"\bvendor", "of one face: say what the rule is"),
    (r"\bsdks?\b", "the clients of one face: say what any client needs"),
    (r"x-ms-", "a header of one face"),
    (r"\bif[-_ ]?(none[-_ ]?)?match\b",
     "a header of HTTP faces: a write has a version or an absence that it asks for"),
    (r"(?<![a-z])e-?tags?(?![a-z])", "the face makes etags out of versions and revisions"),
    (r"session[-_ ]?token",
     "the face makes session tokens: the engine takes an LSN that must be reached"),
    (r"partition[-_ ]?key[-_ ]?range|pk-?range", "a range, or a partition"),
    (r"effective[-_ ]?partition[-_ ]?key", "a placement key, or the hash that it begins with"),
    (r"\bsc\d{4}\b", "a code of one face: QueryFault has kinds"),
    (r"\b_(rid|self|etag|ts|lsn|attachments)\b", "a property that one face adds to items"),
    (r"request[-_ ]units?|\bru/s|\brus?\b", "the engine has units: a face's prices make them of counts"),
    (r"request[-_ ]charge", "a header of one face: an operation has a charge"),
    (r"\bsub-?status\b", "a code of one face"),
    (r"\b(dbs|colls|sprocs|pkranges)\b", "a part of one face's addresses"),
]

# Files where such words are meant, and why.
EXCEPTIONS = [
    ("src/cluster/engine_fixture.h", "the engine is tested with the prices of request units"),
    ("src/script/prelude.js", "the names that scripts are written against"),
    ("src/script/host_test.cc", "has scripts in it, and the links that they use"),
    ("src/script/host_fixture.h", "has the links that scripts use"),
    ("src/script/attack_test.cc", "has scripts in it"),
    ("src/prices/request_units.h", "prices in request units, for the faces that charge them"),
    ("src/prices/request_units.cc", "the same"),
    ("src/prices/request_units_test.cc", "the same"),
    ("src/face/request_metrics.cc", "names a metric that operators read: what these faces charge"),
    ("src/ops/machine_metrics.cc", "the same"),
    ("src/ops/metrics_sampler.cc", "the same"),
]

# What faces are made of, and the pages that belong to no face. Not here: advise, which speaks to the
# owners of containers in the units that they are charged; console, client and transfer, which are
# clients of a face.
BELOW = ("base", "value", "volume", "peer", "nodes", "partition", "prices", "catalog", "cluster", "query", "script",
         "net", "account", "backup", "face", "ops")


def main():
    top = tree.root()
    rules = [(re.compile(pattern, re.IGNORECASE), why) for pattern, why in WORDS]
    meant = {path for path, _ in EXCEPTIONS}
    findings = []
    for path in tree.files(top, ".h", ".cc", ".in", ".js", under=[f"src/{room}" for room in BELOW]):
        found = [(path, number, f'"{match.group(0)}" belongs to src/api: {why}')
                 for number, line in enumerate(tree.read(top, path).splitlines(), 1)
                 for rule, why in rules for match in rule.finditer(line)]
        if path not in meant:
            findings += found
        elif not found:
            findings.append((path, 1, "needs no exception any more: take it off the list in "
                                      "tests/checks/words.py"))
    tree.finish(findings)


if __name__ == "__main__":
    main()
