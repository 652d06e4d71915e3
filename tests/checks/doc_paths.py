"""Every path of this repository that a document names exists.

Looked at: words in backticks, indented or fenced blocks' first words that are commands (./run),
and the targets of links, in *.md at the root and under docs/. A name with <, *, { or ... in it is
a pattern and is left alone, except that a * must match something.
"""

import glob
import os
import re

import tree

ROOMS = ("src/", "tests/", "docs/", "bench/", "tools/", "console/", "packaging/")
COMMANDS = ("./run", "./test", "./dev")
BACKTICKS = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")


def main():
    top = tree.root()
    findings = []
    documents = [f for f in tree.files(top, ".md", under=("",))
                 if "/" not in f or f.startswith("docs/")]
    for document in documents:
        for number, line in enumerate(tree.read(top, document).splitlines(), 1):
            for text in BACKTICKS.findall(line):
                for word in text.split():
                    if word.startswith(ROOMS + COMMANDS):
                        check(top, document, number, word, findings)
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target) or target.startswith("#"):
                    continue
                target = target.split("#")[0]
                base = os.path.dirname(document)
                check(top, document, number, os.path.normpath(os.path.join(base, target)), findings)
    tree.finish(findings)


def check(top, document, number, word, findings):
    path = re.sub(r"(:\d+(-\d+)?|[.,:;)'\"]+)$", "", word.strip("(\"'"))
    if any(mark in path for mark in ("<", "{", "…", "...", "$")):
        return
    path = path.removeprefix("./")
    there = glob.glob(os.path.join(top, path)) if "*" in path else os.path.exists(os.path.join(top, path))
    if not there:
        findings.append((document, number, f"{path} does not exist; name what is there, or drop it"))


if __name__ == "__main__":
    main()
