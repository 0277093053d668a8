# SPDX-License-Identifier: BSD-3-Clause
"""Profiles made up for tests: small and large, well-behaved and not.

By hand: python3 fixtures.py hpcc4 > profile.json
"""
import json
import sys


def block(name, hidden, rows, communicator=0, phase=""):
    """Traffic of one class from rows (source, destination, bytes, messages)."""
    columns = list(zip(*rows)) if rows else [[], [], [], []]
    entry = {"class": name, "hidden": hidden, "communicator": communicator,
             "source": list(columns[0]), "destination": list(columns[1]),
             "bytes": list(columns[2]), "messages": list(columns[3])}
    if phase:
        entry["phase"] = phase
    return entry


def profile(world_size, traffic, sizes, hosts=1, verdict="exact", coverage=None, **header):
    count = sum(sum(b["messages"]) for b in traffic)
    volume = sum(sum(b["bytes"]) for b in traffic)
    made = {
        "schema": "fathom-profile/1", "world_size": world_size,
        "application": {"executable": "/usr/bin/hpcc", "arguments": [], "started_unix_ns": 0,
                        "seconds": 96.2},
        "mpi": {"library": "Open MPI", "version": "4.1.4", "pml": "ob1"}, "source": "peruse",
        "ranks": [{"rank": r, "host": f"n{r * hosts // world_size}", "pid": 100 + r,
                   "seconds": 96.2} for r in range(world_size)],
        "communicators": [{"id": 0, "name": "MPI_COMM_WORLD", "made_by": "predefined",
                           "parent": None, "world_ranks": list(range(world_size))}],
        "traffic": traffic, "message_sizes": sizes,
        "coverage": {
            "verdict": verdict,
            "sent": {"bytes": volume, "messages": count, "witness": "pml"},
            "received": {"bytes": volume, "messages": count, "witness": "peruse"},
            "unreceived": {"bytes": 0, "messages": 0}, "not_visible": [], **(coverage or {})},
    }
    made.update(header)
    return made


def with_times(document):
    """The profile of a job in which rank 1 computes while the others wait for it in MPI_Waitall."""
    ranks = [rank["rank"] for rank in document["ranks"]]
    def calls(function, site, each, total_ns, size, **more):
        return {"function": function, "site": site, "communicator": None, "rank": ranks, "calls": [each] * len(ranks),
                "total_ns": total_ns, "shortest_ns": [10] * len(ranks), "longest_ns": [max(total_ns)] * len(ranks),
                "bytes": [size] * len(ranks), **more}
    waits = [1_000_000_000 if rank == 1 else 48_100_000_000 for rank in ranks]
    document["call_sites"] = [
        {"id": 0, "module": "/usr/bin/hpcc", "build_id": "5f0c", "offset": 4660, "function": "exchange", "file": "src/halo.c", "line": 88},
        {"id": 1, "module": "/usr/bin/hpcc", "build_id": "5f0c", "offset": 9999}]
    document["calls"] = [calls("MPI_Waitall", 0, 500, waits, 0),
                         calls("MPI_File_write_at", 1, 3, [2_000_000_000] * len(ranks), 1_000_000)]
    for rank in document["ranks"]:
        rank["peak_memory_bytes"] = 50_000_000 + rank["rank"]
    return document


def with_waits(document):
    """The same, with the waits and the critical path, which goes through rank 1 almost always."""
    document = with_times(document)
    document["calls"][1].update(communicator=0, phase="write")
    waiting = [rank["rank"] for rank in document["ranks"] if rank["rank"] != 1]
    def part(rank, total_ns, function="MPI_Waitall", site=0, **more):
        return {"function": function, "site": site, "communicator": None, "rank": [rank], "stretches": [3],
                "total_ns": [total_ns], **more}
    document["waits"] = [
        {"kind": "late-sender", "function": "MPI_Waitall", "site": 0, "communicator": None, "rank": waiting,
         "awaited": [1] * len(waiting), "waits": [400 + rank for rank in waiting],
         "total_ns": [46_000_000_000 + rank for rank in waiting], "longest_ns": [2_000_000_000] * len(waiting)},
        {"kind": "wait-at-nxn", "function": "MPI_File_write_at", "site": 1, "communicator": 0, "phase": "write",
         "rank": [0], "awaited": [3], "waits": [2], "total_ns": [1_500_000_000], "longest_ns": [900_000_000]}]
    document["path"] = [
        {"window": "", "elapsed_ns": 96_200_000_000, "jumps": 12, "error_ns": 2_000_000_000, "parts": [
            part(1, 92_200_000_000, program=True), part(1, 1_000_000_000), part(0, 2_000_000_000, "MPI_File_write_at", 1),
            part(0, 1_000_000_000, "MPI_File_write_at", 1, program=True, phase="write")]},
        {"window": "first half", "elapsed_ns": 48_000_000_000, "jumps": 1, "error_ns": 0,
         "parts": [part(1, 48_000_000_000, program=True)]}]
    document["coverage"]["waits"] = {"threshold_ns": 1000, "left_out": 5, "left_out_ns": 4000, "unresolved": 0,
                                     "unresolved_ns": 0}
    return document


