#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Wait states of real jobs: programs that make one, traced; what must come out, and nothing else.

    waits.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(). Also: several processes of the analysis give the same bytes. The
last line is "N passed, N failed, N skipped".
"""
import argparse
import functools
import json
import os
import pathlib
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from attempts import until_it_passes  # noqa: E402
from open_mpi import OpenMpi, Skipped, exported_functions, report_cases, tested  # noqa: E402

ROUNDS, DELAY_S = 5, 0.020
TRUTH = ROUNDS * DELAY_S

# Case: kind, function (or either of two: the library chooses), who waits (each the whole truth), for whom.
CASES = {
    "late_sender": ("late-sender", "MPI_Recv", [0], 1),
    "any_source": ("late-sender", "MPI_Recv", [0], 1),
    "any_tag": ("late-sender", "MPI_Recv", [0], 1),
    "dup": ("late-sender", "MPI_Recv", [0], 1),
    "split": ("late-sender", "MPI_Recv", [0], 1),
    "irecv_wait": ("late-sender", "MPI_Wait", [0], 1),
    "waitall": ("late-sender", "MPI_Waitall", [0], 1),
    "waitany": ("late-sender", "MPI_Waitany", [0], 1),
    "late_receiver": ("late-receiver", "MPI_Send", [0], 1),
    "ssend": ("late-receiver", "MPI_Ssend", [0], 1),
    "wrong_order": ("wrong-order", "MPI_Recv", [0], 1),
    "barrier": ("wait-at-barrier", "MPI_Barrier", [0, 2, 3], 1),
    "allreduce": ("wait-at-nxn", "MPI_Allreduce", [0, 2, 3], 1),
    "iallreduce": ("wait-at-nxn", "MPI_Wait", [0, 2, 3], 1),
    "bcast": ("late-broadcast", "MPI_Bcast", [0, 2, 3], 1),
    "scatter": ("early-scatter", "MPI_Scatter", [0, 2, 3], 1),
    "reduce": ("early-reduce", "MPI_Reduce", [0], 1),
    "reduce_in_split": ("early-reduce", "MPI_Reduce", [0], 1),
    "gather": ("early-gather", "MPI_Gather", [0], 1),
    "scan": ("early-scan", "MPI_Scan", [2, 3], 1),
    "ring": ("late-sender", "MPI_Recv", [1, 2, 3], None),
    "persistent": ("late-sender", "MPI_Wait", [0], 1),
    "late_receiver_in_wait": ("late-receiver", "MPI_Wait", [0], 1),
    "send_that_ends_inside_a_receive": ("late-sender", "MPI_Recv", [0], 1),
    "probe": ("late-sender", "MPI_Probe", [0], 1),
    "mprobe": ("late-sender", "MPI_Mprobe", [0], 1),
    "probe_loop": ("polling", "MPI_Iprobe", [0], 1),
    "improbe_loop": ("polling", "MPI_Improbe", [0], 1),
    "test_loop": ("polling", "MPI_Test", [0], 1),
    "testall_loop": ("polling", "MPI_Testall", [0], 1),
    "testany_loop": ("polling", "MPI_Testany", [0], 1),
    "testsome_loop": ("polling", "MPI_Testsome", [0], 1),
    "test_and_probe_loop": ("polling", "MPI_Test", [0], 1),
    "get_status_loop": ("polling", "MPI_Request_get_status", [0], 1),
    "fence": ("wait-at-fence", "MPI_Win_fence", [0, 2, 3], 1),
    "late_post": ("late-post", "MPI_Win_start or MPI_Win_complete", [0, 2, 3], 1),
    "late_complete": ("late-complete", "MPI_Win_wait", [0, 2, 3], 1),
    "win_test_loop": ("polling", "MPI_Win_test", [0, 2, 3], 1),
    "win_create": ("wait-at-create", "MPI_Win_create", [0, 2, 3], 1),
    "win_free": ("wait-at-create", "MPI_Win_free", [0, 2, 3], 1),
    "comm_split": ("wait-at-create", "MPI_Comm_split", [0, 2, 3], 1),
    "comm_create_group": ("wait-at-create", "MPI_Comm_create_group", [0, 2, 3], 1),
    "connect_and_accept": ("wait-at-create", "MPI_Comm_accept", [0, 2, 3], 1),
    "intercomm_create": ("wait-at-create", "MPI_Intercomm_create", [0, 2, 3], 1),
    "intercomm_merge": ("wait-at-create", "MPI_Intercomm_merge", [0, 2, 3], 1),
    "intercomm_bcast": ("late-broadcast", "MPI_Bcast", [0, 2], 1),
    "intercomm_reduce": ("early-reduce", "MPI_Reduce", [0], 1),
    "neighbors": ("wait-for-neighbours", "MPI_Neighbor_allgather", [0, 2], 1),
    "ineighbors": ("wait-for-neighbours", "MPI_Wait", [0, 2], 1),
    "ineighbors_in_test_loop": ("polling", "MPI_Test", [0, 2], 1),
    "file_open": ("wait-at-file", "MPI_File_open", [0, 2, 3], 1),
    "file_close": ("wait-at-file", "MPI_File_close", [0, 2, 3], 1),
    "file_write_ordered": ("wait-at-file", "MPI_File_write_ordered", [0, 2, 3], 1),
    "file_sync": ("wait-at-file", "MPI_File_sync", [0, 2, 3], 1),
    "file_write_all": ("wait-at-file", "MPI_File_write_at_all", [0, 2, 3], 1),
    "file_set_size": ("wait-at-file", "MPI_File_set_size", [0, 2, 3], 1),
    "file_write_ordered_begin": ("wait-at-file", "MPI_File_write_ordered_begin", [0, 2, 3], 1),
}
# The same, of more_waits.c. The library may make a process wait for a lock in any of these calls.
LOCKED = "MPI_Win_lock or MPI_Put or MPI_Win_flush or MPI_Win_unlock"
ALL_LOCKED = "MPI_Win_lock_all or MPI_Put or MPI_Win_unlock_all"
MORE = {
    "exclusive_then_shared": ("wait-for-lock", LOCKED, [0, 2, 3], 1),
    "shared_then_exclusive": ("wait-for-lock", LOCKED, [0], 1),
    "exclusive_then_lock_all": ("wait-for-lock", ALL_LOCKED, [0, 2, 3], 1),
    "lock_all_then_exclusive": ("wait-for-lock", LOCKED, [0], 1),
    "flush_in_a_lock": ("wait-for-lock", LOCKED, [0, 2, 3], 1),
    "lock_elsewhere": ("wait-for-lock", LOCKED, [0, 2, 3], 1),
    "allocated_then_shared": ("wait-for-lock", LOCKED, [0, 2, 3], 1),
    "get_status_of_a_collective": ("polling", "MPI_Request_get_status", [0, 2, 3], 1),
    "get_status_of_a_send": ("polling", "MPI_Request_get_status", [0], 1),
    "two_mprobes": ("late-sender", "MPI_Mprobe", [0], 1),
    "freed_before": ("late-sender", "MPI_Recv", [0], 1),
    "any_source_freed_before": ("late-sender", "MPI_Recv", [0], 1),
    "any_source_before": ("late-sender", "MPI_Wait", [0], 1),
    "cancelled_before": ("late-sender", "MPI_Wait", [0], 1),
    "sent_to_a_neighbor": ("wait-for-neighbours", "MPI_Neighbor_alltoall", [0], 1),
    "isent_to_a_neighbor": ("wait-for-neighbours", "MPI_Wait", [0], 1),
    "allreduce_init": ("wait-at-nxn", "MPI_Wait", [0, 2, 3], 1),
    "allreduce_init_in_test_loop": ("polling", "MPI_Test", [0, 2, 3], 1),
    "bcast_init": ("late-broadcast", "MPI_Wait", [0, 2, 3], 1),
    "reduce_init": ("early-reduce", "MPI_Wait", [0], 1),
    "startall_of_collectives": ("wait-at-nxn or wait-at-barrier", "MPI_Waitall", [0, 2, 3], 1),
    "neighbor_init": ("wait-for-neighbours", "MPI_Wait", [0, 2], 1),
    "neighbor_init_in_test_loop": ("polling", "MPI_Test", [0, 2], 1),
}
# The same, of partitions.c, which the releases that have partitioned communication compile.
PARTITIONED = {
    "last_pready": ("late-sender", "MPI_Wait", [0], 1),
    "last_pready_on_other": ("late-sender", "MPI_Wait", [0], 1),
    "two_partitioned": ("late-sender", "MPI_Wait", [0], 1),
    "parrived_loop": ("polling", "MPI_Parrived", [0], 1),
    "partitions_tested": ("polling", "MPI_Test", [0], 1),
    "late_start": ("late-receiver", "MPI_Wait", [0], 1),
}
# The same, of get_status.c, which the releases that have MPI 4.1 compile.
GET_STATUS = {
    "get_status_all_loop": ("polling", "MPI_Request_get_status_all", [0], 1),
    "get_status_any_loop": ("polling", "MPI_Request_get_status_any", [0], 1),
    "get_status_some_loop": ("polling", "MPI_Request_get_status_some", [0], 1),
}
CASES |= MORE | PARTITIONED | GET_STATUS
# The same, of a process whose other thread keeps it on the path meanwhile.
OF_THREADS = {"received_in_another_thread": ("late-sender", "MPI_Recv", [0], 1)}


def program_of(case, file):
    """The program that has this case, and its words; file is one that it may write."""
    if case in PARTITIONED:
        return "partitions", case
    if case in GET_STATUS:
        return "get_status", case
    return ("more_waits", case) if case in MORE | OF_THREADS or case in ("exclusive_then_exclusive", "mrecv_of_the_second_first",
                                                               "several_ineighbors", "several_sent_to_a_neighbor") else ("waits", case, file)


# The same, but of the whole job: outside of the phase.
ENDS = {
    "init": ("wait-at-init", "MPI_Init", [0, 2, 3], 1),
    "finalize": ("wait-at-finalize", "MPI_Finalize", [0, 2, 3], 1),
}
HELD_MESSAGES = 2 * 24  # of programs/held_messages.c
OWN_SOURCES = ("waits.c", "partitions.c", "get_status.c")
# A machine with fewer processors than ranks makes them wait for each other by chance.
TOO_MUCH, MOST_OTHERS = 1.5, 0.4
# By how much processes may differ in how long they take to start.
START_S = 0.3


class CommandFailed(Exception):
    """No busy machine does that, so it is not tried again (attempts.py)."""


class Build(OpenMpi):
    def __init__(self, row, options):
        super().__init__(row, options.library)
        self.options = options

    def program(self, binary):
        """`binary`: a path, or the name of a program of test/analysis."""
        if binary == "partitions" and not self.is_later:
            raise Skipped("Open MPI 4.1 has no partitioned communication")
        if binary == "get_status" and "MPI_Request_get_status_all" not in exported_functions(self):
            raise Skipped("this release has no MPI_Request_get_status_all")
        return super().program(os.path.join(self.options.programs, binary))

    def call(self, *words, exit_code=0):
        done = subprocess.run([str(word) for word in words], env=self.environment, capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode != exit_code:
            raise CommandFailed(f"{words}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def traced(self, run, *program, ranks=4, exit_code=0):
        self.call(self.options.cli, "run", "--trace", "-o", run, "--", *self.launch(ranks, *program), exit_code=exit_code)
        return run

    def analyzed(self, run, *words):
        return json.loads(self.call(self.options.cli, "analyze", run, "--only", "wait-states", "--json",
                                    "--set", "wait_share=0", *words))


def builds(options):
    return [Build(row, options) for row in tested() if options.build in (None, row.name)]


def rows(results):
    table = results["analyses"]["wait-states"]["waits"]
    names = list(table)
    return [dict(zip(names, row)) for row in zip(*table.values())]


def either(function):
    return function.split(" or ")


def near(seconds, truth):
    return truth <= seconds * 1.02 and seconds <= truth * TOO_MUCH


@functools.cache
def schema():
    return json.loads((pathlib.Path(__file__).parents[2] / "docs/analysis.schema.json").read_text())


def follows_the_schema(results):
    try:
        import jsonschema
    except ImportError:
        return
    jsonschema.validate(results, schema())


def check(case, results):
    follows_the_schema(results)
    kind, function, victims, culprit = CASES[case]
    waits = {}
    others = 0
    for row in rows(results):
        if row["kind"] in either(kind) and row["function"] in either(function) and row["rank"] in victims and \
                row["culprit"] == (row["rank"] - 1 if culprit is None else culprit):
            waits[row["rank"]] = waits.get(row["rank"], 0) + row["seconds"]
        else:
            others += row["seconds"]
    assert sorted(waits) == victims, f"{waits} instead of {victims}"
    for rank, seconds in waits.items():
        assert near(seconds, TRUTH), f"rank {rank} waited {seconds} s instead of {TRUTH}"
    assert others < MOST_OTHERS * TRUTH, f"{others} s of waits that the program did not make:\n{results}"
    check_cause(case, results)
    add_up(results)


def check_cause(case, results):
    """One finding has all that the program makes: the work, and the waits as its symptoms."""
    kind, function, victims, culprit = CASES[case]
    culprit = culprit or 0
    worst = results["findings"][0]
    kind_of_cause = "delay" if case == "waitany" else "load-imbalance"  # there, the one that waits works more afterwards
    assert worst["kind"] == kind_of_cause and worst["culprits"] == [culprit], worst
    symptom = worst["symptoms"][0]
    assert symptom["kind"] in either(kind) and symptom["where"]["function"] in either(function), symptom
    assert symptom["where"]["file"].endswith(OWN_SOURCES), symptom
    waiting = {rank for each in worst["symptoms"] for rank in each["victims"]}
    assert set(victims) <= waiting, (victims, waiting)
    if culprit:  # the others wait for it themselves
        assert sorted(symptom["victims"]) == victims and near(symptom["seconds"], TRUTH * len(victims)), symptom
    else:  # in the ring, two of them wait for ranks that wait for it
        assert symptom["victims"] == [1] and near(symptom["seconds"], TRUTH), symptom
        passed = next(each for each in worst["symptoms"] if each["passed_on"])
        assert near(passed["seconds"], 2 * TRUTH) and sorted(passed["victims"]) == [2, 3], passed
        assert passed["where"] == symptom["where"], passed
    check_meanwhile(case, kind, function, culprit, worst["meanwhile"])
    assert worst["meanwhile"]["of_seconds"] == worst["seconds"], worst


def check_meanwhile(case, kind, function, culprit, meanwhile):
    """The culprit slept in each round from the call before to the one that it comes late to: of two places in waits.c."""
    before = {"late-sender": "MPI_Send", "wrong-order": "MPI_Send", "polling": "MPI_Send", "late-receiver": "MPI_Recv"}.get(
        kind, "MPI_Iallreduce" if case == "iallreduce" else function)
    before = {"persistent": "MPI_Start", "connect_and_accept": "MPI_Comm_connect", "late_post": "MPI_Win_post",
              "late_complete": "MPI_Win_complete", "win_test_loop": "MPI_Win_complete",
              "ineighbors": "MPI_Ineighbor_allgather", "ineighbors_in_test_loop": "MPI_Ineighbor_allgather",
              "isent_to_a_neighbor": "MPI_Ineighbor_alltoall",
              "get_status_of_a_collective": "MPI_Iallreduce", "get_status_of_a_send": "MPI_Recv",
              "startall_of_collectives": "MPI_Startall"}.get(case, before)
    if "_init" in case or case == "late_start":
        before = "MPI_Start"
    elif case in PARTITIONED:
        before = "MPI_Pready_list" if case == "two_partitioned" else "MPI_Pready"
    if kind == "wait-for-lock":
        before = "MPI_Win_unlock_all" if case == "lock_all_then_exclusive" else "MPI_Win_unlock"
    after = {"wrong_order": "MPI_Send", "late_complete": "MPI_Put", "win_test_loop": "MPI_Put", "two_mprobes": "MPI_Send",
             "freed_before": "MPI_Send", "any_source_freed_before": "MPI_Send", "any_source_before": "MPI_Send"}.get(
                 case, "MPI_Barrier")
    if case in PARTITIONED and case != "late_start":
        after = "MPI_Pready_range"
    assert meanwhile["rank"] == culprit, meanwhile
    assert 0.9 * meanwhile["of_seconds"] < meanwhile["seconds"] <= meanwhile["of_seconds"], meanwhile
    assert ROUNDS <= meanwhile["pieces"] <= 2 * ROUNDS, meanwhile
    assert meanwhile["after"]["function"] == after, meanwhile
    assert meanwhile["before"]["function"] == before and meanwhile["before"]["file"].endswith(OWN_SOURCES), meanwhile
    assert 0 < meanwhile["before"]["line"] != meanwhile["after"]["line"] > 0, meanwhile


def add_up(results):
    """No second is in two findings."""
    found = sum(finding["seconds"] for finding in results["findings"])
    waits = sum(row["seconds"] for row in rows(results) if row["kind"] != "wait-at-init")
    assert found <= waits * (1 + 1e-9), (found, waits)
    for finding in results["findings"]:
        assert abs(sum(each["seconds"] for each in finding["symptoms"]) - finding["seconds"]) < 1e-8, finding


def check_origin(results):
    """In the ring, all that anybody waits is rank 0's doing."""
    table = results["analyses"]["wait-states"]["origins"]
    caused = {}
    for rank, direct, indirect in zip(table["rank"], table["direct_seconds"], table["indirect_seconds"]):
        caused[rank] = caused.get(rank, 0) + direct + indirect
    assert caused[0] > 0.8 * 3 * TRUTH and caused[0] > 0.8 * sum(caused.values()), caused


