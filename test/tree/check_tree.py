#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the tree against the rules that docs/architecture.md states.

usage: check_tree.py SOURCE_ROOT [BUILD_ROOT]

- Every include goes along an arrow of the list in docs/architecture.md, and the arrows form no circle.
- No folder holds more than 40 source files.
- No MPI function is recognised by its name outside mpi/.
- Every source starts with the licence line.
- Every source and header belongs to a Meson target (with BUILD_ROOT, after a build).
"""
import json
import pathlib
import re
import subprocess
import sys

MOST_FILES = 40
LICENCE = "SPDX-License-Identifier: BSD-3-Clause"
SOURCES = (".h", ".cpp", ".c", ".py", ".sh", ".f90", ".ts", ".tsx", ".mjs", ".css")
FENCE = re.compile(r"```arrows\n(.*?)```", re.S)


def tracked(root):
    listed = subprocess.run(["git", "-C", root, "ls-files"], capture_output=True, text=True, check=True).stdout
    return [pathlib.PurePosixPath(name) for name in listed.splitlines() if (root / name).is_file()]


def read_arrows(root):
    """{room: rooms it may include from}, from the fenced list in docs/architecture.md."""
    fence = FENCE.search((root / "docs/architecture.md").read_text())
    if not fence:
        sys.exit("docs/architecture.md: there is no list of arrows (a fence marked ```arrows)")
    arrows = {}
    for line in fence.group(1).splitlines():
        if line.strip():
            room, _, targets = line.partition(":")
            arrows[room.strip()] = targets.split()
    return arrows


def room_of(path, rooms):
    """The longest of the rooms that the path lies in; None outside of all."""
    for parent in pathlib.PurePosixPath(path).parents:
        if str(parent) in rooms:
            return str(parent)
    return None


def unknown_rooms(arrows):
    return [f"docs/architecture.md: the list of arrows names {target}, which has no line of its own"
            for targets in arrows.values() for target in targets if target not in arrows]


def circles(arrows):
    """Each circle once, as a sentence."""
    found, done = [], set()

    def visit(room, trail):
        if room in trail:
            found.append("the arrows form a circle: " + " -> ".join(trail[trail.index(room):] + [room]))
        elif room not in done:
            for target in arrows.get(room, []):
                visit(target, trail + [room])
            done.add(room)

    for room in arrows:
        visit(room, [])
    return found


def bad_includes(root, files, arrows):
    problems = []
    for path in files:
        room = room_of(path, arrows)
        if path.suffix not in (".h", ".cpp") or room is None:
            continue
        text = (root / path).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            match = re.match(r'#include "([^"]+/[^"]+)"', line)
            target = match and room_of(match.group(1), arrows)
            if target and target != room and target not in arrows[room]:
                problems.append(f"{path}:{number}: {room} may not include from {target}")
    return problems


def crowded(files):
    counts = {}
    for path in files:
        if path.suffix in (".h", ".cpp", ".c") and path.parts[-2] != "programs":
            counts[path.parent] = counts.get(path.parent, 0) + 1
    return [f"{folder}/ holds {count} source files, more than {MOST_FILES}"
            for folder, count in sorted(counts.items()) if count > MOST_FILES]


def recognised_functions(root, files):
    """Names of MPI functions in comparisons, look-ups and tables outside mpi/."""
    types = "Aint|Comm|Count|Datatype|File|Group|Info|Message|Offset|Op|Request|Status|Win"
    name = rf'["\']P?MPIX?_(?!(?:{types})\*?["\'])[A-Z][a-z]\w*["\']'
    pattern = re.compile(rf'[=!]= *{name}|{name} *[=!]=|\{{{name}[,}}]|(?:find|count|at)\({name}|'
                         r'(?:starts|ends)_?with\(["\']P?MPIX?_(?:[A-Z][a-z]|["\'])')
    problems = []
    for path in files:
        if path.suffix not in (".h", ".cpp", ".py") or path.parts[0] in ("mpi", "test", "bench"):
            continue
        for number, line in enumerate((root / path).read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line.split("#" if path.suffix == ".py" else "//")[0]):
                problems.append(f"{path}:{number}: ask mpi/meaning.h what a function is: {line.strip()}")
    return problems


def without_licence(root, files):
    return [f"{path}: the line {LICENCE} is missing" for path in files
            if path.suffix in SOURCES and path.parts[:2] != ("test", "golden") and
            LICENCE not in (root / path).read_text(encoding="utf-8", errors="replace")[:300]]


def without_target(root, build, files):
    """Sources and headers that belong to no Meson target."""
    build = pathlib.Path(build)
    targets = json.loads((build / "meson-info/intro-targets.json").read_text())
    parts = [part for target in targets for part in target["target_sources"]]
    sources = {str(pathlib.Path(name).resolve()) for part in parts for name in part.get("sources", [])}
    for name in (name for part in parts for name in part.get("generated_sources", []) if "-unity" in name):
        batch = re.findall(r"^#include<(.*)>", pathlib.Path(name).read_text(), re.M)
        sources |= {str(pathlib.Path(source).resolve()) for source in batch}
    depended = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True).stdout
    read = {str((build / line.strip()).resolve()) for line in depended.splitlines() if line.startswith(" ")}
    return [f"{path}: no Meson target has it" for path in files
            if path.suffix in (".cpp", ".c", ".h") and str((root / path).resolve()) not in sources | read and
            not (is_included(root, path, files) if path.suffix == ".h" else is_alternative(root, path))]


def is_included(root, path, files):
    """A header of a target that is built on request only."""
    return any(f'#include "{path}"' in (root / other).read_text(encoding="utf-8") for other in files
               if other.parent == path.parent and other.suffix == ".cpp")


def is_alternative(root, path):
    """What Meson builds if an option is off or a library is absent: named in the folder's meson.build."""
    for folder in path.parents:
        build = root / folder / "meson.build"
        if build.exists():
            return f"'{path.relative_to(folder)}'" in build.read_text(encoding="utf-8")
    return False


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = tracked(root)
    arrows = read_arrows(root)
    problems = (unknown_rooms(arrows) + circles(arrows) + bad_includes(root, files, arrows) + crowded(files) +
                recognised_functions(root, files) + without_licence(root, files))
    if len(sys.argv) > 2:
        problems += without_target(root, sys.argv[2], files)
    print("\n".join(problems) or f"{len(files)} files, {len(arrows)} rooms: as docs/architecture.md says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
