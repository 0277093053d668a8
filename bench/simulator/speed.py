#!/usr/bin/env python3
"""How fast flows and programs are simulated, beside SimGrid on the same flows.

    bench/simulator/speed.py [--runs N] [--simgrid-limit SECONDS] [--only flows|replay] [--write]

Flows: an all-to-all started at once, of 32 to 1,024 ranks, with equal and with drawn sizes (bench/simulator/
flow_pattern.h). Runs of Fathom and SimGrid take turns; SimGrid has one run where one takes more than 5 s,
and none where it is expected to take more than --simgrid-limit. Replay: a ring, a dissemination, and
all-to-alls (bench/simulator/replay_speed.cpp).

All times are processor time, which other load on the machine disturbs less; medians over the runs.
--write puts the tables into docs/simulator-speed.md.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402

FLOWS = [("equal", 64), ("equal", 128), ("equal", 256), ("equal", 512), ("equal", 1024),
         ("drawn", 32), ("drawn", 64), ("drawn", 128), ("drawn", 256)]
REPLAYS = [("ring, 1,000 times around", "ring", 1024, 1000), ("dissemination", "dissemination", 65536, 1),
           ("all-to-all", "all-to-all", 256, 1), ("all-to-all", "all-to-all", 512, 1),
           ("all-to-all", "all-to-all", 1024, 1), ("all-to-all", "all-to-all", 2048, 1)]
LONG_S = 5  # longer runs are not repeated


def build(names):
    """The programs of this folder that could be built, by name."""
    made = {}
    for name in names:
        target = f"bench/simulator/{name}"
        result = subprocess.run(["ninja", "-C", jobs.BUILD, target], capture_output=True, text=True)
        if result.returncode == 0:
            made[name] = jobs.BUILD / target
        elif "unknown target" not in result.stdout + result.stderr:
            raise jobs.Failed(f"{target} cannot be built:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    return made


def run(program, *words):
    result = subprocess.run([program, *map(str, words)], capture_output=True, text=True)
    if result.returncode != 0:
        raise jobs.Failed(f"{program} {' '.join(map(str, words))} ended with {result.returncode}: {result.stderr}")
    return json.loads(result.stdout)


class Series:
    """Runs of one program with the same words."""

    def __init__(self, program, *words):
        self.program, self.words, self.runs = program, words, []

    def run(self):
        if not self.runs or self.seconds() <= LONG_S:
            self.runs.append(run(self.program, *self.words))

    def seconds(self):
        return statistics.median(one["seconds"] for one in self.runs)

    def last(self, key):
        return self.runs[-1][key]


def seconds_text(seconds):
    return f"{seconds * 1e3:,.1f} ms" if seconds < 1 else f"{seconds:,.2f} s"


def expected_seconds(shorter, ranks):
    """From the two runs of fewer ranks; the time grows at least as steeply as between them."""
    (r1, s1), (r2, s2) = shorter[-2:]
    growth = s2 / s1
    steps = (ranks / r2 - 1) / (r2 / r1 - 1) if ranks > r2 else 1
    return s2 * growth ** min(steps, 3)


def measure_flows(programs, runs, simgrid_limit):
    rows, simgrid_seconds = [], {"equal": [], "drawn": []}
    for sizes, ranks in FLOWS:
        jobs.progress(f"flows: {ranks} ranks, {sizes} sizes")
        ours = Series(programs["flow_speed"], ranks, sizes)
        theirs = None
        known = simgrid_seconds[sizes]
        if "simgrid_speed" in programs and ranks <= 256 and (
                len(known) < 2 or expected_seconds(known, ranks) <= simgrid_limit):
            theirs = Series(programs["simgrid_speed"], ranks, sizes)
        for _ in range(runs):
            ours.run()
            if theirs:
                theirs.run()
        if theirs:
            known.append((ranks, theirs.seconds()))
            difference = abs(ours.last("last_end_s") / theirs.last("last_end_s") - 1)
        rows.append([f"{ranks:,} ranks, {sizes} sizes", f"{ours.last('flows'):,}", f"{ours.last('hops'):,}",
                     f"{ours.last('solutions'):,}", seconds_text(ours.seconds()),
                     f"{ours.seconds() / ours.last('settled_hops') * 1e9:.0f} ns",
                     seconds_text(theirs.seconds()) if theirs else "not run",
                     f"{theirs.seconds() / ours.seconds():,.0f} ×" if theirs else "",
                     f"{difference:.0e}" if theirs else ""])
    return jobs.markdown_table(["all-to-all", "flows", "hops", "solutions", "Fathom", "per settled hop", "SimGrid",
                                "ratio", "last end differs by"], rows)


def measure_replay(programs, runs):
    rows = []
    for title, pattern, ranks, iterations in REPLAYS:
        jobs.progress(f"replay: {pattern}, {ranks} ranks")
        series = Series(programs["replay_speed"], pattern, ranks, iterations)
        for _ in range(runs):
            series.run()
        build_seconds = statistics.median(one["build_seconds"] for one in series.runs)
        rows.append([f"{title}, {ranks:,} ranks", f"{series.last('messages'):,}", f"{series.last('events'):,}",
                     seconds_text(build_seconds), seconds_text(series.seconds()),
                     f"{series.last('events') / series.seconds() / 1e6:.1f} million"])
    return jobs.markdown_table(["program", "messages", "events", "making the program", "replay", "events per second"],
                               rows)


def simgrid_version():
    result = subprocess.run(["pkg-config", "--modversion", "simgrid"], capture_output=True, text=True)
    return f"SimGrid {result.stdout.strip()}" if result.returncode == 0 else "SimGrid not installed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="runs of each kind (5)")
    parser.add_argument("--simgrid-limit", type=float, default=120, help="longest run of SimGrid, in seconds (120)")
    parser.add_argument("--only", choices=["flows", "replay"])
    parser.add_argument("--write", action="store_true", help="put the tables into docs/simulator-speed.md")
    options = parser.parse_args()
    programs = build(["flow_speed", "replay_speed", "simgrid_speed"])
    tables = {}
    if options.only != "replay":
        tables["flows"] = measure_flows(programs, options.runs, options.simgrid_limit)
    if options.only != "flows":
        tables["replay"] = measure_replay(programs, options.runs)
    jobs.progress("")
    where = (f"Processor time, medians of up to {options.runs} runs on {jobs.machine()}, {simgrid_version()}, load "
             f"{os.getloadavg()[0]:.1f} at the end.")
    for name, table in tables.items():
        text = f"{table}\n\n{where}"
        print(f"{text}\n")
        if options.write:
            jobs.write_section("simulator-speed.md", name, text)


if __name__ == "__main__":
    jobs.main(main)
