#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each byte of a one-sided operation is counted once, in the class of the call.

    one_sided_bytes.py --binaries DIR --library libfathom.so --trace-library libfathom-trace.so
                       --cli fathom [CASE...]

With osc/pt2pt the data travel as messages, which are counted; with another component the operations
are counted as they were posted. On each Open MPI of open_mpi.tested(); osc/pt2pt is gone since 5.0.
The last line is "N passed, N failed".
"""
import argparse
import csv
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from open_mpi import OpenMpi, TCP, tested  # noqa: E402

TIMEOUT_S = 120
BYTES = 1_000_000
HEADERS = 500  # of the operation, of synchronization, and of making and freeing the window, at most
PT2PT = ("--mca", "osc", "pt2pt")
OPERATIONS, SYNCHRONIZATIONS = ("put", "get", "accumulate", "swap"), ("fence", "pscw", "lock")
OUT, BACK = (0, 1), (1, 0)


def moved(operation):
    """{pair: bytes that the operation moves}"""
    return {pair: BYTES for pair in (OUT, BACK)
            if operation == "swap" or (pair == BACK) == (operation == "get")}


def matrix(profile, wanted=lambda block: True):
    """{(source, destination): [bytes, messages]} of the blocks that are `wanted`."""
    cells = {}
    for block in filter(wanted, profile["traffic"]):
        columns = (block[name] for name in ("source", "destination", "bytes", "messages"))
        for source, destination, size, messages in zip(*columns):
            cell = cells.setdefault((source, destination), [0, 0])
            cell[0] += size
            cell[1] += messages
    return cells


def of_class(name):
    return lambda block: block["class"] == name


def one_sided_blocks(profile):
    return [block for block in profile["traffic"] if block["class"] == "one-sided"]


def gaps_of_windows(profile):
    return {gap["module"] for gap in profile["coverage"]["not_visible"]
            if gap["function"] == "one-sided"}


def is_once(counted, operation, headers=HEADERS):
    """Whether {pair: bytes} holds what the operation moves, and little more."""
    return all(0 <= counted.get(pair, 0) - moved(operation).get(pair, 0) <= headers
               for pair in (OUT, BACK))


class Build(OpenMpi):
    def __init__(self, row, options):
        super().__init__(row, options.library)
        self.options = options
        self.window = self.program(os.path.join(options.binaries, "window"))

    def run(self, folder, words, command, trace=False, ranks=2, environment=()):
        """The run directory of a job."""
        run = folder / "run"
        library = ["--trace"] if trace else []
        job = [self.options.cli, "run", *library, "-o", str(run), "--",
               *self.launch(ranks, *words, *map(str, command))]
        wanted = dict(self.environment, EXPECT_DIR=str(folder), **dict(environment))
        wanted["FATHOM_LIBRARY"] = self.options.trace_library if trace else self.options.library
        done = subprocess.run(job, env=wanted, cwd=folder, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, f"{job}: {done.returncode}\n{done.stdout}{done.stderr}"
        return run

    def profile(self, *where, **how):
        with open(self.run(*where, **how) / "profile.json", encoding="utf-8") as file:
            return json.load(file)

    def fathom(self, *words):
        done = subprocess.run([self.options.cli, *map(str, words)], env=self.environment, text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=False)
        assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout


def check_messages(profile, operation):
    """The messages of an osc/pt2pt window: all there is, counted by both sides."""
    coverage = profile["coverage"]
    assert coverage["verdict"] == "exact", coverage
    everything, one_sided = matrix(profile), matrix(profile, of_class("one-sided"))
    assert is_once({pair: cell[0] for pair, cell in everything.items()}, operation), everything
    for pair, size in moved(operation).items():
        assert size <= one_sided[pair][0] <= size + HEADERS, one_sided
    for column, counted in enumerate(("bytes", "messages")):
        assert coverage["received"][counted] == sum(cell[column] for cell in everything.values())
    assert not gaps_of_windows(profile), coverage["not_visible"]
    assert {block["hidden"] for block in one_sided_blocks(profile)} == {True}
    sizes = {entry["class"]: sum(s * m for s, m in zip(entry["size"], entry["messages"]))
             for entry in profile["message_sizes"]}
    assert sizes["one-sided"] == sum(cell[0] for cell in one_sided.values()), sizes


def messages_of_a_window_are_counted_once(build, folder):
    """One MPI_Put of 1,000,000 B once was one-sided 1,000,000 B and again library 1,000,056 B."""
    transports = {"shared memory": (), "tcp": TCP}
    for transport, operation, how in itertools.product(transports, OPERATIONS, SYNCHRONIZATIONS):
        place = folder / f"{transport}-{operation}-{how}"
        place.mkdir()
        command = [build.window, operation, how, BYTES]
        try:
            check_messages(build.profile(place, PT2PT + transports[transport], command), operation)
        except AssertionError as problem:
            raise AssertionError(f"{operation} {how} over {transport}: {problem}") from problem


def synchronization_counts_as_one_sided(build, folder):
    """Fences, locks and posts belong to the calls; making and freeing a window to the library."""
    for how in SYNCHRONIZATIONS:
        place = folder / how
        place.mkdir()
        profile = build.profile(place, PT2PT, [build.window, "put", how, 8])
        # The target answers: a barrier, a post message, or that the lock is granted.
        answers = matrix(profile, of_class("one-sided")).get(BACK, [0, 0])
        assert answers[1] > 0, (how, profile["traffic"])
        assert set(matrix(profile, of_class("library"))) == {OUT, BACK}, (how, profile["traffic"])
        strange = {block["class"] for block in profile["traffic"]} - {"one-sided", "library"}
        assert not strange, (how, strange)


def small_operations_share_messages(build, folder):
    """What was sent is counted: 8 B and their header in one message, and no operation in addition."""
    profile = build.profile(folder, PT2PT, [build.window, "put", "lock", 8])
    assert all(block["hidden"] for block in one_sided_blocks(profile))
    assert 8 <= matrix(profile, of_class("one-sided"))[OUT][0] <= 8 + HEADERS, profile["traffic"]


def operations_that_bypass_the_pml_are_counted_as_posted(build, folder):
    for operation, how in itertools.product(OPERATIONS, SYNCHRONIZATIONS):
        place = folder / f"{operation}-{how}"
        place.mkdir()
        profile = build.profile(place, (), [build.window, operation, how, BYTES])
        assert profile["coverage"]["verdict"] == "exact", profile["coverage"]
        posted = matrix(profile, of_class("one-sided"))
        wanted = {pair: [size, 1] for pair, size in moved(operation).items()}
        assert posted == wanted, (operation, how, posted)
        assert {block["hidden"] for block in one_sided_blocks(profile)} == {False}
        gaps = gaps_of_windows(profile)
        assert gaps and gaps <= {"osc/rdma", "osc/sm", "osc/ucx"}, gaps
        whole = {pair: cell[0] for pair, cell in matrix(profile).items()}
        # The members of an osc/rdma window tell each other where their memory is.
        assert is_once(whole, operation, 10 * HEADERS), whole


def exports_and_simulator_count_each_byte_once(build, folder):
    run = build.run(folder, PT2PT, [build.window, "put", "fence", BYTES])
    build.fathom("export", run, "--format", "csv", "-o", folder / "t.csv")
    with open(folder / "t.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    exported = {OUT: 0, BACK: 0}
    for row in rows:
        exported[int(row["source"]), int(row["destination"])] += int(row["bytes"])
    assert is_once(exported, "put"), rows
    build.fathom("export", run, "--format", "treematch", "-o", folder / "t.mat")
    weights = [list(map(int, line.split())) for line in (folder / "t.mat").read_text().splitlines()]
    assert weights == [[0, sum(exported.values())], [sum(exported.values()), 0]], weights
    report = json.loads(build.fathom("report", "--json", run))
    assert report["total"]["bytes"] == sum(exported.values()), report["total"]
    build.fathom("simulate", "--cluster", "xgft:m=1,2;w=1,1;slots=1", "--job", run, "-o",
                 folder / "sim")
    with open(folder / "sim" / "results.json", encoding="utf-8") as file:
        results = json.load(file)
    assert results["runs"][0]["max_traffic"] == max(exported.values()), results["runs"][0]


def the_trace_holds_the_same_messages(build, folder):
    """The trace's one-sided messages are compared with the profile's, and are as many bytes."""
    every_call = [build.program(os.path.join(build.options.binaries, "rma")), "create", "messages"]
    jobs = [] if build.is_later else [(PT2PT, every_call, 4)]
    for words, operation in itertools.product(((),) if build.is_later else (PT2PT, ()), ("put", "swap")):
        jobs.append((words, [build.window, operation, "fence", BYTES], 2))
    for number, (words, command, ranks) in enumerate(jobs):
        place = folder / str(number)
        place.mkdir()
        run = build.run(place, words, command, trace=True, ranks=ranks)
        assert "equal:" in build.fathom("trace", "check", run)
        with open(run / "profile.json", encoding="utf-8") as file:
            profile = json.load(file)
        traced = {}
        for line in build.fathom("trace", "print", "--json", run).splitlines():
            event = json.loads(line)
            if event["kind"] == "sent" and event["class"] == "one-sided":
                cell = traced.setdefault((event["rank"], event["peer"]), [0, 0])
                cell[0] += event["bytes"]
                cell[1] += 1
        counted = matrix(profile, lambda block: block["hidden"] and block["class"] == "one-sided")
        assert traced == counted, (command, traced, counted)
        assert bool(traced) == (words == PT2PT), traced


def both_ends_name_the_same_class(build, folder):
    """Rank 0 can leave MPI_Win_create first, and its message find rank 1 still in there."""
    for how in ("lock", "fence"):
        place = folder / how
        place.mkdir()
        run = build.run(place, PT2PT, [build.window, "put", how, 8, 500], trace=True)
        assert "equal:" in build.fathom("trace", "check", run), how


def mpi_t_does_not_add_operations_to_messages(build, folder):
    """pml_monitoring counts the messages of osc/pt2pt as the program's own."""
    profile = build.profile(folder, PT2PT, [build.window, "put", "fence", BYTES],
                            environment={"FATHOM_SOURCE": "mpi_t"})
    assert profile["source"] == "mpi_t", profile["source"]
    whole = {pair: cell[0] for pair, cell in matrix(profile).items()}
    assert is_once(whole, "put"), profile["traffic"]


CASES = [messages_of_a_window_are_counted_once, synchronization_counts_as_one_sided,
         small_operations_share_messages, operations_that_bypass_the_pml_are_counted_as_posted,
         exports_and_simulator_count_each_byte_once,
         the_trace_holds_the_same_messages, both_ends_name_the_same_class,
         mpi_t_does_not_add_operations_to_messages]

WITHOUT_PT2PT = [operations_that_bypass_the_pml_are_counted_as_posted, the_trace_holds_the_same_messages]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--binaries", "--library", "--trace-library", "--cli"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    passed = failed = 0
    for row in tested():
        build = Build(row, options)
        for case in WITHOUT_PT2PT if build.is_later else CASES:
            if options.cases and case.__name__ not in options.cases:
                continue
            with tempfile.TemporaryDirectory(prefix="fathom-one-sided.") as folder:
                try:
                    case(build, pathlib.Path(folder))
                    passed += 1
                    print(f"ok   {case.__name__} {build.name}", flush=True)
                except (AssertionError, OSError, LookupError, ValueError,
                        subprocess.SubprocessError) as problem:
                    failed += 1
                    print(f"FAIL {case.__name__} {build.name}: {problem}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
