#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs under the trace library and compares the calls in the trace with what is known of them.

  traced_calls.py --binaries DIR --library libfathom-trace.so --table mpi/functions.table [--write] [CASE...]

every_function calls each function of the table: all of them must be found, each entered as often as left, and
output and exit code must be those of the run without the library. The calls_* programs must give the lines in
expected/PROGRAM.RANK.txt (print_calls.cpp says how they read), through every Fortran binding. Both on Debian's
Open MPI and on the build with PERUSE. --write writes the expected lines anew, for a person to check.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from open_mpi import OpenMpi, installed  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = ("calls_c", "calls_mpifh", "calls_usempi", "calls_f08")
TIMEOUT_S = 120


class Build(OpenMpi):
    def run(self, directory, command, exports):
        """Returns (exit code, output); the programs' files go to a folder of their own."""
        os.makedirs(directory)
        environment = dict(self.environment, TEST_SCRATCH=directory)
        # Spawned processes need the library too, which -x would not reach.
        listed = ["--mca", "mca_base_env_list_delimiter", "|", "--mca", "mca_base_env_list",
                  "|".join(f"{k}={v}" for k, v in exports.items())] if exports else []
        result = subprocess.run(self.launch(2, *listed, *command), env=environment,
                                cwd=directory, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        return result.returncode, result.stdout


def recorded_functions(table):
    with open(table, encoding="utf-8") as rows:
        return [re.search(r"\b(MPIX?_\w+)\(", row).group(1) for row in rows
                if row.strip() and not row.startswith(("#", "unrecorded"))]


class Tests:
    def __init__(self, arguments, scratch):
        self.arguments = arguments
        self.scratch = scratch
        self.problems = []
        self.runs = 0

    def traced(self, build, program, *mode):
        """Runs natively and traced; returns the run's folder."""
        self.runs += 1
        where = os.path.join(self.scratch, str(self.runs))
        command = [os.path.join(self.arguments.binaries, program), *mode]
        run = os.path.join(where, "run")
        native = build.run(os.path.join(where, "native"), command, {})
        exports = {"LD_PRELOAD": self.arguments.library, "FATHOM_TRACE": "1", "FATHOM_OUTPUT": run}
        traced = build.run(os.path.join(where, "traced"), command, exports)
        title = " ".join((build.name, program, *mode))
        if native[0] != (3 if "abort" in mode else 0):
            self.problems.append(f"{title}: natively the exit code is {native[0]}: {native[1]}")
        if native != traced:
            self.problems.append(f"{title}: {native} natively, {traced} traced")
        return run

    def lines(self, run, rank):
        result = subprocess.run([os.path.join(self.arguments.binaries, "print_calls"), run, str(rank)],
                                capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        if result.returncode != 0:
            self.problems.append(f"{run}: {result.stderr.strip()}")
        return result.stdout.splitlines()

    def entered(self, run, title):
        """The functions in a trace; every call must have ended, but the last."""
        found = set()
        for rank in (0, 1):
            open_calls = []
            for words in (line.split() for line in self.lines(run, rank)):
                if words[0] == "enter":
                    found.add(words[1])
                    open_calls.append(words[1])
                elif words[0] == "leave" and (not open_calls or open_calls.pop() != words[1]):
                    self.problems.append(f"{title}: rank {rank} leaves {words[1]} without having entered it")
            if open_calls[-1:] != open_calls:
                self.problems.append(f"{title}: rank {rank} never leaves {open_calls}")
        return found

    def every_function(self, build):
        found = set()
        for mode in ((), ("thread",), ("abort",)):
            found |= self.entered(self.traced(build, "every_function", *mode), f"{build.name} every_function {mode}")
        for name in recorded_functions(self.arguments.table):
            if name not in found:
                self.problems.append(f"{build.name}: {name} was called and is not in the trace")

    def conformance(self, build, program):
        run = self.traced(build, program)
        for rank in (0, 1):
            expected = os.path.join(HERE, "expected", f"{program}.{rank}.txt")
            lines = self.lines(run, rank)
            if self.arguments.write:
                os.makedirs(os.path.dirname(expected), exist_ok=True)
                with open(expected, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines) + "\n")
                continue
            with open(expected, encoding="utf-8") as file:
                wanted = file.read().splitlines()
            for number, (want, have) in enumerate(zip(wanted + [""] * len(lines), lines + [""] * len(wanted)), 1):
                if want != have:
                    self.problems.append(f"{build.name} {program}, rank {rank}, event {number}:\n"
                                         f"    expected {want or 'nothing more'}\n    found    {have or 'nothing more'}")
                    break


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binaries", required=True, type=os.path.abspath)
    parser.add_argument("--library", required=True, type=os.path.abspath)
    parser.add_argument("--table", required=True, type=os.path.abspath)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="fathom-test-")
    tests = Tests(arguments, scratch)
    try:
        for build in map(Build, installed()):
            for case in arguments.cases or ("every_function", *CONFORMANCE):
                tests.every_function(build) if case == "every_function" else tests.conformance(build, case)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(tests.problems) or f"{tests.runs} runs, all as expected")
    return 1 if tests.problems else 0


if __name__ == "__main__":
    sys.exit(main())
