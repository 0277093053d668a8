#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The flight recorder, `fathom run --flight`, on each Open MPI of open_mpi.tested().

A job that ends well leaves nothing but its profile. However else it ends, and whenever it is asked, each rank leaves
exactly the last events that a whole trace of the same program has; both ends of the messages agree; and the job's
output and exit code are those that it has without Fathom.

usage: flight.py --cli fathom --program flight
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import open_mpi

ROUNDS = 10000      # some 20 records each: several times the memory
MEMORY = "2M"
ENDS = {"exit": 3, "abort": 4, "segv": 2, "kill": 3, "term": 2, "usr2": 3,
        "finalize": 8, "fork": 2, "own": 2}  # with how many ranks
WELL = ("finalize", "fork", "own")
PATIENCE = 20       # seconds until keepers have gone


def run(command, environment, folder):
    job = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120)
    return job.returncode, job.stdout, job.stderr


def keepers_of(folder):
    """The keepers that write below the folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0] == b"fathom-keeper" and words[7].startswith(os.fsencode(folder)):
            found.append(int(pid))
    return found


def events_of(cli, environment, folder, rank):
    """The program's calls of a rank, without times and addresses, oldest first; and the other kinds of events."""
    lines = subprocess.run([cli, "trace", "print", str(folder), "--ranks", str(rank), "--kinds", "calls,others"],
                           env=environment, capture_output=True, text=True, check=True, timeout=120).stdout.splitlines()
    calls, others = [], []
    for line in lines:
        _, _, kind, rest = re.split(r" +", line.strip(), maxsplit=3)
        if kind in ("enter", "leave"):
            calls.append(kind + " " + re.sub(r" (site|request|message)=\S+", "", rest))
        else:
            others.append(kind + " " + rest)
    return calls, others


def check_window(cli, environment, window, whole, ranks, later, problems):
    """Compares what is left with the whole trace: it must be the last calls there, up to `later` that came after."""
    code, said, error = run([cli, "trace", "check", str(window), "--json"], environment, window)
    if code != 0:
        return problems.append(f"trace check: {said}{error}")
    facts = json.loads(said)
    if facts["dropped_records"] == 0:
        problems.append("nothing was dropped: the test is too small")
    if facts["joined_messages"] < 100 or not facts["equal"] or facts["inexact_processes"] != 0:
        problems.append(f"messages are not joined: {facts}")
    for rank in range(ranks):
        calls, others = events_of(cli, environment, window, rank)
        if any(each.startswith(("lost", "pause")) for each in others):
            problems.append(f"rank {rank}: {others[:3]}")
        expected, _ = events_of(cli, environment, whole, rank)
        ends = [calls == expected[len(expected) - len(calls) - more:len(expected) - more] for more in range(later + 1)]
        if len(calls) < 500 or not any(ends):
            problems.append(f"rank {rank}: {len(calls)} calls are not the last of {len(expected)}; they end with "
                            f"{calls[-3:]}, not {expected[-3:]}")
    code, said, error = run([cli, "analyze", str(window)], environment, window)
    if code != 0 or "late" not in said.lower():
        problems.append(f"analyze: {code} {said[-300:]}{error}")


def wait_for_keepers(folder, problems):
    until = time.monotonic() + PATIENCE
    while keepers_of(folder) and time.monotonic() < until:
        time.sleep(0.05)
    if keepers_of(folder):
        problems.append("keepers outlive the job")


def problems_of(end, ranks, mpi, options, folder):
    program = mpi.program(options.program)
    job = mpi.launch(ranks, program, str(ROUNDS), end)
    if end == "usr2":  # without a flight recorder it ends the program
        expected = (0, f"{ranks} ranks, {ROUNDS} rounds\n")
    else:
        expected = run(job, mpi.environment, folder)[:2]
    flight, whole = folder / "flight", folder / "whole"
    code, output, said = run([options.cli, "run", "-o", str(flight), "--flight", MEMORY, "--", *job], mpi.environment, folder)
    problems = [] if (code, output) == expected else [f"{(code, output)} instead of {expected}: {said[-500:]}"]
    wait_for_keepers(folder, problems)
    if end in WELL:
        left = sorted(path.name for path in flight.iterdir())
        return problems + ([] if left == ["profile.json"] else [f"it left {left}"])
    window = flight / "signal-1" if end == "usr2" else flight
    if not (window / "trace").is_dir():
        return problems + [f"no trace: {said[-500:]}"]
    traced = [options.cli, "run", "-o", str(whole), "--trace", "--",
              *mpi.launch(ranks, program, str(ROUNDS), "finalize" if end == "usr2" else end)]
    run(traced, mpi.environment, folder)
    # The keeper needs some milliseconds, in which the program may go on to MPI_Finalize.
    check_window(options.cli, mpi.environment, window, whole, ranks, 2 if end == "usr2" else 0, problems)
    return problems


def problems_of_snap(mpi, options, folder):
    """`fathom snap` twice while the job runs, which goes on as if nothing had happened."""
    ranks, flight, problems = 3, folder / "flight", []
    job = subprocess.Popen([options.cli, "run", "-o", str(flight), "--flight", MEMORY, "--",
                            *mpi.launch(ranks, mpi.program(options.program), str(ROUNDS), "loop")],
                           env=mpi.environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + PATIENCE
    while len(keepers_of(folder)) < ranks and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(2)
    for number in (1, 2):
        code, _, said = run([options.cli, "snap", str(flight)], mpi.environment, folder)
        if code != 0:
            problems.append(f"snap: {said}")
            continue
        code, text, error = run([options.cli, "trace", "check", str(flight / f"snap-{number}"), "--json"], mpi.environment,
                                folder)
        facts = json.loads(text) if code == 0 else {}
        if code != 0 or facts["joined_messages"] < 100 or facts["dropped_records"] == 0:
            problems.append(f"snap {number}: {facts}{text if code else ''}{error}")
    (folder / "stop").touch()
    output, said = job.communicate(timeout=60)
    if (job.returncode, output) != (0, f"{ranks} ranks, {ROUNDS} rounds\n"):
        problems.append(f"{job.returncode} {output} {said[-500:]}")
    wait_for_keepers(folder, problems)
    left = sorted(path.name for path in flight.iterdir())
    if left != ["profile.json", "snap-1", "snap-2"]:
        problems.append(f"it left {left}")
    code, _, said = run([options.cli, "snap", str(flight)], mpi.environment, folder)
    if code != 1 or "is no longer running" not in said:
        problems.append(f"snap of a job that has ended: {code} {said}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--program"):
        parser.add_argument(option, required=True)
    parser.add_argument("--match", default="", help="only the cases whose name this expression matches")
    options = parser.parse_args()

    def cases_of(mpi):
        cases = {end: lambda folder, end=end, ranks=ranks: problems_of(end, ranks, mpi, options, folder)
                 for end, ranks in ENDS.items()}
        return {**cases, "snap": lambda folder: problems_of_snap(mpi, options, folder)}

    return open_mpi.report_cases(map(open_mpi.OpenMpi, open_mpi.tested()), cases_of, options.match)


if __name__ == "__main__":
    sys.exit(main())
