#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every program of test/mpi, traced and exported to OTF2: the archive opens and nothing is missing.

    otf2_archives.py --binaries DIR --library libfathom-trace.so --cli fathom [--jobs N] [CASE...]

otf2-print and Python's otf2, which Pipit reads with, open each archive without a warning. Every
function that is defined occurs, and every call site has a name or a place in a file. By class and
pair of ranks, what was sent is what was received and what the profile of the same run holds, in
messages and bytes. Rows of test/mpi/cases.py that differ in program, arguments or settings run
once, on the build with PERUSE if it is there. Programs that spawn others leave an archive for each
world. Parts of the ranks are checked as well: chosen after the run, and for some programs before
it. The last line is "N passed, N failed, 0 skipped".
"""

import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Debian's otf2 is in the last.
sys.path[:0] = [os.path.join(HERE, "..", "mpi"), os.path.join(HERE, ".."), "/usr/lib/python3/dist-packages"]
import cases  # noqa: E402
import open_mpi  # noqa: E402
import run as mpi  # noqa: E402

try:
    import otf2
except ImportError:
    otf2 = None

RANKS_CHOSEN_BEFORE = ("sendrecv", "intercomm", "spawn", "threads")
UNKNOWN = -1  # a peer that left no trace, on a communicator whose members are not all known
NOT_MESSAGES = ("one-sided", "io")  # classes of the profile that a trace holds as calls


def chosen(names):
    """One row for each program, arguments and settings, and how it runs."""
    seen = set()
    for case in cases.CASES:
        key = case.program, case.args, tuple(case.mca), case.preload
        if names and case.name not in names:
            continue
        plain = case.output == "run" and case.ranks > 1 and not case.environment and not case.since
        traced = case.leaves in ("profile", "rows") and any(row[1] != "mpi_t" for row in case.on)
        if key in seen or not plain or not traced:
            continue
        seen.add(key)
        yield case


def record(setting, case, folder, ranks=None):
    """Runs the program under the trace library. Returns a run directory for each world."""
    run = folder / "run"
    (folder / "expect").mkdir()
    (folder / "scratch").mkdir()
    build = open_mpi.preferred()
    exports = {"LD_PRELOAD": setting.library, "FATHOM_OUTPUT": str(run)}
    if ranks:
        exports["FATHOM_TRACE_RANKS"] = ranks
    environment = dict(build.environment, EXPECT_DIR=str(folder / "expect"),
                       TEST_SCRATCH=str(folder / "scratch"))
    command = mpi.command(setting, case, (build.name, "auto", "sm"), exports)
    done = mpi.execute(command, environment, str(folder))
    assert not done["timed_out"], "the job did not end"
    assert case.exit_code is None or done["code"] == case.exit_code, mpi.visible(done["stderr"])
    worlds = [world for world in (run, *sorted(run.glob("world-*"))) if (world / "trace").is_dir()]
    assert worlds, "no trace was left"
    return worlds


def fathom(setting, *words):
    done = subprocess.run([setting.cli, *map(str, words)], capture_output=True, text=True,
                          timeout=120, check=False)
    assert done.returncode == 0, \
        f"fathom {words}: {done.returncode}\n{done.stdout[-600:]}{done.stderr[-600:]}"


def printed(anchor):
    for option in ((), ("-G",)):
        done = subprocess.run(["otf2-print", *option, anchor], capture_output=True, text=True,
                              errors="replace", timeout=120, check=False)
        assert done.returncode == 0 and not done.stderr.strip(), \
            f"otf2-print: {done.returncode} {done.stderr[:600]}"


class Messages:
    """{(class, source, destination): [messages, bytes]} of an archive, by world rank."""

    def __init__(self, anchor):
        self.sent, self.received = (collections.defaultdict(lambda: [0, 0]) for _ in "sr")
        self.recorded = set()  # ranks with events
        open_receives, entered = set(), set()
        with otf2.reader.open(anchor) as trace:
            regions = {region.name for region in trace.definitions.regions}
            for location, event in trace.events:
                if location.name == "no events":
                    continue
                kind, rank = type(event).__name__, self.rank_of(location)
                if kind == "Enter":
                    entered.add(event.region.name)
                    self.check_place(event)
                self.recorded.add(rank)
                if kind in ("MpiSend", "MpiIsend"):
                    self.add(self.sent, event, rank, self.member(event, event.receiver, rank))
                elif kind in ("MpiRecv", "MpiIrecv"):
                    self.add(self.received, event, self.member(event, event.sender, rank), rank)
                if kind == "MpiIrecvRequest":
                    open_receives.add((rank, event.request_id))
                elif kind == "MpiIrecv":
                    assert (rank, event.request_id) in open_receives, "MpiIrecv without its request"
        assert regions == entered, f"functions that do not occur: {regions - entered}"

    @staticmethod
    def check_place(event):
        """Of programs without debug information the function is known; in libraries, the place in a file."""
        where = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
        if "fathom::site" not in where:
            return
        assert where.get("fathom::caller") or where["fathom::source"].file, where

    @staticmethod
    def rank_of(location):
        name = location.group.name
        return UNKNOWN if name == "unknown rank" else int(name.removeprefix("rank "))

    def member(self, event, position, own):
        members = event.communicator.group.members
        return self.rank_of(members[position]) if members else own

    @staticmethod
    def add(to, event, source, destination):
        twin = re.fullmatch(r".* \[(.*?)(?:, hidden)?\]", event.communicator.name)
        name = twin.group(1) if twin else "point-to-point"
        if name in NOT_MESSAGES:
            return
        cell = to[name, source, destination]
        cell[0] += 1
        cell[1] += event.msg_length


DIFFERENCE = ("source", "destination", "sent_messages", "sent_bytes", "received_messages",
              "received_bytes")


def rows(columns):
    names = ("source", "destination", "messages", "bytes")
    return zip(*(columns[name] for name in names)) if columns else ()


def profiled(world):
    """The same of a profile, and what was sent but not counted as received, by pair."""
    profile = json.loads((world / "profile.json").read_text())
    cells = collections.defaultdict(lambda: [0, 0])
    for block in profile["traffic"]:
        if block["class"] in NOT_MESSAGES:
            continue
        for source, destination, messages, size in rows(block):
            cell = cells[block["class"], source, destination]
            cell[0] += messages
            cell[1] += size
    unreceived = collections.defaultdict(lambda: [0, 0])
    for source, destination, messages, size in rows(profile["coverage"]["unreceived"].get("pairs")):
        unreceived[source, destination] = [messages, size]
    differing = profile["coverage"].get("differences") or {}
    for source, destination, *counts in zip(*(differing.get(name, ()) for name in DIFFERENCE)):
        lacking = [sent - received for sent, received in zip(counts[:2], counts[2:])]
        unreceived[source, destination] = [max(0, count) for count in lacking]
    return cells, unreceived, profile["world_size"]


def merge_unknown(archive, profile, recorded, own, other):
    """Where a rank has peers that are not known, adds up all its peers that left no trace."""
    for name, rank in {(cell[0], cell[own]) for cell in archive if cell[other] == UNKNOWN}:
        for cells in (archive, profile):
            for cell in [*cells]:
                if (cell[0], cell[own]) != (name, rank) or cell[other] in recorded:
                    continue
                sums = cells.pop(cell)
                merged = cells[(name, rank, UNKNOWN) if own == 1 else (name, UNKNOWN, rank)]
                merged[:] = [a + b for a, b in zip(merged, sums)]


def compare(world, anchor):
    """The ends of messages in other worlds are in the archives of those worlds."""
    archive, (profile, unreceived, world_size) = Messages(anchor), profiled(world)
    merge_unknown(archive.sent, profile, archive.recorded, own=1, other=2)
    merge_unknown(archive.received, profile, archive.recorded, own=2, other=1)
    for cell in {*profile, *archive.sent, *archive.received}:
        name, source, destination = cell
        expected, sent, received = profile[cell], archive.sent[cell], archive.received[cell]
        if destination in archive.recorded and destination < world_size:
            assert received == expected, f"{cell}: received {received}, profile {expected}"
        if source in archive.recorded and source < world_size and sent != expected:
            more = [a - b for a, b in zip(sent, expected)]
            allowed = unreceived[source, destination]
            assert 0 < more[0] <= allowed[0] and 0 <= more[1] <= allowed[1], \
                f"{cell}: sent {sent}, profile {expected}, not received {allowed}"
            unreceived[source, destination] = [a - b for a, b in zip(allowed, more)]
    return archive


def check_world(setting, case, world, folder, ranks):
    archive = folder / f"{world.name}-archive"
    fathom(setting, "export", world, "--format", "otf2", "-o", archive)
    printed(str(archive / "traces.otf2"))
    if case.leaves == "rows":  # cut short: the profile is put together from what each process left
        Messages(str(archive / "traces.otf2"))
        return
    whole = compare(world, str(archive / "traces.otf2"))
    if ranks:
        return
    first = min(whole.recorded)
    part = folder / f"{world.name}-part"
    fathom(setting, "trace", "filter", world, "--ranks", first, "-o", part)
    fathom(setting, "export", part, "--format", "otf2", "-o", f"{part}-archive")
    printed(f"{part}-archive/traces.otf2")
    one = Messages(f"{part}-archive/traces.otf2")
    assert one.recorded == {first}
    assert one.sent == {cell: sums for cell, sums in whole.sent.items() if cell[1] == first}
    assert one.received == {cell: sums for cell, sums in whole.received.items() if cell[2] == first}


def check(setting, case, ranks):
    for _ in range(mpi.ATTEMPTS):
        problem = check_once(setting, case, ranks)
        if not (problem and mpi.spoilt(case, (open_mpi.preferred().name, "auto", "sm"), [problem])):
            break
    return problem


def check_once(setting, case, ranks):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-otf2-"))
    try:
        for world in record(setting, case, folder, ranks):
            check_world(setting, case, world, folder, ranks)
        return None
    except Exception as problem:  # one broken archive must not hide the others
        return f"{type(problem).__name__}: {problem}"
    finally:
        if setting.keep:
            print(f"    kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--jobs", type=int, default=2, help="programs at the same time")
    parser.add_argument("--keep", action="store_true", help="keep and name every program's folder")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    arguments = parser.parse_args()
    if otf2 is None or not shutil.which("otf2-print"):
        print("skipped: Python's otf2 or otf2-print is not installed")
        return 77
    arguments.witness = None
    arguments.later = False
    setting = mpi.Setting(arguments)
    runs = [(case, ranks) for case in chosen(arguments.cases)
            for ranks in ((None, "1-2") if case.name in RANKS_CHOSEN_BEFORE else (None,))]
    failed = 0
    # Processes, because Python's otf2 is not made for several threads.
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        problems = pool.map(functools.partial(check, setting), *zip(*runs))
        for (case, ranks), problem in zip(runs, problems):
            failed += problem is not None
            title = f"{case.group}/{case.name}" + (f" --ranks {ranks}" if ranks else "")
            print(f"FAIL {title}: {problem}" if problem else f"ok   {title}", flush=True)
    print(f"{len(runs) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
