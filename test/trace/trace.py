#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Real jobs under the trace library: what is recorded agrees with the profile, survives, and can be chosen.

    trace.py --binaries DIR --storm STORM --named NAMED --short-threads SHORT
             --library libfathom-trace.so --cli fathom [--kills N] [--ranks N] [--agreeing PROGRAM,...]
             [CASE...]

On each Open MPI of open_mpi.tested(). Every job is also run natively: output and exit code must be
the same. The last line is "N passed, N failed, N skipped".
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from open_mpi import HANG_AT_TIMES, NOT_STARTED, OpenMpi, Skipped, tested  # noqa: E402

TIMEOUT_S = 240
AGREEING = ("collectives", "sendrecv", "wildcards", "threads", "lifetimes", "send_modes",
            "request_free", "left_receives", "rma", "intercomm", "linear", "truncation",
            "unreceived", "large", "forks")


class Build(OpenMpi):
    """One of the Open MPIs, and how jobs are run with it."""

    def __init__(self, row, options):
        super().__init__(row, options.library)
        self.options = options
        self.storm, self.named, self.short_threads = map(self.program, (options.storm, options.named, options.short_threads))

    def program(self, binary):
        """`binary`: a path, or the name of a program of test/mpi."""
        return super().program(os.path.join(self.options.binaries, binary))

    def start(self, folder, command, ranks=4, run=None, trace=(), **variables):
        """A job in `folder`; with `run`, traced into that directory."""
        job = self.launch(ranks, *command)
        if run is not None:
            job = [self.options.cli, "run", "--trace", *trace, "-o", str(run), "--", *job]
        expect = folder / ("native" if run is None else "traced")
        expect.mkdir(exist_ok=True)
        environment = dict(self.environment, EXPECT_DIR=str(expect), **variables)
        return subprocess.Popen(job, env=environment, cwd=folder, text=True,
                                errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, folder, command, ranks=4, run=None, **how):
        code, output, errors = self.wait_for(self.start(folder, command, ranks, run, **how))
        if code == NOT_STARTED and self.is_later:
            if run is not None:
                shutil.rmtree(run, ignore_errors=True)
            code, output, errors = self.wait_for(self.start(folder, command, ranks, run, **how))
        return code, output, errors

    @staticmethod
    def wait_for(job):
        try:
            output, errors = job.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            job.terminate()
            job.wait()
            raise AssertionError("the job did not end") from None
        return job.returncode, output, errors

    def traced(self, folder, command, ranks=4, trace=()):
        """Natively and traced; the run directory."""
        native = self.run(folder, command, ranks)
        run = folder / "run"
        code, output, errors = self.run(folder, command, ranks, run, trace=trace)
        assert (code, sorted(output.splitlines())) == (native[0], sorted(native[1].splitlines())), \
            f"exit code {code}, or other output:\n{output}{errors}\nnatively {native[0]}:\n{native[1]}{native[2]}"
        return run

    def fathom(self, *words, code=0):
        done = subprocess.run([self.options.cli, *map(str, words)], env=self.environment, capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False)
        assert code is None or done.returncode == code, f"fathom {words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def events(self, run, *words):
        """The events that `fathom trace print` shows, as dictionaries."""
        return [json.loads(line) for line in self.fathom("trace", "print", "--json", run, *words).splitlines()
                if line.startswith("{")]


def messages_equal_the_profile(build, folder):
    for program in build.options.agreeing:
        if program in HANG_AT_TIMES.get(build.name, ()):
            continue
        place = folder / program
        place.mkdir()
        run = build.traced(place, [build.program(program)])
        checked = build.fathom("trace", "check", run)
        assert "equal:" in checked, f"{program}: {checked}"


