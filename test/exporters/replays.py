#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What is exported for simulators takes as long there as Fathom's own replay of the trace takes.

    replays.py --programs DIR --library libfathom-trace.so --cli fathom [--build NAME] [CASE...]

Real programs, traced on each Open MPI of open_mpi.tested(). SimGrid (smpirun -replay) and Fathom get the same platform file and
machines that send and receive in no time; LogGOPSim's rules (loggopsim.py) and Fathom the same LogGOPS parameters. What explains
a larger difference is taken out of both, and the rest must agree. The last line is "N passed, N failed, N skipped".
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "analysis"))
from attempts import until_it_passes  # noqa: E402
import waits  # noqa: E402

import loggopsim  # noqa: E402

CLOSE = 0.01
# Slow enough that the network's part can be told from the rest.
BANDWIDTH_BPS = 125_000_000
# With latency, a message above EAGER takes two more of them here than in SimGrid, whose rendezvous exchanges nothing. Where
# ranks compete for links, microseconds decide who is first, and an allreduce of 200 kB may take a tenth longer or shorter.
# Therefore programs with messages longer than SHORT are compared without latency, and latency with the others.
PLATFORM = """<?xml version='1.0'?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="c" prefix="n" radical="0-{last}" suffix="" speed="1Gf" bw="{bandwidth}Bps" lat="{latency}us"
sharing_policy="SPLITDUPLEX"/></platform>
"""
EAGER = 65536
SHORT = 2048
# Who comes first where ranks compete differs from run to run, and more so on a busy machine.
ATTEMPTS = 3
# SimGrid without what makes flows look like TCP (test/simulator/simgrid_flows.cpp has the reasons), and without costs of
# its MPI. What is eager (two more settings) is under way before its receive is posted, and nobody waits for its end.
SIMGRID = [f"--cfg={key}" for key in (
    "network/model:CM02", "network/TCP-gamma:0", "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0",
    "network/crosstraffic:0", "smpi/os:0:0:0", "smpi/or:0:0:0", "smpi/ois:0:0:0")]
# What SimGrid's MPI adds to the bytes of each message (smpi_request.cpp: "MPI enveloppe size").
ENVELOPE_BYTES = 16
OF_ENVELOPES = 0.1  # how well the time that they take must be explained, where they make a difference
NO_COSTS = "L=0,o=0,g=0,G=0,O=0"
# All messages eager: with rendezvous, LogGOPSim's answer takes no time and its data do not wait for it.
MACHINE = {"L": 1000, "o": 300, "g": 50, "G": 1, "O": 0, "S": 1 << 40}
# LogGOPSim takes o and g when a message arrives, Fathom when it is received.
FREE = MACHINE | {"o": 0, "g": 0}

# Further truth programs of test/analysis, and their cases.
PROGRAMS = {
    "costs": ("example", "ring", "irecv_send_wait", "any_source", "two_waits", "waitall_with_null", "testing", "sendrecv",
              "posted_waitall", "bsend_testany", "persistent", "ireduce", "vectors"),
    "paths": ("sleeper", "ring", "in_turn", "master_worker", "pipeline", "butterfly", "root", "posts_late"),
    "times": ("balance", "chain", "barriers", "phases"),
    "loops": ("pair", "nested", "copied", "branches", "chance"),
    "sleeps": ("late_sender", "imbalance", "late_start", "tail", "probed", "locked"),
}
# Words and numbers of ranks of those that have no names of cases.
SHAPES = {"halo 1 4 2": 8, "halo 0 5": 5, "butterfly": 8, "master": 5, "ring": 7, "pairs": 8, "all": 5, "alltoall": 6}
GRIDS = ("collective both 2 3", "collective transposes 2 4", "collective summa 2 4", "sends transposes 4 2", "sends summa 2 3",
         "world rows 2 4")
# Without those of several threads: loggopsim.py knows one processor of a rank.
WINDOWS = ("in_turn", "nested", "mistakes", "too_many", "left_out", "paused")
FINDINGS = ("load-imbalance", "delay", "slow-call", "busy-master", "idle-master", "start-up", "small-message-pressure",
            "small-message-overhead", "rank-traffic-imbalance", "communication-imbalance", "collective-root-bottleneck",
            "link-hotspot", "synchronization-heavy", "global-collective-heavy", "late-sender", "late-receiver",
            "late-broadcaster", "early-reduce-arrival", "barrier-arrival-skew", "barrier-imbalance", "completion-overhead")
