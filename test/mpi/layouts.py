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


def builds():
    """(name, Open MPI) of all that can be had; those that cannot are named."""
    for row in open_mpi.installed():
        yield row.name, open_mpi.OpenMpi(row)
    for version in open_mpi.later_releases():
        try:
            row = open_mpi.Row(version, version, open_mpi.prefix_of(version), False, {})
            yield version, open_mpi.OpenMpi(row)
        except LookupError as missing:
            print(f"skip {version}: {missing}")


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
    for name, build in builds():
        problems = problems_on(build, sys.argv[1])
        print(f"{'FAIL' if problems else 'ok  '} {name}", *problems)
        failed += bool(problems)
    return 1 if failed else 0


sys.exit(main())
