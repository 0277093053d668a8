#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Two things about watched jobs that need whole jobs: what their ranks pay at the start, and how long an answer takes.

    bench/live_jobs.py begin [--ranks 2] [--rounds N]   MPI_Init with and without a page, with and without a listener
    bench/live_jobs.py why   [--ranks 256] [--times N]  fathom top RUN --why on a job that hangs

begin: the variants take turns, each a job of its own; medians of MPI_Init of the slowest rank, and of the differences
within a round. why: each rank waits for a message of the one before it, so that all are hung. Printed are the wall
time and the processor time of the command, whose two samples are a second apart.
"""
import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import time

import jobs

CLI = jobs.BUILD / "cli/fathom"


def begun(workspace, installation, ranks, variant):
    """Nanoseconds that MPI_Init takes in one job."""
    folder = workspace.run_directory()
    run = folder / "profile"
    environment = {"with a page": {"FATHOM_LIVE": "1"}, "page and listener": {"FATHOM_LIVE": "1"},
                   "starts a sampler": {"FATHOM_LIVE": "sampled"}}.get(variant, {})
    watcher = None
    if variant == "page and listener":
        run.mkdir()
        watcher = subprocess.Popen([CLI, "watch-host", run], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not listens(watcher.pid):
            time.sleep(0.01)
    try:
        output, _ = jobs.launch(workspace, installation, "native" if variant == "native" else "fathom", ranks,
                                [workspace.compile(installation, "begin")], directory=folder, mpirun=jobs.OVERSUBSCRIBED,
                                environment=environment)
    finally:
        if watcher is not None:
            watcher.terminate()
            watcher.wait(timeout=30)
    return float(output.split()[0])


def listens(pid):
    """Whether the process has a socket on which ranks announce themselves."""
    sockets = {line.split()[6] for line in pathlib.Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()
               if "@fathom-live-" in line}
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            if os.readlink(descriptor).removeprefix("socket:[").removesuffix("]") in sockets:
                return True
        except OSError:
            continue
    return False


def begin(workspace, options):
    installation = jobs.build(options.build)
    variants = ["native", "counts", "with a page", "page and listener", "starts a sampler"]
    workspace.compile(installation, "begin")
    sampler = jobs.BUILD / "profiler/fathom-sampler"
    (workspace.path / "fathom-sampler").symlink_to(sampler)
    taken = {variant: [] for variant in variants}
    for number in range(-1, options.rounds):  # one to warm up
        first = number % len(variants)
        for variant in variants[first:] + variants[:first]:
            value = begun(workspace, installation, options.ranks or 2, variant)
            if number >= 0:
                taken[variant].append(value)
    base = {"counts": "native", "with a page": "counts", "page and listener": "with a page", "starts a sampler": "with a page"}
    rows = []
    for variant in variants:
        against = base.get(variant)
        difference = [one - other for one, other in zip(taken[variant], taken[against])] if against else []
        spread = statistics.quantiles(difference, n=4) if len(difference) > 1 else []
        rows.append([variant, f"{statistics.median(taken[variant]) / 1e6:,.1f} ms", f"{min(taken[variant]) / 1e6:,.1f} ms", against or "",
                     f"{spread[1] / 1e6:+,.2f} ms ({spread[0] / 1e6:+,.2f} to {spread[2] / 1e6:+,.2f})" if spread else ""])
    print(f"{installation.title}, {options.ranks or 2} ranks, {options.rounds} rounds, {jobs.machine()}\n")
    print(jobs.markdown_table(["MPI_Init", "median", "least", "against", "difference, and its quartiles"], rows))


def why(workspace, options):
    installation = jobs.build(options.build)
    ranks = options.ranks or 256
    folder = workspace.run_directory()
    begun_file = folder / "begun"
    job = subprocess.Popen([CLI, "run", "--live", "--log", "quiet", "-o", folder / "run", "--", installation.mpirun, "-n", str(ranks),
                            *jobs.OVERSUBSCRIBED, workspace.compile(installation, "begin"), "hang", begun_file],
                           cwd=folder, env=installation.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        while not begun_file.exists():
            if job.poll() is not None:
                raise jobs.Failed(f"the job has ended: {job.communicate()[1][-2000:]}")
            time.sleep(0.2)
        time.sleep(3)  # all of them have been waiting for longer than between two samples
        for _ in range(options.times):
            before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            said = subprocess.run([CLI, "top", folder / "run", "--why", "--json"], env=installation.environment,
                                  capture_output=True, text=True, check=False)
            wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
            verdict = json.loads(said.stdout)
            processor = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
            print(f"{ranks} ranks: {wall:.2f} s, {processor:.2f} s of processor time; {verdict['cause']}, hung: {verdict['hung']}, "
                  f"{len(verdict['culprits'])} culprits", flush=True)
    finally:
        job.terminate()
        try:
            job.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            job.kill()
    print(f"\n{installation.title}, {jobs.machine()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("begin", "why"))
    parser.add_argument("--ranks", type=int, help="2 for begin, 256 for why")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--build", default="stock", help="which Open MPI (stock)")
    options = parser.parse_args()
    with jobs.Workspace() as workspace:
        {"begin": begin, "why": why}[options.what](workspace, options)


if __name__ == "__main__":
    sys.exit(jobs.main(main))
