#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs under the trace library and compares the calls in the trace with what is known of them.

  traced_calls.py --binaries DIR --library libfathom-trace.so --table mpi/functions.table [--write] [CASE...]

every_function calls each function that its Open MPI exports and that the table has: all of them must be found, each
entered as often as left, and output and exit code must be those of the run without the library. On later releases also
the functions that only they have, and on those that have them the forms for large counts in place of all others (large
counts). The calls_* programs must give the lines in expected/PROGRAM.RANK.txt (print_calls.cpp says how they read),
through every Fortran binding. On each build of open_mpi.tested(). --write writes the expected lines anew, for a person to
check.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from open_mpi import OpenMpi, Skipped, exported_functions, tested  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
CONFORMANCE = ("calls_c", "calls_predefined", "calls_mpifh", "calls_usempi", "calls_f08")
TIMEOUT_S = 120
# Functions that make or meet other jobs, which the launchers of later releases do differently (programs/spawn.c).
OF_OTHER_JOBS = {f"MPI_{name}" for name in (
    "Close_port", "Comm_accept", "Comm_connect", "Comm_disconnect", "Comm_join", "Comm_spawn", "Comm_spawn_multiple",
    "Lookup_name", "Open_port", "Publish_name", "Unpublish_name")}


class Build(OpenMpi):
    def run(self, directory, command, exports):
        """Returns (exit code, output); the programs' files go to a folder of their own."""
        os.makedirs(directory)
        result = subprocess.run(self.launch(2, *self.for_ranks(exports), *command),
                                env=dict(self.environment, TEST_SCRATCH=directory), cwd=directory, capture_output=True,
                                text=True, timeout=TIMEOUT_S, check=False)
        return result.returncode, result.stdout

    def large_counts(self, binaries, functions):
        """every_function with the large forms of all functions that have one."""
        folder = os.path.join(binaries, f"on-{self.name}")
        header = os.path.join(folder, "large_counts.h")
        with open(header, "w", encoding="utf-8") as file:
            file.writelines(f"#define {f.small.name} {f.name}\n" for f in functions if f.small)
        return self.compile(os.path.join(folder, "every_function_large"), [pathlib.Path(HERE, "programs/every_function.c")],
                            ["-DLARGE", "-include", "mpi.h", "-include", header])


def recorded_functions(table):
    sys.path.insert(0, os.path.dirname(table))
    sys.dont_write_bytecode = True
    import functions_table
    return [f for f in functions_table.read(table) if f.role != "unrecorded"]


class Tests:
    def __init__(self, arguments, scratch):
        self.arguments = arguments
        self.scratch = scratch
        self.functions = recorded_functions(arguments.table)
        self.problems = []
        self.runs = 0

    def traced(self, build, program, *mode):
        """Runs natively and traced; returns the run's folder."""
        self.runs += 1
        where = os.path.join(self.scratch, str(self.runs))
        path = program if os.path.isabs(program) else build.program(os.path.join(self.arguments.binaries, program))
        command = [path, *mode]
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
        for mode in (("alone",) if build.is_later else (), ("thread",), ("abort",)):
            found |= self.entered(self.traced(build, "every_function", *mode), f"{build.name} every_function {mode}")
        self.all_are_in(found, build, [f for f in self.functions if f.small is None], OF_OTHER_JOBS if build.is_later else ())
        large = [f for f in self.functions if f.small is not None]
        if self.exported(build, large):
            program = build.large_counts(self.arguments.binaries, self.functions)
            self.all_are_in(self.entered(self.traced(build, program, "alone"), f"{build.name} large counts"), build, large)

    @staticmethod
    def exported(build, functions):
        names = exported_functions(build)
        return [f for f in functions if any("P" + name in names for name in f.names)]

    def all_are_in(self, found, build, functions, leave_out=()):
        for f in self.exported(build, functions):
            if f.name not in found and f.name not in leave_out:
                self.problems.append(f"{build.name}: {f.name} was called and is not in the trace")

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
        for build in map(Build, tested()):
            for case in arguments.cases or ("every_function", *CONFORMANCE):
                try:
                    tests.every_function(build) if case == "every_function" else tests.conformance(build, case)
                except Skipped as reason:
                    print(f"skip {build.name} {case}: {reason}")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print("\n".join(tests.problems) or f"{tests.runs} runs, all as expected")
    return 1 if tests.problems else 0


if __name__ == "__main__":
    sys.exit(main())
