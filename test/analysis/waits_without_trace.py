#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The waits of a profile are those that `fathom analyze` finds in a trace of the same run.

    waits_without_trace.py --programs DIR --mpi-programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

The library that traces also finds waits as the one without a trace does, so both see one run. On each Open MPI of open_mpi.tested().
The last line is "N passed, N failed".
"""
import collections
import json
import os
import sys
from unittest.mock import patch

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from attempts import until_it_passes  # noqa: E402
from waits import CASES, ENDS, OF_THREADS, program_of, TRUTH as TRUTH_S, add_up, options_of, run_cases  # noqa: E402

# Programs that wait for what is known (programs/waits.c); those of test/mpi wait for each other by chance.
TRUTH = """late_sender any_source any_tag dup split irecv_wait waitall late_receiver ssend wrong_order barrier allreduce iallreduce
    bcast scatter reduce gather scan ring persistent sendrecv waitany matched_probe probe mprobe probe_loop improbe_loop crossed
    test_loop testall_loop testany_loop testsome_loop test_and_probe_loop late_receiver_in_wait send_that_ends_inside_a_receive
    fence win_create win_free comm_split file_open file_close file_write_ordered file_set_size file_write_ordered_begin
    allreduce_init bcast_init reduce_init allreduce_init_in_test_loop init finalize
    neighbors ineighbors_in_test_loop neighbor_init sent_to_a_neighbor isent_to_a_neighbor several_ineighbors
    several_sent_to_a_neighbor two_mprobes freed_before any_source_freed_before any_source_before cancelled_before intercomm_create comm_create_group
    get_status_loop get_status_of_a_collective get_status_of_a_send
    get_status_all_loop get_status_any_loop get_status_some_loop""".split()
REAL = {"collectives": 5, "neighbors": 4, "completion": 4, "send_modes": 4, "wildcards": 4, "datatypes": 4, "constructors": 4,
        "probe": 4, "linear": 3, "overlap": 4, "f_mpifh": 4, "f_f08": 4, "intercomm": 4, "intercollectives": 4, "threads": 4}
ROUNDS, DELAY_S = 5, 0.02  # of programs/waits.c
# A trace's times are whole nanoseconds, those of the profile some twenty; each wait has two ends.
NS_PER_WAIT = 100
ROUNDING_S = 5e-6  # of the calls that were left out
TIES_SHARE = 0.1
# Threads that send on one channel at once do so in an order that only Open MPI knows.
THREADS_SHARE = 0.02


# What only a trace shows.
TRACE_KINDS = {"late-post", "late-complete", "wait-for-lock"}
TRACE_FUNCTIONS = {"MPI_Win_test"}
# Their time is not that of calls: MPI_Init and MPI_Finalize are not timed, and a loop waits between its calls, too.
OUTSIDE_CALLS = {"polling", "wait-at-init", "wait-at-finalize"}


def only_in_traces(kind, function):
    return kind in TRACE_KINDS or function in TRACE_FUNCTIONS


def kind_of(name):
    """What the next message was, only a trace can tell."""
    return "late-sender" if name == "wrong-order" else name


def of_profile(profile):
    """{(kind, function, rank, awaited): (seconds, waits)}"""
    found = collections.defaultdict(lambda: [0, 0])
    for block in profile.get("waits", []):
        for rank, awaited, waits, ns in zip(block["rank"], block["awaited"], block["waits"], block["total_ns"]):
            row = found[kind_of(block["kind"]), block["function"], rank, awaited]
            row[0] += ns / 1e9
            row[1] += waits
    return found


def of_trace(results):
    table = results["analyses"]["wait-states"]["waits"]
    found = collections.defaultdict(float)
    for kind, function, rank, culprit, seconds in zip(*(table[name] for name in ("kind", "function", "rank", "culprit",
                                                                                 "seconds"))):
        if not only_in_traces(kind, function):
            found[kind_of(kind), function, rank, culprit] += seconds
    return found


def mpi_seconds(profile):
    found = collections.Counter()
    for block in profile["calls"]:
        for rank, ns in zip(block["rank"], block["total_ns"]):
            found[rank] += ns / 1e9
    return found


def check(run, results, share=0.0, rooted_between_groups=False):
    profile = json.loads((run / "profile.json").read_text())
    waits, truth = of_profile(profile), of_trace(results)
    coverage = profile["coverage"]["waits"]
    spare = (coverage["left_out_ns"] + coverage["unresolved_ns"]) / 1e9
    assert coverage["unresolved"] == 0 or rooted_between_groups, coverage
    allowed = share * sum(truth.values()) + spare + ROUNDING_S
    alone, alone_in_trace = collections.defaultdict(lambda: [0, 0]), collections.Counter()  # whoever was awaited, and why
    for (_, function, rank, _), (seconds, count) in waits.items():
        alone[function, rank][0] += seconds
        alone[function, rank][1] += count
    for (_, function, rank, _), seconds in truth.items():
        alone_in_trace[function, rank] += seconds
    # Of two that come within a hundred nanoseconds, either may be the last.
    longest = max((ns for block in profile.get("waits", []) for ns in block["longest_ns"]), default=0) / 1e9
    ties = TIES_SHARE * sum(truth.values()) + longest
    for own, others, more in ((alone, alone_in_trace, 0), (waits, truth, ties)):
        for key in own.keys() | others.keys():
            seconds, count = own[key]
            # These wait until what they complete can complete; in a trace until the first request can.
            later = longest if {"MPI_Waitany", "MPI_Waitsome"} & set(key) and seconds > others[key] else 0
            assert abs(seconds - others[key]) <= allowed + more + later + NS_PER_WAIT * 1e-9 * (count + 1), \
                f"{key}: {seconds} s in {count} waits in the profile, {others[key]} s in the trace; {coverage}"
    in_mpi, waiting = mpi_seconds(profile), collections.Counter()
    for (kind, _, rank, _), (seconds, _) in waits.items():
        if kind not in OUTSIDE_CALLS:
            waiting[rank] += seconds
    for rank, seconds in waiting.items():
        assert seconds <= in_mpi[rank], f"rank {rank} waited {seconds} s and was in MPI for {in_mpi[rank]} s"
    return waits


def symptoms_of(results):
    """{(kind, function, line): seconds} of the findings."""
    found = collections.defaultdict(float)
    for finding in results["findings"]:
        for symptom in finding["symptoms"]:
            where = symptom["where"]
            if not only_in_traces(symptom["kind"], where["function"]):
                found[kind_of(symptom["kind"]), where["function"], where.get("line")] += symptom["seconds"]
    return found


def passed_on(results):
    return sum(symptom["seconds"] for finding in results["findings"] for symptom in finding["symptoms"] if symptom["passed_on"])


def same_findings(build, folder, run, traced):
    """`fathom analyze` turns the profile alone into findings like those of the trace, and says what is missing. There a wait
    that was passed on is one for the rank that passed it on."""
    alone = folder / "profile.json"
    alone.write_bytes((run / "profile.json").read_bytes())
    results = build.analyzed(alone)
    add_up(results)
    found, truth = symptoms_of(results), symptoms_of(traced)
    rounding = NS_PER_WAIT * 1e-9 * 1000 + ROUNDING_S
    assert truth.keys() == found.keys(), (sorted(found), sorted(truth))
    for key, seconds in truth.items():
        assert abs(seconds - found[key]) <= rounding, (key, found[key], seconds)
    for finding in results["findings"]:
        assert "meanwhile" not in finding and finding["windows"] == [], finding
    ours, theirs = results["findings"][0], traced["findings"][0]
    assert ours["culprits"] == theirs["culprits"] or passed_on(traced) > 0.1 * theirs["seconds"], (ours, theirs)
    assert any("only a trace" in limit for limit in results["limits"]), results["limits"]


def made_waits(build, folder, case):
    def attempt(number):
        words = program_of(case, folder / "data")
        run = build.traced(folder / f"run{number}", build.program(words[0]), *words[1:])
        results = build.analyzed(run)
        waits = check(run, results)
        known = CASES | ENDS | OF_THREADS
        if case in known:
            kind, function, victims, culprit = known[case]
            for rank in victims:  # at least what the program made, for whom it made it
                awaited = rank - 1 if culprit is None else culprit
                seconds = waits[kind_of(kind), function, rank, awaited][0]
                assert seconds * 1.02 >= TRUTH_S / (2 if case in ENDS else 1), (rank, seconds, waits)
        assert waits, "nobody waited"
        same_findings(build, folder, run, results)
    until_it_passes(attempt)


def received_in_another_thread(build, folder, _):
    """With PERUSE a message used to be that of the thread which made progress when it came."""
    for level in "transfers", "calls":
        (folder / level).mkdir()
        with patch.dict(build.environment, FATHOM_TRACE_LEVEL=level):
            made_waits(build, folder / level, "received_in_another_thread")


def more_channels_than_memory(build, folder, _):
    """What could not be remembered is said, and what is left is right."""
    with patch.dict(build.environment, FATHOM_WAITS_MEMORY="64k"):
        run = build.traced(folder / "run", build.program("waits"), "many_tags")
    profile = json.loads((run / "profile.json").read_text())
    coverage = profile["coverage"]["waits"]
    assert coverage["unresolved"] > 100 and coverage["unresolved_ns"] > 0.05e9, coverage
    waits, truth = of_profile(profile), of_trace(build.analyzed(run))
    for key, (seconds, count) in waits.items():
        assert seconds <= truth[key] + NS_PER_WAIT * 1e-9 * (count + 1), (key, seconds, truth[key])
    whole = build.traced(folder / "whole", build.program("waits"), "many_tags")
    check(whole, build.analyzed(whole))


def waits_for_every_other(build, folder, case):
    """A process asks all others. In larger worlds, questions and answers travel in rounds (profiler/waits/exchange.h)."""
    environment = {"FATHOM_DIRECT_RANKS": "2"} if case.endswith("_in_rounds") else {}

    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("waits"), "for_every_other")
        waits = check(run, build.analyzed(run))
        for culprit in (1, 2, 3):
            seconds = waits["late-sender", "MPI_Recv", 0, culprit][0]
            assert seconds * 1.02 >= TRUTH_S, (culprit, seconds, waits)
    with patch.dict(build.environment, environment):
        until_it_passes(attempt)


def paused_on_one_process(build, folder, _):
    """Collectives that one process left out used to shift all that followed on their communicator."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("waits"), "paused_on_one")
        waits = of_profile(json.loads((run / "profile.json").read_text()))
        for rank in (0, 2, 3):
            seconds, count = waits["wait-at-barrier", "MPI_Barrier", rank, 1]
            assert count >= ROUNDS and seconds > 0.5 * ROUNDS * DELAY_S, (rank, seconds, count)
        # A busy machine can make it wait in some other call.
        own = sum(spent for (_, call, rank, _), (spent, _) in waits.items() if (call, rank) == ("MPI_Barrier", 1))
        assert own < 0.5 * seconds, waits
    until_it_passes(attempt)