def transfers_are_recorded_step_by_step(build, folder):
    """All of them by PERUSE; without it, where requests start and end at the PML."""
    run = build.traced(folder, [build.program("send_modes")])
    transfers = [event for event in build.events(run) if event["kind"] == "transfer"]
    steps = {(event["side"], event["step"]) for event in transfers}
    wanted = {(side, step) for side in ("send", "receive") for step in ("activate", "complete")}
    if build.has_peruse:
        wanted |= {("receive", step) for step in ("posted", "matched-expected", "begin", "end")}
    assert wanted <= steps, wanted - steps
    for side in () if build.has_peruse else ("send", "receive"):
        steps = collections.Counter(event["step"] for event in transfers if event["side"] == side)
        assert steps["complete"] == steps["activate"], (side, steps)


def each_transfer_has_its_steps(build, folder):
    """However its message comes: on PERUSE, also while Open MPI does not report the begin and end of receives."""
    if not build.has_peruse:
        raise Skipped("this needs PERUSE")
    run = build.traced(folder, [build.program("transfers")], ranks=2)
    receives, sends = collections.defaultdict(list), collections.Counter()
    received = long_sends = 0
    for event in build.events(run):
        long_sends += event["kind"] == "sent" and event["bytes"] > 256  # shorter ones may go without a request
        request = event["rank"], event.get("request")
        if event["kind"] == "transfer" and event["step"] != "continue":
            if event["side"] == "send":
                sends[event["step"]] += 1
            elif event["step"] == "activate":
                receives[request] = []
            elif [event["step"]] != receives[request][-1:]:  # a long message may begin twice
                receives[request].append(event["step"])
        elif event["kind"] == "received":
            steps = [step for step in receives.pop(request) if step != "posted"]
            was_freed, was_held = event["tag"] == 11, event["tag"] == 8
            if not was_held:
                assert steps[0] in ("matched-expected", "matched-unexpected"), (steps, event)
                steps.pop(0)
            wanted = ["begin", "end"] if event["bytes"] > 0 else []
            assert steps == wanted + ["complete"] or (was_freed and steps == wanted), (steps, event)
            received += 1
    assert received > 5000, received
    assert 0 < long_sends <= sends["begin"] == sends["end"] <= sends["complete"], (long_sends, sends)
    assert "equal:" in build.fathom("trace", "check", run)


def events_of_one_communicator_are_off_on_the_next(build, folder):
    """Open MPI calls Fathom for the begin and end of transfers only where that tells something: not on MPI_COMM_WORLD,
    although the self-check before it has sent persistently, nor on a communicator after one that has."""
    if not build.has_peruse:
        raise Skipped("this needs PERUSE")
    code, output, errors = build.run(folder, [build.program("peruse_handles")], 2, folder / "run")
    on, off = "begin on, end on", "begin off, end off"
    assert code == 0 and output.splitlines() == [f"MPI_COMM_WORLD: {off}", f"persistent: {on}", f"the next: {off}"], output + errors


def level_calls_records_no_transfers(build, folder):
    run = build.traced(folder, [build.program("collectives")], trace=["--trace-level", "calls"])
    events = build.events(run)
    assert any(event["kind"] == "enter" for event in events)
    strange = [event for event in events if event["kind"] == "transfer" or event.get("tag", 0) < -1]
    assert not strange, strange[:3]
    assert "equal:" in build.fathom("trace", "check", run)


def communicators_are_chosen(build, folder):
    """By name, by constructor, and by leaving out; MPI_Mrecv's communicator is that of its message."""
    world, split, named = "MPI_COMM_WORLD", "MPI_Comm_split", "solver"
    for patterns, wanted in (("solver", {named}), ("MPI_Comm_split", {split}), ("-solver", {world, split}),
                             ("", {world, split, named})):
        run = folder / f"run{patterns}"
        code, output, errors = build.run(folder, [build.named], ranks=2, run=run,
                                         trace=["--communicators=" + patterns] if patterns else [])
        assert code == 0 and "named: over" in output, errors
        info = json.loads(build.fathom("trace", "info", "--json", run))
        names = {one["id"]: one["name"] or one["made_by"] for one in info["communicators"]}
        events = build.events(run)
        for function in ("MPI_Isend", "MPI_Mprobe", "MPI_Mrecv", "MPI_Allreduce"):
            seen = {names[event["comm"]] for event in events
                    if event["kind"] == "enter" and event["function"] == function}
            assert seen == wanted, (patterns, function, seen)
        for kind in ("sent", "received"):
            seen = {names[event["comm"]] for event in events if event["kind"] == kind and event["tag"] == 1}
            assert seen == wanted, (patterns, kind, seen)
        assert any(event["kind"] == "enter" and event["function"] == "MPI_Wait" for event in events)


