#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Windows of the critical path and critter's metrics of runs without a trace.

    path_windows.py --programs DIR --library libfathom.so --cli fathom [--build NAME] [CASE...]

The programs of paths.py that critter fails on, without a trace: they end as without Fathom, and their costs are right.
Programs that name windows (programs/windows.c): nested, across one another, open at the end, opened by mistake, too
many, from threads, in C, C++, Fortran and Python, with critter's names. On each Open MPI of open_mpi.tested(). The last line is
"N passed, N failed".
"""
import json
import os
import pathlib
import subprocess
import sys
from unittest.mock import patch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from attempts import until_it_passes  # noqa: E402
from open_mpi import Skipped  # noqa: E402
from paths import COSTS, by_messages, rows  # noqa: E402
from waits import options_of, run_cases  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
METRICS = ("bytes", "messages", "est_communication", "est_synchronisation", "communication_s", "computation_s", "run_s")
LATE = 0.015  # by which a rank may be late by chance on a machine with fewer processors than ranks
# What persistent requests move is not known from the times of calls.
PERSISTENT = (0, 0, 0, 0)
LEFT_OUT = "bytes and messages of persistent requests are missing"


def run(build, folder, *program, ranks=4, trace=False):
    """The program, without Fathom and with it: the same output and exit code. Returns the run directory."""
    words = build.launch(ranks, *program)
    kept = dict(cwd=folder, env=build.environment, capture_output=True, text=True, timeout=120, check=False)
    plain = subprocess.run(words, **kept)
    fathom = [str(build.options.cli), "run", *(["--trace"] if trace else []), "-o", str(folder / "run"), "--", *words]
    done = subprocess.run(fathom, **kept)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), (plain, done)
    return folder / "run"


def section_of(build, where):
    return json.loads(build.call(build.options.cli, "critical-path", where, "--json"))


def profile_of(where):
    return json.loads((where / "profile.json").read_text())


def check_whole(window):
    total = sum(sum(part["total_ns"]) for part in window["parts"])
    assert abs(total - window["elapsed_ns"]) <= 10 * len(window["parts"]) + 10, (total, window["elapsed_ns"])


def check_sums(metrics, by_routine, sums):
    """The routines' parts are the whole, on the path and of all ranks."""
    for name, row in metrics.items():
        for column, table in (("critical_path", by_routine), ("sum", sums)):
            parts = sum(one[name] for one in table.values())
            assert abs(parts - row[column]) < 1e-6 * max(1, abs(row[column])), (name, column, parts, row)


def costs(build, folder, case):
    truth, by_routine = COSTS[case]
    where = run(build, folder, build.program("costs"), case)
    section = section_of(build, where)
    metrics = {row["metric"]: row for row in rows(section["metrics"])}
    assert tuple(metrics) == METRICS, metrics
    limits = json.loads(build.call(build.options.cli, "analyze", where, "--only", "critical-path", "--json"))["limits"]
    assert any(LEFT_OUT in limit for limit in limits) == (case == "persistent"), limits
    if case == "persistent":
        truth, by_routine = PERSISTENT, {}
    names = METRICS[:4]
    assert tuple(round(metrics[name]["sum"], 6) for name in names) == tuple(4 * value for value in truth), metrics
    assert tuple(round(metrics[name]["most_of_a_rank"], 6) for name in names) >= truth, metrics
    # Which calls the path of the time passes through, only the run knows.
    for name in names:
        assert 0 <= metrics[name]["critical_path"] <= metrics[name]["sum"], (name, metrics[name])
    on_path = {row["routine"]: row for row in rows(section["path_metrics_by_routine"])}
    sums = {row["routine"]: row for row in rows(section["sums_by_routine"])}
    check_sums(metrics, on_path, sums)
    for routine, size in by_routine.items():
        alone = case == "example" and routine in ("MPI_Send", "MPI_Recv")
        assert round(sums[routine]["bytes"], 6) == (2 if alone else 4) * size, (routine, sums)
    assert abs(metrics["run_s"]["critical_path"] - section["path_seconds"]) < 1e-6, (metrics, section["path_seconds"])
    assert abs(metrics["communication_s"]["critical_path"] + metrics["computation_s"]["critical_path"] -
               metrics["run_s"]["critical_path"]) < 1e-6, metrics
    if case == "example":
        # The path passes through one call of each collective of an iteration; where ranks have no processor, also through
        # those that are slow to wake up. In the first iteration, a rank that works less may come last, because it began late.
        assert metrics["run_s"]["critical_path"] >= 9 * 0.008, metrics
        assert 0.8 * 573440 <= metrics["bytes"]["critical_path"] <= 573440 * 1.01, metrics
        text = build.call(build.options.cli, "critical-path", where)
        assert "critter's metrics" in text and "est_synchronisation" in text and "MPI_Allgather" in text, text


def windows_of(build, folder, case, **more):
    where = run(build, folder, build.program("windows"), case, **more)
    profile = profile_of(where)
    for window in profile["path"]:
        check_whole(window)
    return where, {window["window"]: window for window in profile["path"]}, \
        [note for note in profile["coverage"].get("notes", []) if "window" in note]


