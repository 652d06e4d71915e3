"""What the checks share: where the repository is, and how a finding is told.

A check calls `finish(findings)`: it prints "file:line: what is wrong; what to do" for each and
exits with 1 if there are any. Each takes the repository's root as an optional argument, so that
the checks can be tried on a made-up tree (self_test.py).
"""

import os
import sys


def root():
    if len(sys.argv) > 1:
        return os.path.abspath(sys.argv[1])
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(top, *endings, under=("",)):
    """The files under these folders with one of these endings, as paths from the root, sorted."""
    found = []
    for folder in under:
        for where, folders, names in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(
                f for f in folders
                if not f.startswith((".", "build", "node_modules", "orrery-data")))
            found += [os.path.relpath(os.path.join(where, n), top)
                      for n in names if n.endswith(endings)]
    return sorted(set(found))


def read(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as file:
        return file.read()


def finish(findings):
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    if findings:
        print(f"{len(findings)} found")
    sys.exit(1 if findings else 0)
