# SPDX-License-Identifier: BSD-3-Clause
"""What the pictures of a job's time are drawn from, and how `fathom plot` gets it from the tool.

A table is a dictionary, or a DataFrame, of columns of equal length; names and meanings are those of the analyses
(docs/analysis.md). `calls` of bars.draw_calls() are flat-profile's `functions`, the table of calls_by_rank.draw() is its `calls`, `waits` are wait-states' `waits`, `path`
is critical-path's `path`. of_profile() makes the same tables, as far as they are known, from a run without a trace.
"""
import dataclasses
import json
import os
import subprocess
import tempfile

from . import style


@dataclasses.dataclass(frozen=True)
class Job:
    """What a picture's title says."""
    name: str
    ranks: int
    seconds: float = 0.0   # of the window that is drawn
    window: str = ""       # where it lies: "between MPI_Init and MPI_Finalize"

    @classmethod
    def of(cls, application, ranks, seconds=0.0, window=""):
        return cls(style.printable(os.path.basename(application))[:40] or "unnamed program", ranks, seconds, window)

    def heading(self, what):
        return f"{self.name}: {what}"

    def details(self, *more):
        parts = [style.plural(self.ranks, "rank")]
        if self.seconds > 0:
            parts.append(f"{style.time(self.seconds * 1e9)} {self.window}".rstrip())
        return " · ".join([*parts, *filter(None, more)])


PROGRAM = "(program)"
# Waits of these kinds lie outside the time from MPI_Init to MPI_Finalize, which the pictures of a profile are of.
OUTSIDE = ("wait-at-init", "wait-at-finalize")


def of_profile(calls, waits, path, seconds_of_rank):
    """{"functions", "by_rank", "idle_time", "waits", "path"}: tables from the rows of a profile. `calls`: (rank, function, calls, ns);
    `waits`: (rank, awaited, function, ns), without those OUTSIDE, or None: not known; `path`: (rank, function, whether it is computing before
    that, ns), or None; seconds_of_rank: {rank: seconds} of the ranks that left times. A table that is not known is None.
    """
    functions, by_rank, in_mpi, waiting = {}, {}, dict.fromkeys(seconds_of_rank, 0.0), dict.fromkeys(seconds_of_rank, 0.0)
    for rank, function, count, ns in calls:
        sums = functions.setdefault(function, [0.0, 0])
        sums[0] += ns / 1e9
        sums[1] += int(count)
        by_rank[rank, function] = by_rank.get((rank, function), 0.0) + ns / 1e9
        if rank in in_mpi:
            in_mpi[rank] += ns / 1e9
    for rank, _, function, ns in waits or ():
        if rank in waiting and function in functions:
            waiting[rank] += ns / 1e9
    ranks = sorted(seconds_of_rank)
    computing = [max(seconds_of_rank[rank] - in_mpi[rank], 0.0) for rank in ranks]
    idle = {"rank": ranks, "program_seconds": computing, "mpi_seconds": [in_mpi[rank] for rank in ranks]}
    if waits is not None:
        idle["waiting_seconds"] = [waiting[rank] for rank in ranks]
    return {
        "functions": {"name": [*functions, PROGRAM], "exclusive_seconds": [sums[0] for sums in functions.values()] + [sum(computing)],
                      "count": [sums[1] for sums in functions.values()] + [0]},
        "by_rank": {"rank": [rank for rank, _ in by_rank], "name": [name for _, name in by_rank],
                    "exclusive_seconds": list(by_rank.values())},
        "idle_time": idle,
        "waits": waits if waits is None else {
            "rank": [row[0] for row in waits], "culprit": [row[1] for row in waits], "function": [row[2] for row in waits],
            "seconds": [row[3] / 1e9 for row in waits]},
        "path": path if path is None else {
            "rank": [row[0] for row in path], "name": [PROGRAM if row[2] else row[1] for row in path],
            "seconds": [row[3] / 1e9 for row in path]},
    }


def analyses(fathom, run, names, window=None):
    """{name: section} of these analyses, by `fathom analyze`; window: first and last ns. Keeps RUN/analysis.json as it
    is: results go to a file of their own.
    """
    with tempfile.TemporaryDirectory(prefix="fathom-plot-") as folder:
        results = os.path.join(folder, "analysis.json")
        command = [fathom, "analyze", run, "--only", ",".join(names), "-o", results]
        if window:
            command += ["--from", f"{window[0]}ns", "--to", f"{window[1]}ns"]
        said = subprocess.run(command, check=False, capture_output=True, text=True)
        if said.returncode != 0:
            raise OSError(said.stderr.strip().removeprefix("fathom analyze: "))
        with open(results, encoding="utf-8") as file:
            return json.load(file)["analyses"]