def in_turn(build, folder, case):
    def attempt(number):
        (folder / str(number)).mkdir()
        where, windows, notes = windows_of(build, folder / str(number), case)
        assert set(windows) == {"", "last", "first is late"} and not notes, (windows, notes)
        section = section_of(build, where)
        assert section["windows"]["window"] == ["first is late", "last"], section["windows"]
        assert section["windows"]["openings"] == [3, 3], section["windows"]
        metrics = {(row["window"], row["metric"]): row for row in rows(section["window_metrics"])}
        for name, rank, ms, size, factor in (("last", 3, 20, 800, (2, 2)), ("first is late", 0, 30, 400, (2, 2))):
            window = windows[name]
            assert 3 * ms <= window["elapsed_ns"] / 1e6 <= 3 * ms + 1000 * LATE, (name, window["elapsed_ns"])
            own = sum(ns for part in window["parts"] if part.get("program") for at, ns in zip(part["rank"], part["total_ns"])
                      if at == rank)
            assert own / 1e6 >= 3 * ms * 0.99, (name, own)
            assert window["ranks"]["rank"] == [0, 1, 2, 3] and min(window["ranks"]["total_ns"]) > 0, window["ranks"]
            assert [(block["function"], block["rank"], block["calls"]) for block in window["calls"]] == \
                [("MPI_Allreduce" if name == "last" else "MPI_Bcast", [0, 1, 2, 3], [3] * 4)], window["calls"]
            truth = {"bytes": 3 * size, "messages": 3, "est_communication": 6 * size, "est_synchronisation": 12}
            for metric, value in truth.items():
                row = metrics[name, metric]
                assert round(row["sum"], 6) == 4 * value and round(row["most_of_a_rank"], 6) == value, row
                assert row["critical_path"] <= value * 1.01, row
            waited = sum(sum(block["waiting_ns"]) for block in window["calls"]) / 1e9
            at = section["windows"]["window"].index(name)
            assert abs(section["windows"]["idle_seconds"][at] - waited) < 1e-6 and waited >= 3 * 3 * ms / 1000 * 0.9, waited
            assert metrics[name, "run_s"]["critical_path"] <= window["elapsed_ns"] / 1e9 + 1e-6, metrics
        text = build.call(build.options.cli, "critical-path", where)
        assert "critical path of first is late, opened 3 times" in text, text
        assert "first is late" in build.call(build.options.cli, "report", where)
        csv = folder / "path.csv"
        build.call(build.options.cli, "export", where, "--format", "path", "-o", csv, "--force")
        assert any(line.startswith("last,3,MPI_Allreduce,1,") for line in csv.read_text().splitlines()), csv.read_text()
    until_it_passes(attempt)


def nested(build, folder, case):
    _, windows, notes = windows_of(build, folder, case)
    assert set(windows) == {"", "outer", "inner", "across", "open"} and not notes, (windows, notes)
    for name, ms in (("outer", 25), ("inner", 10), ("across", 15), ("open", 10)):
        assert windows[name]["elapsed_ns"] / 1e6 >= ms * 0.99 and windows[name]["openings"] == 1, windows[name]
    assert [block["function"] for block in windows["outer"]["calls"]] == ["MPI_Barrier"], windows["outer"]
    assert [block["function"] for block in windows["inner"]["calls"]] == ["MPI_Barrier"], windows["inner"]
    assert windows["across"]["calls"] == [], windows["across"]


def mistakes(build, folder, case):
    _, windows, notes = windows_of(build, folder, case)
    assert set(windows) == {"", "good"} and windows["good"]["openings"] == 1, windows
    said = "\n".join(notes)
    for sentence in ('"good" was opened while it was open', '"good" was closed while it was not open', '"never opened" was closed',
                     '"odd" of the critical path is left out: rank 1 opened it 2 times, rank 0 1 time',
                     '"of rank 0" of the critical path is left out: rank 0 opened it 1 time',
                     "that rank 0 does not open are left out", "a thread other than"):
        assert sentence in said, (sentence, notes)
    assert len(notes) == 7, notes


def too_many(build, folder, case):
    where, windows, notes = windows_of(build, folder, case)
    assert len(windows) == 65 and "name 63" in windows and windows["name 1"]["openings"] == 4096 - 63, list(windows)
    assert any("first 64 names" in note for note in notes) and any("first 4096 openings" in note for note in notes), notes
    assert (where / "profile.json").stat().st_size < 200_000


def threads(build, folder, case):
    _, windows, notes = windows_of(build, folder, case)
    assert set(windows) == {"", "threaded"} and not notes, (windows, notes)
    window = windows["threaded"]
    assert window["elapsed_ns"] >= 29_000_000, window["elapsed_ns"]
    assert [block["function"] for block in window["calls"]] == ["MPI_Barrier"], window["calls"]


