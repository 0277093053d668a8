#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Three witnesses of the same traffic, pair by pair, on programs nobody here wrote.

    bench/exactness.py [--only hpcc|lammps|netpipe] [--build NAME] [--pml ob1|ucx] [--pairs] [--write]
    bench/exactness.py --releases [--only hpcc|lammps|netpipe] [--write]

For each program (HPCC and LAMMPS on 4 ranks, NetPIPE on the 2 it supports), on the PERUSE build or the one named
(stock, or a later release of scripts/openmpi.sh with the programs of its Debian):

  two witnesses   one run under Fathom: receives decoded from PERUSE events, or without PERUSE from completed
                  requests, by the receiver, sends counted at the PML boundary by the sender. The profile
                  holds their differences.
  three at once   one run in which pml_monitoring, Open MPI's own component, counts beneath Fathom, from the
                  end of MPI_Init to the call of MPI_Finalize. What it cannot see (the program's persistent
                  sends) is counted by the small library that reads it (bench/programs/monitored.c). Both
                  are the same, pair by pair, to the byte, or the pair is shown.
  alone           pml_monitoring in two runs of its own, without Fathom: what it says about the program
                  when nobody else is there. A program whose message counts depend on timing differs
                  between these two runs as well.

--releases: two and three witnesses, in short, on each release of Open MPI that is here, over pml/ob1 and pml/ucx
(the programs of a later release come from scripts/openmpi/programs.sh).