# By program: what it says needs a trace.
NEED_TRACES = {"late_post": "MPI_Win_complete, MPI_Win_start, MPI_Win_wait",
               "exclusive_then_lock_all": "MPI_Win_lock, MPI_Win_lock_all, MPI_Win_unlock, MPI_Win_unlock_all"}


def what_needs_a_trace_is_said(build, folder, _):
    for case, functions in NEED_TRACES.items():
        words = program_of(case, folder / "data")
        run = build.traced(folder / case, build.program(words[0]), *words[1:])
        alone = folder / f"{case}.json"
        alone.write_bytes((run / "profile.json").read_bytes())
        limits = build.analyzed(alone)["limits"]
        assert any(f"who waits in {functions}, or for what they begin, needs a trace" in limit for limit in limits), (case, limits)


def received_out_of_order(build, folder, case):
    """A message that a probe took first and that is received last used to have the other's receive."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("more_waits"), case)
        seconds, count = of_profile(json.loads((run / "profile.json").read_text()))["late-receiver", "MPI_Wait", 0, 1]
        assert count >= ROUNDS and seconds * 1.02 >= TRUTH_S, (seconds, count)
    until_it_passes(attempt)


def real_waits(build, folder, name):
    case = name.removeprefix("mpi/")

    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program(os.path.join(build.options.mpi_programs, case)), ranks=REAL[case])
        check(run, build.analyzed(run), THREADS_SHARE if case == "threads" else 0.0, rooted_between_groups=case == "intercollectives")
    until_it_passes(attempt)


def main():
    run_cases(options_of(__doc__), dict.fromkeys(TRUTH, made_waits) | dict.fromkeys((f"mpi/{case}" for case in REAL), real_waits) |
              {"what_needs_a_trace_is_said": what_needs_a_trace_is_said, "mrecv_of_the_second_first": received_out_of_order, "received_in_another_thread": received_in_another_thread, "more_channels_than_memory": more_channels_than_memory,
               "for_every_other": waits_for_every_other, "for_every_other_in_rounds": waits_for_every_other, "paused_on_one_process": paused_on_one_process})


if __name__ == "__main__":
    main()
