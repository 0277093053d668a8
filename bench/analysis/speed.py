#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast traces are analysed, in how much memory, by one process and by two.

    bench/analysis/speed.py [--build DIR] [--sizes N,N,N] [--runs N] [--two-only] [--write]

Traces of made-up jobs (bench/trace/generate.cpp) of each size are analysed by bench/analysis/analysis_speed.cpp: events
per second of processor time, kept to one core, reading and joining included, and the peak resident memory. Medians; the runs of all
analyses are interleaved. Then `mpirun -n 2 fathom analyze` against `-n 1`, in turns, by the clock. --write puts the
tables and the picture into docs/analysis-speed.md. The largest trace of 100 million events takes 1.4 GB, its steps
another 3 GB of $TMPDIR or /var/tmp.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "python/fathom"))
import jobs  # noqa: E402

# What was set as a goal, in millions of events a second. Every other analysis of traces is measured too.
GOALS = {"matching": 10, "flat-profile": 20, "traffic": 20, "time-profile": 20, "comm-over-time": 20, "wait-states": 5,
         "critical-path": 5, "lateness": 1}
TOGETHER = ("flat-profile", "wait-states", "critical-path")
SHAPES = (("torus, 8 ranks", ["--ranks", "8"]), ("ring, 16 ranks", ["--ranks", "16", "--ring"]),
          ("torus, 1,024 ranks", ["--ranks", "1024"]))


def generate(programs, path, events, words):
    jobs.progress(f"{events:,} events, {' '.join(words)}: generating")
    done = subprocess.run([programs / "bench/trace/trace_generate", path, "--events", str(events), *words], check=True, capture_output=True)
    return int(done.stdout)


def names_of(programs):
    """Those with a goal, then all others that the registry has."""
    listed = subprocess.run([programs / "bench/analysis/analysis_speed", "--list"], check=True, capture_output=True, text=True)
    known = listed.stdout.split()
    if missing := [name for name in GOALS if name not in known]:
        raise jobs.Failed(f"there is no analysis {', '.join(missing)} any more")
    return [*GOALS, *(name for name in known if name not in GOALS)]


def timed(programs, path, events, runs, names):
    """{analysis: (events, processor seconds, peak KiB)}"""
    results = {name: [] for name in names}
    one_core = {min(os.sched_getaffinity(0))}  # several threads would share it out differently, and get in each other's way
    for number in range(runs):
        for name in names:
            jobs.progress(f"{name}, {number + 1}")
            done = subprocess.run([programs / "bench/analysis/analysis_speed", path, name], capture_output=True, text=True, check=False,
                                  preexec_fn=lambda: os.sched_setaffinity(0, one_core))
            if done.returncode != 0:
                raise jobs.Failed(f"{name}: {done.stderr.strip()}")
            results[name].append(json.loads(done.stdout))
    return {name: (events, statistics.median(row["cpu_seconds"] for row in rows),
                   statistics.median(row["peak_kib"] for row in rows)) for name, rows in results.items()}


def together(programs, path, rounds):
    """{analysis: (seconds of one process, of two)}, by the clock."""
    installation = jobs.stock_build()
    seconds = {name: ([], []) for name in TOGETHER}
    for _ in range(rounds):
        for name in TOGETHER:
            for processes in (1, 2):
                jobs.progress(f"{name}, {processes} processes")
                begun = time.perf_counter()
                subprocess.run([installation.mpirun, "--mca", "mpi_yield_when_idle", "1", "-n", str(processes), programs / "cli/fathom", "analyze", path, "--only", name,
                                "-o", path + "/out.json"], env=installation.environment, check=True, stdout=subprocess.DEVNULL)
                seconds[name][processes - 1].append(time.perf_counter() - begun)
    return {name: tuple(map(statistics.median, taken)) for name, taken in seconds.items()}


def speed_table(columns):
    """columns: [(title, {analysis: …})]"""
    rows = []
    for name in columns[0][1]:
        cells = [name, f"{GOALS[name]} M" if name in GOALS else ""]
        for _, results in columns:
            if name not in results:
                cells.append("")
                continue
            events, seconds, peak = results[name]
            cells.append(f"{events / seconds / 1e6:.1f} M, {peak / 1024:,.0f} MiB")
        rows.append(cells)
    return jobs.markdown_table(["analysis", "goal", *(title for title, _ in columns)], rows)


