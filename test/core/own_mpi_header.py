#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares profiler/openmpi/mpi.h and the prototypes of mpi/functions.table with the mpi.h of each Open MPI that is here.

usage: own_mpi_header.py SOURCE_ROOT FOLDER_OF_mpi_functions.h
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "test"))
import open_mpi  # noqa: E402


def main():
    folders, missing = open_mpi.include_folders()
    failed = 0
    for folder in folders:
        flags = [f"-I{path}" for path in (folder, ROOT, sys.argv[2])]
        result = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-Werror", "-Wno-deprecated-declarations", *flags,
                                 ROOT / "test/core/own_mpi_header.cpp"], check=False)
        print("FAIL" if result.returncode else "ok  ", folder)
        failed += result.returncode != 0
    print("\n".join(missing))
    return 1 if failed else 0 if folders else 77


sys.exit(main())
