"""Which folder of src may include which, and which folder may touch which library. And test files take
the vendor's SDK from tests/sdk/cosmos.mjs alone, so that each runs with both of its versions.

The folders' rules are the USES lists of the root CMakeLists.txt, and what those use in turn. The
libraries' rules are below: only one room knows a storage engine or an event loop by name.
"""

import os
import re

import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)

SDK_IMPORT = re.compile(r'^(?:import|export)\b[^;]*?from "@azure/cosmos"', re.MULTILINE)

# Header prefixes, the folders of src that may include them, and why nobody else may.
LIBRARIES = [
    (("rocksdb/",), ("partition", "volume"),
     "no RocksDB type above src/partition; give src/partition a function that says what is wanted"),
    (("rados/", "radospp/"), ("volume",),
     "no librados type outside src/volume; put it behind the Volume interface"),
    (("jsapi.h", "jsfriendapi.h", "js/", "mozilla/"), ("script",),
     "the JavaScript engine is src/script's, and runs in its worker processes only"),
    (("curl/",), ("client",),
     "requests to a server are src/client's, which only the commands of src/cli use"),
    (("sys/epoll.h",), ("net",),
     "the event loop is src/net's; give src/net a function that says what is wanted"),
    (("grpc/", "grpcpp/", "google/protobuf/", "peer.pb.h", "peer.grpc.pb.h"), ("peer",),
     "gRPC is src/peer's, in a module that only a node loads; the rest has src/peer/link.h"),
    (("wslay/",), ("net",),
     "frames are src/net's; a face has src/net/websocket.h"),
]


def face(folder):
    """"api/mongo" of "api/mongo/match"."""
    return "/".join(folder.split("/")[:2])


def uses_lists(cmake):
    """{folder: folders it USES} from the orrery_library(...) calls, and {library: folder}."""
    folder_of, uses = {}, {}
    cmake = re.sub(r"#.*", "", cmake)
    for call in re.findall(r"^orrery_library\(([^)]*)\)", cmake, re.MULTILINE):
        words = call.split()
        folder_of[words[0]] = words[1]
        used, taking = [], False
        for word in words[2:]:
            if word in ("ROOMS", "USES", "LINKS"):
                taking = word == "USES"
            elif taking:
                used.append(word)
        uses[words[0]] = used
    return folder_of, uses


def closure(name, uses, path=()):
    """Every library that `name` may reach. Raises ValueError on a cycle."""
    if name in path:
        raise ValueError(" -> ".join(path[path.index(name):] + (name,)))
    reached = set()
    for used in uses.get(name, []):
        reached |= {used} | closure(used, uses, path + (name,))
    return reached


def room(path, folders):
    """The longest known folder that `path` (from src) is in, or None."""
    inside = [f for f in folders if path.startswith(f + "/")]
    return max(inside, key=len, default=None)


def main():
    top = tree.root()
    findings = []
    folder_of, uses = uses_lists(tree.read(top, "CMakeLists.txt"))
    folders = set(folder_of.values())
    allowed = {}
    for name, folder in folder_of.items():
        for used in uses[name]:
            if used not in folder_of:
                findings.append(("CMakeLists.txt", 1, f"{name} USES {used}, which is no library"))
        try:
            reached = closure(name, uses)
        except ValueError as cycle:
            findings.append(("CMakeLists.txt", 1, f"the libraries use one another in a circle: {cycle}"))
            tree.finish(findings)
        allowed[folder] = {folder} | {folder_of[r] for r in reached if r in folder_of}

    for folder in sorted(folders):
        if folder.startswith("api/"):
            # Of one face the rooms may be libraries of their own.
            for other in sorted(f for f in allowed[folder] if f.startswith("api/") and face(f) != face(folder)):
                findings.append(("CMakeLists.txt", 1,
                                 f"src/{folder} may not use src/{other}: faces never include one "
                                 "another; move what both need below them"))

    for path in tree.files(top, ".h", ".cc", under=("src", "bench", "tests")):
        text = tree.read(top, path)
        in_src = path.startswith("src/")
        home = room(path[len("src/"):], folders) if in_src else None
        if in_src and home is None:
            findings.append((path, 1, "in no library: add an orrery_library(...) line for its "
                                      "folder to CMakeLists.txt"))
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            quoted, header = match.group(1) == '"', match.group(2)
            findings += [(path, line, message)
                         for message in judge(top, path, in_src, home, folders, allowed, quoted, header)]
    for path in tree.files(top, ".mjs", under=("tests", "bench")):
        text = tree.read(top, path)
        findings += [(path, text.count("\n", 0, match.end()) + 1,
                      "import the SDK from tests/sdk/cosmos.mjs, which knows both of its versions")
                     for match in SDK_IMPORT.finditer(text)]
    tree.finish(findings)


def judge(top, path, in_src, home, folders, allowed, quoted, header):
    for prefixes, rooms, why in LIBRARIES:
        if not header.startswith(prefixes):
            continue
        if in_src and not (home or "").startswith(rooms):
            yield f"<{header}>: {why}"
        if not in_src and not path.startswith("bench/"):
            yield f"<{header}>: {why}"
    if not in_src or not quoted or home is None:
        return
    if header.startswith(("../", "./")) or "/" not in header:
        yield f'"{header}": name it from src, as in "{home}/{os.path.basename(header)}"'
        return
    target = room(header, folders)
    if target is None:
        yield f'"{header}" is in no folder of src that CMakeLists.txt knows'
    elif target not in allowed[home]:
        yield (f'src/{home} may not include "{header}": {target} is not among what it USES in '
               "CMakeLists.txt; pass it in from above, or move what is needed below")
    elif not os.path.exists(os.path.join(top, "src", header)):
        yield f'"{header}" does not exist'


if __name__ == "__main__":
    main()
