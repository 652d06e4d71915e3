"""The checks catch what they are for: each is run on a small made-up tree with one fault in it, and
must name the file, the line and the fault; and on a sound one, where it must say nothing.
"""

import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CMAKE = """
orrery_library(base base LINKS fmt::fmt)
orrery_library(value value USES base)
orrery_library(net net USES base
               LINKS ssl)
orrery_library(api_a api/a USES value net)
orrery_library(api_b api/b USES value)
"""
SOUND = {
    "CMakeLists.txt": CMAKE,
    "src/base/result.h": "// Results.\n",
    "src/value/json.h": '// JSON.\n#include "base/result.h"\n',
    "src/value/json_test.cc": "// Tests of JSON.\nTEST(Json, Parses) {}\n",
    "src/net/server.cc": "// Listens.\n#include <sys/epoll.h>\n",
    "src/api/a/face.cc": '// A face.\n#include "base/result.h"\n#include "net/server.h"\n',
    "src/net/server.h": "// Listens.\n",
    "src/net/names.cc": "// Names.\nconst char* const kNames[] = {\n" + '    "a {",\n' * 90 + "};\nint f() {\n" + "  g('}');\n" * 78 + "}\n",
    "README.md": "See `src/base/` and [the guide](docs/guide.md); `./run --port 1`.\n",
    "docs/guide.md": "Back to [the start](../README.md#x).\n",
    "docs/compat/a.md": "| A1 | works | `json_test.cc: Json.Parses` |\n"
                        "| A2 | works | `tests/sdk/a.test.mjs: A2: two` |\n",
    "docs/security.md": "| who | may | test |\n|---|---|---|\n| all | read | `json_test.cc: Json.Parses` |\n",
    "tests/sdk/a.test.mjs": 'test("A2: two items", () => {});\n',
    "tests/clients/go/client.go": '// G.\nvar title = "a: thing"\n',
    "run": "",
}
# check, file to write, its text, what must be printed
FAULTS = [
    ("layers", "src/value/json.h", '// J.\n#include "net/server.h"\n', "src/value/json.h:2: src/value may not"),
    ("layers", "src/api/b/face.cc", '// B.\n#include "api/a/face.h"\n', "src/api/b/face.cc:2: src/api/b may not"),
    ("layers", "src/api/a/face.cc", "// A.\n#include <rocksdb/db.h>\n", "src/api/a/face.cc:2: <rocksdb/db.h>"),
    ("layers", "src/value/json.h", "// J.\n#include <sys/epoll.h>\n", "src/value/json.h:2: <sys/epoll.h"),
    ("layers", "src/net/server.cc", "// L.\n#include <curl/curl.h>\n", "src/net/server.cc:2: <curl/curl.h"),
    ("layers", "src/value/json.h", '// J.\n#include "path.h"\n', 'src/value/json.h:2: "path.h": name it from src'),
    ("layers", "src/value/json.h", '// J.\n#include "base/gone.h"\n', 'src/value/json.h:2: "base/gone.h" does not'),
    ("layers", "src/lost/x.h", "// X.\n", "src/lost/x.h:1: in no library"),
    ("layers", "CMakeLists.txt", CMAKE.replace("base base", "base base USES net"), "in a circle"),
    ("layers", "CMakeLists.txt", CMAKE.replace("api/b USES", "api/b USES api_a"), "faces never"),
    ("layers", "tests/sdk/a.test.mjs", 'import {\n  A,\n} from "@azure/cosmos";\n', "tests/sdk/a.test.mjs:3: import the SDK"),
    ("words", "src/value/json.h", "// J.\n// As If-Match says.\n", 'src/value/json.h:2: "If-Match"'),
    ("words", "src/net/server.cc", "// L.\nint etag_size = 1;\n", 'src/net/server.cc:2: "etag"'),
    ("words", "src/base/result.h", '// R.\nauto code = "SC2001";\n', 'src/base/result.h:2: "SC2001"'),
    ("words", "src/face/face.h", '// F.\nauto name = "cosmos";\n', 'src/face/face.h:2: "cosmos"'),
    ("words", "src/script/prelude.js", "// P.\n", "src/script/prelude.js:1: needs no exception"),
    ("doc_paths", "README.md", "x\nSee `src/gone.h`.\n", "README.md:2: src/gone.h"),
    ("doc_paths", "README.md", "See [it](docs/gone.md)\n", "README.md:1: docs/gone.md"),
    ("doc_paths", "README.md", "`./dev fmt`\n", "README.md:1: dev does"),
    ("compat_tests", "docs/compat/a.md", "| A2 | works | `tests/sdk/a.test.mjs: A3` |\n", "docs/compat/a.md:1: tests/sdk"),
    ("compat_tests", "docs/compat/a.md", "| A2 | works | `tests/clients/go/client.go: b` |\n", "client.go has no test"),
    ("compat_tests", "docs/compat/a.md", "| A2 | works | json_test.cc: Json.Flies |\n", "has no test Json.Flies"),
    ("compat_tests", "docs/compat/a.md", "| A2 | works | surely |\n", "names no test"),
    ("compat_tests", "docs/security.md", "| who | may |\n|---|---|\n| all | read |\n", "docs/security.md:3: names no test"),
    ("compat_tests", "docs/security.md", "x\n\n| who |\n|---|\n| `json_test.cc: Json.Flies` |\n", "docs/security.md:5: json_test.cc has no"),
    ("function_lengths", "src/net/server.cc", "// L.\n\nnamespace x {\nint f() {\n" + "  g();\n" * 79 + "}\n}\n",
     "src/net/server.cc:4: a function of 81 lines"),
    ("function_lengths", "src/net/server.cc", "// L.\nstruct S {\n  S() : a_{1}, b_(2) {\n" + "    g();\n" * 79 + "  }\n};\n",
     "src/net/server.cc:3: a function of 81 lines"),
    ("file_heads", "src/value/json.h", "#pragma once\n", "src/value/json.h:1: start with"),
    ("file_heads", "src/value/json.h", "// J.\n" * 701, "src/value/json.h:701: 701 lines"),
    ("file_heads", "src/utils/x.h", "// X.\n", 'src/utils/x.h:1: a folder named "utils"'),
    ("file_heads", "src/value/json.h", "// J.\n// TO" + "DO later\n", "src/value/json.h:2: finish it"),
]


def run(check, tree):
    done = subprocess.run([sys.executable, "-B", os.path.join(HERE, check + ".py"), tree],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def write(top, files):
    for path, text in files.items():
        full = os.path.join(top, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    wrong = 0
    for check in ("layers", "words", "doc_paths", "compat_tests", "file_heads", "function_lengths"):
        with tempfile.TemporaryDirectory() as top:
            write(top, SOUND)
            status, out = run(check, top)
            if status != 0:
                wrong += 1
                print(f"{check} finds fault with a sound tree:\n{out}")
    for check, path, text, expected in FAULTS:
        with tempfile.TemporaryDirectory() as top:
            write(top, SOUND | {path: text})
            status, out = run(check, top)
            if status != 1 or expected not in out:
                wrong += 1
                print(f"{check} with this {path}:\n{text}\nsays:\n{out}\ninstead of: {expected}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