def serialized(build, folder, case):
    """A window opened while another thread is in MPI does not disturb what that thread remembers."""
    for memory in ("64k", "16M"):
        (folder / memory).mkdir()
        with patch.dict(build.environment, FATHOM_WAITS_MEMORY=memory):
            _, windows, notes = windows_of(build, folder / memory, case)
        assert windows["beside"]["openings"] == 2000 and not notes, (windows["beside"]["openings"], notes)


def left_out(build, folder, case):
    """However many windows are left out, and by how many threads, the notes stay few."""
    _, windows, notes = windows_of(build, folder, case)
    assert set(windows) == {""}, list(windows)
    assert 2 <= len(notes) <= 40 and any("a thread other than" in note for note in notes), notes


def paused(build, folder, case):
    _, windows, _ = windows_of(build, folder, case)
    calls = {block["function"]: block["calls"] for block in windows["paused"]["calls"]}
    assert calls["MPI_Barrier"] == [2] * 4, calls


def of_a_traced_run(build, folder, _):
    """A trace has no windows; its profile has them, and they are told beside the trace's path."""
    build.environment["FATHOM_LIBRARY"] = build.environment["FATHOM_LIBRARY"].replace("libfathom.so", "libfathom-trace.so")
    try:
        where, windows, _ = windows_of(build, folder, "in_turn", trace=True)
    finally:
        build.environment["FATHOM_LIBRARY"] = build.environment["FATHOM_LIBRARY"].replace("libfathom-trace.so", "libfathom.so")
    section = section_of(build, where)
    assert section["windows"]["window"] == ["first is late", "last"] and "slack" in section, section
    # Calls on the run's path by function, against those of the trace's path. A call that is decided just where the path
    # enters a rank may count on one side only.
    truth, own = {}, {}
    for row in rows(section["path"]):
        truth[row["name"]] = truth.get(row["name"], 0) + row["count"]
    for part in windows[""]["parts"]:
        if not part.get("program"):
            own[part["function"]] = own.get(part["function"], 0) + sum(part["calls"])
    for function in ("MPI_Allreduce", "MPI_Bcast", "MPI_Barrier"):
        assert abs(own.get(function, 0) - truth.get(function, 0)) <= 3, (function, own, truth)
    assert "critical path of last" in build.call(build.options.cli, "critical-path", where)


def critters_names(build, folder, _):
    profile = profile_of(run(build, folder, build.program("critter"), ranks=2))
    windows = {window["window"]: window for window in profile["path"]}
    assert set(windows) == {"", "critter"} and windows["critter"]["openings"] == 2, windows
    phases = {block.get("phase") for block in profile["calls"] if block["function"] == "MPI_Barrier"}
    assert phases == {"factor", "solve", "check"}, phases


FORTRAN = """program windows
  use mpi
  use fathom
  implicit none
  integer :: error
  call MPI_Init(error)
  call fathom_path_start("in Fortran   ")
  call MPI_Barrier(MPI_COMM_WORLD, error)
  call fathom_path_stop("in Fortran")
  call MPI_Finalize(error)
end program
"""


def fortran(build, folder, _):
    (folder / "windows.f90").write_text(FORTRAN)
    build.call("sh", "-c", f"cd {folder} && {build.tool('mpif90')} {ROOT}/profiler/fortran/fathom.f90 windows.f90 -o windows -ldl")
    windows = [window["window"] for window in profile_of(run(build, folder, folder / "windows", ranks=2))["path"]]
    assert windows == ["", "in Fortran"], windows


PYTHON = """import ctypes, os, sys
sys.path.insert(0, {package!r})
import marks
library = ctypes.CDLL({mpi!r}, ctypes.RTLD_GLOBAL)
mpi = ctypes.CDLL(None)  # as the dynamic linker finds them: what is preloaded comes first
mpi.MPI_Init(None, None)
with marks.path("in Python"):
    with marks.phase("exchange"):
        mpi.MPI_Barrier(ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, "ompi_mpi_comm_world"))))
marks.path_start("by hand")
marks.path_stop("by hand")
mpi.MPI_Finalize()
"""


def python(build, folder, _):
    if build.is_later:
        raise Skipped("there is no Python in its Debian")
    libraries = sorted(path for folder_ in ("lib", "lib/x86_64-linux-gnu") for path in (build.prefix / folder_).glob("libmpi.so.*"))
    (folder / "windows.py").write_text(PYTHON.format(package=str(ROOT / "python/fathom"), mpi=str(libraries[0])))
    profile = profile_of(run(build, folder, "/usr/bin/python3", folder / "windows.py", ranks=2))
    assert [window["window"] for window in profile["path"]] == ["", "by hand", "in Python"], profile["path"]
    assert any(block.get("phase") == "exchange" for block in profile["calls"]), profile["calls"]


def main():
    own = (in_turn, nested, mistakes, too_many, threads, serialized, left_out, paused, of_a_traced_run, critters_names, fortran, python)
    cases = dict.fromkeys(COSTS, costs) | {case.__name__: case for case in own}
    run_cases(options_of(__doc__), cases | by_messages(cases))


if __name__ == "__main__":
    main()
