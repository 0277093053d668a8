#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory per process, time to finish, and size of the profile, at 16, 64 and 256 ranks on this machine.

    bench/scaling.py [--ranks N,N,…] [--runs N] [--write]
    bench/scaling.py --finish LIBRARY… [--ranks N,N,…] [--runs N]

bench/programs/footprint.c without Fathom, with it, and with it counting alone, all ranks on this machine's few
cores, runs interleaved, medians. A rank that waits sleeps for 2 ms at a time (else hundreds of polling ranks
starve each other), so times are made of such steps. "added" memory is resident memory (VmRSS) per process just
before MPI_Finalize, "private" the part that is shared with nobody (RssAnon: the rest is the library's code, once
per host); "root peak" is what rank 0's peak (VmHWM) grew by through gathering and writing. The finish time is the
longest MPI_Finalize of all ranks. It differs by more from run to run than Fathom adds to it, so what is Fathom's
is also taken within one job: from when the last rank has called MPI_Finalize to when the last one has come to that
of Open MPI, and from then to the end. --write puts the table into docs/scaling.md. --finish compares these two
parts, sparse pattern, of several libraries (libfathom.so, with libfathom-count.so beside it), jobs in turns. Hundreds of ranks need minutes
on two cores, and much longer beside other load.
"""

import argparse
import contextlib
import os
import shutil
import statistics

import jobs


def run(workspace, installation, program, variant, ranks, pattern):
    """(mean RSS in KiB, mean RssAnon in KiB, rank 0's peak in KiB, longest MPI_Finalize in ms, profile.json in bytes,
    time before the MPI_Finalize of Open MPI in ms, and of that one)"""
    directory = workspace.run_directory()
    jobs.launch(workspace, installation, variant, ranks, [program, pattern], directory=directory,
                mpirun=jobs.OVERSUBSCRIBED, environment={"FOOTPRINT_OUTPUT": "footprint"}, timeout=600)
    rows = [list(map(int, line.split())) for line in (directory / "footprint").read_text().splitlines()]
    if len(rows) != ranks:
        raise jobs.Failed(f"{len(rows)} of {ranks} ranks reported")
    profile = directory / "profile/profile.json"
    size = profile.stat().st_size if profile.exists() else 0
    shutil.rmtree(directory)
    last_call, library_begins = (max(r[i] for r in rows) for i in (4, 5))
    return (statistics.mean(r[1] for r in rows), statistics.mean(r[2] for r in rows),
            next(r[3] for r in rows if r[0] == 0), max(r[6] - r[4] for r in rows) / 1e6, size,
            (library_begins - last_call) / 1e6, (max(r[6] for r in rows) - library_begins) / 1e6)


def compare_finish(libraries, sizes, runs):
    with contextlib.ExitStack() as open_now:
        workspaces = {library: open_now.enter_context(jobs.Workspace(library)) for library in libraries}
        installation = jobs.peruse_build()
        programs = {library: workspace.compile(installation, "footprint") for library, workspace in workspaces.items()}
        rows = []
        for ranks in sizes:
            parts = {(library, variant): [] for variant in ("fathom --no-time", "fathom") for library in libraries}
            for number in range(runs):
                for (library, variant), taken in parts.items():
                    jobs.progress(f"{ranks} ranks, {variant}, {library}, run {number + 1}")
                    taken.append(run(workspaces[library], installation, programs[library], variant, ranks, "sparse")[5:7])
            for (library, variant), taken in parts.items():
                own, of_mpi = map(statistics.median, zip(*taken))
                ratios = sorted(1 + fathom / open_mpi for fathom, open_mpi in taken)
                rows.append([f"{ranks}, {variant}", library, f"{own:,.0f} + {of_mpi:,.0f} ms",
                             f"{statistics.median(ratios):.3f} × (jobs: {ratios[0]:.3f} to {ratios[-1]:.3f})"])
    jobs.progress("")
    print(jobs.markdown_table(["ranks", "library", "Fathom's + Open MPI's", "of Open MPI's own"], rows))


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="16,64,256")
    parser.add_argument("--runs", type=int, default=3, help="runs of each kind (3; of 256 ranks or more 1)")
    parser.add_argument("--library", help="the libfathom.so to measure (build/profiler/libfathom.so)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scaling.md")
    parser.add_argument("--finish", nargs="+", metavar="LIBRARY", help="only compare the time to finish of these libraries")
    options = parser.parse_args()
    sizes = list(map(int, options.ranks.split(",")))
    if options.finish:
        return compare_finish(options.finish, sizes, options.runs)
    rows = []
    with jobs.Workspace(options.library) as workspace:
        installation = jobs.peruse_build()
        program = workspace.compile(installation, "footprint")
        for ranks in sizes:
            for pattern in ("sparse", "dense"):
                results = {"native": [], "fathom --no-time": [], "fathom": []}
                for number in range(1 if ranks >= 256 else options.runs):
                    for variant, taken in results.items():
                        jobs.progress(f"{ranks} ranks, {pattern}, {variant}, run {number + 1}")
                        taken.append(run(workspace, installation, program, variant, ranks, pattern))
                native, counting, with_fathom = ([statistics.median(r[i] for r in taken) for i in range(7)]
                                                 for taken in results.values())
                rows.append([f"{ranks}, {pattern}", f"{native[0]:,.0f} KiB",
                             f"{with_fathom[0] - native[0]:+,.0f} KiB",
                             f"{with_fathom[1] - native[1]:+,.0f} KiB",
                             f"{with_fathom[2] - native[2]:+,.0f} KiB", f"{native[3]:,.0f} ms",
                             f"{counting[3]:,.0f} ms", f"{with_fathom[3]:,.0f} ms",
                             f"{with_fathom[5]:,.0f} + {with_fathom[6]:,.0f} ms",
                             f"{with_fathom[4] / 1024:,.1f} KiB"])
    jobs.progress("")
    text = jobs.markdown_table(["ranks, pattern", "RSS native", "added per process", "of these private", "root peak added",
                                "finish native", "finish with --no-time", "finish with Fathom",
                                "of it Fathom's + Open MPI's", "profile.json"], rows)
    text += (f"\n\nMedians of up to {options.runs} interleaved runs on {jobs.machine()}; every rank shares these "
             f"cores. Load {os.getloadavg()[1]:.1f} at the end.")
    print(text)
    if options.write:
        jobs.write_section("scaling.md", "scaling", text)


if __name__ == "__main__":
    jobs.main(measure)
