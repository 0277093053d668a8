#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Phases of real jobs: programs with loops that are known, and the loops that must come out, with names and lines.

    loops.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(); LAMMPS and HPCC too where they are installed. The last line is "N passed, N failed".
"""
import json
import pathlib
import subprocess
import sys

from times import rows
from waits import options_of, run_cases

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import real_programs  # noqa: E402
from open_mpi import Skipped  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "loops.c"


def line_of(text):
    """Of the only line of the source that has this text, for a call in it."""
    found = [number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line]
    assert len(found) == 1, f"{text} is on lines {found}"
    return found[0]


def phases_of(section):
    return [(row["iterations"], row["name"], row["body"]) for row in rows(section, "phases")]


def loops_of(section):
    return [(row["phase"], row["depth"], row["iterations"], row["fewest_iterations"], row["most_iterations"], row["entered"])
            for row in rows(section, "loops")]


def pair(section):
    """Two iterations are no loop that hides others."""
    one = [(100, "pair", "MPI_Allreduce, MPI_Barrier"), (50, "pair", "MPI_Sendrecv")]
    assert phases_of(section) == [*one, *one], section["phases"]
    first = rows(section, "phases")[0]
    assert pathlib.Path(first["file"]).name == "loops.c", first
    begin = line_of("for (int i = 0; i < 100; i++)")
    assert (first["first_line"], first["last_line"]) == (begin + 1, begin + 2), first


def nested(section):
    assert phases_of(section) == [(10, "nested", "MPI_Bcast, 5 × (MPI_Scan, MPI_Allreduce), MPI_Barrier")], section["phases"]
    assert loops_of(section) == [(1, 0, 10, 10, 10, 1), (1, 1, 50, 5, 5, 10)], section["loops"]
    assert [row["inside"] for row in rows(section, "loops")] == [0, 1], section["loops"]


def copied(section):
    assert phases_of(section) == [(40, "copied", "2 × MPI_Sendrecv, MPI_Barrier")], section["phases"]


def branches(section):
    body = "4 × MPI_Sendrecv, 3 × MPI_Allreduce; 12 times instead: MPI_Allgather, MPI_Bcast, 3 × MPI_Allreduce"
    found = [row for row in rows(section, "loops") if row["body"] == body]
    assert [row["iterations"] for row in found] == [250], section["loops"]


def chance(section):
    assert phases_of(section) == [(30, "chance", "MPI_Allreduce")], section["phases"]
    assert rows(section, "phases")[0]["ranks"] == [0, 1, 2, 3]


CASES = {"pair": pair, "nested": nested, "copied": copied, "branches": branches, "chance": chance}


def analyzed(build, run, processes, *settings):
    """The section of phases, as the analysis prints it with so many processes."""
    command = [build.options.cli, "analyze", run, "--json", "--only", "phases", *settings]
    if processes > 1:
        command = build.launch_tool(processes, command[0], *command)
    return build.call(*command)


def short_phases(build, run, share):
    """The page's lines, if phases of less than this share of the run have none of their own."""
    page = build.call(build.options.cli, "analyze", run, "--set", f"phase_share={share}")
    return [line.strip() for line in page.splitlines()]


def as_made(build, folder, case):
    run = build.traced(folder / "run", build.program("loops"), case)
    text = analyzed(build, run, 1)
    CASES[case](json.loads(text)["analyses"]["phases"])
    if case == "pair":
        assert analyzed(build, run, 3) == text, "three processes give another result"
    if case == "nested":
        lines = short_phases(build, run, 0)
        assert [line for line in lines if line.startswith("phase 1, ")], lines
        lines = short_phases(build, run, 1)
        assert "1 short phase: analysis.json" in lines, lines


def lammps(build, folder, _):
    """Each of its 250 steps is an iteration, those that rebuild the neighbour lists too."""
    program = real_programs.PROGRAMS["lammps"]
    if build.is_later or not real_programs.is_installed("lammps"):
        raise Skipped("LAMMPS is not installed for it")
    real_programs.prepare(program, folder)
    script = folder / "melt"
    script.write_text(script.read_text().replace("run 200", "run 250"))
    run = folder / "run"
    subprocess.run([build.options.cli, "run", "--trace", "-o", run, "--", *build.launch(4, *program.command)],
                   check=True, cwd=folder, env=build.environment, capture_output=True)
    section = json.loads(analyzed(build, run, 1))["analyses"]["phases"]
    steps = [row for row in rows(section, "loops") if "forward_comm" in row["name"] and "reverse_comm" in row["name"]]
    assert 250 in [row["iterations"] for row in steps], section["loops"]


def hpcc(build, folder, _):
    """Each benchmark that communicates is a phase, with the repeats that HPCC prints or has in its source."""
    program = real_programs.PROGRAMS["hpcc"]
    if build.is_later or not real_programs.is_installed("hpcc"):
        raise Skipped("HPCC is not installed for it")
    real_programs.prepare(program, folder)
    settings = folder / "hpccinf.txt"
    settings.write_text(settings.read_text().replace("1000         Ns", "400          Ns").replace("80           NBs", "40           NBs"))
    run = folder / "run"
    subprocess.run([build.options.cli, "run", "--trace", "-o", run, "--", *build.launch(4, *program.command)],
                   check=True, cwd=folder, env=build.environment, capture_output=True)
    # All of them, because a rank that a busy machine holds up may have 64 that are longer than a transpose.
    text = analyzed(build, run, 1, "--set", "phase_share=0")
    found = rows(json.loads(text)["analyses"]["phases"], "phases")
    transposes = (folder / "hpccoutf.txt").read_text().count("\nWALL ")

    def phase(name, holds, ranks=4):
        matching = [row for row in found if len(row["ranks"]) >= ranks and holds(row, row["body"])]
        assert matching, f"no phase for {name}: {[(row['iterations'], row['body'][:80]) for row in found]}"

    phase("RandomAccess", lambda row, body: "MPI_Get_count" in body and "MPI_Irecv" in body, ranks=2)
    phase("PTRANS", lambda row, body: "MPI_Comm_split" in body and row["iterations"] == transposes)
    phase("STREAM", lambda row, body: set(body.split(", ")) == {"MPI_Barrier"} and row["iterations"] == 10)
    phase("MPIFFT", lambda row, body: body == "MPI_Alltoall" and row["iterations"] == 3)
    phase("LatencyBandwidth", lambda row, body: body.startswith("MPI_Bcast, MPI_Allreduce") and "(MPI_Sendrecv, MPI_Sendrecv)" in body)
    phase("HPL", lambda row, body: "MPI_Irecv, MPI_Send, MPI_Wait" in body, ranks=2)


if __name__ == "__main__":
    run_cases(options_of(__doc__), {**dict.fromkeys(CASES, as_made), "lammps": lammps, "hpcc": hpcc})
