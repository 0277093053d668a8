#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast a trace is read, in how much memory, and what a jump to a moment costs.

    bench/trace/read.py [--build DIR] [--events N] [--runs N] [--write]

Traces of a made-up job (bench/trace/pattern.h: halo exchange and allreduce) are generated, then read whole by
bench/trace/read_speed.cpp with one thread: events per second of processor time, including decompression, and the peak
resident memory (VmHWM). Medians. --write puts the table into docs/trace-speed.md.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (build)")
    parser.add_argument("--events", type=int, default=100_000_000, help="of each trace (100,000,000)")
    parser.add_argument("--runs", type=int, default=3, help="readings of each trace (3)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/trace-speed.md")
    options = parser.parse_args()
    programs = pathlib.Path(options.build) / "bench/trace"
    rows = []
    for name, words in (("calls, 8 ranks", ["--ranks", "8"]), ("calls, 256 ranks", ["--ranks", "256"]),
                        ("calls and transfers, 64 ranks", ["--ranks", "64", "--transfers"])):
        with tempfile.TemporaryDirectory(prefix="fathom-trace-") as folder:
            jobs.progress(f"{name}: generating")
            subprocess.run([programs / "trace_generate", folder + "/run", "--events", str(options.events), *words],
                           check=True, stdout=subprocess.DEVNULL)
            results = []
            for number in range(options.runs):
                jobs.progress(f"{name}: reading {number + 1}")
                output = subprocess.run([programs / "trace_read_speed", folder + "/run", "--seeks", "1000"],
                                        check=True, stdout=subprocess.PIPE, text=True).stdout
                results.append(json.loads(output))
            events, size = results[0]["events"], results[0]["file_bytes"]
            speed = statistics.median(events / r["read_seconds"] for r in results)
            peak = statistics.median(r["peak_kib"] for r in results)
            seek = statistics.median(r["seek_seconds"] for r in results)
            opened = statistics.median(r["open_seconds"] for r in results)
            rows.append([name, f"{events:,}", f"{size / 1e6:,.0f} MB", f"{speed / 1e6:.1f} M", f"{peak / 1024:.1f} MiB",
                         f"{opened * 1e3:.1f} ms", f"{seek * 1e6:.0f} µs"])
    header = ["trace", "events", "size", "events/s, one core", "peak memory", "open", "jump to a moment"]
    table = f"{jobs.markdown_table(header, rows)}\n\nMedians of {options.runs} readings on {jobs.machine()}"
    print(table)
    if options.write:
        jobs.write_section("trace-speed.md", "trace-read", table)


if __name__ == "__main__":
    jobs.main(measure)
