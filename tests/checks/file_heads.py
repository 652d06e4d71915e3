"""How files look from outside: a source file starts by saying what it is for, is not too long, and
does not live in a room that says nothing; nothing is left "to do".
"""

import re

import tree

LINES_MAX = 700
EMPTY_NAMES = {"common", "util", "utils", "helper", "helpers", "misc"}
LEFT_OVER = re.compile(r"\b(TODO|FIXME|XXX)\b")


def main():
    top = tree.root()
    findings = []
    sources = tree.files(top, ".h", ".cc", under=("src", "bench", "tests"))
    for path in sources:
        text = tree.read(top, path)
        lines = text.splitlines()
        if path.startswith("src/") and not text.startswith(("// ", "/*")):
            findings.append((path, 1, "start with a comment: what this file is for, its invariants, "
                                      "its threading"))
        if len(lines) > LINES_MAX:
            findings.append((path, LINES_MAX + 1, f"{len(lines)} lines, at most {LINES_MAX}: which "
                                                  "two things is this file? Split it there"))
    seen = set()
    for path in sources + tree.files(top, ".py", ".mjs", ".sh", ".txt", under=("src", "bench", "tests", "tools")):
        for folder in path.split("/")[:-1]:
            if folder in EMPTY_NAMES and path.split(folder + "/")[0] + folder not in seen:
                seen.add(path.split(folder + "/")[0] + folder)
                findings.append((path, 1, f'a folder named "{folder}" says nothing: name it after '
                                          "what is in it"))
    for path in tree.files(top, ".h", ".cc", ".mjs", ".sh", ".py", ".md",
                           under=("src", "bench", "tests", "tools", "docs")):
        if path.startswith("tests/checks/"):
            continue
        for number, line in enumerate(tree.read(top, path).splitlines(), 1):
            if LEFT_OVER.search(line):
                findings.append((path, number, "finish it, or write an issue and take this out"))
    tree.finish(findings)


if __name__ == "__main__":
    main()
