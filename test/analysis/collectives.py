#!/usr/bin/env python3
"""Collectives opened: every algorithm that Open MPI can be made to use, and the name that must come out.

    collectives.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [--sizes 2,3,…] [OPERATION...]

Each algorithm of `ompi_info --param coll tuned` is forced (coll_tuned_OPERATION_algorithm) on several numbers of
ranks. Where two algorithms send the same messages on that shape, or Open MPI takes another than the one asked for,
the table says so. The last line is "N passed, N failed".
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from waits import builds

POWERS = (1, 2, 4, 8)

# By operation: name of each algorithm by number (1 is the first). A function of the number of ranks where it depends.
LINEAR_2 = "two processes"


def powers_only(name, otherwise):
    return lambda ranks: name if ranks in POWERS else otherwise


def even_only(name, otherwise):
    return lambda ranks: otherwise if ranks % 2 else name


# Open MPI refuses "two processes" with another number of ranks: not forced then.
def of_two(ranks):
    return "two processes" if ranks == 2 else None


TRUTH = {
    "barrier": ("linear", "double ring", "recursive doubling", "Bruck", of_two, "tree"),
    "bcast": ("linear", "chain", "pipeline", "split binary tree", "binary tree", "binomial tree", "k-nomial tree",
              "scatter and allgather", "scatter and ring allgather"),
    "reduce": ("linear", "chain", "pipeline", "binary tree", "binomial tree", "in-order binary tree", "Rabenseifner"),
    "allreduce": ("linear", "non-overlapping", "recursive doubling", "ring", "segmented ring", "Rabenseifner"),
    # No power of two: Open MPI takes Bruck's. An odd number: the ring.
    "allgather": ("linear", "Bruck", powers_only("recursive doubling", "Bruck"), "ring",
                  even_only("neighbour exchange", "ring"), of_two),
    "allgatherv": ("default", "Bruck", "ring", even_only("neighbour exchange", "ring"), of_two),
    # With as many requests as it likes, which is the default, "with sync" sends what "linear" does.
    "alltoall": ("linear", "pairwise", "Bruck", "linear with sync", of_two),
    "alltoallv": ("linear", "pairwise"),
    "gather": ("linear", "binomial tree", "linear with sync"),
    # Differs from the first in how the root waits, not in what it sends.
    "scatter": ("linear", "binomial tree", "linear without blocking"),
    "reduce_scatter": ("non-overlapping", "recursive halving", "ring", "butterfly"),
    "reduce_scatter_block": ("linear", "recursive doubling", "recursive halving", "butterfly"),
    "scan": ("linear", "recursive doubling"),
    "exscan": ("linear", "recursive doubling"),
}
# No more than this is known: what is recognised must be this one name, not several. By operation, on 6 and 8 ranks.
ALONE = {
    "barrier": ("linear", "double ring", "recursive doubling", "Bruck", "tree"),
    "bcast": ("linear", "chain", "pipeline", "split binary tree", "binary tree", "binomial tree", "k-nomial tree",
              "scatter and allgather", "scatter and ring allgather"),
    "reduce": ("linear", "chain", "pipeline", "binary tree", "binomial tree", "in-order binary tree", "Rabenseifner"),
    "allreduce": ("recursive doubling", "ring", "segmented ring", "Rabenseifner"),
    "allgather": ("Bruck", "recursive doubling", "ring", "neighbour exchange"),
    "allgatherv": ("Bruck", "ring", "neighbour exchange"),
    "alltoall": ("pairwise", "Bruck"),
    "alltoallv": ("linear", "pairwise"),
    "gather": ("linear", "binomial tree", "linear with sync"),
    "scatter": ("binomial tree",),
    "reduce_scatter": ("recursive halving", "ring", "butterfly"),
    "reduce_scatter_block": ("recursive doubling", "recursive halving", "butterfly"),
    "scan": ("linear", "recursive doubling"),
    "exscan": ("linear", "recursive doubling"),
}
COUNTS = {"allreduce": 4096, "bcast": 4096}


def forced(build, folder, operation, number, ranks, count, root, extra=()):
    """The algorithm that Fathom recognised, of all calls of it."""
    run = folder / f"{operation}-{number}-{ranks}-{count}"
    options = ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", f"coll_tuned_{operation}_algorithm", str(number), *extra]
    words = build.launch(ranks, os.path.join(build.options.programs, "collectives"), operation, str(count), str(root))
    build.call(build.options.cli, "run", "--trace", "-o", run, "--", words[0], *options, *words[1:])
    results = json.loads(build.call(build.options.cli, "analyze", run, "--only", "collectives", "--json"))
    table = results["analyses"]["collectives"]["algorithms"]
    rows = [dict(zip(table, row)) for row in zip(*table.values())]
    rows = [row for row in rows if row["name"].lower() == f"mpi_{operation}"]
    assert len(rows) == 1 and rows[0]["count"] == 5, (operation, number, ranks, rows)
    assert rows[0]["rounds"] > 0 and rows[0]["messages"] > 0, rows
    return rows[0]


def names_of(row):
    return [name.strip() for name in re.sub(r"\(.*\)", "", row["algorithm"]).split(" or ")]


def check(build, folder, operation, number, ranks, truth, root):
    count = COUNTS.get(operation, 64)
    extra = ()
    if truth == "segmented ring":  # segments of a quarter of a block; else it is the plain ring
        extra = ("--mca", "coll_tuned_allreduce_algorithm_segmentsize", str(count * 4 // ranks // 4))
    row = forced(build, folder, operation, number, ranks, count, root, extra)
    names = names_of(row)
    assert truth in names, (operation, number, ranks, truth, row["algorithm"])
    if ranks in (6, 8) and truth in ALONE[operation]:
        assert names == [truth], (operation, number, ranks, truth, row["algorithm"])


def segments(build, folder):
    """A tree cut into segments is the same tree."""
    row = forced(build, folder, "bcast", 5, 6, 4096, 0, ("--mca", "coll_tuned_bcast_algorithm_segmentsize", "1024"))
    assert names_of(row) == ["binary tree"] and row["segments"] == 16, row
    row = forced(build, folder, "reduce", 3, 5, 4096, 0, ("--mca", "coll_tuned_reduce_algorithm_segmentsize", "4096"))
    assert names_of(row) == ["pipeline"] and row["segments"] == 4, row


def algorithms_of(build, operation):
    """As many as this Open MPI has, so that none is forgotten."""
    told = subprocess.run([str(pathlib.Path(build.mpirun).parent / "ompi_info"), "--param", "coll", "tuned", "--level", "9",
                           "--parsable"], env=build.environment, capture_output=True, text=True, check=True).stdout
    numbers = re.findall(rf"coll_tuned_{operation}_algorithm:enumerator:value:(\d+)", told)
    return [int(number) for number in numbers if int(number) > 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--build")
    parser.add_argument("--sizes", default="2,5,8")
    parser.add_argument("operations", nargs="*")
    options = parser.parse_args()
    passed = failed = 0

    def attempt(name, function, *arguments):
        nonlocal passed, failed
        with tempfile.TemporaryDirectory(prefix="fathom-collectives-") as folder:
            try:
                function(build, pathlib.Path(folder), *arguments)
                passed += 1
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print(f"FAIL {build.name} {name}: {str(error)[:600]}", flush=True)

    for build in builds(options):
        for operation in options.operations or TRUTH:
            known = algorithms_of(build, operation)
            if known != list(range(1, len(TRUTH[operation]) + 1)):
                failed += 1
                print(f"FAIL {build.name} {operation}: Open MPI has the algorithms {known}")
            for size in map(int, options.sizes.split(",")):
                for number, truth in enumerate(TRUTH[operation], 1):
                    name = truth(size) if callable(truth) else truth
                    if name:
                        attempt(f"{operation} {number} {size}", check, operation, number, size, name, 1 if size == 5 else 0)
        if not options.operations:
            attempt("segments", segments)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
