#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Critical paths and costs of real jobs: programs that make one, traced, and the number that must come out.

    paths.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(). The last line is "N passed, N failed".

Each program of COSTS is one that a tool before this one (critter, in its first or its last version) hangs on, aborts
on, or counts wrongly:

    example            its own example; its figures, where the definitions agree
    ring               all send, then all receive: its handshake before each send deadlocks
    irecv_send_wait    a send that an earlier receive matches: deadlock; abort in MPI_Wait
    any_source         a receive from anybody is taken for a collective: hangs
    two_waits          two requests waited for one by one: abort
    posted_waitall     all of the wait is charged to the first request; the sends are missing from its table
    sendrecv           a partner compared with itself: deadlock
    waitall_with_null  MPI_REQUEST_NULL among the requests: abort
    testing            requests completed by MPI_Test and MPI_Testall: abort at the end
    bsend_testany      MPI_Testany and MPI_Bsend are not declared; and it takes the program's buffer away
    persistent         started twice: its requests are found by handle
    ireduce            recorded as another collective
    vectors            MPI_Reduce_scatter, MPI_Scatterv, MPI_Alltoallv: do not compile, or charge another routine
Sums in single precision, which lose small amounts next to large ones, are in
test/unit/analysis/path_test.cpp.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
from unittest.mock import patch

from attempts import until_it_passes
from waits import path_without_waits, run_cases

# Bytes, messages, estimated communication and synchronisation along the path. Their sums over four ranks are four
# times that. By routine: bytes along the path.
COSTS = {
    "example": ((573440, 50, 737280, 130), {"MPI_Allgather": 327680, "MPI_Allreduce": 81920, "MPI_Bcast": 81920,
                                            "MPI_Barrier": 0}),
    "ring": ((800, 2, 800, 2), {"MPI_Send": 400, "MPI_Recv": 400}),
    "irecv_send_wait": ((800, 2, 800, 2), {"MPI_Send": 400, "MPI_Irecv": 400}),
    "any_source": ((800, 2, 800, 2), {"MPI_Send": 400, "MPI_Recv": 400}),
    "two_waits": ((800, 2, 800, 2), {"MPI_Isend": 400, "MPI_Irecv": 400}),
    "posted_waitall": ((800, 2, 800, 2), {"MPI_Isend": 400, "MPI_Irecv": 400}),
    "waitall_with_null": ((800, 2, 800, 2), {"MPI_Isend": 400, "MPI_Irecv": 400}),
    "testing": ((800, 2, 800, 2), {"MPI_Isend": 400, "MPI_Irecv": 400}),
    "bsend_testany": ((800, 2, 800, 2), {"MPI_Send": 400, "MPI_Irecv": 400}),
    "persistent": ((1600, 4, 1600, 4), {}),
    "sendrecv": ((400, 1, 400, 1), {"MPI_Sendrecv": 400}),
    "ireduce": ((400, 1, 800, 4), {"MPI_Reduce": 400}),
    "vectors": ((1200, 3, 1600, 6), {"MPI_Reduce_scatter": 400, "MPI_Scatter": 400, "MPI_Alltoall": 400}),
}

# The program's own time on the path, by rank, in ms; at least how often it goes over to another rank; slack of
# calls of ranks (of MPI_Barrier the first, before the work), in ms.
PATHS = {
    "sleeper": ({1: 100}, 1, {(0, "MPI_Barrier"): 80, (1, "MPI_Barrier"): 0, (2, "MPI_Barrier"): 80, (3, "MPI_Barrier"): 80}),
    "ring": ({0: 40, 1: 20, 2: 20, 3: 20}, 4, {}),
    "in_turn": ({0: 30, 1: 30, 2: 30, 3: 30}, 3, {}),
    "master_worker": ({2: 80}, 1, {}),
    "pipeline": ({0: 10, 1: 10, 2: 150, 3: 10}, 3, {}),
    "butterfly": ({3: 50, 2: 50}, 1, {}),
    "root": ({0: 50, 3: 40}, 1, {}),
    # Who is waited for by a sender may not come later, whatever time it has at the end.
    "posts_late": ({0: 60, 1: 50}, 1, {(0, "MPI_Send"): 50, (1, "MPI_Recv"): 0, (1, "MPI_Finalize"): 60, (2, "MPI_Finalize"): 110}),
}
ANALYSES = ("critical-path", "lateness", "collectives", "transfers")
# A rank may be late by chance on a machine with fewer processors.
LATE_MS = 15


def by_messages(cases):
    """The same cases with a path that process 0 may not follow alone: it goes from process to process."""
    def of(case):
        def run(build, folder, name):
            with patch.dict(build.environment, FATHOM_PATH_MEMORY="0"):
                case(build, folder, name.removesuffix("_by_messages"))
        return run
    return {f"{name}_by_messages": of(case) for name, case in cases.items()}


