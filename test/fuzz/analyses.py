#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The analyses under AddressSanitizer and UndefinedBehaviorSanitizer, on whole and on damaged traces.

    test/fuzz/analyses.py [--damaged N] [--seed N] [RUN...]

Builds them in build-asan (some minutes), runs the unit tests of traces and analyses, and then every analysis,
`critical-path` and `compare` on each RUN and on N damaged copies of it (8): cut short, emptied, missing, bits flipped.
What is wrong with a copy must be said, in an exit code of 0, 1 or 2. Prints what was not; the last line counts.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-asan"
TESTS = ("analysis/analysis_tests", "engine/engine_tests", "trace/trace_tests")
MARKS = ("runtime error", "AddressSanitizer", "LeakSanitizer")
ENVIRONMENT = {**os.environ, "UBSAN_OPTIONS": "print_stacktrace=1", "FATHOM_GOLDEN": str(ROOT / "test/golden")}


def build():
    if not (BUILD / "build.ninja").exists():
        # Unoptimised: a third of the time to compile, and stacks that can be read.
        subprocess.run(["meson", "setup", BUILD, "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=0",
                        "-Ddebug=true"], cwd=ROOT, check=True)
    subprocess.run(["ninja", "-C", BUILD, "cli/fathom", *(f"test/unit/{name}" for name in TESTS)], check=True)


def damage(trace, number, chance):
    """One way of `number`, on a process's files or on all."""
    files = sorted(path for path in trace.iterdir() if path.is_file())
    one = chance.choice(files)
    whole = one.read_bytes()
    if number % 4 == 0:
        one.write_bytes(whole[:chance.randrange(len(whole) + 1)])
    elif number % 4 == 1:
        one.unlink()
    elif number % 4 == 2:
        one.write_bytes(b"")
    else:
        for path in files:
            data = bytearray(path.read_bytes())
            for _ in range(chance.choice((1, 10, 100)) if data else 0):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(data)


def is_clean(*words):
    done = subprocess.run([str(word) for word in words], env=ENVIRONMENT, capture_output=True, text=True, errors="replace",
                          timeout=900, check=False)
    said = done.stdout + done.stderr
    if done.returncode in (0, 1, 2) and not any(mark in said for mark in MARKS):
        return True
    found = [line for line in said.splitlines() if any(mark in line for mark in MARKS)][:3]
    print(f"exit {done.returncode}: {' '.join(map(str, words))}", *found, sep="\n  ", flush=True)
    return False


def on_run(run, whole):
    fathom = BUILD / "cli/fathom"
    listed = subprocess.run([fathom, "analyze", "--list"], env=ENVIRONMENT, capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.split("\nthresholds")[0].splitlines()]
    every = [word for name in names for word in ("--only", name)]
    return [is_clean(fathom, "analyze", run, *every, "-o", run / "out.json"), is_clean(fathom, "critical-path", run),
            is_clean(fathom, "compare", whole, run)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damaged", type=int, default=8, help="damaged copies of each run (8)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("runs", nargs="*", type=pathlib.Path, metavar="RUN")
    options = parser.parse_args()
    build()
    chance = random.Random(options.seed)
    results = [is_clean(BUILD / "test/unit" / name) for name in TESTS]
    for run in options.runs:
        for number in range(-1, options.damaged):
            with tempfile.TemporaryDirectory(prefix="fathom-asan-") as folder:
                copy = pathlib.Path(folder) / f"{run.name}-{number}"
                shutil.copytree(run, copy, symlinks=True)
                if number >= 0:
                    damage(copy / "trace", number, chance)
                results += on_run(copy, run)
    print(f"{results.count(True)} clean, {results.count(False)} not")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
