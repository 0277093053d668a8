#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Seconds that `fathom analyze` takes for large profiles: 1,024 ranks all to all, tori of 100,000 ranks.

    bench/profile_analyses.py [--rounds N]

The default set of analyses, reading the profile and writing analysis.json included; the median of interleaved
rounds. In the second torus the ranks are shuffled, so that the grid has to be found by its squares.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SIDES = (50, 50, 40)


def all_to_all(ranks=1024):
    return ranks, [(a, b) for a in range(ranks) for b in range(ranks) if a != b]


def torus(shuffle):
    ranks = SIDES[0] * SIDES[1] * SIDES[2]
    number = list(range(ranks))
    if shuffle:
        random.Random(1).shuffle(number)

    def rank(x, y, z):
        return number[(x % SIDES[0] * SIDES[1] + y % SIDES[1]) * SIDES[2] + z % SIDES[2]]

    steps = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
    return ranks, [(rank(x, y, z), rank(x + dx, y + dy, z + dz)) for x in range(SIDES[0]) for y in range(SIDES[1])
                   for z in range(SIDES[2]) for dx, dy, dz in steps]


def write(path, ranks, pairs):
    source, destination = zip(*pairs)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schema": "fathom-profile/1", "world_size": ranks,
                   "application": {"executable": "made", "arguments": [], "started_unix_ns": 0, "seconds": 1},
                   "mpi": {"library": "", "version": "", "pml": ""}, "source": "made",
                   "ranks": [{"rank": r, "host": f"n{r // 64}", "pid": 1, "seconds": 1} for r in range(ranks)],
                   "communicators": [{"id": 0, "name": "MPI_COMM_WORLD", "made_by": "predefined", "parent": None,
                                      "world_ranks": list(range(ranks))}],
                   "traffic": [{"class": "point-to-point", "hidden": False, "communicator": 0, "source": source,
                                "destination": destination, "bytes": [1000] * len(pairs), "messages": [2] * len(pairs)}],
                   "message_sizes": [], "coverage": {"verdict": "exact", "sent": {}, "received": {}, "unreceived": {},
                                                     "not_visible": []}}, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    fathom = os.path.join(os.environ.get("FATHOM_BUILD", os.path.join(ROOT, "build")), "cli/fathom")
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        jobs = {"1,024 ranks, all to all": all_to_all(), "100,000 ranks, torus": torus(False),
                "100,000 ranks, torus, shuffled": torus(True)}
        for name, (ranks, pairs) in jobs.items():
            write(os.path.join(folder, name + ".json"), ranks, pairs)
        seconds = {name: [] for name in jobs}
        for _ in range(rounds):
            for name in jobs:
                started = time.perf_counter()
                subprocess.run([fathom, "analyze", os.path.join(folder, name + ".json"), "-o", os.path.join(folder, "out.json")],
                               check=True, capture_output=True)
                seconds[name].append(time.perf_counter() - started)
        for name, taken in seconds.items():
            print(f"{name:<32}{len(jobs[name][1]):>12,} pairs {statistics.median(taken):6.2f} s")


if __name__ == "__main__":
    main()