def analyzed(build, run, *words):
    return json.loads(build.call(build.options.cli, "analyze", run, "--only", "critical-path", *words, "--json"))


def rows(table):
    return [dict(zip(table, row)) for row in zip(*table.values())]


def check_costs(build, folder, case):
    truth, by_routine = COSTS[case]
    run = build.traced(folder, build.program("costs"), case)
    section = analyzed(build, run)["analyses"]["critical-path"]
    metrics = {row["metric"]: row for row in rows(section["metrics"])}
    names = ("bytes", "messages", "est_communication", "est_synchronisation")
    assert tuple(metrics[name]["critical_path"] for name in names) == truth, metrics
    assert tuple(metrics[name]["sum"] for name in names) == tuple(4 * value for value in truth), metrics
    assert tuple(metrics[name]["mean"] for name in names) == truth, metrics
    of = {row["routine"]: row for row in rows(section["path_metrics_by_routine"])}
    for routine, size in by_routine.items():
        assert of[routine]["bytes"] == size, (routine, of)
    for name, row in metrics.items():
        assert abs(sum(one[name] for one in of.values()) - row["critical_path"]) < 1e-6, (name, of)
        assert row["critical_path"] >= row["most_of_a_rank"], row
    assert metrics["run_s"]["critical_path"] <= section["path_seconds"], metrics
    check_whole(section)
    path_without_waits(build, run, build.analyzed(run))
    if case == "example":
        check_example(build, run, metrics, section)


def check_example(build, run, metrics, section):
    assert metrics["computation_s"]["critical_path"] >= 0.080, metrics
    assert metrics["bsp_communication"]["critical_path"] == 573440, metrics
    assert metrics["bsp_synchronisation"]["critical_path"] == 50, metrics
    alpha, beta = section["alpha_seconds"], section["beta_seconds_per_byte"]
    seconds = metrics["est_s"]["critical_path"]
    assert alpha is None or abs(seconds - (130 * alpha + 737280 * beta)) < 0.01 * seconds, (alpha, beta, seconds)
    text = build.call(build.options.cli, "critical-path", run)
    assert "573,440" in text and "737,280" in text and "MPI_Allgather" in text, text


def check_whole(section):
    whole = section["path_seconds"]
    for table in ("path_by_rank", "path_by_function", "path_by_communicator"):
        assert abs(sum(section[table]["seconds"]) - whole) < 1e-8, (table, section[table])


def check_path(build, folder, case):
    def attempt(number):
        run = build.traced(folder / str(number), build.program("paths"), case)
        section = analyzed(build, run)["analyses"]["critical-path"]
        check_whole(section)
        check_shape(section, *PATHS[case])
        path_without_waits(build, run, build.analyzed(run))
        if case == "sleeper":
            text = " ".join(build.call(build.options.cli, "critical-path", run).split())  # lines are folded
            assert re.search(r"0\.1\d* s \d+ % rank 1 computing between MPI_Barrier \(paths.c:\d+\) and MPI_Barrier \(paths.c:\d+\), once", text), text
    until_it_passes(attempt)


def check_shape(section, truth, changes, slack):
    program = {}
    for row in rows(section["path"]):
        if row["name"] == "(program)" and row["line"] > 0:
            program[row["rank"]] = program.get(row["rank"], 0) + row["seconds"]
    for rank in range(4):
        ms = 1000 * program.get(rank, 0)
        assert truth.get(rank, 0) * 0.99 <= ms <= truth.get(rank, 0) + LATE_MS, (rank, program, section["path"])
    assert section["changes_of_rank"] >= changes, section["changes_of_rank"]
    # The barrier of a case may be inlined into main(), whose own comes before it.
    lines = (pathlib.Path(__file__).parent / "programs/paths.c").read_text(encoding="utf-8").splitlines()
    own = len(lines) - lines[::-1].index("  MPI_Barrier(MPI_COMM_WORLD);")
    calls = {(row["rank"], row["name"]): row["least_seconds"] for row in rows(section["slack"]) if row["line"] != own}
    for call, ms in slack.items():
        assert abs(1000 * calls[call] - ms) < LATE_MS, (call, calls)