COLLECTIVES = ("barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "allgatherv", "alltoall", "alltoallv",
               "reduce_scatter", "scan", "comm_split", "iallreduce", "ialltoall", "ibcast", "ring_ineighbor_alltoall")
COUNTS = (4, 50000)

LATE_S = 0.2
LATE_RANKS, LATE_BYTES = 8, 2500
# These messages are eager where they are traced, so that the late rank finds them, and go by rendezvous over a slow link where
# they are replayed, so that what it waits for first shows.
LATE_BANDWIDTH_BPS, LATE_EAGER = 125_000, 1000


def exported(build, run, form, path):
    build.call(build.options.cli, "export", run, "--format", form, "-o", path)
    return path


def replayed_s(build, job, cluster, machine, out):
    results = json.loads(build.call(build.options.cli, "simulate", "--cluster", cluster, "--job", job, "--model", "replay",
                                    "--loggops", machine, "--json", "-o", out, "--force"))
    return results["runs"][0]["seconds"]


def simgrid_s(folder, trace, ranks, eager):
    """The time that smpirun says, in nine digits."""
    (folder / "hosts").write_text("".join(f"n{rank}\n" for rank in range(ranks)))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "FATHOM_", "LD_"))}
    done = subprocess.run(["smpirun", "-np", str(ranks), "-platform", folder / "platform.xml", "-hostfile", folder / "hosts", *SIMGRID,
                           f"--cfg=smpi/async-small-thresh:{eager}", f"--cfg=smpi/send-is-detached-thresh:{eager}",
                           "--log=root.fmt:%.9r%e%m%n", "-replay", trace],
                          capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return float(re.findall(r"^([0-9.]+) Simulation time", done.stdout + done.stderr, re.M)[-1])


def near(one, other):
    return abs(one - other) <= CLOSE * other


def in_simgrid(build, folder, run, ranks, latency_us, bandwidth=BANDWIDTH_BPS, eager=EAGER):
    """(seconds in SimGrid, in Fathom's replay, in its replay of messages that are longer by SimGrid's envelope)"""
    (folder / "platform.xml").write_text(PLATFORM.format(last=ranks - 1, bandwidth=bandwidth, latency=latency_us))
    trace, goal = (exported(build, run, form, folder / f"{form}-{latency_us}") for form in ("smpi", "goal"))
    enveloped = folder / "enveloped.goal"
    enveloped.write_text(re.sub(r"\b(send|recv) (\d+)b", lambda found: f"{found[1]} {int(found[2]) + ENVELOPE_BYTES}b", goal.read_text()))
    here = (replayed_s(build, job, folder / "platform.xml", f"{NO_COSTS},S={eager}", folder / "out") for job in (run, enveloped))
    return simgrid_s(folder, trace / "trace.txt", ranks, eager), *here


def in_loggopsim(build, folder, run, ranks, machine):
    """(seconds by LogGOPSim's rules, by these with interfaces that carry messages while the processor goes on, in Fathom's replay of the
    schedule, in that of the trace)"""
    goal = folder / "job.goal"
    if not goal.exists():
        exported(build, run, "goal", goal)
    words = ",".join(f"{name}={value}" for name, value in machine.items())
    cluster = f"leafspine:leaves=1;spines=1;hosts=1;slots={ranks}"
    half, full = (loggopsim.end_ns(goal.read_text(), **machine, carried_by=by) / 1e9 for by in ("processor", "interface"))
    return (half, full, *(replayed_s(build, job, cluster, words, folder / "out") for job in (goal, run)))


def latencies_us(goal):
    longest = max((int(length) for length in re.findall(r"send (\d+)b", goal.read_text())), default=0)
    return (0, 1) if longest <= SHORT else (0,)


def simulators_agree(build, folder, run, ranks):
    half, full, schedule, trace = in_loggopsim(build, folder, run, ranks, MACHINE)
    said = f"LogGOPSim {half / trace - 1:+.3%}, of full duplex {full / trace - 1:+.3%}"
    assert abs(schedule - trace) <= 1e-5 * trace, f"schedule {schedule}, trace {trace}"
    _, full, _, trace = in_loggopsim(build, folder, run, ranks, FREE)
    said += f", without overheads {full / trace - 1:+.3%}"
    assert near(full, trace), f"LogGOPSim's rules with full duplex {full}, replay {trace}"
    for latency_us in latencies_us(folder / "job.goal") if shutil.which("smpirun") else ():
        in_grid, here, enveloped = in_simgrid(build, folder, run, ranks, latency_us)
        said += f"; SimGrid {in_grid / here - 1:+.3%}, without its envelopes {in_grid / enveloped - 1:+.3%}"
        explained = abs(in_grid - enveloped) <= CLOSE * here + OF_ENVELOPES * abs(enveloped - here)
        assert near(in_grid, here) or explained, f"latency {latency_us} us: SimGrid {in_grid}, replay {here}, with envelopes {enveloped}"
    print(f"{build.name} {run.name}: {said}", flush=True)


def program_takes_as_long(program, *words, ranks=4, exit_code=0):
    def case(build, folder, name):
        def attempt(number):
            here = folder / str(number)
            here.mkdir()
            at = [here / word if word == "file" else word for word in words]
            run = build.traced(here / name.replace(" ", "-"), build.program(program), *at, ranks=ranks, exit_code=exit_code)
            simulators_agree(build, here, run, ranks)
        until_it_passes(attempt, ATTEMPTS)
    return case


def a_late_rank_sends_at_once(build, folder, _):
    """What the late rank finds does not hold up what it sends: its messages come and go at once, in the time of one direction.
    Without the steps of transfers nobody can tell."""
    if not build.has_peruse:
        raise waits.Skipped("only PERUSE tells which messages were there")
    if not shutil.which("smpirun"):
        raise waits.Skipped("smpirun is not installed")
    once_s = (LATE_RANKS - 1) * LATE_BYTES / LATE_BANDWIDTH_BPS

    def attempt(number):
        run = build.traced(folder / f"run{number}", build.program("late_alltoall"), str(LATE_BYTES), str(int(LATE_S * 1000)),
                           ranks=LATE_RANKS)
        at = folder / f"replay{number}"
        at.mkdir()
        in_grid, here, _ = in_simgrid(build, at, run, LATE_RANKS, 1, LATE_BANDWIDTH_BPS, LATE_EAGER)
        print(f"{build.name} late all-to-all: SimGrid {in_grid:.6f} s, replay {here:.6f} s, network {once_s:.6f} s", flush=True)
        assert near(in_grid, here), f"SimGrid {in_grid}, replay {here}"
        assert in_grid < LATE_S + 1.5 * once_s, in_grid
    until_it_passes(attempt)


def main():
    cases = {f"waits {case}": program_takes_as_long(*waits.program_of(case, "file")) for case in [*waits.CASES, *waits.ENDS]}
    cases |= {f"delays {case}": program_takes_as_long("delays", case, "100", "50") for case in ("messages", "rooted", "part", "mixed")}
    cases |= {f"{program} {case}": program_takes_as_long(program, case) for program, names in PROGRAMS.items() for case in names}
    cases |= {f"collectives {operation} {count}": program_takes_as_long("collectives", operation, str(count), "1", ranks=6)
              for operation in COLLECTIVES for count in COUNTS}
    cases |= {f"shapes {words}": program_takes_as_long("shapes", *words.split(), ranks=ranks) for words, ranks in SHAPES.items()}
    cases |= {f"grids {words}": program_takes_as_long("grids", *words.split(), ranks=int(words[-3]) * int(words[-1])) for words in GRIDS}
    cases |= {f"windows {case}": program_takes_as_long("windows", case, exit_code=3) for case in WINDOWS}
    cases |= {f"findings {kind}": program_takes_as_long("findings", kind) for kind in FINDINGS}
    cases |= {"critter": program_takes_as_long("critter", ranks=2), "late_sender": program_takes_as_long("late_sender", ranks=2)}
    cases["a late rank sends at once"] = a_late_rank_sends_at_once
    waits.run_cases(waits.options_of(__doc__), cases)


if __name__ == "__main__":
    main()
