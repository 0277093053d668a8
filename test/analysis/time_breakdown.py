#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of real jobs went: programs that sleep for a known time, traced and counted.

    time_breakdown.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(). The last line is "N passed, N failed, N skipped".
"""
import json
import re

from attempts import until_it_passes
from waits import options_of, run_cases

LONG_S, RANKS = 0.3, 4
# What a busy machine adds, by chance, to a time that a program sleeps.
SPARE_S = 0.12
OUTSIDE = ("start-up", "end", "start-up-and-end")


def analyzed(build, run, *words):
    return json.loads(build.call(build.options.cli, "analyze", run, "--json", *words))


def times(results):
    """{kind: seconds}, after checking that the rows add up, to the nanosecond."""
    found = results["analyses"]["time-breakdown"]
    table = found["time"]
    assert sum(table["ns"]) == results["ranks"] * round(found["span_seconds"] * 1e9), (table, found["span_seconds"])
    assert abs(sum(table["ns"]) / 1e9 - results["all_ranks_seconds"]) < 1e-8, (table, results["all_ranks_seconds"])
    assert abs(sum(table["share"]) - 1) < 1e-9, table
    by_rank = found["time_by_rank"]
    assert len(by_rank["rank"]) == results["ranks"], by_rank
    for row in zip(*(by_rank[name] for name in by_rank if name != "rank")):
        assert abs(sum(row) - found["span_seconds"]) < 1e-8, by_rank
    assert sum(found["unexplained"]["ns"]) == sum(ns for kind, ns in zip(table["kind"], table["ns"]) if kind == "unexplained")
    return {kind: ns / 1e9 for kind, ns in zip(table["kind"], table["ns"])}


def is_about(found, kind, seconds):
    assert seconds - 0.02 < found.get(kind, 0) < seconds + RANKS * SPARE_S, (kind, seconds, found)


def late_sender(found, results):
    is_about(found, "computing", LONG_S)
    is_about(found, "late-sender", LONG_S)


def imbalance(found, results):
    is_about(found, "computing", LONG_S)
    is_about(found, "wait-at-barrier", (RANKS - 1) * LONG_S)


def late_start(found, results):
    """The others are in MPI_Init meanwhile, and nobody is told to balance anything."""
    figures = results["analyses"]["time-breakdown"]
    assert figures["last_to_start"] == 1, figures
    assert LONG_S - 0.1 < figures["startup_skew_seconds"] <= figures["startup_seconds"], figures
    assert sum(seconds for kind, seconds in found.items() if kind not in OUTSIDE) < LONG_S, found
    assert results["seconds"] < LONG_S, results["seconds"]
    for finding in results["findings"]:
        assert (finding["seconds"] or 0) < LONG_S, finding


def tail(found, results):
    is_about(found, "computing", LONG_S)
    is_about(found, "end", (RANKS - 1) * LONG_S)


def locked(found, results):
    is_about(found, "computing", LONG_S)
    is_about(found, "wait-for-lock", LONG_S)


def operation(found, results):
    is_about(found, "unexplained", LONG_S)
    functions = results["analyses"]["time-breakdown"]["unexplained"]
    assert functions["name"][0] == "MPI_Reduce_local", functions


TRUTH = {"late_sender": late_sender, "probed": late_sender, "imbalance": imbalance, "late_start": late_start, "tail": tail,
         "locked": locked}


def of_a_trace(build, folder, case):
    def attempt(number):
        results = analyzed(build, build.traced(folder / f"run{number}", build.program("sleeps"), case))
        TRUTH[case](times(results), results)
    until_it_passes(attempt)


def of_a_profile(build, folder, case):
    """The same sums without a trace; who starts late, and that a rank was in MPI_Finalize, only a trace knows."""
    def attempt(number):
        run = folder / f"run{number}"
        build.call(build.options.cli, "run", "-o", run, "--", *build.launch(RANKS, build.program("sleeps"), "late_sender"))
        results = analyzed(build, run)
        late_sender(times(results), results)
    until_it_passes(attempt)


def a_rank_ends_when_it_comes_to_finalize(build, folder, case):
    """In a profile, its seconds lasted until the last rank had come there. With the times of calls and without."""
    def attempt(number):
        for options in ((), ("--no-time",)):
            run = folder / f"run{number}{''.join(options)}"
            build.call(build.options.cli, "run", *options, "-o", run, "--", *build.launch(RANKS, build.program("sleeps"), "tail"))
            profile = json.loads((run / "profile.json").read_text())
            seconds = [rank["seconds"] for rank in profile["ranks"]]
            assert seconds[0] > LONG_S - 0.02, seconds
            if options:
                assert min(seconds) < seconds[0] - LONG_S / 4, seconds
                continue
            outside = list(seconds)  # its calls: others may begin late, and it waits for them in MPI_Barrier
            for block in profile["calls"]:
                for rank, ns in zip(block["rank"], block["total_ns"]):
                    outside[rank] -= ns / 1e9
            assert max(outside[1:]) < LONG_S / 2, outside
            found = times(analyzed(build, run))
            is_about(found, "computing", LONG_S)
            missing = sum(max(seconds) - each for each in seconds)
            assert abs(found.get("start-up-and-end", 0) - missing) < 1e-6, (found, seconds)
    until_it_passes(attempt)


def silence_is_explained(build, folder, case):
    """"Nothing found" is not said of a run that spent its time in calls that nobody can explain."""
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("sleeps"), "operation")
        results = analyzed(build, run)
        operation(times(results), results)
        page = build.call(build.options.cli, "analyze", run)
        assert "nothing found" not in page, page
        assert re.search(r"inside MPI, unexplained .*\n +MPI_Reduce_local 0\.\d+ s", page), page
    until_it_passes(attempt)


def recorded(build, run, *options):
    build.call(build.options.cli, "run", "--trace", *options, "-o", run, "--", *build.launch(RANKS, build.program("sleeps"), "many_calls"))
    return run


def sampled(build, folder, case):
    """The sums of the calls that were not recorded are exact, so the computing is."""
    def attempt(number):
        results = analyzed(build, recorded(build, folder / f"run{number}", "--sample", "7"))
        found, analyses = times(results), results["analyses"]
        is_about(found, "computing", LONG_S)
        assert analyses["time-breakdown"]["unexplained"]["name"][0] == "MPI_Recv", analyses["time-breakdown"]["unexplained"]
        assert "parallel_efficiency" in analyses["efficiency"], analyses["efficiency"]
        for name, figure in (("efficiency", "transfer_efficiency"), ("efficiency", "serialisation_efficiency"),
                             ("idle-time", "waiting_share"), ("wait-states", "wait_share")):
            assert figure not in analyses[name], (figure, analyses[name])
        assert analyses["phases"]["phases"]["phase"] == [], analyses["phases"]["phases"]
    until_it_passes(attempt)


def partial(build, folder, case):
    """What lacks calls gives no efficiency, balance or share of MPI, and says why."""
    for number, options in enumerate((["--functions", "MPI_Send"], ["--ranks", "0-1"], ["--after", "100ms"],
                                      ["--communicators", "none*"])):
        run = recorded(build, folder / f"run{number}", *options)
        analyses = analyzed(build, run)["analyses"]
        assert analyses["efficiency"].keys() == {"not_given"}, (options, analyses["efficiency"])
        assert analyses["load-imbalance"].keys() == {"not_given"}, (options, analyses["load-imbalance"])
        assert "wait_share" not in analyses["wait-states"] and "waiting_share" not in analyses["idle-time"], options
        all_ranks_of_a_part = options[0] != "--ranks"
        assert ("mpi_share" not in analyses["flat-profile"]) == all_ranks_of_a_part, (options, analyses["flat-profile"])
        page = build.call(build.options.cli, "analyze", run)
        assert "no efficiency is given" in page and "parallel efficiency" not in page, page
        assert "nothing found" not in page or not all_ranks_of_a_part, page


CASES = {**dict.fromkeys(TRUTH, of_a_trace), "of_a_profile": of_a_profile,
         "a_rank_ends_when_it_comes_to_finalize": a_rank_ends_when_it_comes_to_finalize,
         "silence": silence_is_explained, "sampled": sampled, "partial": partial}

if __name__ == "__main__":
    run_cases(options_of(__doc__), CASES)