def hpcc4():
    ranks = [(s, d) for s in range(4) for d in range(4) if s != d]
    p2p = [(s, d, 150_000_000 + 9_000_000 * s + 3_000_000 * d, 1600 + 10 * d) for s, d in ranks]
    alltoall = [(s, d, 80_000_000, 900) for s, d in ranks]
    allreduce = [(s, s ^ k, 4_000, 500) for s in range(4) for k in (1, 2)]
    barrier = [(s, s ^ k, 0, 80) for s in range(4) for k in (1, 2)]
    bcast = [(0, d, 31_000_000 // d, 90) for d in range(1, 4)]
    return profile(4, [
        block("point-to-point", False, p2p), block("MPI_Alltoall", True, alltoall),
        block("MPI_Allreduce", True, allreduce), block("MPI_Barrier", True, barrier),
        block("MPI_Bcast", True, bcast), block("library", True, [(0, 1, 40, 2)])], [
        {"class": "point-to-point", "size": [0, 8, 64, 1024, 8000, 65536, 200000],
         "messages": [1500, 3000, 2500, 6000, 3480, 2000, 900]},
        {"class": "MPI_Alltoall", "hidden": True, "size": [88888], "messages": [10800]},
        {"class": "MPI_Allreduce", "hidden": True, "size": [8], "messages": [4000]},
        {"class": "MPI_Barrier", "hidden": True, "size": [0], "messages": [640]},
        {"class": "MPI_Bcast", "hidden": True, "bin_low": [262144], "bin_messages": [270],
         "size": [], "messages": []},
        {"class": "library", "hidden": True, "size": [20], "messages": [2]}])


def trouble():
    """Everything a report may have to complain about, in one profile."""
    rows = [(0, d, 200_000, 4000) for d in range(1, 8)] + [(1, 2, 9_000_000, 100)]
    coverage = {
        "unreceived": {"bytes": 3000, "messages": 12, "witness": "pml",
                       "pairs": {"source": [0], "destination": [3], "bytes": [3000],
                                 "messages": [12]}},
        "differences": {"source": [1], "destination": [2], "sent_bytes": [9_000_000],
                        "sent_messages": [100], "received_bytes": [8_000_000],
                        "received_messages": [90]},
        "not_visible": [{"communicator": 3, "function": "MPI_Bcast", "module": "coll/sm",
                         "calls": 80, "reason": "data moves through shared memory, not the PML"}],
        "steps_down": [{"source": "peruse", "reason": "this Open MPI was built without PERUSE"}],
        "lost_messages": 7, "cut_short": "MPI_Abort with code 3 on rank 5",
        "notes": ["rank 6 used an MPI_T variable that Open MPI does not have"]}
    made = profile(8, [block("point-to-point", False, rows)],
                   [{"class": "point-to-point", "size": [50, 90000], "messages": [28000, 100]}],
                   hosts=2, verdict="differs", coverage=coverage)
    made["ranks"][5]["reported"] = False
    made["application"]["executable"] = "/opt/bin/evil\x1b[31m name with a very long tail " + "x" * 80
    return made


def stencil(side=32, hosts=16):
    """A side × side torus with halo exchange and a binomial-tree reduction."""
    ranks = side * side
    halo = []
    for r in range(ranks):
        x, y = r % side, r // side
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            to = (x + dx) % side + (y + dy) % side * side
            halo.append((r, to, 800_000 if dx else 1_600_000, 1000))
    tree = [(r, r ^ (1 << k), 8000, 1000) for r in range(ranks)
            for k in range(ranks.bit_length() - 1)]
    return profile(ranks, [block("point-to-point", False, halo),
                           block("MPI_Allreduce", True, tree)],
                   [{"class": "point-to-point", "size": [800, 1600], "messages": [2048000, 2048000]},
                    {"class": "MPI_Allreduce", "hidden": True, "size": [8], "messages": [10240000]}],
                   hosts=hosts, application={"executable": "/home/u/stencil2d", "arguments": [],
                                             "started_unix_ns": 0, "seconds": 4321.0})


def empty():
    return profile(2, [], [], verdict="one-witness")


ALL = {f.__name__: f for f in (hpcc4, trouble, stencil, empty)}

if __name__ == "__main__":
    json.dump(ALL[sys.argv[1]](), sys.stdout)
