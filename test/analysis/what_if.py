#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Delays of two ranks, one after the other: each is blamed for its own, and without one of them a job runs as long as
fathom analyze --what-if has said.

    what_if.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(). The last line is "N passed, N failed, N skipped".
"""
import json

from attempts import until_it_passes
from waits import TRUTH, follows_the_schema, options_of, run_cases

FIRST_S, SECOND_S = 0.3, 0.2
# By how much a busy machine may lengthen the run of four processes.
SLACK_S = 0.08
CASES = ("messages", "rooted", "part", "mixed")


def what_if(build, run, *changes, part=()):
    words = [word for change in changes for word in ("--what-if", change)]
    results = json.loads(build.call(build.options.cli, "analyze", run, "--json", *words, *part))
    follows_the_schema(results)
    return results["analyses"]["what-if"]


def traced(build, run, case, first_s=FIRST_S, second_s=SECOND_S):
    return build.traced(run, build.program("delays"), case, f"{first_s * 1000:.0f}", f"{second_s * 1000:.0f}")


def near(seconds, truth):
    return truth - 0.02 <= seconds <= truth + SLACK_S


def each_rank_gets_what_it_caused(build, run):
    table = build.analyzed(run)["analyses"]["wait-states"]["origins"]
    caused = [0, 0, 0, 0]
    for rank, before, direct, indirect in zip(table["rank"], table["before"], table["direct_seconds"], table["indirect_seconds"]):
        caused[rank] += direct + indirect if before not in ("MPI_Init", "MPI_Finalize") else 0
    assert near(caused[0], 3 * FIRST_S) and near(caused[1], 3 * SECOND_S), caused
    assert caused[2] < 2 * SLACK_S and caused[3] < 2 * SLACK_S, caused


def the_prediction_holds(build, folder, case, run):
    """Without a delay, the job runs as long as was predicted."""
    unchanged = what_if(build, run, "rank 0-3 : 1", "latency : 1")
    assert unchanged["what_if_ns"] == unchanged["run_ns"] > 0, unchanged
    for rank, delays in ((0, (0, SECOND_S)), (1, (FIRST_S, 0))):
        predicted = what_if(build, run, f"rank {rank} : 0")
        other = what_if(build, traced(build, folder / f"{run.name}-without-{rank}", case, *delays), "latency : 1")
        assert near(other["run_seconds"], sum(delays)), other
        assert abs(predicted["what_if_seconds"] - other["run_seconds"]) < SLACK_S, (predicted, other)
    alone = what_if(build, run, "rank 0 : 0")
    of_part = what_if(build, run, "rank 0-3 : 0", part=("--ranks", "0"))
    assert of_part["what_if_ns"] == alone["what_if_ns"], (of_part, alone)
    until = what_if(build, run, "rank 0 : 0", part=("--from", "0", "--to", f"{max(alone['what_if']['end_s'])}s"))
    assert until["what_if_ns"] == alone["what_if_ns"] and until["what_if_part_seconds"] <= until["part_seconds"], until
    both = what_if(build, run, "rank 0 : 0.5", "rank 1 : 2")
    assert near(both["what_if_seconds"], FIRST_S / 2 + SECOND_S * 2), both


def a_call_site_and_a_function_can_be_named(build, folder):
    def attempt(number):
        run = traced(build, folder / f"run{number}", "messages")
        origins = build.analyzed(run)["analyses"]["wait-states"]["origins"]
        late = max(range(len(origins["rank"])), key=lambda row: origins["direct_seconds"][row])
        place = f"{origins['file'][late]}:{origins['line'][late]}"
        named = what_if(build, run, f"rank 0 before site {place} : 0")
        assert near(named["what_if_seconds"], SECOND_S), named
        named = what_if(build, run, "rank 0 before function message : 0", "rank 1 before function MPI_Send : 0.5")
        assert near(named["what_if_seconds"], SECOND_S / 2), named
    until_it_passes(attempt)


def all_numbers_of_processes_say_the_same(build, folder):
    run = traced(build, folder / "run", "mixed")
    said = set()
    for processes in (1, 2, 3):
        out = folder / f"{processes}.json"
        text = build.call(*build.launch_tool(processes, build.options.cli, build.options.cli, "analyze", run, "--only", "wait-states",
                                             "--what-if", "rank 1 : 0.5", "-o", out))
        said.add((text, out.read_bytes()))
    assert len(said) == 1


def without_its_delay_nobody_waits(build, folder):
    """For locks, wherever they are waited for, persistent collectives, and operations that are asked for in a loop."""
    cases = ("exclusive_then_shared", "exclusive_then_exclusive", "exclusive_then_lock_all", "lock_all_then_exclusive", "allreduce_init",
             "startall_of_collectives", "get_status_of_a_collective", "get_status_of_a_send")
    if build.has_peruse:  # otherwise it is not known when the messages of the other neighbours arrived
        cases += ("neighbor_init",)
    for name in cases:
        def attempt(number, name=name):
            run = build.traced(folder / f"{name}{number}", build.program("more_waits"), name)
            unchanged = what_if(build, run, "rank 1 : 1")
            assert unchanged["what_if_ns"] == unchanged["run_ns"] > 0, unchanged
            changed = what_if(build, run, "rank 1 : 0")
            saved = changed["run_seconds"] - changed["what_if_seconds"]
            assert 0.8 * TRUTH < saved < TRUTH + SLACK_S, (name, changed)
        until_it_passes(attempt)


def case(build, folder, name):
    def attempt(number):
        run = traced(build, folder / f"run{number}", name)
        each_rank_gets_what_it_caused(build, run)
        the_prediction_holds(build, folder, name, run)
    until_it_passes(attempt)


if __name__ == "__main__":
    OTHERS = (a_call_site_and_a_function_can_be_named, all_numbers_of_processes_say_the_same, without_its_delay_nobody_waits)
    run_cases(options_of(__doc__), dict.fromkeys(CASES, case) |
              {other.__name__: lambda build, folder, _, other=other: other(build, folder) for other in OTHERS})
