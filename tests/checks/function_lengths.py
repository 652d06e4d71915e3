"""No function outside tests is longer than LINES_MAX lines, from its first line to its closing brace.

A table is a variable with its initializer, not a function, and may be of any length.
"""

import re

import tree

LINES_MAX = 80

# What is not code: literals (raw ones first, since they may hold the others), comments, directives.
NOT_CODE = re.compile(
    r'R"(?P<mark>[^()\\ ]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'"
    r"|//[^\n]*|/\*.*?\*/"
    r"|^[ \t]*#(?:\\\n|[^\n])*",
    re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\s*(template\s*)?(inline\s+)?(namespace|class|struct|union|enum|extern)\b")
TEST = re.compile(r"(_test\.cc|_fixture\.h|/test_\w+\.(h|cc))$")


def code_alone(text):
    """The text with a space for each character that is not code; lines stay where they are."""
    return NOT_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found.group(0)), text)


def without_nested(text):
    """The text without what is in parentheses or angle brackets."""
    previous = None
    while previous != text:
        previous = text
        text = re.sub(r"\([^()]*\)|<[^<>]*>", "", text)
    return text


def opens(head):
    """What a brace after `head` opens, between functions: "scope", "function" or "value"."""
    bare = without_nested(head)
    if SCOPE.match(bare) and not head.rstrip().endswith(")"):
        return "scope"
    if "(" not in head or ("=" in bare and "operator" not in bare):
        return "value"
    return "function"


def functions(code):
    """(first line, last line) of every function that is not in another."""
    inside, depth = None, 0  # what is being passed, "function" or "value", and the braces open in it
    head_at = 0
    for found in re.finditer(r"[{};]", code):
        at, sign = found.start(), found.group(0)
        if inside is None:
            opened = opens(code[head_at:at]) if sign == "{" else "scope"
            if opened == "scope":
                head_at = at + 1
            else:
                inside, depth = opened, 1
            continue
        depth += {"{": 1, "}": -1, ";": 0}[sign]
        if depth > 0:
            continue
        # After the braces of a constructor's member comes another member, or the body.
        is_member = inside == "function" and code[at + 1:].lstrip()[:1] in (",", "{")
        if inside == "function" and not is_member:
            first_at = head_at + re.match(r"\s*", code[head_at:]).end()
            yield code.count("\n", 0, first_at) + 1, code.count("\n", 0, at) + 1
        inside = None
        if not is_member:
            head_at = at + 1


def main():
    top = tree.root()
    findings = []
    for path in tree.files(top, ".h", ".cc", under=("src", "bench")):
        if TEST.search(path):
            continue
        for first, last in functions(code_alone(tree.read(top, path))):
            if last - first + 1 > LINES_MAX:
                findings.append((path, first, f"a function of {last - first + 1} lines, at most "
                                              f"{LINES_MAX}: name its parts, and call them"))
    tree.finish(findings)


if __name__ == "__main__":
    main()