def waits_as_made(build, folder, case):
    def attempt(number):
        words = program_of(case, folder / "data")
        run = build.traced(folder / f"run{number}", build.program(words[0]), *words[1:])
        results = build.analyzed(run, "--phases", "truth")
        check(case, results)
        check_path(build, run, case, results)
        if case == "ring":
            check_origin(results)
        return run
    return until_it_passes(attempt)


def waited(results, kind, function):
    """Seconds by rank that waited."""
    seconds = {}
    for row in rows(results):
        if row["kind"] == kind and row["function"] == function:
            seconds[row["rank"]] = seconds.get(row["rank"], 0) + row["seconds"]
    return seconds


def waits_at_the_ends(build, folder, case):
    kind, function, victims, culprit = ENDS[case]

    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("waits"), case)
        results = build.analyzed(run)
        waits = waited(results, kind, function)
        assert set(victims) <= set(waits), waits
        assert all(TRUTH / 2 <= waits[rank] < TRUTH + START_S for rank in victims), waits
        late = [row for row in rows(results) if row["kind"] == kind and row["seconds"] > TRUTH / 2]
        assert {row["culprit"] for row in late} == {culprit}, late
        check_path(build, run, case, results)
    until_it_passes(attempt)


def path_without_waits(build, run, results):
    """The critical path, (rank, function, begin, end) in order: without a gap, and no part of it lies inside a wait."""
    section = json.loads(build.call(build.options.cli, "analyze", run, "--only", "critical-path", "--json",
                                    "--set", "path_stretches=1000000"))["analyses"]["critical-path"]
    parts = list(zip(*(section["path_stretches"][name] for name in ("rank", "name", "from_s", "to_s"))))
    assert abs(sum(end - begin for _, _, begin, end in parts) - section["path_seconds"]) < 1e-6, section["path_seconds"]
    for (_, _, _, end), (_, _, begin, _) in zip(parts, parts[1:]):
        assert abs(end - begin) < 1e-8, (end, begin)
    for row in rows(results):  # the longest of each row
        begin, end = row["worst_at_s"], row["worst_at_s"] + row["worst_seconds"]
        for rank, name, first, last in parts:
            assert rank != row["rank"] or min(end, last) - max(begin, first) < 1e-8, (row, (rank, name, first, last))
    return parts


