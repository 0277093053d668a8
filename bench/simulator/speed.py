#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast flows and programs are simulated, beside SimGrid on the same flows.

    bench/simulator/speed.py [--runs N] [--simgrid-limit SECONDS] [--only loads|scenario|flows|solutions|replay] [--write]

Loads: pairs of hosts routed and added up (bench/simulator/link_load.cpp). Scenario: what the reference simulator's
example `cg` is made of, 12 combinations of about 10 jobs each, engine time alone; needs its example data in the folder
that FATHOM_REFERENCE_DATA names, and is left out without. Flows: an all-to-all started at once, of 32 to 1,024 ranks,
with equal and with drawn sizes (bench/simulator/flow_pattern.h). Runs of Fathom and SimGrid take turns; SimGrid has one
run where one takes more than 5 s, and none where it is expected to take more than --simgrid-limit. Solutions: what one
of those costs that the end of a flow asks for, against flows x path length, on a fat tree and on a torus. Replay: a
ring, a dissemination, and all-to-alls (bench/simulator/replay_speed.cpp).

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
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402

FLOWS = [("equal", 64), ("equal", 128), ("equal", 256), ("equal", 512), ("equal", 1024),
         ("drawn", 32), ("drawn", 64), ("drawn", 128), ("drawn", 256)]
SOLUTIONS = [("fat tree", 64), ("fat tree", 128), ("fat tree", 256), ("torus", 32), ("torus", 64), ("torus", 128)]
REPLAYS = [("ring, 1,000 times around", "ring", 1024, 1000), ("dissemination", "dissemination", 65536, 1),
           ("all-to-all", "all-to-all", 256, 1), ("all-to-all", "all-to-all", 512, 1),
           ("all-to-all", "all-to-all", 1024, 1), ("all-to-all", "all-to-all", 2048, 1)]
LOADS = [("XGFT(2;32,32;1,32), all pairs", "xgft:m=32,32;w=1,32", "dmodk"),
         ("XGFT(2;32,32;1,32), all pairs", "xgft:m=32,32;w=1,32", "greedy-max"),
         ("XGFT(3;48,48,48;1,48,48), random pairs", "xgft:m=48,48,48;w=1,48,48", "dmodk", 10_000_000)]
REFERENCE_RUN_S = 3.3  # of the reference simulator, in Python, for one combination
SCENARIO = """
topology: {data}/milk.graphml
duration: 1000
output: none
algorithms:
  scheduler: [pfsim.scheduler.FCFSScheduler]
  host_selector: [pfsim.host_selector.LinearHostSelector, pfsim.host_selector.RandomHostSelector]
  process_mapper: [pfsim.process_mapper.LinearProcessMapper, pfsim.process_mapper.CyclicProcessMapper]
  router: [pfsim.router.DmodKRouter, pfsim.router.GreedyRouter, pfsim.router.GreedyRouter2]
jobs:
  - submit: {{distribution: pfsim.math.ExponentialDistribution, params: {{lambd: 0.01}}}}
    duration: {{distribution: pfsim.math.ExponentialDistribution, params: {{lambd: 0.02}}}}
    trace: {data}/cg-c-128.tar.gz
"""
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


def measure_loads(programs, runs):
    rows = []
    for title, *words in LOADS:
        jobs.progress(f"loads: {title}, {words[1]}")
        series = Series(programs["link_load_bench"], *words)
        for _ in range(runs):
            series.run()
        rows.append([title, words[1], f"{series.last('hosts'):,}", f"{series.last('pairs'):,}", seconds_text(series.seconds()),
                     f"{series.last('pairs') / series.seconds() / 1e6:.1f} million", f"{series.last('memory_bytes') / 2**20:,.0f} MiB"])
    return jobs.markdown_table(["network", "routing", "hosts", "pairs", "time", "pairs per second", "memory"], rows)


