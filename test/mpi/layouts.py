#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Examines every release of Open MPI that is here with every layout: only its own may be confirmed, nothing may crash.

usage: layouts.py PROGRAM        (test/mpi/layouts.cpp)
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import open_mpi  # noqa: E402


def problems_on(build, program):
    job = subprocess.run(build.launch(2, "--mca", "pml", "ob1", program), env=build.environment, capture_output=True,
                         text=True, timeout=60, check=False)
    first, *rest = job.stdout.splitlines() or [""]
    print(f"  {first}")
    if job.returncode != 0:
        return [f"exit code {job.returncode}: {job.stderr[-300:]}"]
    confirmed = [line.split("|")[0] for line in rest if line.endswith("|")]
    series = first.partition("Open MPI v")[2][:3]
    if len(confirmed) != 1 or not confirmed[0].startswith(series) or not first.endswith(": " + confirmed[0]):
        return [f"confirmed were {confirmed}: {rest}"]
    return []


def main():
    failed = 0
    later, missing = open_mpi.later_rows()
    rows = [*open_mpi.installed(), *(row for row in later if row.mpicc == "mpicc")]  # libmpi_abi has no structures of its own
    for build in map(open_mpi.OpenMpi, rows):
        problems = problems_on(build, sys.argv[1])
        print(f"{'FAIL' if problems else 'ok  '} {build.name}", *problems)
        failed += bool(problems)
    print(*(f"skip {sentence}\n" for sentence in missing), sep="", end="")
    return 1 if failed else 0


sys.exit(main())
