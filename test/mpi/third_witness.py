#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fathom and Open MPI's pml_monitoring count the same, pair by pair.

  third_witness.py --library libfathom.so --binaries DIR

First the shortest part of bench/exactness.py: NetPIPE. The benchmark once corrected for what Fathom sends at
the end by an empty program's figures, and missed the messages by which processes compare their waits; and once
it could not start. Then programs whose communicators are made in ways that differ between releases, on each
release that is here: since 5.0 the library itself uses tags there that 4.1 did not (ompi/mca/coll/base/coll_tags.h).

The last line is "N passed, N failed, N skipped".
"""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("test", "test/mpi", "bench"):
    sys.path.insert(0, str(ROOT / folder))

import exactness  # noqa: E402
import jobs  # noqa: E402
import open_mpi  # noqa: E402
import real_programs  # noqa: E402

# (program, arguments, transport)
MEETINGS = [("intercomm", [], "sm"), ("intercomm", [], "tcp"), ("connect", ["accept"], "sm"), ("connect", ["accept"], "tcp"),
            ("constructors", [], "sm"), ("lifetimes", [], "sm")]
# pml_monitoring of 6.0.0rc2 crashes in MPI_Init, natively too (docs/exactness.md).
NO_MONITORING = ("6.0.0rc2", "6.0.0rc2-abi")


def netpipe(options):
    bench = subprocess.run([sys.executable, ROOT / "bench/exactness.py", "--only", "netpipe", "--library", options.library],
                           capture_output=True, text=True)
    assert bench.returncode == 0 and "2 of 2" in bench.stdout and bench.stdout.count("the same as run 1") == 2, \
        bench.stdout + bench.stderr


def meeting(workspace, row, options, program, arguments, transport):
    bench = exactness.Bench(workspace, row.name, "ob1")
    build = open_mpi.OpenMpi(row)
    path = build.program(f"{options.binaries}/{program}")
    # The names of the components that carry messages inside a host: vader in 4.1, sm since 5.0.
    local = {"sm": "sm" if build.is_later else "vader", "tcp": "tcp"}[transport]
    # coll/monitoring crashes in MPI_Intercomm_create, in 4.1.4 and 5.0.7; nothing of it is needed.
    bench.parameters = ["--mca", "btl", f"{local},self", "--mca", "btl_tcp_if_include", "lo", "--mca", "coll", "^monitoring"]
    wanted = real_programs.Program(program, 4, [path, *arguments], {})
    *_, verdict, size, messages, third = exactness.in_short(bench, wanted)
    print(f"     {messages} messages, {size} B; {third}")
    assert bench.mistakes == 0 and verdict == "exact" and "agree" in third, (verdict, third)
    assert int(messages.replace(",", "")) > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--binaries", required=True, help="folder of the programs in test/mpi/programs")
    options = parser.parse_args()
    later, missing = open_mpi.later_rows()
    passed = failed = 0
    skipped = [*missing]

    def attempt(title, case, *arguments):
        nonlocal passed, failed
        try:
            case(*arguments)
            passed += 1
            print(f"ok   {title}", flush=True)
        except (AssertionError, jobs.Failed, RuntimeError) as problem:
            failed += 1
            print(f"FAIL {title}: {problem}", flush=True)

    if real_programs.is_installed("netpipe") and open_mpi.row("peruse").is_installed:
        attempt("netpipe", netpipe, options)
    else:
        skipped.append("NetPIPE (netpipe-openmpi) and the PERUSE build are needed; scripts/setup.sh installs both")
    rows = [row for row in [*open_mpi.installed(), *later] if row.name not in NO_MONITORING]
    with jobs.Workspace(options.library) as workspace:
        for row in rows:
            for program, arguments, transport in MEETINGS:
                attempt(" ".join([row.name, program, *arguments, transport]), meeting, workspace, row, options, program,
                        arguments, transport)
    for sentence in skipped:
        print(f"skip {sentence}")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if failed else 0 if passed else 77


if __name__ == "__main__":
    sys.exit(main())