def measure_scenario(programs):
    data = pathlib.Path(os.environ.get("FATHOM_REFERENCE_DATA", "/nonexistent"))
    if not (data / "cg-c-128.tar.gz").exists():
        print("scenario: left out; FATHOM_REFERENCE_DATA names no folder with cg-c-128.tar.gz", file=sys.stderr)
        return None
    with tempfile.TemporaryDirectory(prefix="fathom-speed.") as folder:
        path = pathlib.Path(folder) / "cg.yml"
        path.write_text(SCENARIO.format(data=data.resolve()))
        jobs.progress("scenario")
        done = run(programs["scenario_speed"], path)
    each_s = done["seconds_a_run"]
    return jobs.markdown_table(
        ["combinations", "jobs", "engine time a combination", "the reference's 3.3 s over that"],
        [[str(done["combinations"]), str(done["jobs"]), f"{each_s * 1e6:,.0f} µs", f"{REFERENCE_RUN_S / each_s:,.0f}"]])


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
                     f"{ours.last('solutions'):,}",
                     *(f"{ours.last(key) / ours.last('solutions'):,.0f}" for key in ("settled_hops", "changed_rates")),
                     seconds_text(ours.seconds()), f"{ours.seconds() / ours.last('settled_hops') * 1e9:.0f} ns",
                     seconds_text(theirs.seconds()) if theirs else "not run",
                     f"{theirs.seconds() / ours.seconds():,.0f} ×" if theirs else "",
                     f"{difference:.0e}" if theirs else ""])
    return jobs.markdown_table(["all-to-all", "flows", "hops", "solutions", "hops settled in each", "rates changed in each", "Fathom",
                                "per settled hop", "SimGrid",
                                "ratio", "last end differs by"], rows)


def measure_solutions(programs, runs):
    rows = []
    for network, ranks in SOLUTIONS:
        jobs.progress(f"solutions: {network}, {ranks} ranks")
        series = Series(programs["flow_speed"], ranks, "drawn", *(["torus"] if network == "torus" else []))
        for _ in range(runs):
            series.run()
        flows, hops, settled = (series.last(key) / series.last("solutions") for key in ("flows_solved", "hops_solved", "settled_hops"))
        each_s = series.seconds() / series.last("solutions")
        rows.append([f"{network}, {ranks} ranks", f"{series.last('solutions'):,}", f"{flows:,.0f}", f"{hops / flows:.1f}",
                     f"{hops:,.0f}", f"{settled / hops:.2f}", f"{each_s * 1e6:,.0f} µs", f"{each_s / hops * 1e9:.1f} ns"])
    return jobs.markdown_table(["all-to-all, drawn sizes", "solutions", "flows under way", "path length", "flows × path length",
                                "part settled anew", "time of each", "over flows × path length"], rows)


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
    parser.add_argument("--only", choices=["loads", "scenario", "flows", "solutions", "replay"])
    parser.add_argument("--write", action="store_true", help="put the tables into docs/simulator-speed.md")
    options = parser.parse_args()
    programs = build(["link_load_bench", "scenario_speed", "flow_speed", "replay_speed", "simgrid_speed"])
    measures = {"loads": lambda: measure_loads(programs, options.runs), "scenario": lambda: measure_scenario(programs),
                "flows": lambda: measure_flows(programs, options.runs, options.simgrid_limit),
                "solutions": lambda: measure_solutions(programs, options.runs),
                "replay": lambda: measure_replay(programs, options.runs)}
    tables = {name: measure() for name, measure in measures.items() if options.only in (None, name)}
    jobs.progress("")
    where = (f"Processor time, medians of up to {options.runs} runs on {jobs.machine()}, {simgrid_version()}, load "
             f"{os.getloadavg()[0]:.1f} at the end.")
    for name, table in tables.items():
        if table is None:
            continue
        text = f"{table}\n\n{where}"
        print(f"{text}\n")
        if options.write:
            jobs.write_section("simulator-speed.md", name, text)


if __name__ == "__main__":
    jobs.main(main)
