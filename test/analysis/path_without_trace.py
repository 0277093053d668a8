#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The critical path of a profile is that which `fathom analyze` finds in a trace of the same run.

    path_without_trace.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

Truth programs, HPCC and LAMMPS, 64 ranks, and little memory for waits. On each Open MPI of open_mpi.tested(). The last line is
"N passed, N failed".
"""
import collections
import json
import os
import pathlib
import sys
from unittest.mock import patch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import real_programs  # noqa: E402
from open_mpi import Skipped  # noqa: E402
from attempts import until_it_passes  # noqa: E402
from paths import PATHS, analyzed, by_messages  # noqa: E402
from waits import options_of, run_cases  # noqa: E402

SHARE = 0.02  # of the run's time, by which a share may differ
MOST_ERROR = 0.005
NOT_TIMED = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")  # the profile's path lies between them


def sums(rows):
    found = collections.Counter()
    for key, seconds in rows:
        found[key] += seconds
    return found


def rows_of(table, *names):
    return zip(zip(*(table[name] for name in names)), table["seconds"])


def place(site):
    """(file, line); in a stripped program its place in the file, as analyses name it."""
    if site.get("function") or site.get("file") or not site.get("module"):
        return site.get("file", "").split("/")[-1], site.get("line", 0)
    return f"{site['module'].split('/')[-1]}+{site['offset']:#x}", 0


class ProfilePath:
    def __init__(self, run):
        profile = json.loads((run / "profile.json").read_text())
        assert len(profile["path"]) == 1 and profile["path"][0]["window"] == "", profile["path"]
        self.coverage, path = profile["coverage"]["waits"], profile["path"][0]
        self.elapsed, self.error, self.jumps = path["elapsed_ns"] / 1e9, path["error_ns"] / 1e9, path["jumps"]
        sites = {site["id"]: place(site) for site in profile["call_sites"]}
        self.rows = []
        for part in path["parts"]:
            function = "(program)" if part.get("program") else part["function"]
            for rank, ns in zip(part["rank"], part["total_ns"]):
                self.rows.append((rank, function, ns / 1e9, (function, part["function"], *sites.get(part["site"], ("", 0)))))

    def by(self, key):
        return sums((key(row), row[2]) for row in self.rows)


def site_of(row):
    return row[3][:2] if row[3][1] == "MPI_Finalize" else row[3]


def check(run, section, is_only_chain=False):
    path = ProfilePath(run)
    assert abs(sum(row[2] for row in path.rows) - path.elapsed) < 1e-8, "the parts are not the whole"
    assert path.error * 1e9 <= path.coverage["left_out_ns"] + path.coverage["unresolved_ns"] + 1, (path.error, path.coverage)
    if path.error > MOST_ERROR * path.elapsed and not is_only_chain:  # another may then be as long
        return path
    table = section["path"]
    inside = [(rank, name, seconds, (name, call or name, file.split("/")[-1], line)) for rank, name, seconds, call, file, line
              in zip(*(table[column] for column in ("rank", "name", "seconds", "leads_to", "file", "line")))
              if name not in NOT_TIMED]
    allowed = SHARE * path.elapsed + path.error
    for name, own, truth in (
            ("rank", path.by(lambda row: row[0]), sums((row[0], row[2]) for row in inside)),
            ("function", path.by(lambda row: row[1]), sums((row[1], row[2]) for row in inside)),
            # Also of what the program did before each call; MPI_Finalize's site is no call's in the profile.
            ("site", path.by(site_of), sums((site_of(row), row[2]) for row in inside))):
        for key in own.keys() | truth.keys():
            assert abs(own[key] - truth[key]) <= allowed, \
                f"{name} {key}: {own[key]} s of {path.elapsed} s in the profile, {truth[key]} s in the trace"
    return path


def made_path(build, folder, case, ranks=4, factor=10):
    """They work one second or more, so that two hundredths of that are more than what a busy machine does to them."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("paths"), case, str(factor), ranks=ranks)
        return check(run, analyzed(build, run)["analyses"]["critical-path"])
    return until_it_passes(attempt)


