#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Events a second of what docs/python.md offers, on a generated trace: median of interleaved runs, in processor time, since
each works on one core.

    . scripts/env.sh; bench/python.py [--events N] [--ranks N] [--rounds N]
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

import fathom

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORK = {
    "events": lambda run: len(run.events),
    "event_chunks": lambda run: sum(len(piece) for piece in run.event_chunks()),
    "calls": lambda run: len(run.calls()),
    "flat_profile": lambda run: run.flat_profile(),
    "time_profile": lambda run: run.time_profile(),
    "comm_over_time": lambda run: run.comm_over_time(),
    "traffic of the trace": lambda run: run.slice(0, 2**63).comm_matrix(),
    "messages": lambda run: run.messages(),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    generate = os.path.join(os.environ.get("FATHOM_BUILD", os.path.join(ROOT, "build")), "bench/trace/trace_generate")
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        path = os.path.join(folder, "run")
        subprocess.run([generate, path, "--ranks", str(options.ranks), "--events", str(options.events)], check=True,
                       capture_output=True)
        events = int(fathom.open(path).processes()["records"].sum())
        seconds = {name: [] for name in WORK}
        for _ in range(options.rounds):
            for name, work in WORK.items():
                run, started = fathom.open(path), time.process_time()
                work(run)
                seconds[name].append(time.process_time() - started)
        print(f"{events:,} records of {options.ranks} ranks, median of {options.rounds}")
        for name, taken in seconds.items():
            print(f"{name:<22}{events / statistics.median(taken) / 1e6:8.2f} M/s")


if __name__ == "__main__":
    main()
