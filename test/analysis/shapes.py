#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs of one shape each, under the profiler: the pattern is named with its extents, and nothing else.

    shapes.py --program SHAPES --cli fathom --library libfathom.so

Of the builds of 4.1, on one.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import open_mpi  # noqa: E402

# ranks, arguments, kind, extents, periodic, groups
CASES = [
    (5, "halo 0 5", "halo", [5], [0], 1),
    (8, "halo 1 8", "halo", [8], [1], 1),
    (6, "halo 0 2 3", "halo", [2, 3], [0, 0], 1),
    (8, "halo 0 4 2", "halo", [4, 2], [0, 0], 1),
    (4, "halo 0 2 2", "halo", [2, 2], [0, 0], 1),
    (8, "halo 0 2 2 2", "halo", [2, 2, 2], [0, 0, 0], 1),
    (4, "butterfly", "butterfly", [], [], 1),
    (8, "butterfly", "butterfly", [], [], 1),
    (5, "master", "master-worker", [], [], 1),
    (8, "master", "master-worker", [], [], 1),
    (4, "ring", "ring", [4], [1], 1),
    (7, "ring", "ring", [7], [1], 1),
    (8, "pairs", "ping-pong", [], [], 4),
    (2, "pairs", "ping-pong", [], [], 1),
    (5, "all", "all-to-all", [], [], 1),
    (8, "all", "all-to-all", [], [], 1),
    (6, "alltoall", "all-to-all", [], [], 1),
    (8, "halo 1 2 2 2", "halo", [2, 2, 2], [0, 0, 0], 1),  # with extents of 2 both neighbours are one
]
# A hub is out of balance as well as a hub.
ISSUES = {"master": {"rank-traffic-imbalance", "communication-imbalance"}, "alltoall": {"global-collective-heavy"}}


def run(mpi, options, folder, ranks, words):
    job = mpi.launch(ranks, mpi.program(options.program), *words.split())
    native = subprocess.run(job, env=mpi.environment, capture_output=True, text=True, timeout=120)
    traced = subprocess.run([options.cli, "run", "--then", "analyze --set few_bytes=1 --set wait_share=1", "-o", str(folder / "run"), "--", *job],
                            env=mpi.environment, capture_output=True, text=True, timeout=120)
    if (native.returncode, traced.returncode) != (0, 0):
        raise AssertionError(f"exit codes {native.returncode} and {traced.returncode}: {native.stderr} {traced.stderr}")
    return json.loads((folder / "run" / "analysis.json").read_text())


def check(document, words, expected):
    kind, extents, periodic, groups = expected
    table = document["analyses"]["patterns"]["patterns"]
    patterns = [dict(zip(table, row)) for row in zip(*table.values())]
    if len(patterns) != 1:
        return f"{len(patterns)} patterns: {[p['description'] for p in patterns]}"
    found = patterns[0]
    if (found["kind"], found["extents"], found["periodic"], found["groups"]) != (kind, extents, periodic, groups):
        return f"found {found['description']}"
    if found["class"] != ("MPI_Alltoall" if words == "alltoall" else "point-to-point") or found["strength"] != 1:
        return f"{found['class']} with strength {found['strength']}"
    if kind == "master-worker" and found["hub"] != 0:
        return f"its hub is said to be {found['hub']}"
    others = {f["kind"] for f in document["findings"]} - ISSUES.get(words.split()[0], set())
    return f"also claimed: {sorted(others)}" if others else ""


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "cli", "library"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    passed = failed = 0
    for row in open_mpi.rows_of_one():
        mpi = open_mpi.OpenMpi(row, options.library)
        for ranks, words, *expected in CASES:
            with tempfile.TemporaryDirectory(prefix="fathom-shapes-") as folder:
                complaint = check(run(mpi, options, pathlib.Path(folder), ranks, words), words, expected)
            print(f"{'FAIL' if complaint else 'ok  '} {mpi.name}: {words} on {ranks} ranks {complaint}")
            failed += bool(complaint)
            passed += not complaint
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
