#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what the generator writes for chosen functions, one of each shape, with test/golden/wrappers.txt.

usage: generated_wrappers.py PROFILER_FOLDER GOLDEN_FILE [--write]
"""
import difflib
import pathlib
import sys

sys.dont_write_bytecode = True

CHOSEN = ("MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Mrecv", "MPI_Waitall", "MPI_Test", "MPI_Startall", "MPI_Bcast",
          "MPI_Iallgatherv", "MPI_Alltoallw_init", "MPI_Comm_split", "MPI_Comm_free", "MPI_Get_accumulate",
          "MPI_Fetch_and_op", "MPI_Win_lock", "MPI_Win_create", "MPI_File_open", "MPI_File_read_at_all", "MPI_Init",
          "MPI_Pcontrol", "MPI_Group_range_incl", "MPI_Type_commit", "MPI_Win_get_attr", "MPI_Alltoallv_c", "MPI_Put_c",
          "MPI_Win_create_c", "MPI_Psend_init", "MPI_Session_init", "MPI_Improbe", "MPI_Request_get_status_any",
          "MPI_Request_get_status_some", "MPI_Ineighbor_alltoall", "MPI_Neighbor_allgather_init")


def text(wrappers):
    sys.path.insert(0, str(wrappers))
    import call_attributes
    import generate_wrappers
    functions = generate_wrappers.read(wrappers.parents[1] / "mpi" / "functions.table")
    parts = []
    for f in functions:
        if f.name not in CHOSEN:
            continue
        parts.append(call_attributes.definition(0, f))
        if f.role not in generate_wrappers.TRACED_ONLY:
            parts += generate_wrappers.wrapper(f)
        parts += generate_wrappers.timed_wrapper(f)
        parts += generate_wrappers.traced_wrapper(f)
        if f.options.get("fortran") == "direct":
            parts += generate_wrappers.fortran_wrapper(f)
    return "\n".join(parts) + "\n"


def main():
    wrappers, golden = map(pathlib.Path, sys.argv[1:3])
    written = text(wrappers)
    if "--write" in sys.argv:
        golden.write_text(written)
        return 0
    difference = list(difflib.unified_diff(golden.read_text().splitlines(), written.splitlines(), "golden", "generated",
                                           lineterm=""))
    print("\n".join(difference))
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
