#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares profiler/openmpi/mpi.h and the prototypes of mpi/functions.table with the mpi.h of each Open MPI that is here,
and profiler/openmpi/standard_abi_table.h with both of the one that has the standard ABI.

usage: own_mpi_header.py SOURCE_ROOT FOLDER_OF_mpi_functions.h
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "test"))
import open_mpi  # noqa: E402


def numbers(pattern, path):
    return {name: int(number, 0) for name, number in re.findall(pattern, path.read_text(encoding="utf-8"))}


def table_agrees(folder):
    """Compiles the table with the header of the standard ABI in this folder and with that of libmpi; also what of the
    first the table leaves out has to be the same in both."""
    abi, table = folder / "standard_abi/mpi.h", ROOT / "profiler/openmpi/standard_abi_table.h"
    handles = numbers(r"#define (MPI_(?!T_)\w+(?<!_FN)(?<!_FN_NULL))\s+\(\(MPI_\w+\) (\d+)\)", abi)
    listed = numbers(r"FATHOM_HANDLE\((MPI_\w+), (0x\w+)", table)
    missing = sorted(set(handles.values()) - set(listed.values()))
    errors = numbers(r"\b(MPI_ERR_\w+|MPI_T_ERR_\w+)\s*= (\d+)", abi)
    listed = numbers(r"FATHOM_ERROR\((MPI_\w+), (\d+)", table)
    same = "".join(f'_Static_assert({name} == {number}, "{name}");\n' for name, number in errors.items()
                   if name not in listed and name != "MPI_ERR_LASTCODE")
    assert len(handles) > 90 and len(same.splitlines()) > 40, f"{abi} reads otherwise than expected"
    compiled = [subprocess.run(["gcc", "-x", "c", "-fsyntax-only", "-Werror", f"-I{include}", f"-I{ROOT}", "-"], text=True,
                               input=f'#include "{ROOT}/test/core/standard_abi.c"\n{same}', check=False).returncode
                for include in (abi.parent, folder)]
    if missing:
        print(f"these handles are not in {table}: {missing}")
    return compiled == [0, 0] and not missing


def main():
    folders, missing = open_mpi.include_folders()
    failed = 0
    for folder in folders:
        flags = [f"-I{path}" for path in (folder, ROOT, sys.argv[2])]
        result = subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-Werror", "-Wno-deprecated-declarations", *flags,
                                 ROOT / "test/core/own_mpi_header.cpp"], check=False)
        print("FAIL" if result.returncode else "ok  ", folder)
        failed += result.returncode != 0
        if (folder / "standard_abi/mpi.h").exists():
            agrees = table_agrees(folder)
            print("ok  " if agrees else "FAIL", folder / "standard_abi")
            failed += not agrees
    print("\n".join(missing))
    return 1 if failed else 0 if folders else 77


sys.exit(main())