def functions_and_ranks_are_chosen(build, folder):
    run = build.traced(folder, [build.program("sendrecv")], trace=["--functions", "MPI_Send*,-MPI_Sendrecv_replace", "--ranks", "1-2"])
    events = build.events(run)
    assert {event["rank"] for event in events} == {1, 2}
    names = {event["function"] for event in events if event["kind"] == "enter"}
    assert names and all(name.startswith("MPI_Send") and name != "MPI_Sendrecv_replace" for name in names), names


def sampled_and_left_out_calls_add_up(build, folder):
    program = [build.storm, str(folder / "count"), "0.3", "0"]
    run = folder / "run"
    code, _, errors = build.run(folder, program, ranks=2, run=run, trace=["--sample", "10"])
    assert code == 0, errors
    for rank in (0, 1):
        sent = struct.unpack("Q", (folder / f"count.{rank}").read_bytes())[0]
        events = build.events(run, "--ranks", str(rank))
        recorded = sum(event["kind"] == "enter" and event["function"] == "MPI_Send" for event in events)
        left_out = sum(event["calls"] for event in events if event["kind"] == "sampled" and event["function"] == "MPI_Send")
        assert recorded + left_out == sent, (recorded, left_out, sent)
        assert recorded < sent / 2, (recorded, sent)


def pcontrol_pauses_recording(build, folder):
    run = build.traced(folder, [build.program("pcontrol")])
    kinds = [event["kind"] for event in build.events(run, "--ranks", "0")]
    assert kinds.count("pause") >= 1 and kinds.count("pause") >= kinds.count("resume") >= 1, set(kinds)
    build.fathom("trace", "check", run)


def a_window_of_time_limits_the_trace(build, folder):
    run = folder / "run"
    program = [build.storm, str(folder / "count"), "4", "2000"]
    code, _, errors = build.run(folder, program, ranks=2, run=run, trace=["--after", "1", "--for", "1"])
    assert code == 0, errors
    times = [event["time_ns"] for event in build.events(run) if event["kind"] == "enter" and event["function"] == "MPI_Send"]
    assert times, "nothing in the window"
    assert (max(times) - min(times)) * 1e-9 < 3, (min(times), max(times))


def many_ranks_lose_nothing(build, folder):
    """Far more processes than processors: nothing is lost, and the trace is equal to the profile."""
    run, ranks = folder / "run", build.options.ranks
    program = [build.storm, str(folder / "count"), "0", "1000"]
    code, output, errors = build.run(folder, program, ranks=ranks, run=run, trace=["--trace-memory", "1M"])
    assert code == 0 and "storm: over" in output, errors
    info = json.loads(build.fathom("trace", "info", "--json", run))
    assert len(info["processes"]) == ranks and info["lost_records"] == 0, info
    assert "equal:" in build.fathom("trace", "check", run)
    sent = collections.Counter(event["rank"] for event in build.events(run)
                               if event["kind"] == "leave" and event["function"] == "MPI_Send")
    for rank in range(ranks):
        assert sent[rank] == struct.unpack("Q", (folder / f"count.{rank}").read_bytes())[0], rank