def on_64_ranks(build, folder, _):
    for case, factor, jumps in (("ring", 1, 64), ("in_turn", 1, 60), ("sleeper", 10, 1), ("butterfly", 10, 1), ("root", 10, 1)):
        (folder / case).mkdir()
        path = made_path(build, folder / case, case, ranks=64, factor=factor)
        assert path.jumps >= jumps, (case, path.jumps)


def real_program(build, folder, name, memory=None):
    if build.is_later:
        raise Skipped("Debian compiles it for the Open MPI here")
    program = real_programs.PROGRAMS[name]
    real_programs.prepare(program, folder)
    before = pathlib.Path.cwd()
    os.chdir(folder)
    try:
        with patch.dict(build.environment, {} if memory is None else {"FATHOM_WAITS_MEMORY": memory}):
            run = build.traced(folder / "run", *program.command, ranks=program.ranks)
    finally:
        os.chdir(before)
    return check(run, analyzed(build, run)["analyses"]["critical-path"])


def lammps(build, folder, _, memory=None):
    path = real_program(build, folder, "lammps", memory)
    assert path.jumps > (50 if memory is None else 0), path.jumps
    return path


def hpcc(build, folder, _):
    assert real_program(build, folder, "hpcc").jumps > 100


def with_little_memory(build, folder, _):
    """The shortest calls go, their time is the error that the path states, and the path stays whole."""
    thresholds, errors = [], []
    for memory in ("64k", "256k", "16M"):
        path = lammps(build, folder / memory if (folder / memory).mkdir() is None else folder, memory, memory=memory)
        thresholds.append(path.coverage["threshold_ns"])
        errors.append(path.error / path.elapsed)
    assert errors[0] > errors[2] and errors[2] < MOST_ERROR, errors
    assert thresholds[0] > thresholds[2] and sorted(thresholds, reverse=True) == thresholds, thresholds


def error_bounds_every_share(build, folder, _):
    """Where one rank works at a time, no share is wrong by more than what the budget forces out, and the path says how much."""
    def attempt(number):
        errors = []
        for memory in ("64k", "256k", "1M", "4M", "16M"):
            with patch.dict(build.environment, FATHOM_WAITS_MEMORY=memory):
                run = build.traced(folder / f"{memory}-{number}", build.program("paths"), "relay")
            path = check(run, analyzed(build, run)["analyses"]["critical-path"], is_only_chain=True)
            errors.append(path.error / path.elapsed)
        assert errors[0] > errors[1] > errors[2] > errors[3], errors
        assert errors[0] > 0.5 and max(errors[3:]) < SHARE, errors
    until_it_passes(attempt)


def many_short_waits(build, folder, _):
    """60,000 rounds of a halo exchange used to be more than the default memory held: ranks were wrong by 7 %."""
    path = made_path(build, folder, "halo")
    assert path.error < MOST_ERROR * path.elapsed and path.jumps > 10000, (path.error, path.jumps)


def of_program(name, *cases):
    """Those of an installed program, each tried again where the machine was busy."""
    def tried(case):
        def attempt(build, folder, case_name, number):
            (folder / str(number)).mkdir()
            return case(build, folder / str(number), case_name)
        return lambda build, folder, case_name: until_it_passes(lambda number: attempt(build, folder, case_name, number))
    return {case.__name__: tried(case) for case in cases} if real_programs.is_installed(name) else {}


def main():
    made = dict.fromkeys(PATHS, made_path)
    made |= {"on_64_ranks": on_64_ranks}
    with_memory = {"error_bounds_every_share": error_bounds_every_share, "many_short_waits": many_short_waits}
    run_cases(options_of(__doc__), made | by_messages(made) | with_memory | of_program("hpcc", hpcc) |
              of_program("lammps", lammps, with_little_memory))


if __name__ == "__main__":
    main()