And for HPCC on the PERUSE build, the receive completions that are no messages (bench/programs/event_types.c).
Exit code 1 if a difference is left unexplained. --pairs prints every pair; --write puts the tables into
docs/exactness.md.
"""

import argparse
import json

import jobs
import open_mpi
import real_programs


class Counts(dict):
    """{(source, destination): [bytes, messages]}"""

    def add(self, pair, size, messages):
        cell = self.setdefault(pair, [0, 0])
        cell[0] += size
        cell[1] += messages

    def total(self):
        return sum(c[0] for c in self.values()), sum(c[1] for c in self.values())

    def of(self, pair):
        return tuple(self.get(pair, (0, 0)))

    def __add__(self, other):
        both = Counts()
        for counts in (self, other):
            for pair, count in counts.items():
                both.add(pair, *count)
        return both


class Bench:
    def __init__(self, workspace, build, pml):
        self.workspace, self.pml = workspace, pml
        self.installation = jobs.build(build)
        self.source = "peruse" if self.installation.has_peruse and pml == "ob1" else "pml"
        self.parameters = ()  # further words for mpirun
        self.mistakes = 0

    def preload(self, source):
        return self.workspace.compile_preload(self.installation, source)

    def run(self, program, variant, preload=(), environment=None):
        directory = self.workspace.run_directory()
        real_programs.prepare(program, directory)
        jobs.launch(self.workspace, self.installation, variant, program.ranks, program.command,
                    directory=directory, mpirun=[*jobs.OVERSUBSCRIBED, *self.parameters], preload=preload, environment=environment,
                    pml=self.pml)
        return directory

    def run_monitored(self, program, variant, **options):
        """A run whose traffic read_monitored() returns."""
        # First in the list: outside of Fathom at both ends of the program.
        return self.run(program, variant, preload=[self.preload("monitored"), *options.pop("preload", [])],
                        environment={"MONITORED_OUTPUT": "monitored"} | options.pop("environment", {}), **options)


def table_rows(table, *columns):
    """The rows of a table that is stored column by column; empty if there is no table."""
    return zip(*(table[column] for column in columns)) if table else ()


def counts_of(profile):
    """(receives per pair, sends per pair)"""
    received, sent = Counts(), Counts()
    pair_count = ("source", "destination", "bytes", "messages")
    for block in profile["traffic"]:
        for source, destination, *count in table_rows(block, *pair_count):
            received.add((source, destination), *count)
            sent.add((source, destination), *count)
    coverage = profile["coverage"]
    for source, destination, *count in table_rows(coverage["unreceived"].get("pairs"), *pair_count):
        sent.add((source, destination), *count)
    for source, destination, *both in table_rows(
            coverage.get("differences"), "source", "destination", "sent_bytes", "sent_messages",
            "received_bytes", "received_messages"):
        sent[(source, destination)] = both[:2]
        received[(source, destination)] = both[2:]
    return received, sent


def read_profile(directory):
    """(receives per pair, sends per pair, the profile)"""
    profile = json.loads((directory / "profile/profile.json").read_text())
    return *counts_of(profile), profile


def read_monitored(directory):
    """(what pml_monitoring counted, the program's persistent sends) of bench/programs/monitored.c"""
    counts = {"monitoring": Counts(), "persistent": Counts()}
    for line in (directory / "monitored").read_text().splitlines():
        witness, source, destination, size, messages = line.split()
        counts[witness].add((int(source), int(destination)), int(size), int(messages))
    return counts["monitoring"], counts["persistent"]


def number(n):
    return f"{n:,}"


def compared(fathom, third):
    """(all pairs of ranks, those for which the two do not count the same)"""
    pairs = sorted(set(fathom) | set(third))
    return pairs, [pair for pair in pairs if fathom.of(pair) != third.of(pair)]


def check(bench, program, show_pairs):
    rows, notes = [], []
    jobs.progress(f"{program.title}: two witnesses")
    received, sent, profile = read_profile(bench.run(program, "fathom"))
    coverage = profile["coverage"]
    if profile["source"] != bench.source or coverage["verdict"] != "exact" or received != sent:
        bench.mistakes += 1
        notes.append(f"the two witnesses do not agree: source {profile['source']}, verdict {coverage['verdict']}")
    witness = "PERUSE" if bench.source == "peruse" else "request"
    rows.append([f"{witness} receives", "1", *map(number, received.total()), str(len(received))])
    rows.append(["PML sends", "1", *map(number, sent.total()), str(len(sent))])

    jobs.progress(f"{program.title}: three witnesses at once")
    together = bench.run_monitored(program, "fathom over monitoring")
    fathom, _, profile = read_profile(together)
    monitoring, persistent = read_monitored(together)
    receiver = profile["coverage"]["received"].get("witness", "none")
    if profile["coverage"]["verdict"] != "exact":
        bench.mistakes += 1
        notes.append(f"with pml_monitoring beneath, Fathom's verdict is {profile['coverage']['verdict']}")
    third = monitoring + persistent
    pairs, wrong = compared(fathom, third)
    bench.mistakes += len(wrong)
    for pair in wrong:
        size, messages = (theirs - ours for theirs, ours in zip(third.of(pair), fathom.of(pair)))
        notes.append(f"{pair[0]} → {pair[1]}: pml_monitoring has {size:+d} B, {messages:+d} messages")
    rows.append([f"Fathom (sends = receives by {receiver})", "2", *map(number, fathom.total()), str(len(fathom))])
    rows.append(["pml_monitoring", "2", *map(number, monitoring.total()), str(len(monitoring))])
    rows.append(["+ program's persistent sends", "2", *map(number, persistent.total()), str(len(persistent))])
    rows.append(["= pairs that agree", "2", "", "", f"{len(pairs) - len(wrong)} of {len(pairs)}"])
    lines = [[f"{pair[0]} → {pair[1]}",
              *(number(n) for counts in (fathom, monitoring, persistent) for n in counts.of(pair)),
              "≠" if pair in wrong else "="] for pair in pairs]

    jobs.progress(f"{program.title}: pml_monitoring alone")
    for name in ("3", "4"):
        monitoring, persistent = read_monitored(bench.run_monitored(program, "pml_monitoring"))
        alone = monitoring + persistent
        rows.append(["pml_monitoring and persistent sends alone", name, *map(number, alone.total()),
                     "the same as run 1" if alone == received else "differs from run 1"])
    jobs.progress("")
    text = [f"**{program.title}**, {program.ranks} ranks",
            jobs.markdown_table(["witness", "run", "bytes", "messages", "pairs"], rows)]
    if show_pairs:
        text.append("Run 2 by pair (bytes, messages of each):")
        text.append(jobs.markdown_table(
            ["pair", "Fathom B", "msg", "monitoring B", "msg", "persistent B", "msg", ""], lines))
    if notes:
        text.append("\n".join(f"- {note}" for note in notes))
    return "\n\n".join(text)


def in_short(bench, program):
    """One row: the verdict of a run, and how many pairs agree when pml_monitoring counts as well."""
    jobs.progress(f"{bench.installation.title}, pml/{bench.pml}: {program.title}")
    received, sent, profile = read_profile(bench.run(program, "fathom"))
    verdict = profile["coverage"]["verdict"]
    if verdict != "exact" or received != sent:
        bench.mistakes += 1
    try:
        bench.run_monitored(program, "pml_monitoring")
    except jobs.Failed:
        third = "ends the job, also without Fathom"
    else:
        together = bench.run_monitored(program, "fathom over monitoring")
        monitoring, persistent = read_monitored(together)
        pairs, wrong = compared(read_profile(together)[0], monitoring + persistent)
        bench.mistakes += len(wrong)
        third = f"{len(pairs) - len(wrong)} of {len(pairs)} pairs agree"
    jobs.progress("")
    return [bench.installation.title, bench.pml, program.title.split(",")[0], profile["source"], verdict,
            *map(number, received.total()), third]


def measure_releases(workspace, options):
    rows, mistakes = [], 0
    for build in ["peruse", "stock", *open_mpi.later_releases()]:
        for pml in ("ob1", "ucx") if build != "peruse" else ("ob1",):
            bench = Bench(workspace, build, pml)
            for name, program in real_programs.PROGRAMS.items():
                if not options.only or name in options.only:
                    rows.append(in_short(bench, program))
                    print("  ".join(rows[-1]), flush=True)
            mistakes += bench.mistakes
    table = jobs.markdown_table(["Open MPI", "PML", "program", "source", "two witnesses", "bytes", "messages",
                                 "pml_monitoring"], rows)
    if options.write:
        jobs.write_section("exactness.md", "exactness-releases", table)
    return 1 if mistakes else 0


def completions(bench, program):
    """The receive completions of a PERUSE run, by the type of their request."""
    jobs.progress(f"{program.title}: completions by type")
    directory = bench.run_monitored(program, "native", preload=[bench.preload("event_types")],
                                    environment={"EVENT_TYPES_OUTPUT": "types"})
    sums = [0] * 12
    for line in (directory / "types").read_text().splitlines():
        sums = [a + int(b) for a, b in zip(sums, line.split())]
    sends = sums[0] + read_monitored(directory)[1].total()[1]
    kinds = ["RECV", "IPROBE", "PROBE", "IMPROBE", "MPROBE"]
    by_kind = {kind: (sums[1 + 2 * i], sums[2 + 2 * i]) for i, kind in enumerate(kinds)}
    surplus = sum(count for count, _ in by_kind.values()) - sends
    probes = sum(by_kind[kind][1] for kind in kinds[1:])
    if surplus != probes or by_kind["RECV"][0] != sends:
        bench.mistakes += 1
    jobs.progress("")
    return "\n\n".join([
        f"**{program.title}**: `PERUSE_COMM_REQ_COMPLETE` on the receive side, by type of request",
        jobs.markdown_table(
            ["request", "completions", "of these with req_bytes_packed = 0"],
            [[kind, number(count), number(empty)] for kind, (count, empty) in by_kind.items()] +
            [["cancelled (not counted)", number(sums[11]), ""], ["messages sent", number(sends), ""],
             ["completions − messages sent", number(surplus), number(probes)]])])


def measure():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=real_programs.PROGRAMS)
    parser.add_argument("--build", default="peruse", help="peruse (default), stock, 5.0.7, 6.0.0rc2")
    parser.add_argument("--pml", choices=("ob1", "ucx"), default="ob1")
    parser.add_argument("--pairs", action="store_true", help="print every pair of ranks")
    parser.add_argument("--library", help="the libfathom.so to use (build/profiler/libfathom.so)")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/exactness.md")
    parser.add_argument("--releases", action="store_true", help="in short, on every release of Open MPI that is here")
    options = parser.parse_args()
    if options.releases:
        with jobs.Workspace(options.library) as workspace:
            return measure_releases(workspace, options)
    text = []
    with jobs.Workspace(options.library) as workspace:
        bench = Bench(workspace, options.build, options.pml)
        for name, program in real_programs.PROGRAMS.items():
            if options.only and name not in options.only:
                continue
            if options.build not in open_mpi.later_releases() and not real_programs.is_installed(name):
                raise jobs.Failed(f"{program.command[0]} is not installed")
            text.append(check(bench, program, options.pairs))
            print(text[-1], end="\n\n", flush=True)
            if name == "hpcc" and bench.source == "peruse":
                text.append(completions(bench, program))
                print(text[-1], end="\n\n", flush=True)
    verdict = "Every difference is explained." if bench.mistakes == 0 else \
        f"{bench.mistakes} differences are not explained."
    text.append(verdict)
    print(verdict)
    if options.write:
        jobs.write_section("exactness.md", "exactness", "\n\n".join(text))
    return 1 if bench.mistakes else 0


if __name__ == "__main__":
    jobs.main(measure)