def picture(sizes, by_size, path):
    from plots import style
    from matplotlib import figure, ticker
    drawn = figure.Figure(figsize=(9.6, 6.0))
    axes = drawn.add_axes((0.09, 0.11, 0.68, 0.73))
    style.title(drawn, "Analysing a trace", "processor seconds of one core by events, reading and joining included; torus, 8 ranks")
    for number, name in enumerate(by_size[sizes[0]]):
        points = [by_size[size][name] for size in sizes if name in by_size[size]]
        axes.plot([p[0] for p in points], [p[1] for p in points], marker="o^s"[number // len(style.CATEGORIES)], markersize=4, linewidth=1.4,
                  color=style.CATEGORIES[number % len(style.CATEGORIES)], label=name)
    low, high = (by_size[size]["matching"] for size in (sizes[0], sizes[-1]))
    axes.plot([low[0], high[0]], [low[1] / 4, low[1] / 4 * high[0] / low[0]], color=style.FAINT, linewidth=0.8, linestyle="--", label="linear")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda events, _: f"{events / 1e6:g} M"))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda seconds, _: f"{seconds:g}"))
    axes.set_xlabel("events")
    axes.set_ylabel("seconds")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=9)
    drawn.savefig(path, dpi=120)


def two_table(pair, rounds):
    table = jobs.markdown_table(["analysis", "one process", "two", "ratio"],
                                [[name, f"{one:.2f} s", f"{both:.2f} s", f"{one / both:.2f}"] for name, (one, both) in pair.items()])
    return table + (f"\n\nMedians of {rounds} turns, by the clock, start of mpirun included, on {jobs.machine()}, load "
                    f"{os.getloadavg()[0]:.1f}")


def measure_two(programs, options):
    with tempfile.TemporaryDirectory(prefix="fathom-analysis-", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        generate(programs, f"{folder}/trace", options.shape_events, SHAPES[0][1])
        two = two_table(together(programs, f"{folder}/trace", options.rounds), options.rounds)
    print(two)
    if options.write:
        jobs.write_section("analysis-speed.md", "analysis-two", two)


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="build directory (build)")
    parser.add_argument("--sizes", default="1000000,10000000,100000000", help="events of the traces of 8 ranks")
    parser.add_argument("--shape-events", type=int, default=10_000_000, help="of the other shapes")
    parser.add_argument("--runs", type=int, default=3, help="of each analysis; the largest size has one, of those with a goal (3)")
    parser.add_argument("--rounds", type=int, default=5, help="one process against two (5)")
    parser.add_argument("--two-only", action="store_true", help="only one process against two, on --shape-events")
    parser.add_argument("--write", action="store_true", help="put the tables and the picture into docs/analysis-speed.md")
    options = parser.parse_args()
    programs = pathlib.Path(options.build).resolve()
    if options.two_only:
        return measure_two(programs, options)
    sizes = [int(size) for size in options.sizes.split(",")]
    by_size, by_shape, names = {}, [], names_of(programs)
    with tempfile.TemporaryDirectory(prefix="fathom-analysis-", dir=os.environ.get("TMPDIR", "/var/tmp")) as folder:
        for size in sizes:
            path = f"{folder}/{size}"
            events = generate(programs, path, size, SHAPES[0][1])
            largest = size == sizes[-1] and len(sizes) > 1
            by_size[size] = timed(programs, path, events, 1 if largest else options.runs, list(GOALS) if largest else names)
        for title, words in SHAPES[1:]:
            path = f"{folder}/shape-{words[1]}"
            events = generate(programs, path, options.shape_events, words)
            by_shape.append((title, timed(programs, path, events, options.runs, names)))
        pair = together(programs, f"{folder}/{sizes[min(1, len(sizes) - 1)]}", options.rounds)
    machine = jobs.machine()
    speed = speed_table([(f"{size / 1e6:g} M events", by_size[size]) for size in sizes]) + f"\n\nTorus of 8 ranks, on {machine}"
    shapes = speed_table(by_shape) + f"\n\n{options.shape_events / 1e6:g} M events, on {machine}"
    two = two_table(pair, options.rounds)
    print(speed, shapes, two, sep="\n\n")
    if options.write:
        for name, text in (("analysis-speed", speed), ("analysis-shapes", shapes), ("analysis-two", two)):
            jobs.write_section("analysis-speed.md", name, text)
        picture(sizes, by_size, jobs.ROOT / "docs/pictures/analysis-speed.png")


if __name__ == "__main__":
    jobs.main(measure)
