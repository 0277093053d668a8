#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`fathom snap RUN --for TIME` on jobs that only count, on each Open MPI of open_mpi.tested().

Each window is an ordinary trace: its messages are joined exactly although those before it were not recorded, although
some are under way when it begins, and although the ranks begin at different moments. The job's output and exit code
are those that it has without Fathom, and so is its profile: it counts the same messages as without a window.

usage: attach_late.py --cli fathom --program asked
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import open_mpi

PATIENCE = 60  # seconds until a job has started


def run(command, environment, folder):
    job = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)
    return job.returncode, job.stdout, job.stderr


def pages_of(run_directory):
    """How many processes of the run can be asked."""
    count = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            for descriptor in pathlib.Path("/proc", process, "fd").iterdir():
                if os.readlink(descriptor) != "/memfd:fathom-window (deleted)":
                    continue
                with open(descriptor, "rb") as page:
                    count += os.fsencode(run_directory) + b"\0" in page.read()
                break
        except OSError:
            continue
    return count


class Job:
    """A job of `fathom run` in a folder of its own, which goes on until end()."""

    def __init__(self, mpi, options, folder, ranks, words=(), run_options=("--live",), askable=True):
        self.mpi, self.cli, self.folder, self.run = mpi, options.cli, folder, folder / "run"
        self.process = subprocess.Popen([options.cli, "run", "-o", str(self.run), *run_options, "--",
                                         *mpi.launch(ranks, mpi.program(options.program), *words)],
                                        env=mpi.environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + PATIENCE
        while askable and pages_of(self.run) < ranks and time.monotonic() < until:
            time.sleep(0.05)

    def snap(self, *words):
        return run([self.cli, "snap", str(self.run), *words], self.mpi.environment, self.folder)

    def end(self, expected, problems):
        (self.folder / "stop").touch()
        output, said = self.process.communicate(timeout=60)
        if (self.process.returncode, output) != (0, expected):
            problems.append(f"{self.process.returncode} {output} {said[-500:]}")


def check_window(job, number, ranks, problems):
    """The trace of `ranks` processes: whole, nothing lost, and all messages joined but those at its edges."""
    folder = job.run / f"snap-{number}"
    code, text, error = run([job.cli, "trace", "check", str(folder), "--json"], job.mpi.environment, job.folder)
    if code != 0:
        return problems.append(f"trace check: {text}{error}")
    facts = json.loads(text)
    if facts["joined_messages"] < 30 or not facts["equal"] or facts["inexact_processes"] != 0 or facts["lost_records"] != 0:
        problems.append(f"messages are not joined: {facts}")
    if facts["dropped_records"] == 0:
        problems.append("nothing came before the window: the test proves nothing")
    left = sorted(path.name.split(".", 1)[1] for path in (folder / "trace").iterdir())
    if left != [f"{rank}.trace" for rank in range(ranks)]:
        problems.append(f"it left {left}")
    code, text, error = run([job.cli, "analyze", str(folder), "--json"], job.mpi.environment, job.folder)
    if code != 0:
        problems.append(f"analyze: {code} {text[-300:]}{error}")
    return None


def problems_of_two(mpi, options, folder, run_options=("--live",)):
    """Two windows of a job that counts; after them it is as it was."""
    ranks, problems = 3, []
    job = Job(mpi, options, folder, ranks, run_options=run_options)
    for number in (1, 2):
        code, _, said = job.snap("--for", "700ms")
        if code != 0 or f"of {ranks} ranks are in" not in said or "recorded nothing" in said:
            problems.append(f"snap: {code} {said}")
        else:
            check_window(job, number, ranks, problems)
    code, _, said = job.snap()
    if code != 1 or "--for" not in said:
        problems.append(f"snap of what nobody kept: {code} {said}")
    job.end(f"{ranks} ranks were asked\n", problems)
    left = sorted(path.name for path in job.run.iterdir())
    if left != ["profile.json", "snap-1", "snap-2"]:
        problems.append(f"it left {left}")
    coverage = json.loads((job.run / "profile.json").read_text())["coverage"]
    if coverage["verdict"] != "exact":
        problems.append(f"the profile says {coverage}")
    code, _, said = job.snap("--for", "1s")
    if code != 1 or "is no longer running" not in said:
        problems.append(f"snap of a job that has ended: {code} {said}")
    return problems


def problems_of_silent(mpi, options, folder):
    """A rank that makes no MPI call is named and not waited for."""
    ranks, problems = 3, []
    job = Job(mpi, options, folder, ranks, ["silent"])
    began = time.monotonic()
    code, _, said = job.snap("--for", "500ms")
    if code != 0 or "of 2 ranks" not in said or "rank 2 recorded nothing" not in said:
        problems.append(f"snap: {code} {said}")
    elif time.monotonic() - began > 30:
        problems.append("it waited for the silent rank")
    else:
        check_window(job, 1, ranks - 1, problems)
    job.end(f"{ranks} ranks were asked\n", problems)
    return problems


def problems_of_end(mpi, options, folder):
    """A job that ends in a window leaves a whole trace, at once."""
    ranks, problems = 2, []
    job = Job(mpi, options, folder, ranks)
    with subprocess.Popen([job.cli, "snap", str(job.run), "--for", "3s"], env=mpi.environment, stderr=subprocess.PIPE,
                          text=True) as snap:
        until = time.monotonic() + PATIENCE
        while not list(job.run.glob("snap-1/trace/*.live")) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.5)
        job.end(f"{ranks} ranks were asked\n", problems)
        said = snap.communicate(timeout=60)[1]
    if snap.returncode != 0:
        problems.append(f"snap: {snap.returncode} {said}")
    check_window(job, 1, ranks, problems)
    return problems


