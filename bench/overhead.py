#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What profiling costs: message latency, message rate, collectives, a whole program.

    bench/overhead.py [--sets N] [--rounds N] [--pairs N] [--only NAME] [--quick] [--write]

Small patterns (bench/programs/micro.c): one job per variant (native; Fathom, with and without times; two
clock readings for each call, as mpiP makes; pml_monitoring) is started, and they take turns of a few
milliseconds on the same cores. A round is one turn of each, in an order that rotates; its fastest batch
(allreduce: its median batch) is compared with native's of the same round. The table shows the median over
all rounds of all sets of jobs, and "best": the fastest turn of a set against native's fastest, the median
of the sets, which other load on the machine disturbs least. HPCC and LAMMPS: whole runs, --pairs of them,
from start to end; they take turns of a tenth of a second, between which their processes are stopped.
--bound: on two ranks, each bound to a core.

--before: the libraries of another build take part, so that a change is measured in the same turns.

--write puts the tables into docs/overhead.md; those of --bound have a place of their own.
"""

import argparse
import os
import statistics
import subprocess

import jobs
import real_programs
import turns

# name: (what it is called in the table, ranks, pattern, bytes, times, batches, statistic, unit)
MICRO = {
    "pingpong-8": ("8 B ping-pong", 2, "pingpong", 8, 500, 8, "fastest"),
    "alone-8": ("8 B of one rank to itself", 1, "alone", 8, 500, 8, "fastest"),
    "tests-4": ("MPI_Testany of 4 receives that finds nothing", 1, "tests", 4, 20000, 8, "fastest"),
    "window-8": ("window of 64 messages of 8 B", 2, "window", 8, 20, 8, "fastest"),
    "pingpong-4096": ("4 KiB ping-pong", 2, "pingpong", 4096, 50, 8, "fastest"),
    "pingpong-65536": ("64 KiB ping-pong", 2, "pingpong", 65536, 20, 8, "fastest"),
    "pingpong-1048576": ("1 MiB ping-pong", 2, "pingpong", 1048576, 3, 8, "fastest"),
    "allreduce-8": ("8 B allreduce, 4 ranks", 4, "allreduce", 8, 50, 9, "median"),
}

# As the tests run them, but LAMMPS ten times as long: mpirun alone takes 0.3 s.
MELT = real_programs.PROGRAMS["lammps"]
PROGRAMS = {
    "hpcc": real_programs.PROGRAMS["hpcc"],
    "lammps": MELT._replace(title=f"{MELT.title}, 2,000 steps",
                            files={"melt": MELT.files["melt"].replace("run 200\n", "run 2000\n")}),
}


class MicroJob:
    """A running micro job that waits for its turns."""

    def __init__(self, workspace, installation, variant, ranks, environment=None):
        self.folder = workspace.run_directory()
        self.ranks = ranks
        for name in [*(f"turn.{r}" for r in range(ranks)), "result"]:
            os.mkfifo(self.folder / name)
        program = workspace.compile(installation, "micro")
        placement = ("--bind-to", "core") if ranks <= 2 else jobs.OVERSUBSCRIBED
        self.log = open(self.folder / "log", "w+")
        self.process = subprocess.Popen(
            jobs.command_line(workspace, installation, variant, ranks, [program, self.folder],
                              self.folder, placement, environment),
            cwd=self.folder, env=installation.environment | {"TMPDIR": str(self.folder)},  # jobs start beside each other
            stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=subprocess.STDOUT)
        # Read and write: opening does not wait for the other side.
        self.pipes = [open(os.open(self.folder / f"turn.{r}", os.O_RDWR), "w", buffering=1)
                      for r in range(ranks)]
        self.result = open(os.open(self.folder / "result", os.O_RDWR), "r")

    def turn(self, pattern, size, times, batches):
        if self.process.poll() is not None:
            self.log.seek(0)
            raise jobs.Failed(f"a job ended early, with exit code {self.process.returncode}: {self.log.read()[-1500:]}")
        for pipe in self.pipes:
            pipe.write(f"{pattern} {size} {times} {batches}\n")
        fastest, median = self.result.readline().split()
        return {"fastest": float(fastest), "median": float(median)}

    def close(self):
        for pipe in self.pipes:
            pipe.write("quit\n")
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            jobs.stop(self.process)
        for file in [*self.pipes, self.result, self.log]:
            file.close()


VARIANTS = ["native", "fathom", "fathom --no-time", "two clocks", "pml_monitoring"]


def measure_micro(workspace, installation, names, sets, rounds, variants=None, environment=None):
    """{name: {variant: [(native, this) of each round]}}, rounds of one set after the other"""
    variants = variants or VARIANTS
    samples = {name: {v: [] for v in variants} for name in names}
    for number in range(sets):
        for ranks in sorted({MICRO[name][1] for name in names}):
            running = {v: MicroJob(workspace, installation, v, ranks, environment) for v in variants}
            try:
                for name in names:
                    _, needed, pattern, size, times, batches, statistic = MICRO[name]
                    if needed != ranks:
                        continue
                    jobs.progress(f"{installation.title}: {name}, set {number + 1} of {sets}")
                    for r in range(-2, rounds):  # two to warm up
                        order = list(running)
                        order = order[r % len(order):] + order[:r % len(order)]
                        taken = {v: running[v].turn(pattern, size, times, batches)[statistic] for v in order}
                        if r >= 0:
                            for v in running:
                                samples[name][v].append((taken["native"], taken[v]))
            finally:
                for job in running.values():
                    job.close()
    jobs.progress("")
    return samples


def best(pairs, sets):
    """(native, difference) of the fastest turns, the median of the sets."""
    rounds = len(pairs) // sets
    by_set = [pairs[i * rounds:(i + 1) * rounds] for i in range(sets)]
    fastest = [(min(p[0] for p in taken), min(p[1] for p in taken)) for taken in by_set]
    return (statistics.median(first for first, _ in fastest),
            statistics.median(this - first for first, this in fastest))


def micro_row(name, samples, sets):
    native = statistics.median(first for first, _ in samples["native"])
    row = [MICRO[name][0], f"{native:,.1f} ns; best {best(samples['native'], sets)[0]:,.1f}"]
    for variant, pairs in samples.items():
        if variant == "native":
            continue
        ratio = statistics.median(this / first for first, this in pairs)
        added = statistics.median(this - first for first, this in pairs)
        best_native, best_added = best(pairs, sets)
        row.append(f"{added:+,.1f} ns, {ratio:.3f} ×; best {best_added:+,.1f}, "
                   f"{1 + best_added / best_native:.3f} ×")
    return row


def measure_program(workspace, installation, name, pairs, variants=None, bound=False):
    """{variant: [seconds of each run]} of a whole program, runs in turns. `bound`: two ranks, each with a core."""
    if not real_programs.is_installed(name):
        raise jobs.Failed(f"{name} is not installed")
    seconds = {v: [] for v in variants or VARIANTS}
    for number in range(pairs):
        jobs.progress(f"{installation.title}: {name}, run {number + 1} of {pairs}")
        order = list(seconds)
        order = order[number % len(order):] + order[:number % len(order)]
        running = {}
        try:
            for variant in order:
                running[variant] = turns.ProgramJob(workspace, installation, variant, PROGRAMS[name], bound)
            while sum(job.turn() for job in running.values()):
                pass
            for variant, job in running.items():
                seconds[variant].append(job.taken())
        finally:
            for job in running.values():
                job.close()
    jobs.progress("")
    return seconds


def program_row(name, seconds, bound=False):
    program = PROGRAMS[name]
    native = seconds["native"]
    row = [f"{program.title}, {'2 bound' if bound else program.ranks} ranks, whole run", f"{statistics.median(native):.2f} s"]
    for variant, runs in seconds.items():
        if variant == "native":
            continue
        ratios = [this / first for first, this in zip(native, runs)]
        row.append(f"{statistics.median(runs) - statistics.median(native):+.2f} s, "
                   f"{statistics.median(ratios):.3f} × (runs: {min(ratios):.3f} to {max(ratios):.3f})")
    return row


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=5, help="sets of jobs (5)")
    parser.add_argument("--rounds", type=int, default=40, help="rounds for each set and pattern (40)")
    parser.add_argument("--pairs", type=int, default=4, help="runs of HPCC and LAMMPS for each variant (4)")
    parser.add_argument("--bound", action="store_true", help="run HPCC and LAMMPS on two ranks, each bound to a core")
    jobs.add_variant_options(parser, VARIANTS)
    parser.add_argument("--only", action="append", choices=[*MICRO, *PROGRAMS], help="one measurement; repeatable")
    parser.add_argument("--build", choices=["peruse", "stock"], help="one Open MPI only")
    parser.add_argument("--quick", action="store_true", help="1 set, 20 rounds, 1 run of each program")
    parser.add_argument("--library", help="the libfathom.so to measure (build/profiler/libfathom.so)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/overhead.md")
    options = parser.parse_args()
    if options.quick:
        options.sets, options.rounds, options.pairs = 1, 20, 1
    wanted = options.only or [*MICRO, *PROGRAMS]
    variants = jobs.chosen_variants(options, VARIANTS)
    names = [name for name in MICRO if name in wanted]
    text = []
    with jobs.Workspace(options.library) as workspace:
        for installation in (jobs.peruse_build(), jobs.stock_build()):
            if options.build and options.build != installation.name:
                continue
            rows = []
            if names:
                samples = measure_micro(workspace, installation, names, options.sets, options.rounds, variants)
                rows += [micro_row(name, samples[name], options.sets) for name in names]
            for name in PROGRAMS:
                if name in wanted:
                    seconds = measure_program(workspace, installation, name, options.pairs, variants, options.bound)
                    rows.append(program_row(name, seconds, options.bound))
            header = [installation.title, *variants]
            text.append(jobs.markdown_table(header, rows))
            print(text[-1], flush=True)
            print()
    medians = [f"Median over {options.sets} sets × {options.rounds} rounds"] if names else []
    medians += [f"programs: median over {options.pairs} runs in turns"] if set(wanted) & set(PROGRAMS) else []
    text.append(f"{'; '.join(medians)}. {jobs.machine()}, load {os.getloadavg()[0]:.1f} at the end.")
    print(text[-1])
    if options.write:
        jobs.write_section("overhead.md", "overhead-bound" if options.bound else "overhead", "\n\n".join(text))


if __name__ == "__main__":
    jobs.main(measure)