def check_path(build, run, case, results):
    """There is no wait on the path, neither one that was found nor the one that the program made."""
    culprit = (CASES | ENDS)[case][-1]
    parts = path_without_waits(build, run, results)
    # The path is in one place at a time: while it holds the culprit's delay, it holds nobody's wait for that.
    working = sum(last - first for rank, name, first, last in parts if rank == (culprit or 0) and name == "(program)")
    assert case == "init" or near(working, TRUTH), f"{working} s of rank {culprit}'s work on the path"


def work_between_two_tests_is_no_wait(build, folder):
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("waits"), "test_after_work")
        waits = waited(build.analyzed(run, "--phases", "truth"), "polling", "MPI_Test")
        assert sum(waits.values()) < MOST_OTHERS * TRUTH, waits
    until_it_passes(attempt)


def a_target_waits_for_another_through_an_origin(build, folder):
    """Rank 2's window is open at once, but its origins cannot complete before rank 1's is, too."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("waits"), "late_post_elsewhere")
        results = build.analyzed(run, "--phases", "truth")
        late = [row for row in rows(results) if row["kind"] in ("late-post", "late-complete") and row["rank"] != 1]
        waits = {rank: sum(row["seconds"] for row in late if row["rank"] == rank) for rank in (0, 2, 3)}
        assert all(near(seconds, TRUTH) for seconds in waits.values()), (waits, late)
        assert {row["culprit"] for row in late if row["rank"] != 2} == {1}, late
        assert {row["culprit"] for row in late if row["rank"] == 2} <= {0, 3}, late
        worst = results["findings"][0]
        assert worst["culprits"] == [1] and near(worst["seconds"], 3 * TRUTH), worst
        path_without_waits(build, run, results)
        add_up(results)
    until_it_passes(attempt)


def exclusive_locks_wait_one_after_the_other(build, folder):
    """Ranks 0, 2 and 3 ask for an exclusive lock that rank 1 has; whoever is next holds up the others, for a moment."""
    for case in ("exclusive_then_exclusive", "allocated_then_exclusive"):
        def attempt(number, case=case):
            run = build.traced(folder / f"{case}{number}", build.program("more_waits"), case)
            results = build.analyzed(run, "--phases", "truth")
            late = [row for row in rows(results) if row["kind"] == "wait-for-lock"]
            waits = {rank: sum(row["seconds"] for row in late if row["rank"] == rank) for rank in (0, 2, 3)}
            assert all(near(seconds, TRUTH) for seconds in waits.values()), (waits, late)
            assert 1 in {row["culprit"] for row in late} and 1 not in {row["rank"] for row in late}, late
            worst = results["findings"][0]
            assert worst["culprits"] == [1] and near(worst["seconds"], 3 * TRUTH), worst
            path_without_waits(build, run, results)
            add_up(results)
        until_it_passes(attempt)


def locks_that_do_not_conflict_do_not_wait(build, folder):
    """Shared locks, and those with MPI_MODE_NOCHECK: rank 1 holds one just as long, and nobody waits for it."""
    for case in ("shared_then_shared", "no_check"):
        run = build.traced(folder / case, build.program("more_waits"), case)
        late = [row for row in rows(build.analyzed(run)) if row["kind"] == "wait-for-lock"]
        assert late == [], (case, late)


def one_of_several_collectives_of_neighbours_waits_for_its_own(build, folder):
    """Three are open at once on rank 0, which only receives in them. The second waits for rank 1, the third for rank 2."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("more_waits"), "several_ineighbors")
        results = build.analyzed(run, "--phases", "truth")
        found = {}
        for row in rows(results):
            if row["kind"] == "wait-for-neighbours":
                assert (row["rank"], row["function"]) == (0, "MPI_Wait"), row
                found[row["line"]] = (row["culprit"], row["seconds"])
        long = [found[line] for line in sorted(found) if found[line][1] > MOST_OTHERS * TRUTH]
        assert [culprit for culprit, _ in long] == [1, 2] and all(near(seconds, TRUTH) for _, seconds in long), found
        path_without_waits(build, run, results)
        add_up(results)
        check_cause_of_several(results)
    until_it_passes(attempt)


