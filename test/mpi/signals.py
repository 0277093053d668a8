#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Signals that end a job under `fathom run`: each run keeps its profile, no rank outlives it, the message says why.
On each Open MPI of open_mpi.tested(). Last line: "N passed, N failed, N skipped".

usage: signals.py --cli fathom --library libfathom.so --program endless
"""
import argparse
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True

import open_mpi

RANKS = 4
# The launcher of 6.0.0rc2 (PRRTE) ends its ranks by SIGKILL at once, natively too: nothing can be kept. That of 5.0.7
# gives them SIGTERM a quarter of a second before.
KILL_AT_ONCE = ("6.0.0rc2", "6.0.0rc2-abi")
TRIES = {"group": 10, "timeout": 3, "alone": 2, "terminal": 3}


def ranks_left(program):
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") == program:
                left.append(int(pid))
        except OSError:
            pass
    return left


def in_terminal(command, environment, folder):
    """Presses Ctrl-C when the job is ready. Returns (exit code, everything on the screen)."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.execvpe(command[0], command, environment)
    screen, pressed = b"", False
    try:
        while some := os.read(terminal, 4096):
            screen += some
            if b"ready" in screen and not pressed:
                os.write(terminal, b"\x03")
                pressed = True
    except OSError:  # the last process has closed it
        pass
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), screen.decode()


def in_background(how, command, environment, folder):
    if how == "timeout":
        command = ["timeout", "6", *command]
    with subprocess.Popen(command, env=environment, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          start_new_session=True) as job:
        if job.stdout.readline() == "ready\n" and how != "timeout":
            (os.killpg if how == "group" else os.kill)(job.pid, signal.SIGTERM)
        said = "".join(job.communicate(timeout=60))
    return job.returncode, said


def problems_of(how, mpi, options, folder):
    run = folder / "run"
    program = mpi.program(options.program)
    command = [options.cli, "run", "-o", str(run), "--", *mpi.launch(RANKS, program)]
    code, said = (in_terminal(command, mpi.environment, folder) if how == "terminal"
                  else in_background(how, command, mpi.environment, folder))
    left = ranks_left(program)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    problems = [f"{len(left)} ranks outlived it"] if left else []
    name = "SIGINT" if how == "terminal" else "SIGTERM"
    if mpi.name in KILL_AT_ONCE:
        sentence = f"fathom: {name} ended the job, and no rank could write its counts: its launcher killed them"
        return problems + ([] if sentence in said else [f"it does not say that nothing was kept: {said[-300:]}"])
    if f"fathom: the run was cut short by {name};" not in said:
        problems.append(f"it does not say that {name} ended it: {said[-300:]}")
    if code != (124 if how == "timeout" else 1):  # mpirun's
        problems.append(f"exit code {code}")
    try:
        profile = json.loads((run / "profile.json").read_text())
    except OSError as error:
        return [*problems, f"no profile: {error}"]
    reported = sum(rank.get("reported", True) for rank in profile["ranks"])
    sent = sum(sum(block["messages"]) for block in profile["traffic"] if block["class"] == "point-to-point")
    if (reported, sent) != (RANKS, 20 * RANKS):
        problems.append(f"{reported} ranks reported, {sent} messages")
    return problems


def main():
    parser = argparse.ArgumentParser()
    for option in ("--cli", "--library", "--program"):
        parser.add_argument(option, required=True)
    options = parser.parse_args()

    def cases_of(mpi):
        return {f"{how} {attempt + 1}": lambda folder, how=how: problems_of(how, mpi, options, folder)
                for how, tries in TRIES.items() for attempt in range(tries)}
    return open_mpi.report_cases([open_mpi.OpenMpi(row, options.library) for row in open_mpi.tested()], cases_of)


if __name__ == "__main__":
    sys.exit(main())
