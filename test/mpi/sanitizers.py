#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Programs built with a sanitizer run under `fathom run` as they run without it, and are profiled.
On each Open MPI of open_mpi.tested().

usage: sanitizers.py --cli fathom --library libfathom.so --library libfathom-trace.so
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.dont_write_bytecode = True

import open_mpi

RANKS = 2
# clang links its runtime statically unless it is asked for the shared one, which gcc's programs need by default.
BUILDS = {
    "gcc address": ("gcc", "-fsanitize=address"),
    "clang address": ("clang", "-fsanitize=address"),
    "clang shared address": ("clang", "-fsanitize=address", "-shared-libasan"),
    "gcc thread": ("gcc", "-fsanitize=thread"),
    "gcc undefined": ("gcc", "-fsanitize=undefined"),
    "gcc leak": ("gcc", "-fsanitize=leak"),
}
IN_A_SCRIPT = {"ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}


class Build:
    def __init__(self, name, mpi, folder):
        self.mpi, self.folder = mpi, folder
        compiler, *flags = BUILDS[name]
        if "-shared-libasan" in flags:
            runtime = subprocess.run([compiler, "-print-file-name=libclang_rt.asan-x86_64.so"], check=True, text=True,
                                     capture_output=True).stdout.strip()
            flags.append("-Wl,-rpath," + os.path.dirname(runtime))
        # Open MPI itself leaks; what it leaks is not the same in each run.
        self.mpi.environment["ASAN_OPTIONS"] = "detect_leaks=0"
        if name == "gcc leak":  # AddressSanitizer reads it too, and would end all jobs with 0
            self.mpi.environment["LSAN_OPTIONS"] = "exitcode=0"
        self.mpi.environment["TSAN_OPTIONS"] = "report_thread_leaks=0"  # UCX ends none of its own
        subprocess.run([mpi.mpicc, "-g", *flags, "-o", "program", HERE / "programs/sanitized.c"],
                       cwd=folder, env={**mpi.environment, "OMPI_CC": compiler}, check=True)

    def run(self, *command, environment=()):
        return subprocess.run([*command], cwd=self.folder, env={**self.mpi.environment, **dict(environment)}, text=True,
                              capture_output=True, timeout=120)

    def job(self, *words):
        return self.mpi.launch(RANKS, *words)

    def under(self, options, library, *words, environment=()):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        environment = {**dict(environment), "FATHOM_LIBRARY": library}
        return self.run(options.cli, "run", "-o", "run", "--", *self.job(*words), environment=environment)

    def messages(self):
        try:
            profile = json.loads((self.folder / "run/profile.json").read_text())
        except OSError:
            return 0
        return sum(sum(block["messages"]) for block in profile["traffic"] if block["class"] == "point-to-point")


def problems_of(build, name, options):
    problems = []

    def expect(what, condition, result):
        if not condition:
            problems.append(f"{what}: exit code {result.returncode}, {result.stdout[-200:]!r}, {result.stderr[-600:]!r}")

    for overflows in (False, True) if "address" in name else (False,):
        words = ["./program", "overflow"] if overflows else ["./program"]
        native = build.run(*build.job(*words))
        if build.mpi.is_later and not overflows and native.returncode != 0:  # gcc 16's do not run on every kernel
            raise open_mpi.Skipped(f"natively its exit code is {native.returncode}: {native.stderr[:120]!r}")
        expect("natively", native.stdout == "sum 1\n" and (native.returncode != 0) >= overflows, native)
        for library in options.library:
            profiled = build.under(options, library, *words)
            expect(f"{words} with {os.path.basename(library)}",
                   (profiled.stdout, profiled.returncode) == (native.stdout, native.returncode), profiled)
            if overflows:
                expect("what it did wrong", "heap-buffer-overflow" in profiled.stderr, profiled)
            elif build.messages() != 20 * RANKS:
                problems.append(f"{build.messages()} messages counted")
    if name == "gcc address":  # Fathom cannot look into a script
        script = ["sh", "-c", "./program; exit $?"]
        refused = build.under(options, options.library[0], *script)
        expect("the way out", "ASAN_OPTIONS=verify_asan_link_order=0" in refused.stderr.splitlines()[-1], refused)
        started = build.under(options, options.library[0], *script, environment=IN_A_SCRIPT)
        expect("in a script", (started.stdout, started.returncode, build.messages()) == ("sum 1\n", 0, 20 * RANKS), started)
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cli", required=True)
    parser.add_argument("--library", action="append", required=True)
    options = parser.parse_args()

    def problems_with(mpi, name, folder):
        if mpi.is_later and name.startswith("clang"):
            raise open_mpi.Skipped("there is no clang in its Debian")
        return problems_of(Build(name, mpi, folder), name, options)

    return open_mpi.report_cases(
        (open_mpi.OpenMpi(row, options.library[0]) for row in open_mpi.tested()),
        lambda mpi: {name: lambda folder, name=name: problems_with(mpi, name, folder) for name in BUILDS})


if __name__ == "__main__":
    sys.exit(main())