def problems_of_elsewhere(mpi, options, folder, run_options=("--live",)):
    """What asks ranks on other hosts: the link in the run directory, at which whoever watches a host looks."""
    ranks, problems = 2, []
    job = Job(mpi, options, folder, ranks, run_options=run_options)
    traces = job.run / "snap-1/trace"
    (job.run / "snap-1").mkdir()
    (job.run / ".window").symlink_to("1 500000000")
    until = time.monotonic() + PATIENCE
    while (len(list(traces.glob("*.trace"))) < ranks or list(traces.glob("*.live"))) and time.monotonic() < until:
        time.sleep(0.05)
    (job.run / ".window").unlink()
    check_window(job, 1, ranks, problems)
    job.end(f"{ranks} ranks were asked\n", problems)
    return problems


def problems_of_unasked(mpi, options, folder):
    """The library of a job without times has no code that records, and the command says what to do."""
    problems = []
    job = Job(mpi, options, folder, 2, run_options=("--no-time",), askable=False)
    until = time.monotonic() + PATIENCE
    while not (job.run / ".started").is_symlink() and time.monotonic() < until:
        time.sleep(0.05)
    code, _, said = job.snap("--for", "100ms")
    if code != 1 or "without --no-time" not in said:
        problems.append(f"snap: {code} {said}")
    job.end("2 ranks were asked\n", problems)
    return problems


def problems_of_plain(mpi, options, folder):
    """A job that nobody watches."""
    return problems_of_two(mpi, options, folder, run_options=())


def problems_of_plain_elsewhere(mpi, options, folder):
    """The same, asked by whoever sees only the file system: fathom run looks there."""
    return problems_of_elsewhere(mpi, options, folder, run_options=())


CASES = {"two": problems_of_two, "plain": problems_of_plain, "plain_elsewhere": problems_of_plain_elsewhere, "silent": problems_of_silent, "end": problems_of_end,
         "elsewhere": problems_of_elsewhere, "unasked": problems_of_unasked}


def main():
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--program"):
        parser.add_argument(option, required=True)
    parser.add_argument("--match", default="", help="only the cases whose name this expression matches")
    options = parser.parse_args()
    return open_mpi.report_cases(
        map(open_mpi.OpenMpi, open_mpi.tested()),
        lambda mpi: {name: lambda folder, case=case: case(mpi, options, folder) for name, case in CASES.items()}, options.match)


if __name__ == "__main__":
    sys.exit(main())