def check_cause_of_several(results):
    """Rank 2 slept twice as long as rank 1, but rank 1's delay hides half of it."""
    origins = results["analyses"]["wait-states"]["origins"]
    caused = {}
    for rank, victim_seconds in zip(origins["rank"], origins["direct_seconds"]):
        caused[rank] = caused.get(rank, 0) + victim_seconds
    assert all(near(caused[rank], TRUTH) for rank in (1, 2)), caused


def a_sender_to_one_of_several_collectives_waits_until_that_begins(build, folder):
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("more_waits"), "several_sent_to_a_neighbor")
        results = build.analyzed(run, "--phases", "truth")
        late = [row for row in rows(results) if row["kind"] == "wait-for-neighbours"]
        waits = {rank: sum(row["seconds"] for row in late if row["rank"] == rank) for rank in (1, 2, 3)}
        assert all(near(seconds, TRUTH) for seconds in waits.values()), (waits, late)
        assert {row["culprit"] for row in late} == {0}, late
        path_without_waits(build, run, results)
    until_it_passes(attempt)


def a_late_sender_in_fortran_is_found(build, folder):
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("late_sender"), ranks=2)
        late = [row for row in rows(build.analyzed(run)) if row["kind"] == "late-sender"]
        assert len(late) == 1 and late[0]["rank"] == 0 and late[0]["culprit"] == 1, late
        # Two processes that spin on a busy machine may leave the barrier far apart; the sleep is what was made.
        assert TRUTH <= late[0]["seconds"] * 1.02 and near(late[0]["longest_work_seconds"], DELAY_S), late
        assert (late[0]["work_after"], late[0]["work_before"]) == ("MPI_Barrier", "MPI_Send"), late
        assert late[0]["function"] == "MPI_Recv" and late[0]["file"].endswith("late_sender.f90"), late
    until_it_passes(attempt)


