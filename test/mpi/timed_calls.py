#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The times of calls in a profile: their number, place and sum against a trace of the same run.

  timed_calls.py --binaries DIR --library libfathom.so --count-library libfathom-count.so
                 --trace-library libfathom-trace.so --cli fathom --table mpi/functions.table [--match TEXT]

The trace library records the same readings of the clock that it adds up for the profile. So for each
function, call site, communicator and phase the two must agree: in calls and bytes exactly, in time to the
rounding and to the difference between one rate of the clock for the run (profile) and one that follows it
(trace). Programs that call every function, from C and all Fortran bindings, in phases, from threads and
inside other calls. On each build of open_mpi.tested().
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import open_mpi  # noqa: E402

NEVER_TIMED = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort"}
TIMEOUT_S = 120


def direct_in_fortran(table):
    """Functions whose Fortran bindings bypass C, where the profile does not time them."""
    return set(re.findall(r"fortran=direct.*\b(MPI_\w+)\(", pathlib.Path(table).read_text(encoding="utf-8")))


class Tests:
    def __init__(self, arguments, scratch):
        self.arguments, self.scratch = arguments, scratch
        self.fortran_only = direct_in_fortran(arguments.table)
        self.passed = self.failed = 0
        self.runs = 0

    def execute(self, build, ranks, command, **variables):
        # An mpirun whose job aborts crashes itself now and then (signal 11), with and without Fathom, which is not in it.
        for _ in range(3):
            self.runs += 1
            where = os.path.join(self.scratch, str(self.runs))
            os.makedirs(where)
            shutil.rmtree(variables.get("FATHOM_OUTPUT", where + "/none"), ignore_errors=True)
            result = subprocess.run(
                [build.mpirun, "--oversubscribe", "-n", str(ranks), *build.for_ranks(variables), *command],
                env=dict(build.environment, TEST_SCRATCH=where), cwd=where, capture_output=True, text=True,
                timeout=TIMEOUT_S, check=False)
            if result.returncode >= 0:
                break
        return result.returncode, result.stdout

    def profiled(self, build, program, *mode, library=None, ranks=2, **variables):
        """Runs natively and with the library; returns the run's folder. Output and exit code stay the same."""
        command = [build.program(os.path.join(self.arguments.binaries, program)), *mode]
        run = os.path.join(self.scratch, f"run-{self.runs}")
        native = self.execute(build, ranks, command)
        profiled = self.execute(build, ranks, command, LD_PRELOAD=library or self.arguments.library,
                                FATHOM_OUTPUT=run, **variables)
        assert native == profiled, f"natively {native}, with Fathom {profiled}"
        return run

    def profile(self, run):
        if not os.path.exists(f"{run}/profile.json"):  # cut short: the report puts it together
            subprocess.run([self.arguments.cli, "report", run], check=True, capture_output=True)
        with open(f"{run}/profile.json", encoding="utf-8") as file:
            return json.load(file)

    def of_profile(self, profile, rank):
        """{(function, place, communicator, phase): (calls, ns, longest, bytes)}"""
        places = {site["id"]: f"{site['module']}+{site['offset']}" for site in profile.get("call_sites", [])}
        found = {}
        for block in profile.get("calls", []):
            communicator = -1 if block["communicator"] is None else block["communicator"]
            key = (block["function"], places[block["site"]], communicator, block.get("phase", "-"))
            for row, its in enumerate(block["rank"]):
                if its == rank:
                    assert key not in found, f"{key} twice"
                    found[key] = tuple(block[name][row] for name in ("calls", "total_ns", "longest_ns", "bytes"))
        return found

    def of_trace(self, run, rank):
        result = subprocess.run([os.path.join(self.arguments.binaries, "print_calls"), run, str(rank), "sums"],
                                capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        found = {}
        for line in result.stdout.splitlines():
            function, place, communicator, rest = line.split(" ", 3)
            phase, *figures = rest.rsplit(" ", 4)
            if function not in NEVER_TIMED:
                found[function, place, int(communicator), phase] = tuple(map(int, figures))
        return found

    def equal(self, run, rank):
        profile = self.profile(run)
        timed, traced = self.of_profile(profile, rank), self.of_trace(run, rank)
        for key in timed.keys() | traced.keys():
            if key not in timed and key[0] in self.fortran_only:
                continue
            assert key in timed and key in traced, \
                f"rank {rank}: {key} is {timed.get(key)} in the profile and {traced.get(key)} in the trace"
            (calls, ns, longest, size), (calls2, ns2, longest2, size2) = timed[key], traced[key]
            assert (calls, size) == (calls2, size2), f"rank {rank}: {key}: {timed[key]} but {traced[key]}"
            # A trace's time is a whole nanosecond at each end; its rate follows the clock.
            assert abs(ns - ns2) <= 2 * calls + 1e-3 * ns2, f"rank {rank}: {key}: {ns} ns but {ns2}"
            assert abs(longest - longest2) <= 3 + 1e-3 * longest2, f"rank {rank}: {key}: {longest} but {longest2}"
        assert timed, f"rank {rank} has no calls"
        return timed

    # ---- cases ----

    def trace_and_profile_agree(self, build, program, *mode):
        run = self.profiled(build, program, *mode, library=self.arguments.trace_library, FATHOM_TRACE="1")
        for rank in (0, 1):
            self.equal(run, rank)

    def the_library_without_a_trace_times_the_same_calls(self, build):
        def counts(run):
            return {key: (calls, size) for key, (calls, _, _, size) in self.of_profile(self.profile(run), 1).items()}
        traced = self.profiled(build, "timed", library=self.arguments.trace_library, ranks=4)
        assert counts(self.profiled(build, "timed", ranks=4)) == counts(traced)

    def calls_are_those_of_the_program(self, build):
        profile = self.profile(self.profiled(build, "timed", ranks=4))
        totals = {}
        for (function, _, communicator, phase), (calls, _, _, size) in self.of_profile(profile, 2).items():
            before = totals.get((function, communicator, phase), (0, 0))
            totals[function, communicator, phase] = before[0] + calls, before[1] + size
        dup = next(c["id"] for c in profile["communicators"] if c["made_by"] == "MPI_Comm_dup")
        assert totals["MPI_Send", 0, "rings"] == (3, 30), totals
        assert totals["MPI_Send", dup, "rings"] == (3, 60), totals
        assert ("MPI_Send", dup, "-") not in totals, "calls were timed while counting was paused"
        assert totals["MPI_Wait", -1, "rings"] == (6, 0), totals
        assert totals["MPI_Sendrecv", 0, "-"] == (300, 300), totals
        assert totals["MPI_Allreduce", 0, "-"] == (1, 4), totals
        # Those inside the reduction belong to MPI_Allreduce.
        assert totals["MPI_Comm_rank", 0, "-"] == (1, 0), totals
        assert not any(function == "MPI_Test" for function, _, _ in totals), totals
        assert totals["MPI_Comm_free", dup, "-"] == (1, 0), totals

    def durations_count_every_call(self, build):
        profile = self.profile(self.profiled(build, "timed", ranks=4))
        calls = {}
        for block in profile["calls"]:
            key = block["function"], block["site"]
            calls[key] = calls.get(key, 0) + sum(block["calls"])
            for row, total in enumerate(block["total_ns"]):
                shortest, longest, count = block["shortest_ns"][row], block["longest_ns"][row], block["calls"][row]
                assert shortest <= longest and shortest * count <= total + count <= (longest + 1) * count + count, block
        durations = {(d["function"], d["site"]): sum(d["calls"]) for d in profile["call_durations"]}
        assert durations == calls
        for rank in profile["ranks"]:
            inside = sum(ns for block in profile["calls"] for its, ns in zip(block["rank"], block["total_ns"])
                         if its == rank["rank"])
            threads = 5  # the program's own and four more
            assert 0 < inside <= threads * rank["seconds"] * 1e9, (rank, inside)
            assert rank["peak_memory_bytes"] > 1_000_000, rank

    def a_job_that_aborts_leaves_its_times(self, build):
        profile = self.profile(self.profiled(build, "timed", "abort", ranks=2))
        assert profile["coverage"]["cut_short"]
        functions = {block["function"] for block in profile["calls"]}
        assert {"MPI_Sendrecv", "MPI_Allreduce", "MPI_Wait"} <= functions, functions
        assert all(site["module"].endswith("/timed") for site in profile["call_sites"]), profile["call_sites"]

    def counting_alone_has_no_times(self, build):
        for library, variables in ((self.arguments.count_library, {}), (self.arguments.library, {"FATHOM_TIME": "0"})):
            profile = self.profile(self.profiled(build, "timed", library=library, **variables))
            assert "calls" not in profile and "call_sites" not in profile, profile.keys()
            assert profile["traffic"], "nothing was counted"

    def a_poll_without_a_time_is_counted(self, build):
        """Most tests that fail are not timed, but each is counted, and what the loop waited is no estimate."""
        for library, variables in ((self.arguments.library, {}), (self.arguments.trace_library, {"FATHOM_TRACE": "request"}),
                                   (self.arguments.library, {"FATHOM_WAITS_MEMORY": "0"})):
            profile = self.profile(self.profiled(build, "failing_tests", library=library, **variables))
            finds_waits = "FATHOM_WAITS_MEMORY" not in variables
            with open(os.path.join(self.scratch, str(self.runs), "tests"), encoding="utf-8") as file:
                told = {name: (int(calls), int(ns)) for name, calls, ns in map(str.split, file)}
            assert len(told) == 4, told
            blocks = {block["function"]: block for block in profile["calls"] if block["rank"] == [0]}
            for function, (calls, ns) in told.items():
                block = blocks[function]
                assert block["calls"] == [calls], (function, block, calls)
                # The first few of a loop are timed, then one of up to 256.
                estimated = block["estimated"][0]
                assert calls < 1000 or calls / 2 < estimated < calls, (function, block)
                assert 0 < block["total_ns"][0] <= ns, (function, block, ns)
                # 100 ms, less what is before a pause of more than 1 ms at its begin, where all tests are timed.
                waited = sum(sum(waits["total_ns"]) for waits in profile.get("waits", ()) if waits["function"] == function)
                assert 50_000_000 < waited < ns + 1_000_000 if finds_waits else waited == 0, (function, waited, ns)
                durations = [d for d in profile["call_durations"] if d["function"] == function]
                assert sum(sum(d["calls"]) for d in durations) == calls, (function, durations)
            assert all("estimated" not in block for block in profile["calls"] if block["function"] not in told), profile["calls"]

    def exceptions_of_error_handlers_pass(self, build):
        """They used to end the program, because they met an unwinder other than the program's inside Fathom."""
        for library, variables in ((self.arguments.library, {}), (self.arguments.trace_library, {"FATHOM_TRACE": "request"}),
                                   (self.arguments.trace_library, {}), (self.arguments.count_library, {})):
            profile = self.profile(self.profiled(build, "throwing_tests", library=library, **variables))
            if library == self.arguments.count_library:
                continue
            barriers, = (block for block in profile["calls"] if block["function"] == "MPI_Barrier")
            assert barriers["calls"] == [5, 5], barriers  # and not inside the calls out of which was thrown

    def fathom_run_names_call_sites(self, build):
        where = os.path.join(self.scratch, f"named-{build.name}")
        program = build.program(os.path.join(self.arguments.binaries, "timed"))
        subprocess.run([self.arguments.cli, "run", "-o", where, "--", build.mpirun, "--oversubscribe", "-n", "2", program],
                       env=dict(build.environment, TEST_SCRATCH=self.scratch), cwd=self.scratch, capture_output=True, check=True)
        # What follows the last call leads to MPI_Finalize, which is not timed and has no place.
        sites = [site for site in self.profile(where)["call_sites"] if site["module"]]
        assert all(site["function"] in ("main", "ring", "talk") and site["file"].endswith("timed.c") and site["line"] > 0 for site in sites), sites

    def run(self, arguments):
        def every_function(build):
            self.trace_and_profile_agree(build, "every_function", *(("alone",) if build.is_later else ()))

        cases = [("every function", every_function),
                 ("every function with threads", lambda b: self.trace_and_profile_agree(b, "every_function", "thread"))]
        cases += [(f"{program}", lambda b, p=program: self.trace_and_profile_agree(b, p))
                  for program in ("calls_c", "calls_predefined", "calls_mpifh", "calls_usempi", "calls_f08", "timed")]
        cases += [(case.__name__.replace("_", " "), case) for case in (
            self.the_library_without_a_trace_times_the_same_calls, self.calls_are_those_of_the_program,
            self.durations_count_every_call, self.a_job_that_aborts_leaves_its_times,
            self.counting_alone_has_no_times, self.a_poll_without_a_time_is_counted,
            self.exceptions_of_error_handlers_pass, self.fathom_run_names_call_sites)]
        for row in open_mpi.tested():
            build, name = open_mpi.OpenMpi(row), row.name
            for title, case in cases:
                if arguments.match not in f"{name}: {title}":
                    continue
                try:
                    case(build)
                    self.passed += 1
                except open_mpi.Skipped as reason:
                    print(f"skip {name}: {title}: {reason}")
                except (AssertionError, KeyError, subprocess.SubprocessError, OSError) as error:
                    self.failed += 1
                    print(f"{name}: {title}: {type(error).__name__} {error}")
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for option in ("--binaries", "--table", "--library", "--count-library", "--trace-library", "--cli"):
        parser.add_argument(option, required=True, type=os.path.abspath)
    parser.add_argument("--match", default="")
    arguments = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="fathom-test-")
    try:
        return Tests(arguments, scratch).run(arguments)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
