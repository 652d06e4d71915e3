"""Every test that a table of docs/compat or docs/security.md names exists, so that no row claims what
nothing proves.

Three forms, inside backticks or plain, in a line of a table:
  tests/sdk/items.test.mjs: the title, or the beginning of one, as it stands in the file
  tests/clients/go/client.go: the title, or the beginning of one, as a string in the file
  key_test.cc: Suite.Name
A row with an id and the state "works" must name at least one test, and so must every row of
docs/security.md.
"""

import re

import tree

SECURITY = "docs/security.md"
SDK = re.compile(r"(tests/[\w/.-]+\.mjs): ([^`|]+)")
CLIENT = re.compile(r"(tests/clients/[\w/.-]+\.(?:py|go|java|js)): ([^`|]+)")
UNIT = re.compile(r"\b([\w/]+_test\.cc): ?(\w+)\.(\w+)")
TITLE = re.compile(r"""\b(?:test|it|describe)(?:\.\w+)?\(\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\]|\\.)*)`)""")
GTEST = re.compile(r"\b(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\(\s*(\w+)\s*,\s*(\w+)\s*\)")


def main():
    top = tree.root()
    findings = []
    titles = {path: sdk_titles(tree.read(top, path))
              for path in tree.files(top, ".mjs", under=("tests",))}
    suites = {path: {f"{s}.{n}" for s, n in GTEST.findall(tree.read(top, path))}
              for path in tree.files(top, "_test.cc", under=("src", "tests"))}
    clients = {path: tree.read(top, path) for end in (".py", ".go", ".java", ".js")
               for path in tree.files(top, end, under=("tests/clients",))}
    for document in tree.files(top, ".md", under=("docs",)):
        if document != SECURITY and not document.startswith("docs/compat/"):
            continue
        lines = tree.read(top, document).splitlines()
        for number, line in enumerate(lines, 1):
            if not line.lstrip().startswith("|"):
                continue
            for message in judge(line, titles, suites, clients):
                findings.append((document, number, message))
            # A table's first two lines are its head.
            head = number < 3 or not lines[number - 3].startswith("|")
            if document == SECURITY and not head and not SDK.search(line) and not UNIT.search(line):
                findings.append((document, number, "names no test; name the one that proves it, or write it"))
    tree.finish(findings)


def sdk_titles(text):
    return [next(part for part in parts if part or part == "").replace('\\"', '"').replace("\\'", "'")
            for parts in ([p for p in found if p] or [""] for found in TITLE.findall(text))]


def judge(line, titles, suites, clients):
    named = 0
    for path, title in SDK.findall(line):
        named += 1
        title = title.strip().rstrip(".;,")
        if path not in titles:
            yield f"{path} does not exist"
        elif not any(t.startswith(title) for t in titles[path]):
            yield f'{path} has no test titled "{title}"'
    for path, title in CLIENT.findall(line):
        named += 1
        title = title.strip().rstrip(".;,")
        if path not in clients:
            yield f"{path} does not exist"
        elif f'"{title}' not in clients[path]:
            yield f'{path} has no test titled "{title}"'
    for file, suite, name in UNIT.findall(line):
        named += 1
        holders = [tests for path, tests in suites.items() if path.endswith("/" + file)]
        if not holders:
            yield f"there is no {file}"
        elif not any(f"{suite}.{name}" in tests for tests in holders):
            yield f"{file} has no test {suite}.{name}"
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if re.fullmatch(r"[A-Z]\d+", cells[0]) and "works" in cells and named == 0:
        yield f"{cells[0]} is said to work and names no test; name the one that proves it"


if __name__ == "__main__":
    main()
