#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast traces are exported and imported: events per second of each format, and the memory it took.

  bench/trace/export.py BUILD [--events 4000000] [--ranks 16] [--transfers] [--json FILE]

A generated trace (bench/trace/generate.cpp) is exported to each format three times; the median of the
processor seconds counts, because the machine may be shared, and the elapsed seconds are printed beside it.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time

FORMATS = ["otf2", "perfetto", "chrome", "paraver", "goal", "smpi", "events", "speedscope", "sqlite"]


def timed(command, directory):
    begin = time.monotonic()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{command} failed: {status}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss / 1024


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, names in os.walk(path) for name in names)


def remove(path):
    shutil.rmtree(path, ignore_errors=True)
    if os.path.exists(path):
        os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--events", type=int, default=4_000_000)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--formats", nargs="+", default=FORMATS + ["import otf2"])
    parser.add_argument("--transfers", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    fathom = os.path.abspath(os.path.join(options.build, "cli/fathom"))
    generate = os.path.abspath(os.path.join(options.build, "bench/trace/trace_generate"))
    results = {}
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as directory:
        command = [generate, "run", "--ranks", str(options.ranks), "--events", str(options.events)]
        made = subprocess.run(command + (["--transfers"] if options.transfers else []), cwd=directory, check=True,
                              capture_output=True, text=True).stdout
        events = int(made)
        print(f"{events} events of {options.ranks} ranks, {size_of(os.path.join(directory, 'run')) / 1e6:.0f} MB")
        print(f"{'format':<12} {'events/s':>12} {'cpu s':>8} {'elapsed s':>10} {'memory MiB':>11} {'bytes/event':>12}")
        for name in options.formats:
            out = os.path.join(directory, "out")
            runs = []
            for _ in range(options.repeat):
                if name == "import otf2":
                    if not os.path.exists(os.path.join(directory, "archive")):
                        timed([fathom, "export", "run", "--format", "otf2", "-o", "archive"], directory)
                    command = [fathom, "import", "archive", "-o", out]
                else:
                    command = [fathom, "export", "run", "--format", name, "-o", out]
                remove(out)
                runs.append(timed(command, directory))
            cpu, elapsed, memory = (statistics.median(column) for column in zip(*runs))
            results[name] = {"events_per_second": events / cpu, "cpu_seconds": cpu, "elapsed_seconds": elapsed,
                             "memory_MiB": memory, "bytes_per_event": size_of(out) / events}
            print(f"{name:<12} {events / cpu:>12,.0f} {cpu:>8.2f} {elapsed:>10.2f} {memory:>11.0f} "
                  f"{size_of(out) / events:>12.1f}", flush=True)
            remove(out)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"events": events, "ranks": options.ranks, "formats": results}, file, indent=1)


if __name__ == "__main__":
    main()
