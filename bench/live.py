#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to be watched: jobs with FATHOM_LIVE=1, with and without a reader that looks once a second.

    bench/live.py [--rounds N] [--build NAME] [--reader PROGRAM]

As in bench/overhead.py, one job per variant (native; Fathom; Fathom with FATHOM_LIVE=1; the same, watched) takes turns
of a few milliseconds with the others on the same cores. The table shows the medians of a round's turns against
native's, and for the watched one against the one that is live and not watched, over all rounds.
"""
import argparse
import statistics
import subprocess
import sys

import jobs
import overhead

LIVE = {"FATHOM_LIVE": "1"}
PATTERNS = ["pingpong-8", "window-8", "pingpong-65536", "allreduce-8"]


def measured(workspace, installation, reader, name, rounds):
    """{variant: [ns of each round]}"""
    _, ranks, pattern, size, times, batches, statistic = overhead.MICRO[name]
    variants = {"native": ("native", None), "fathom": ("fathom", None), "live": ("fathom", LIVE),
                "watched": ("fathom", LIVE)}
    running = {key: overhead.MicroJob(workspace, installation, variant, ranks, environment)
               for key, (variant, environment) in variants.items()}
    taken = {key: [] for key in variants}
    watcher = None
    try:
        for number in range(-2, rounds):  # two to warm up
            order = list(running)
            order = order[number % len(order):] + order[:number % len(order)]
            turn = {key: running[key].turn(pattern, size, times, batches)[statistic] for key in order}
            if watcher is None:  # its job has begun
                watcher = subprocess.Popen([reader, running["watched"].folder / "profile", "1"],
                                           stdout=subprocess.DEVNULL)
            if number >= 0:
                for key in running:
                    taken[key].append(turn[key])
        if watcher.poll() is not None:
            raise jobs.Failed("the reader did not see its job to the end")
    finally:
        for job in running.values():
            job.close()
        if watcher is not None:
            watcher.wait(timeout=30)
    return taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=100, help="rounds for each pattern (100)")
    parser.add_argument("--build", default="stock", help="which Open MPI (stock)")
    parser.add_argument("--reader", default=str(jobs.BUILD / "test/live/print_job"), help="a program that reads RUN each second")
    options = parser.parse_args()
    rows = []
    with jobs.Workspace() as workspace:
        installation = jobs.build(options.build)
        for name in PATTERNS:
            taken = measured(workspace, installation, options.reader, name, options.rounds)

            def against(this, base):
                pairs = list(zip(taken[this], taken[base]))
                return (f"{statistics.median(a - b for a, b in pairs):+,.1f} ns, "
                        f"{statistics.median(a / b for a, b in pairs):.3f} ×")

            rows.append([overhead.MICRO[name][0], f"{statistics.median(taken['native']):,.1f} ns",
                         against("fathom", "native"), against("live", "native"), against("watched", "live")])
    print(f"{installation.title}, {options.rounds} rounds, {jobs.machine()}\n")
    print(jobs.markdown_table(["", "native", "Fathom", "live", "watched, against live"], rows))


if __name__ == "__main__":
    sys.exit(jobs.main(main))