def protocols_and_blocked_time_are_found(build, folder):
    """8 KiB are a rendezvous between processes of a host, 400 bytes come whole; a receiver that waits for its sender."""
    def analysed(program, case, run=None):
        run = build.traced(folder / (run or case), build.program(program), case)
        results = json.loads(build.call(build.options.cli, "analyze", run, "--only", "transfers", "--json"))
        return results["analyses"]["transfers"], results["limits"]
    def late_sender(number):
        section, limits = analysed("waits", "late_sender", f"late{number}")
        assert 0.098 < section["blocked_by_peers_seconds"] < 0.3, section["blocked"]
        assert section["blocked_by_the_wire_seconds"] < 0.05, section["blocked"]
        return limits
    limits = until_it_passes(late_sender)
    peruse = not any("without PERUSE" in limit for limit in limits)
    assert peruse == build.has_peruse, limits
    if not peruse:
        return
    for program, case, size, protocol in (("costs", "example", 8192, "rendezvous"), ("costs", "ring", 400, "eager")):
        section, limits = analysed(program, case)
        of = [row for row in rows(section["messages"]) if row["class"] == "point-to-point" and row["side"] == "receive"]
        assert len(of) == (20 if case == "example" else 4), of
        for row in of:
            assert row["bytes"] == size, row
            # An unexpected message is unknown if no other message of its size shows the protocol.
            assert row["protocol"] == protocol or (row["protocol"] == "unknown" and row["unexpected"] == 1), row
            assert row["posted_s"] <= row["matched_s"] <= row["begin_s"] <= row["end_s"] <= row["complete_s"], row
            assert row["unexpected"] == 1 or row["queued_seconds"] == 0, row
    section, limits = analysed("waits", "late_receiver")
    assert max(section["transfers"]["most_queued_seconds"]) > 0.015, section["transfers"]


def results_are_the_same_for_every_number_of_processes(build, folder):
    """Analysed by 1 to 8 processes: the same bytes."""
    for program, case in (("costs", "example"), ("costs", "ireduce"), ("paths", "master_worker")):
        run = build.traced(folder / case, build.program(program), case)
        said = {}
        for processes in (1, 2, 3, 4, 8):
            out = folder / f"{case}-{processes}.json"
            build.call(*build.launch_tool(processes, build.options.cli, build.options.cli, "analyze", run, "-o", out,
                                     *(word for name in ANALYSES for word in ("--only", name))))
            said[processes] = out.read_bytes()
        different = [processes for processes in said if said[processes] != said[1]]
        assert not different, (case, different)
        assert all(name in json.loads(said[1])["analyses"] for name in ANALYSES), said[1]


def a_killed_process_ends_the_analysis(build, folder):
    """One of three is killed as soon as it works on the trace: no smaller answer, an error."""
    run, steps = folder / "run", folder / "steps"
    steps.mkdir()
    build.call(build.options.generate, run, "--ranks", "8", "--events", "3000000")
    # Its steps lie in files in $TMPDIR, which are mapped from the first step on.
    script = f'''export TMPDIR={steps}
        if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then
          (until grep -qs "{steps}" /proc/$$/maps; do [ -e /proc/$$ ] || exit; done; kill -9 $$) &
        fi
        exec {build.options.cli} analyze {run} -o {folder}/out.json'''
    done = subprocess.run(build.launch_tool(3, build.options.cli, "sh", "-c", script), env=build.environment, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode != 0 and "signal 9" in done.stdout + done.stderr, done
    assert not (folder / "out.json").exists() and "late" not in done.stdout, done


def the_documented_example_agrees_with_wait_states(build, folder):
    """The program of docs/adding-an-analysis.md says what the wait states say; and the document shows that program."""
    run = build.traced(folder / "run", build.program("waits"), "late_sender")
    said = build.call(build.options.example, run)
    waits = {(int(a), int(b)): float(seconds) for a, seconds, b in re.findall(r"rank (\d+) waited ([\d.]+) s for rank (\d+)", said)}
    assert 0.098 < waits[0, 1] < 0.3, said
    root = pathlib.Path(__file__).resolve().parents[2]
    source = (root / "docs/examples/late_senders.cpp").read_text()
    assert source in (root / "docs/adding-an-analysis.md").read_text(), "docs/adding-an-analysis.md shows another program"


OTHERS = (a_killed_process_ends_the_analysis, the_documented_example_agrees_with_wait_states, protocols_and_blocked_time_are_found,
          results_are_the_same_for_every_number_of_processes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--generate", required=True, help="trace_generate")
    parser.add_argument("--example", required=True, help="the program of docs/adding-an-analysis.md")
    parser.add_argument("--build")
    parser.add_argument("cases", nargs="*")
    run_cases(parser.parse_args(), dict.fromkeys(COSTS, lambda build, folder, case: check_costs(build, folder / "run", case)) |
              dict.fromkeys(PATHS, check_path) |
              {other.__name__: lambda build, folder, _, other=other: other(build, folder) for other in OTHERS})


if __name__ == "__main__":
    main()