def records_of_ended_threads_are_kept(build, folder):
    """127 of 1,000 messages were recorded, for a thread that had ended kept its memory."""
    for count in (1000, 5000):
        place = folder / str(count)
        place.mkdir()
        run = build.traced(place, [build.short_threads, str(count)], ranks=2)
        assert "equal:" in build.fathom("trace", "check", run)
        info = json.loads(build.fathom("trace", "info", "--json", run))
        assert info["lost_records"] == 0, info
        events = build.events(run)
        for kind in ("sent", "received"):
            said = collections.Counter(event["rank"] for event in events
                                       if event["kind"] == kind and event.get("tag") == 5)
            assert said == {0: count, 1: count}, (kind, said)
        threads = {event["thread"] for event in events}
        assert len(threads) < 10, f"{len(threads)} numbers for threads one after the other"


def lost_by_every_reader(build, run):
    """What each reader of the trace says was lost, in all: they must say the same. Returns it."""
    said = {}
    ends = [re.findall(rb"[\n\0]lost (\d+)\n", path.read_bytes())
            for path in (run / "trace").glob("*.trace")]
    assert all(ends), f"the end of a trace is missing: {ends}"
    said["end of the trace"] = sum(int(end[-1]) for end in ends)
    number = r"([\d,]+) records"
    for name, words, before in (("info", ("trace", "info"), "(?m)^lost +"),
                                ("check", ("trace", "check"), "(?m)^lost +"),
                                ("analyze", ("analyze",), r"lost\s+")):
        found = re.search(before + number, build.fathom(*words, run, code=None))
        said[name] = int(found.group(1).replace(",", "")) if found else 0
    info = json.loads(build.fathom("trace", "info", "--json", run))
    said["info --json"] = info["lost_records"]
    said["its processes"] = sum(process["lost_records"] for process in info["processes"])
    warnings = json.loads(build.fathom("report", "--json", run))["warnings"]
    said["report"] = sum(int(re.search(r"(\d+) records? of", warning["text"]).group(1))
                         for warning in warnings if warning["kind"] == "trace-lost")
    with tempfile.TemporaryDirectory() as elsewhere:
        database = os.path.join(elsewhere, "events.db")
        build.fathom("export", run, "--format", "sqlite", "-o", database)
        with contextlib.closing(sqlite3.connect(database)) as connection:
            sums = connection.execute("SELECT SUM(lost_records) FROM process")
            said["sqlite"] = sums.fetchone()[0]
    assert len(set(said.values())) == 1, said
    return said["info"]


