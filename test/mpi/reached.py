#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`fathom snap RUN` reaches every rank of a run, or says which it does not reach, on each Open MPI of open_mpi.tested():
worlds that a job spawns, several mpiruns of one script at once and one after the other, and sessions; with a flight
recorder and with a window (--for). The job's output and exit code are those that it has without Fathom.

usage: reached.py --cli fathom --program worlds
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import open_mpi

PATIENCE = 60  # seconds until all ranks have begun
RANKS = 2      # of each job, and of the spawned world
# Words for fathom run, and for each snap until one reaches all. Two spinning ranks of a pair may wait for each other
# for more than a short window on a machine that is busy; a rank that makes no call in it records nothing. What a pair's
# memory holds must overlap, although its ranks may be reached some milliseconds apart. 2M hold 14,000 messages.
KINDS = {"flight": (["--flight", "16M"], [[]]), "window": (["--live"], [["--for", "2s"], ["--for", "10s"], ["--for", "30s"]])}


def run(command, environment, folder):
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


class Job:
    def __init__(self, mpi, options, folder, command, words):
        self.mpi, self.cli, self.folder, self.run = mpi, options.cli, folder, folder / "run"
        self.process = subprocess.Popen([*words, *command] if not words else [options.cli, "run", "-o", "run", *words, "--", *command],
                                        env=mpi.environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for(self, processes):
        until = time.monotonic() + PATIENCE
        while len(list(self.folder.glob("ready-*"))) < processes:
            assert time.monotonic() < until and self.process.poll() is None, "not all ranks have begun"
            time.sleep(0.05)

    def end(self):
        (self.folder / "stop").touch()
        output, said = self.process.communicate(timeout=60)
        return (self.process.returncode, sorted(output.splitlines())), said


def expected_of(mpi, options, folder, command, processes):
    """The output and exit code without Fathom."""
    job = Job(mpi, options, folder, command, [])
    try:
        job.wait_for(processes)
    finally:
        ended, _ = job.end()  # also jobs of which only some ranks have begun, and which wait for its word
    return ended


def problems_of_window(job, folder):
    code, text, error = run([job.cli, "trace", "check", str(folder), "--json"], job.mpi.environment, job.folder)
    if code != 0:
        return [f"trace check {folder}: {text}{error}"]
    facts = json.loads(text)
    if facts["joined_messages"] == 0 or not facts["equal"] or facts["inexact_processes"] != 0 or facts["lost_records"] != 0:
        return [f"messages of {folder} are not joined: {facts}"]
    return []


def problems_of(kind, command, patterns, mpi, options, folder):
    """`patterns`: what the run directories look like of which a snapshot is expected."""
    plain, folder = folder / "plain", folder / "watched"
    plain.mkdir()
    folder.mkdir()
    processes = RANKS * len(patterns)
    expected = expected_of(mpi, options, plain, command, processes)
    run_words, snap_words = KINDS[kind]
    job = Job(mpi, options, folder, command, run_words)
    problems = []
    try:
        job.wait_for(processes)
        for words in snap_words:
            code, _, said = run([options.cli, "snap", "run", *words], mpi.environment, folder)
            if "recorded nothing: no MPI call in that time" not in said:
                break
        places = re.findall(rf"of {RANKS} ranks are in (\S+)/trace; next", said)
        wanted = sorted(patterns)
        if code != 0 or len(places) != len(wanted) or len(said.splitlines()) != len(wanted) or \
                not all(re.fullmatch(pattern, place) for pattern, place in zip(wanted, sorted(places))):
            problems.append(f"snap: {code} {said}")
        for place in places:
            problems += problems_of_window(job, folder / place)
    finally:
        ended, said = job.end()
    if ended != expected:
        problems.append(f"{ended} instead of {expected}: {said[-500:]}")
    return problems


def spawn(kind, mpi, options, folder):
    """A world that the job spawned."""
    command = mpi.launch(RANKS, mpi.program(options.program), "spawn")
    return problems_of(kind, command, [r"run/snap-\d", r"run/world-\d+/snap-\d"], mpi, options, folder)


def beside(kind, mpi, options, folder):
    """Two mpiruns of one script at once."""
    command = shlex.join(mpi.launch(RANKS, mpi.program(options.program), "plain"))
    return problems_of(kind, ["sh", "-c", f"{command} & {command} & wait"], [r"run/snap-\d", r"run/job-\d+/snap-\d"], mpi,
                       options, folder)


def after(kind, mpi, options, folder):
    """The second mpirun of a script: nobody waits for the first, which has ended."""
    short, plain = (shlex.join(mpi.launch(RANKS, mpi.program(options.program), how)) for how in ("short", "plain"))
    return problems_of(kind, ["sh", "-c", f"{short}; {plain}"], [r"run/job-\d+/snap-\d"], mpi, options, folder)


def session(kind, mpi, options, folder):
    """A program that never calls MPI_Init. Its ranks cannot be asked for a window, and the command says so."""
    if not mpi.is_later:
        raise open_mpi.Skipped("no sessions before MPI 4")
    command = mpi.launch(RANKS, mpi.program(options.program), "session")
    if kind == "flight":
        return problems_of(kind, command, [r"run/snap-\d"], mpi, options, folder)
    job = Job(mpi, options, folder, command, KINDS[kind][0])
    try:
        job.wait_for(RANKS)
        code, _, said = run([options.cli, "snap", "run", *KINDS[kind][1][0]], mpi.environment, folder)
    finally:
        ended = job.end()[0]
    problems = [] if ended == (0, [f"{RANKS} ranks went on"]) else [f"the job: {ended}"]
    return problems if code == 1 and "session" in said else [*problems, f"snap: {code} {said}"]


def main():
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--program"):
        parser.add_argument(option, required=True)
    parser.add_argument("--match", default="", help="only the cases whose name this expression matches")
    options = parser.parse_args()
    return open_mpi.report_cases(
        map(open_mpi.OpenMpi, open_mpi.rows_of_one()),
        lambda mpi: {f"{case.__name__} {kind}": lambda folder, kind=kind, case=case: case(kind, mpi, options, folder)
                     for case in (spawn, beside, after, session) for kind in KINDS}, options.match)


if __name__ == "__main__":
    sys.exit(main())
