#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Collectives opened: every algorithm that Open MPI can be made to use, and the name that must come out.

    collectives.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [--sizes 2,3,…] [OPERATION...]

Each algorithm of `ompi_info --param coll tuned` is forced (coll_tuned_OPERATION_algorithm) on several numbers of
ranks, and each of libnbc for non-blocking ones, five of which are under way at once; and neighbourhood collectives and constructors
of communicators. Where two algorithms send the same messages on that shape, or Open MPI takes another than the one asked for,
the table says so. The last line is "N passed, N failed, N skipped".
"""
import argparse
import json
import os
import re
import subprocess
import sys

from waits import builds, report_cases

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
# How many more a later release has, by its first number; none of them is recognised. Sparbit since 5.0; direct messaging,
# allgather and reduce, and a k-nomial tree since 6.0. Open MPI uses them where they are forced.
NOT_RECOGNISED = {("allgather", 5): 1, ("allgather", 6): 2, ("allgatherv", 5): 1, ("allgatherv", 6): 1,
                  ("allreduce", 6): 1, ("reduce", 6): 1}
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
# The same for libnbc; a name alone means that there is no choice. On 8 ranks no two of them send the same.
NON_BLOCKING = {
    "ibarrier": "dissemination",
    "ibcast": ("linear", "binomial tree", "chain", "k-nomial tree"),
    "ireduce": ("chain", "binomial tree", "Rabenseifner"),
    "iallreduce": ("ring", "binomial tree", "Rabenseifner", "recursive doubling"),
    "igather": "linear",
    "iscatter": "linear",
    "iallgather": ("linear", powers_only("recursive doubling", "linear")),
    "iallgatherv": "linear",
    "ialltoall": "linear",
    "ialltoallv": "linear",
    "ireduce_scatter": "binomial tree and linear scatter",
    "ireduce_scatter_block": "binomial tree and linear scatter",
    "iscan": ("linear", "recursive doubling"),
    "iexscan": ("linear", "recursive doubling"),
}


def forced(build, folder, operation, number, ranks, count, root, extra=()):
    """The algorithm that Fathom recognised, of all calls of it."""
    options = ["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", f"coll_tuned_{operation}_algorithm", str(number), *extra]
    return opened(build, folder / f"{operation}-{number}-{ranks}-{count}", operation, ranks, count, root, options)


def opened(build, run, operation, ranks, count, root, options):
    words = build.launch(ranks, build.program("collectives"), operation, str(count), str(root))
    build.call(build.options.cli, "run", "--trace", "-o", run, "--", words[0], *options, *words[1:])
    results = json.loads(build.call(build.options.cli, "analyze", run, "--only", "collectives", "--json"))
    table = results["analyses"]["collectives"]["algorithms"]
    rows = [dict(zip(table, row)) for row in zip(*table.values())]
    assert all(row["algorithm"] != "unknown" for row in rows), rows  # not the barrier's either, in which others went on
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


def check_non_blocking(build, folder, operation, number, ranks, truth, root):
    options = ["--mca", f"coll_libnbc_{operation}_algorithm", str(number)] if number else []
    row = opened(build, folder / operation, operation, ranks, 4096, root, options)
    names = names_of(row)
    assert (names == [truth]) if ranks == 8 else (truth in names), (operation, number, ranks, truth, row["algorithm"])


def segments(build, folder):
    """A tree cut into segments is the same tree."""
    row = forced(build, folder, "bcast", 5, 6, 4096, 0, ("--mca", "coll_tuned_bcast_algorithm_segmentsize", "1024"))
    assert names_of(row) == ["binary tree"] and row["segments"] == 16, row
    row = forced(build, folder, "reduce", 3, 5, 4096, 0, ("--mca", "coll_tuned_reduce_algorithm_segmentsize", "4096"))
    assert names_of(row) == ["pipeline"] and row["segments"] == 4, row


# Ordered pairs of neighbours, by shape (programs/collectives.c).
NEIGHBOURS = {"ring": lambda ranks: 2 * ranks, "grid": lambda ranks: {5: 8, 6: 14, 8: 20}[ranks], "graph": lambda ranks: 2 * ranks}


def neighbours(build, folder, shape, ranks):
    """Each block straight to each neighbour: blocking on all kinds of topologies, and libnbc's."""
    operations = [f"{form}_{name}" for form in ("neighbor", "ineighbor")
                  for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")]
    run = folder / "run"
    build.call(build.options.cli, "run", "--trace", "-o", run, "--",
               *build.launch(ranks, build.program("collectives"), *(f"{shape}_{name}" for name in operations), "64", "0"))
    table = json.loads(build.call(build.options.cli, "analyze", run, "--only", "collectives", "--json"))["analyses"]["collectives"]["algorithms"]
    rows = {name[len("MPI_"):].lower(): dict(zip(table, row)) for name, row in zip(table["name"], zip(*table.values()))}
    for name in operations:
        row = rows[name]
        found = (row["algorithm"], row["rounds"], row["count"], row["messages"], row["bytes"])
        messages = 5 * NEIGHBOURS[shape](ranks)
        assert found == ("linear", 1, 5, messages, messages * 64 * 4), (name, row)


def constructors(build, folder):
    """A constructor of communicators, blocking or not, agrees on a number once or several times."""
    run = folder / "run"
    build.call(build.options.cli, "run", "--trace", "-o", run, "--",
               *build.launch(5, build.program("collectives"), "comm_dup", "comm_idup", "comm_split", "64", "0"))
    table = json.loads(build.call(build.options.cli, "analyze", run, "--only", "collectives", "--json"))["analyses"]["collectives"]["algorithms"]
    rows = {name: dict(zip(table, row)) for name, row in zip(table["name"], zip(*table.values()))}
    for name in ("MPI_Comm_dup", "MPI_Comm_idup", "MPI_Comm_split"):
        row = rows[name]
        assert row["count"] == 5 and row["messages"] > 0, row
        assert re.search(r"\d x MPI_Iallreduce: [a-z ]+$", row["algorithm"]) and "unknown" not in row["algorithm"], row
    assert rows["MPI_Comm_split"]["algorithm"].startswith("MPI_Allgather: "), rows["MPI_Comm_split"]
    assert rows["MPI_Comm_idup"]["algorithm"] == rows["MPI_Comm_dup"]["algorithm"], rows


def shared(build, folder):
    """By several processes, the same: messages, calls and completions of one operation come from different ones."""
    run = folder / "run"
    program = build.program("collectives")
    build.call(build.options.cli, "run", "--trace", "-o", run, "--",
               *build.launch(5, program, "ibcast", "iallreduce", "allreduce", "ialltoall", "64", "1"))
    tables = []
    for processes in (1, 2, 3):
        out = folder / f"{processes}.json"
        build.call(*build.launch_tool(processes, build.options.cli, build.options.cli, "analyze", run, "-o", out, "--only", "collectives"))
        tables.append(json.loads(out.read_text())["analyses"]["collectives"]["algorithms"])
    assert tables[0]["count"].count(5) == 4 and "unknown" not in tables[0]["algorithm"], tables[0]
    assert tables[1] == tables[0] and tables[2] == tables[0], tables


def algorithms_of(build, operation, component="tuned"):
    """As many as this Open MPI has, so that none is forgotten."""
    listed = subprocess.run([build.tool("ompi_info"), "--param", "coll", component, "--level", "9",
                           "--parsable"], env=build.environment, capture_output=True, text=True, check=True).stdout
    numbers = re.findall(rf"coll_{component}_{operation}_algorithm:enumerator:value:(\d+)", listed)
    return [int(number) for number in numbers if int(number) > 0]


def libnbc_has_these(build, _, operation, truths):
    known = algorithms_of(build, operation, "libnbc")
    assert known == ([] if isinstance(truths, str) else list(range(1, len(truths) + 1))), known


def open_mpi_has_these(build, _, operation, truths):
    known = algorithms_of(build, operation)
    assert known == list(range(1, len(truths) + 1 + NOT_RECOGNISED.get((operation, build.series), 0))), known


def cases_of(build, operations, sizes):
    """{name: function(folder)}; those of all operations if none is named."""
    cases = {}

    def add(name, function, *arguments):
        cases[name] = lambda folder: function(build, folder, *arguments)

    def root_of(size):
        return 1 if size == 5 else 0

    for operation in [name for name in operations or NON_BLOCKING if name in NON_BLOCKING]:
        truths = NON_BLOCKING[operation]
        add(f"{operation}: its algorithms", libnbc_has_these, operation, truths)
        for size in [size for size in sizes if size > 2]:  # of two nearly all send the same
            for number, truth in [(0, truths)] if isinstance(truths, str) else enumerate(truths, 1):
                name = truth(size) if callable(truth) else truth
                add(f"{operation} {number} {size}", check_non_blocking, operation, number, size, name, root_of(size))
    for operation in [name for name in operations or TRUTH if name in TRUTH]:
        add(f"{operation}: its algorithms", open_mpi_has_these, operation, TRUTH[operation])
        for size in sizes:
            for number, truth in enumerate(TRUTH[operation], 1):
                name = truth(size) if callable(truth) else truth
                if (operation, number) == ("allgather", 2) and build.series > 5:
                    name = None  # became Bruck's with more messages at once, which is not recognised either
                if name:
                    add(f"{operation} {number} {size}", check, operation, number, size, name, root_of(size))
    if not operations:
        for shape in NEIGHBOURS:
            for size in (5, 8):
                add(f"neighbours {shape} {size}", neighbours, shape, size)
        for case in (constructors, segments, shared):
            add(case.__name__, case)
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--build")
    parser.add_argument("--sizes", default="2,5,8")
    parser.add_argument("operations", nargs="*", metavar="OPERATION")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    sys.exit(report_cases(builds(options), lambda build: cases_of(build, options.operations, sizes)))


if __name__ == "__main__":
    main()
