#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real programs that communicate in the rows and columns of a grid: named once, with the grid and its communicators.

    grids.py --program GRIDS --cli fathom --library libfathom.so

Of the builds of 4.1, on one.
"""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import open_mpi  # noqa: E402
from shapes import run  # noqa: E402

ROWS, COLUMNS, BOTH = "rows", "columns", "rows and columns"
# arguments, kind, along, number of communicators, whether it could be something else too
CASES = [
    ("collective rows 2 4", "all-to-all", ROWS, 2, False),
    ("collective columns 2 4", "all-to-all", COLUMNS, 4, False),
    ("collective both 2 3", "all-to-all", BOTH, 5, False),
    ("collective transposes 2 4", "pencil-transpose", BOTH, 6, False),
    ("collective transposes 2 2", "pencil-transpose", BOTH, 4, False),
    ("collective summa 2 4", "summa", BOTH, 6, False),
    ("collective summa 2 2", "summa", BOTH, 4, False),
    ("sends rows 2 4", "all-to-all", ROWS, 2, False),
    ("sends columns 2 3", "all-to-all", COLUMNS, 3, False),
    ("sends both 2 4", "all-to-all", BOTH, 6, False),
    ("sends transposes 4 2", "pencil-transpose", BOTH, 6, False),
    ("sends summa 2 3", "summa", BOTH, 5, False),
    ("sends transposes 2 2", "all-to-all", BOTH, 4, True),
    ("sends summa 2 2", "all-to-all", BOTH, 4, True),
    ("world rows 2 4", "all-to-all", ROWS, 1, False),
    ("world columns 4 2", "all-to-all", COLUMNS, 1, False),
    ("world both 2 4", "all-to-all", BOTH, 1, False),
    ("world transposes 2 4", "pencil-transpose", BOTH, 1, False),
    ("world summa 4 2", "summa", BOTH, 1, False),
]


def check(document, words, kind, along, communicators, ambiguous):
    how, shape, rows, columns = words.split()
    name = "point-to-point" if how != "collective" else "MPI_Bcast" if shape == "summa" else "MPI_Alltoall"
    table = document["analyses"]["patterns"]["patterns"]
    patterns = [row for row in (dict(zip(table, row)) for row in zip(*table.values())) if row["class"] == name]
    if len(patterns) != 1:
        return f"{len(patterns)} patterns: {[p['description'] for p in patterns]}"
    found = patterns[0]
    if (found["kind"], found["along"], found["extents"]) != (kind, along, [int(rows), int(columns)]):
        return f"found {found['kind']} along {found['along']}: {found['description']}"
    if len(found["communicators"]) != communicators or bool(found["alternative"]) != ambiguous or found["strength"] < 0.99:
        return f"communicators {found['communicators']}, strength {found['strength']}: {found['description']}"
    kinds = {finding["kind"] for finding in document["findings"]}
    return "called global" if "global-collective-heavy" in kinds else ""


def main():
    parser = argparse.ArgumentParser()
    for name in ("program", "cli", "library"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    passed = failed = 0
    for row in open_mpi.rows_of_one():
        mpi = open_mpi.OpenMpi(row, options.library)
        for words, *expected in CASES:
            rows, columns = map(int, words.split()[2:])
            with tempfile.TemporaryDirectory(prefix="fathom-grids-") as folder:
                complaint = check(run(mpi, options, pathlib.Path(folder), rows * columns, words), words, *expected)
            print(f"{'FAIL' if complaint else 'ok  '} {mpi.name}: {words} {complaint}", flush=True)
            failed += bool(complaint)
            passed += not complaint
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