def records_lost_to_full_memory_are_counted(build, folder):
    lost = 0
    for seconds in ("0.5", "2", "8"):  # on a busy machine, messages may be too slow to fill the memory
        run = folder / f"run-{seconds}"
        program = [build.storm, str(folder / "count"), seconds, "0"]
        code, output, errors = build.run(folder, program, ranks=2, run=run, trace=["--trace-memory", "256K"])
        assert code == 0 and "storm: over" in output, errors
        lost = lost_by_every_reader(build, run)
        if lost > 0:
            break
    assert lost > 0, "nothing was lost"
    by_events = sum(event["records"] for event in build.events(run) if event["kind"] == "lost")
    assert by_events == lost, f"{by_events} where they are missing, {lost} in all"
    assert "did not fit into memory" in build.fathom("report", run).replace("\n   ", "")
    assert "rank 0: records were lost" in build.fathom("trace", "check", run, code=1)


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of its own; of no other size than this."""
    if os.geteuid() != 0:
        raise Skipped("mounting needs root")
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk]
    if subprocess.run(mount, check=False).returncode != 0:
        raise Skipped("mounting is not permitted here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def fill(path):
    """Takes all the room that the disk has left."""
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass


def until_all_count(folder, ranks):
    """Returns once so many ranks of storm.c count in this folder, or after a minute."""
    deadline = time.monotonic() + 60
    while len(list(folder.glob("count.*"))) < ranks and time.monotonic() < deadline:
        time.sleep(0.02)


def a_full_disk_is_reported_once(build, folder):
    """A disk fills up while a job records: one sentence for all ranks, a profile, and whole traces."""
    sentence = re.compile(r"fathom: the trace in (\S+) is incomplete: (\d+) records of 2 ranks could not "
                          r"be written \(No space left on device\); .*FATHOM_OUTPUT.*\.")
    for log in ("warning", "quiet"):
        place = folder / log
        place.mkdir()
        with small_disk(place, "6M") as disk:
            run = disk / "run"
            program = [build.storm, str(place / "count"), "2", "10"]
            job = build.start(place, program, ranks=2, run=run, trace=["--trace-memory", "1M"],
                              FATHOM_LOG=log)
            until_all_count(place, 2)
            time.sleep(0.3)
            fill(disk / "filler")
            code, output, errors = build.wait_for(job)
            assert code == 0 and "storm: over" in output, errors
            said = [match for match in map(sentence.fullmatch, errors.splitlines()) if match]
            assert len(said) == errors.count("is incomplete") == (0 if log == "quiet" else 1), errors
            profile = json.loads((run / "profile.json").read_text())
            lost = {loss["reason"]: loss for loss in profile["coverage"]["trace_lost"]}
            unwritten = lost["unwritten"]
            assert unwritten["records"] > 0, lost
            assert unwritten["error"] == "No space left on device", lost
            for match in said:
                assert (match[1], int(match[2])) == (f"{run}/trace", unwritten["records"]), errors
            info = json.loads(build.fathom("trace", "info", "--json", run))
            assert [process["complete"] for process in info["processes"]] == [True, True], info
            left = [path.name for path in (run / "trace").iterdir()]
            assert not any(name.endswith(".live") for name in left), left
            scanned = build.fathom("trace", "info", "--scan", run)
            assert "MPI_Send" in scanned, scanned
            lost_by_every_reader(build, run)


def a_disk_full_from_the_start_is_reported_once(build, folder):
    """No trace can be made: that is said, once, and no empty files are left."""
    with small_disk(folder, "1M") as disk:
        run = disk / "run"
        run.mkdir()
        with open(disk / "filler", "wb") as filler:
            filler.write(bytes((1 << 20) - (160 << 10)))
        program = [build.storm, str(folder / "count"), "0", "0"]
        code, output, errors = build.run(folder, program, ranks=2, run=run)
        assert code == 0 and "storm: over" in output, errors
        said = re.findall(r"fathom: the trace in (\S+) is incomplete: 2 ranks could not make their "
                          r"files \(No space left on device\); ", errors)
        assert said == [f"{run}/trace"], errors
        assert list((run / "trace").iterdir()) == []
        assert (run / "profile.json").exists(), errors


def the_size_of_a_trace_is_limited(build, folder):
    run = folder / "run"
    program = [build.storm, str(folder / "count"), "1", "0"]
    code, _, errors = build.run(folder, program, ranks=2, run=run, trace=["--trace-size", "300K"])
    assert code == 0, errors
    sizes = [path.stat().st_size for path in (run / "trace").glob("*.trace")]
    assert sizes and max(sizes) < 1 << 20, sizes
    assert lost_by_every_reader(build, run) > 0, "nothing was lost"


def jobs_of_one_command_are_kept_apart(build, folder):
    """One after the other, two at once, and one that aborts: each has its own profile and its own trace."""
    job = f"'{build.mpirun}' --oversubscribe --mca mpi_yield_when_idle 1"
    script = folder / "script"
    script.write_text(f"{job} -n 4 '{build.program('sendrecv')}'\n"
                      f"{job} -n 3 '{build.program('sendrecv')}' & {job} -n 2 '{build.program('sendrecv')}' & wait\n"
                      f"{job} -n 2 '{build.program('ending')}' abort\n")
    run, plain = folder / "run", folder / "plain"
    by_command = build.wait_for(subprocess.Popen(
        [build.options.cli, "run", "--trace", "-o", run, "--", "sh", script],
        env=dict(build.environment, EXPECT_DIR=str(folder)), cwd=folder, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    by_variable = build.wait_for(subprocess.Popen(
        ["sh", script], cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=dict(build.environment, EXPECT_DIR=str(folder), FATHOM_OUTPUT=str(plain), OMPI_MCA_mca_base_env_list=
                 f"LD_PRELOAD={build.options.library};FATHOM_OUTPUT={plain}")))
    assert "3 further jobs" in by_command[2], by_command
    for place, what in ((run, by_command), (plain, by_variable)):
        worlds = sorted(place.glob("job-*"))
        assert len(worlds) == 3, (what, worlds)
        assert place == plain or [world.name for world in worlds] == ["job-2", "job-3", "job-4"], worlds
        listed = json.loads(build.fathom("report", "--json", place))["other_jobs"]
        assert sorted(job["job"] for job in listed) == [world.name for world in worlds], listed
        sizes = []
        for world in (place, *worlds):
            report = json.loads(build.fathom("report", "--json", world))
            sizes.append((report["ranks"], len({path.stem for path in (world / "trace").iterdir()}), (world / "partial").exists()))
            if not sizes[-1][2]:
                assert "equal:" in build.fathom("trace", "check", world)
        assert sizes[0] == (4, 4, False), sizes
        assert sorted(sizes[1:]) == [(2, 2, False), (2, 2, True), (3, 3, False)], sizes


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def running_job_is_told_from_a_killed_one(build, folder):
    """fathom run's job and one that preloads the library itself: running, and lost once all their processes are killed."""
    def state(run):
        status = json.loads(build.fathom("status", "--json", run))["jobs"][0]["state"]
        info = json.loads(build.fathom("trace", "info", "--json", run))["state"]
        assert info == status, (info, status)
        return status

    for name, command, variables in (
            ("by-command", [build.options.cli, "run", "--trace", "-o", str(folder / "by-command"), "--"], {}),
            ("by-variable", [], {"OMPI_MCA_mca_base_env_list":
                                 f"LD_PRELOAD={build.options.library};FATHOM_OUTPUT={folder / 'by-variable'}"})):
        run = folder / name
        counts = folder / (name + ".counts")
        counts.mkdir()
        job = subprocess.Popen([*command, build.mpirun, "--oversubscribe", "-n", "2", build.storm, str(counts / "count"), "60", "20"],
                               env=dict(build.environment, **variables), cwd=folder, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            until_all_count(counts, 2)
            pids = pids_of(build.storm, counts)
            assert len(pids) == 2, pids
            assert state(run) == "running", name
            refused = subprocess.run([build.options.cli, "report", run], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
            assert refused.returncode == 1 and "still running" in refused.stderr, refused
            os.killpg(job.pid, signal.SIGSTOP)  # mpirun and fathom are not to see how the ranks end
            for pid in pids.values():
                os.kill(pid, signal.SIGKILL)
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
        deadline = time.monotonic() + 60
        while any(map(is_alive, pids.values())) and time.monotonic() < deadline:  # a killed process takes a moment to end
            time.sleep(0.02)
        assert state(run) == "lost", name


def pids_of(program, folder):
    """{rank: pid} of the ranks that run this program for this test."""
    found = {}
    for directory in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (directory / "cmdline").read_bytes().split(b"\0")
            if words[0] != program.encode() or str(folder).encode() not in words[1]:
                continue
            environment = dict(entry.split(b"=", 1) for entry in (directory / "environ").read_bytes().split(b"\0") if b"=" in entry)
            found[int(environment[b"OMPI_COMM_WORLD_RANK"])] = int(directory.name)
        except (OSError, KeyError, IndexError):
            continue
    return found


def killed_process_keeps_what_it_recorded(build, folder):
    """kill -9 of one rank at a random moment: every call that had returned is in its trace."""
    for number in range(build.options.kills):
        place = folder / str(number)
        place.mkdir()
        run = place / "run"
        job = build.start(place, [build.storm, str(place / "count"), "60", "20"], ranks=3, run=run)
        until_all_count(place, 3)
        time.sleep(random.uniform(0.05, 0.8))
        pids = pids_of(build.storm, place)
        assert 1 in pids, pids
        os.kill(pids[1], signal.SIGKILL)
        _, errors = job.communicate(timeout=TIMEOUT_S)
        sent = struct.unpack("Q", (place / "count.1").read_bytes())[0]
        events = build.events(run, "--ranks", "1")
        left = sum(event["kind"] == "leave" and event["function"] == "MPI_Send" for event in events)
        assert left in (sent, sent + 1), f"{sent} calls had returned, {left} are in the trace\n{errors}"
        assert sent > 10, sent


def compression_leaves_the_core_of_a_bound_rank(build, folder):
    """Ranks bound to a core each: the thread that compresses may run on all that mpirun may."""
    wide = os.sched_getaffinity(0)
    if len(wide) < 2:
        raise Skipped("this machine has one core")
    job = subprocess.Popen([build.mpirun, "--bind-to", "core:overload-allowed", "-n", "2", build.storm, folder / "count", "60", "20"],
                           env=dict(build.environment, OMPI_MCA_mca_base_env_list=f"LD_PRELOAD={build.options.library};FATHOM_OUTPUT={folder / 'run'}"),
                           cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        until_all_count(folder, 2)
        pids = pids_of(build.storm, folder)
        assert len(pids) == 2, pids
        for pid in pids.values():
            assert len(os.sched_getaffinity(pid)) < len(wide), "the ranks are not bound"
            drains = [int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
                      if (task / "comm").read_text(encoding="utf-8").strip() == "fathom-drain"]
            assert len(drains) == 1, drains
            deadline = time.monotonic() + 20  # on a busy machine, the thread may not have run yet
            while os.sched_getaffinity(drains[0]) != wide and time.monotonic() < deadline:
                time.sleep(0.05)
            assert os.sched_getaffinity(drains[0]) == wide, os.sched_getaffinity(drains[0])
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()


CASES = [messages_equal_the_profile, compression_leaves_the_core_of_a_bound_rank, jobs_of_one_command_are_kept_apart, running_job_is_told_from_a_killed_one,
         transfers_are_recorded_step_by_step, each_transfer_has_its_steps, events_of_one_communicator_are_off_on_the_next,
         level_calls_records_no_transfers, communicators_are_chosen,
         functions_and_ranks_are_chosen,
         sampled_and_left_out_calls_add_up, many_ranks_lose_nothing, pcontrol_pauses_recording, a_window_of_time_limits_the_trace,
         records_of_ended_threads_are_kept, records_lost_to_full_memory_are_counted, a_full_disk_is_reported_once, a_disk_full_from_the_start_is_reported_once, the_size_of_a_trace_is_limited,
         killed_process_keeps_what_it_recorded]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--storm", required=True)
    parser.add_argument("--named", required=True)
    parser.add_argument("--short-threads", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=256, help="of the job with many ranks")
    parser.add_argument("--agreeing", type=lambda text: text.split(","), default=AGREEING,
                        help="programs of test/mpi whose trace is compared with the profile")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    for name in ("binaries", "storm", "named", "short_threads", "library", "cli"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    passed = failed = skipped = 0
    for row in tested():
        build = Build(row, options)
        for case in CASES:
            if options.cases and case.__name__ not in options.cases:
                continue
            folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-trace."))
            began = time.monotonic()
            try:
                case(build, folder)
                passed += 1
                print(f"ok   {case.__name__} {build.name} ({time.monotonic() - began:.1f} s)", flush=True)
            except Skipped as reason:
                skipped += 1
                print(f"skip {case.__name__} {build.name}: {reason}", flush=True)
            except (AssertionError, OSError, KeyError, ValueError, subprocess.SubprocessError) as problem:
                failed += 1
                print(f"FAIL {case.__name__} {build.name}: {problem}", flush=True)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