def a_call_that_waited_for_any_names_the_requests_that_it_left(build, folder):
    """MPI_Waitany is given two, and the message for the second comes later."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("waits"), "waitany")
        printed = build.call(build.options.cli, "trace", "print", "--json", "--ranks", "0", run).splitlines()
        named, posted, call = [], [], None
        for event in map(json.loads, printed):
            if event["kind"] in ("enter", "leave"):
                call = event["function"] if event["kind"] == "enter" else None
            if event["kind"] == "leave" and event["function"] == "MPI_Irecv":
                posted.append(event["request"])
            elif event["kind"] == "given" and call == "MPI_Waitany":
                named.append(event["request"])
        assert len(posted) == 2 * len(named) > 0 and named == posted[1::2], (posted, named)
    until_it_passes(attempt)


def results_are_the_same_for_every_number_of_processes(build, folder):
    """A real program with many messages, analysed by 1 to 8 processes."""
    run = build.traced(folder / "run", build.program(os.path.join(build.options.mpi_programs, "sendrecv")))
    said = {}
    for processes in (1, 2, 3, 4, 8):
        out = folder / f"{processes}.json"
        text = build.call(*build.launch_tool(processes, build.options.cli, build.options.cli, "analyze", run, "-o", out, "--set", "wait_share=0"))
        said[processes] = (text, out.read_bytes())
    alone = build.call(*build.launch_tool(3, build.options.cli, build.options.cli, "analyze", run, "-o", folder / "one.json", "--one-process",
                                     "--set", "wait_share=0"))
    assert all(result == said[1] for result in said.values()), [processes for processes in said if said[processes] != said[1]]
    assert (alone, (folder / "one.json").read_bytes()) == said[1]
    assert len(rows(json.loads(said[1][1]))) > 4
    analyses = ("wait-states", "critical-path", "lateness", "efficiency", "idle-time")
    for case in ("probe", "test_and_probe_loop", "fence", "intercomm_create", "intercomm_reduce", "neighbors", "file_close",
                 "late_post_elsewhere", "win_test_loop", "ineighbors", "exclusive_then_shared", "exclusive_then_exclusive",
                 "lock_all_then_exclusive", "startall_of_collectives", "neighbor_init", "two_mprobes", "isent_to_a_neighbor"):
        words = program_of(case, folder / "data")
        run = build.traced(folder / case, build.program(words[0]), *words[1:])
        for processes in (1, 3):
            build.call(*build.launch_tool(processes, build.options.cli, build.options.cli, "analyze", run,
                                          "-o", folder / f"{case}-{processes}.json", *(f"--only={name}" for name in analyses)))
        assert (folder / f"{case}-1.json").read_bytes() == (folder / f"{case}-3.json").read_bytes(), case


def a_process_that_fails_ends_the_analysis(build, folder):
    run = build.traced(folder / "run", build.program("waits"), "barrier")
    # Room for the steps at one process alone.
    script = f'[ "$OMPI_COMM_WORLD_RANK" = 1 ] && export TMPDIR=/nowhere; exec {build.options.cli} analyze {run} -o {folder}/out.json'
    done = subprocess.run(build.launch_tool(2, build.options.cli, "sh", "-c", script), env=build.environment, capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode != 0 and "TMPDIR" in done.stderr, done
    assert not (folder / "out.json").exists() and done.stdout == "", done


def messages_that_probes_hold_have_their_own_receives(build, folder):
    """Each message has a length of its own, which both ends must have, whatever was received before it."""
    run = build.traced(folder / "run", build.program("held_messages"), ranks=3)
    assert "equal:" in build.call(build.options.cli, "trace", "check", run)
    build.call(build.options.cli, "export", run, "--format", "sqlite", "-o", folder / "run.db")
    database = sqlite3.connect(folder / "run.db")
    ends = database.execute("SELECT sent.bytes, received.bytes, sent.rank, received.peer FROM sent JOIN received USING(id) "
                            "WHERE NOT sent.hidden").fetchall()
    assert all(sent == received and source == peer for sent, received, source, peer in ends), ends
    assert len({sent for sent, _, _, _ in ends}) == len(ends) == HELD_MESSAGES, ends
    handles = {name: [row[0] for row in database.execute("SELECT object FROM calls WHERE name LIKE ? AND object IS NOT NULL", (name,))]
               for name in ("MPI_%probe", "MPI_%mrecv")}
    taken, received = handles.values()
    assert sorted(taken) == sorted(received) and len(taken) > HELD_MESSAGES / 2, handles


def options_of(text):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--mpi-programs")
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--build")
    parser.add_argument("cases", nargs="*")
    return parser.parse_args()


def run_cases(options, cases):
    """Each of `cases`, {name: function(build, folder, name)}, or those that the user named, on each build; ends the program."""
    def run(build, name, folder):
        cases[name](build, folder, name)  # what it returns is for other cases

    sys.exit(report_cases(builds(options), lambda build: {name: functools.partial(run, build, name) for name in options.cases or cases}))


def main():
    others = (exclusive_locks_wait_one_after_the_other, locks_that_do_not_conflict_do_not_wait,
              one_of_several_collectives_of_neighbours_waits_for_its_own,
              a_sender_to_one_of_several_collectives_waits_until_that_begins, a_late_sender_in_fortran_is_found, a_call_that_waited_for_any_names_the_requests_that_it_left,
              work_between_two_tests_is_no_wait, messages_that_probes_hold_have_their_own_receives, a_target_waits_for_another_through_an_origin, results_are_the_same_for_every_number_of_processes,
              a_process_that_fails_ends_the_analysis)
    run_cases(options_of(__doc__), dict.fromkeys(CASES, waits_as_made) | dict.fromkeys(ENDS, waits_at_the_ends) |
              {other.__name__: lambda build, folder, _, other=other: other(build, folder) for other in others})


if __name__ == "__main__":
    main()
