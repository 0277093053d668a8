#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Balance, efficiencies, barriers and phases of real jobs: programs that make them, and the numbers that must come out.

    times.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

On each Open MPI of open_mpi.tested(). The last line is "N passed, N failed".
"""
import json
import os

from attempts import until_it_passes
from waits import options_of, run_cases

UNIT_S, ROUNDS = 0.020, 5
NAMES = ["wait-states", "load-imbalance", "idle-time", "barrier-spread", "efficiency", "phases"]


def near(value, truth, within=0.12):
    assert abs(value - truth) <= within * truth, f"{value} instead of {truth}"


def rows(section, table):
    names = list(section[table])
    return [dict(zip(names, row)) for row in zip(*section[table].values())]


def balance(found, findings):
    """1, 2, 3 and 4 units: the mean is 2.5. The imbalance is one finding, whose symptoms are the waits."""
    efficiency = found["efficiency"]
    near(efficiency["load_balance"], 2.5 / 4)
    near(efficiency["serialisation_efficiency"], 1)
    near(efficiency["transfer_efficiency"], 1)
    near(efficiency["parallel_efficiency"], 2.5 / 4)
    program = next(row for row in rows(found["load-imbalance"], "load_imbalance") if row["name"] == "(program)")
    near(program["imbalance"], 4 / 2.5)
    assert program["top_ranks"] == [3, 2, 1, 0], program
    finding = findings[0]
    assert [entry["kind"] for entry in findings].count("load-imbalance") == 1, findings
    assert finding["kind"] == "load-imbalance" and finding["culprits"] == [3], finding
    near(finding["seconds"], 1.5 * 4 * ROUNDS * UNIT_S)
    near(finding["evidence"]["times_the_mean"], 4 / 2.5)
    assert (finding["meanwhile"]["pieces"], finding["severity"]) == (ROUNDS, "critical"), finding
    near(finding["meanwhile"]["seconds"], finding["seconds"])
    symptom = finding["symptoms"][0]
    assert (symptom["kind"], symptom["where"]["function"], sorted(symptom["victims"])) == ("wait-at-nxn", "MPI_Allreduce", [0, 1, 2])
    for row in rows(found["idle-time"], "idle_time"):
        truth = (3 - row["rank"]) * ROUNDS * UNIT_S
        assert abs(row["waiting_seconds"] - truth) < 0.1 * 3 * ROUNDS * UNIT_S, row
    assert found["phases"]["phases"]["iterations"] == [ROUNDS], found["phases"]


def chain(found, findings):
    """Everybody computes as long, one after the other."""
    efficiency = found["efficiency"]
    near(efficiency["load_balance"], 1)
    near(efficiency["serialisation_efficiency"], 1 / 4)
    near(efficiency["transfer_efficiency"], 1)
    near(efficiency["ideal_run_seconds"], 4 * ROUNDS * UNIT_S)
    for row in rows(found["idle-time"], "idle_time"):
        truth = row["rank"] * ROUNDS * UNIT_S
        assert abs(row["waiting_seconds"] - truth) < 0.1 * ROUNDS * UNIT_S, row
    assert findings[0]["kind"] == "delay" and findings[0]["seconds"] > 5 * ROUNDS * UNIT_S, findings  # of 6: rank 2's is apart
    assert found["phases"]["phases"]["phase"] == []


def barriers(found, findings):
    spread = found["barrier-spread"]
    assert spread["barriers"] == ROUNDS, spread
    near(spread["mean_spread_seconds"], 2 * UNIT_S, 0.1)
    assert rows(spread, "last_at_barriers")[0]["rank"] == 1 and spread["last_at_barriers"]["barriers"] == [ROUNDS], spread
    assert findings[0]["kind"] == "load-imbalance" and findings[0]["culprits"] == [1], findings
    assert findings[0]["meanwhile"]["pieces"] == ROUNDS, findings


def phases(found, _):
    table = rows(found["phases"], "phases")
    assert [row["iterations"] for row in table] == [30, 45], table
    assert [(row["fewest_iterations"], row["most_iterations"]) for row in table] == [(30, 30), (45, 45)], table
    assert [row["calls_per_iteration"] for row in table] == [6, 4], table
    bodies = ["MPI_Irecv, MPI_Irecv, MPI_Isend, MPI_Isend, MPI_Waitall, MPI_Allreduce", "MPI_Sendrecv, 2–4 × MPI_Sendrecv"]
    assert [row["body"] for row in table] == bodies, table
    own = [row for row in rows(found["phases"], "matrices") if row["class"] == "point-to-point"]
    messages = {(row["phase"], row["source"], row["destination"]): row["messages"] for row in own}
    truth = {}
    for rank in range(4):
        for to in ((rank + 1) % 4, (rank + 3) % 4):
            truth[1, rank, to] = 30
        truth[2, rank, rank ^ 1] = truth.get((2, rank, rank ^ 1), 0) + 45
        truth[2, rank, (rank + 1) % 4] = truth.get((2, rank, (rank + 1) % 4), 0) + 45 * 3
    assert messages == truth, messages


CASES = {"balance": balance, "chain": chain, "barriers": barriers, "phases": phases}


def as_made(build, folder, case):
    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("times"), case)
        words = [word for name in NAMES for word in ("--only", name)]
        results = json.loads(build.call(build.options.cli, "analyze", run, "--json", *words))
        CASES[case](results["analyses"], results["findings"])
    until_it_passes(attempt)


if __name__ == "__main__":
    run_cases(options_of(__doc__), dict.fromkeys(CASES, as_made))
