#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on several hosts that are watched while they run. The hosts are those of hosts.py, and none of them sees the
processes of another.

usage: live_hosts.py --binaries FOLDER --library libfathom.so --cli fathom [--match EXPRESSION]

--binaries: where Meson has built test/live. Needs root and the right to make namespaces; skips otherwise.
"""
import argparse
import contextlib
import functools
import json
import os
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "live")]
import hosts as several  # noqa: E402
import live  # noqa: E402
import watched_job  # noqa: E402
import open_mpi  # noqa: E402

HOSTS = 3
RANKS = HOSTS * several.RANKS_PER_HOST
PATIENCE_S = 60
# Other processes, another name and no network: as on a node where users log in.
LOGIN_NODE = ["unshare", "--net", "--uts", "--pid", "--fork", "--mount-proc", "sh", "-c", 'hostname login; exec "$@"', "sh"]
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]


def until(holds, what):
    """The first true answer."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = holds()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"it did not come to that: {what}")


class Job:
    def __init__(self, options, hosts, mpi, folder, *arguments, program="busy", variables=None):
        self.hosts, self.options = hosts, options
        self.run, self.stop = folder / "run", folder / "stop"
        self.program = mpi.program(options.binaries / program)
        words = several.command(hosts, mpi, self.program) + [self.stop, folder / "log", *arguments]
        self.logs = [folder / f"log.{rank}" for rank in range(RANKS)]
        self.process = subprocess.Popen(
            hosts.on_first([options.cli, "run", "--live", "-o", self.run, "--", *words]), cwd=folder,
            env={**mpi.environment, **(variables or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def read(self, login=False):
        """What a reader sees on the first host, or on a login node; nothing if it sees no process."""
        words = [self.options.binaries / "print_job", self.run]
        done = subprocess.run([*LOGIN_NODE, *words] if login else self.hosts.on_first(words), capture_output=True,
                              text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def until(self, holds, login=False):
        seen = []

        def answer():
            if self.process.poll() is not None:
                raise AssertionError(f"the job ended: {self.process.communicate()}")
            sample = self.read(login)
            seen[:] = [sample]
            return sample if sample and len(sample["ranks"]) == RANKS and holds(sample) else None
        try:
            return until(answer, "")
        except AssertionError as problem:
            raise AssertionError(f"{problem}: {str(seen)[:3000]}") from None

    def end(self):
        """(exit code, output, errors)."""
        self.stop.touch()
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err

    def processes(self, name):
        """Process numbers here of those with this name that belong to the job."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if words and os.path.basename(words[0]) == os.fsencode(name) and any(
                    os.fsencode(self.run.parent) in word for word in words):
                found.append(int(entry.name))
        return found

    def kill_ranks(self):
        pids = self.processes(pathlib.Path(self.program).name)
        assert len(pids) == RANKS, pids
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def clean_up(self):
        self.stop.touch()
        # First those that hold its output open: ranks that are paused never end by themselves.
        for name in ("fathom-sampler", pathlib.Path(self.program).name):
            for pid in self.processes(name):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


def busy(sample):
    return all(rank["sent"] > 50 for rank in sample["ranks"])


def hosts_of(sample):
    return [rank["host"] for rank in sample["ranks"]]


EXPECTED_HOSTS = ["nodea", "nodea", "nodeb", "nodeb", "nodec", "nodec"]


def see_all_move(job, login):
    first = job.until(busy, login)
    assert hosts_of(first) == EXPECTED_HOSTS, first
    assert all(rank["queues"] == watched_job.READ and rank["unexpected"] < 100 for rank in first["ranks"]), first
    job.until(lambda sample: all(new["sent"] > old["sent"] and new["age"] <= 2
                                 for old, new in zip(first["ranks"], sample["ranks"])) and not sample["late"], login)


def agrees_with_logs(job):
    """What the ranks had sent when they were killed, as they wrote it down themselves, is in the profile."""
    sums = live.traffic_of_profile(job.run)
    for rank, log in enumerate(job.logs):
        wrote = struct.unpack("3Q", log.read_bytes()[:24])
        assert sums[rank, (rank + 1) % RANKS, "point-to-point"] == wrote[:2], (rank, sums, wrote)
    profile = json.loads((job.run / "profile.json").read_text(encoding="utf-8"))
    assert all(rank.get("reported", True) for rank in profile["ranks"]), profile["ranks"]


def pause(job):
    job.stop.touch()
    until(lambda: all(struct.unpack("3Q", log.read_bytes()[:24])[2] == 1 for log in job.logs), "all ranks pause")


def ranks_of_all_hosts_are_seen_everywhere(job):
    see_all_move(job, login=False)
    see_all_move(job, login=True)
    assert sorted(path.name for path in (job.run / "live").iterdir() if not path.suffix) == ["+hosts", "nodea"]
    samplers = job.processes("fathom-sampler")
    assert len(samplers) == HOSTS - 1, samplers
    for pid in samplers:
        held = {os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}
        strange = {name for name in held if not name.startswith(("/dev/null", "socket:", "anon_inode:", "/memfd:fathom-live",
                                                                 str(job.run)))}
        assert not strange, strange
        parent = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
        assert int(parent) not in job.processes("busy")
    assert job.end() [:2] == (0, "done\n")
    assert sorted(path.name for path in job.run.iterdir()) == ["profile.json"]
    assert job.processes("fathom-sampler") == []


def counts_survive_the_death_of_all_ranks_on_all_hosts(job):
    job.until(busy)
    pause(job)
    job.kill_ranks()
    code, _, err = job.end()
    assert code != 0 and "the run was cut short" in err, (code, err)
    agrees_with_logs(job)
    assert not (job.run / "live").exists() and not (job.run / ".collector").exists()


def without_a_port_files_carry_the_samples(job):
    see_all_move(job, login=True)
    assert sorted(path.name for path in (job.run / "live").iterdir() if not path.suffix) == ["nodea", "nodeb", "nodec"]
    assert not (job.run / ".collector").exists()
    pause(job)
    job.kill_ranks()
    assert job.end()[0] != 0
    agrees_with_logs(job)


def ranks_that_are_killed_at_once_lose_nothing(job):
    code, _, err = job.end()
    assert code != 0 and "the run was cut short" in err, (code, err)
    live.killed_early_agrees(job.run, job.logs)


def hosts_of_a_large_job_send_details_when_a_reader_wants_them(job):
    """Any job is large here."""
    def pairs_of(sample):  # between ranks of other hosts, which the first host does not count
        return {pair["from"] for pair in sample["pairs"] if pair["sent"] and pair["from"] >= 2}
    asked = job.run / "live/details.asked"
    until(lambda: (job.run / "live/+hosts").exists(), "samples of other hosts")
    assert not asked.exists()
    sample = job.until(lambda sample: busy(sample) and len(pairs_of(sample)) == RANKS - 2, login=True)
    assert asked.exists() and asked.stat().st_mode & 0o077 == 0
    assert all(rank["channels"] for rank in sample["ranks"]), sample
    assert job.end()[:2] == (0, "done\n")
    assert sorted(path.name for path in job.run.iterdir()) == ["profile.json"]


def other_users_see_nothing(job):
    sample = job.until(busy)
    until(lambda: (job.run / "live/+hosts").exists(), "samples of other hosts")
    address = (job.run / ".collector").read_text(encoding="ascii").splitlines()
    port = int(next(line for line in address if line.startswith("port ")).split()[1])
    for path in (job.run / ".collector", job.run / "live/+hosts", job.run / "live/nodea"):
        assert path.stat().st_mode & 0o077 == 0, path
        tried = subprocess.run([*NOBODY, "cat", path], capture_output=True, text=True, check=False)
        assert tried.returncode != 0 and "Permission denied" in tried.stderr, tried
    # Neither the port nor the sockets where ranks announce themselves tell another user anything.
    stranger = ("import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10); s.sendall(bytes(64));"
                "data = b''\nwhile True:\n got = s.recv(4096)\n if not got: break\n data += got\nprint(len(data))\n"
                "name = [line.split()[-1] for line in open('/proc/net/unix') if '@fathom-live-' in line][0]\n"
                "u = socket.socket(socket.AF_UNIX); u.connect('\\0' + name[1:]); print(u.recv(100))")
    tried = subprocess.run(job.hosts.on_first([*NOBODY, sys.executable, "-c", stranger, port]), capture_output=True, text=True,
                           timeout=PATIENCE_S, check=False)
    assert tried.stdout == "44\nb''\n", tried  # the greeting, and nothing
    for pid in job.processes("fathom-sampler"):
        tried = subprocess.run([*NOBODY, "ls", f"/proc/{pid}/fd"], capture_output=True, text=True, check=False)
        assert tried.returncode != 0, tried
    job.until(lambda later: all(new["sent"] > old["sent"] for old, new in zip(sample["ranks"], later["ranks"])))
    assert job.end()[:2] == (0, "done\n")


def a_host_is_said_to_be_late_when_its_sampler_is_stopped(job):
    job.until(busy)
    pids = job.processes("fathom-sampler")
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    late = job.until(lambda sample: sample["late"] == ["nodeb", "nodec"], login=True)
    assert all(rank["age"] > 2 for rank in late["ranks"][2:]), late
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
    job.until(lambda sample: not sample["late"], login=True)
    assert job.end()[:2] == (0, "done\n")


def files_carry_the_samples_while_the_collector_is_stopped(job):
    job.until(busy)
    keeper = [pid for pid in job.processes("fathom") if b"--live" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert keeper
    os.kill(keeper[0], signal.SIGSTOP)  # as a user's Ctrl-Z
    see_others_move(job)
    os.kill(keeper[0], signal.SIGCONT)
    assert job.end()[:2] == (0, "done\n")


def see_others_move(job):
    def others(sample):
        return [rank for rank in sample["ranks"] if rank["host"] != "nodea"]
    first = until(lambda: job.read(login=True), "a first sample")
    until(lambda: (job.run / "live/nodeb").exists() and (job.run / "live/nodec").exists(), "files of other hosts")
    until(lambda: all(new["sent"] > old["sent"] and new["age"] <= 2
                      for old, new in zip(others(first), others(job.read(login=True)))), "other hosts move")


CASES = {ranks_of_all_hosts_are_seen_everywhere: {},
         counts_survive_the_death_of_all_ranks_on_all_hosts: {"arguments": ["paused"]},
         ranks_that_are_killed_at_once_lose_nothing: {"program": "early"},
         hosts_of_a_large_job_send_details_when_a_reader_wants_them: {"variables": {"FATHOM_LIVE_SUMMARIES": "2"}},
         other_users_see_nothing: {},
         a_host_is_said_to_be_late_when_its_sampler_is_stopped: {},
         files_carry_the_samples_while_the_collector_is_stopped: {},
         without_a_port_files_carry_the_samples: {"arguments": ["paused"], "variables": {"FATHOM_LIVE_PORT": "none"}}}


def cases_of(mpi, options, stack):
    """{name: function(folder)}, on hosts that this Open MPI has to itself; those of the one before are removed."""
    stack.close()
    mpi.environment["FATHOM_LIBRARY"] = options.library
    base = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fathom-live-hosts.", ignore_cleanup_errors=True)))
    hosts = stack.enter_context(several.Hosts(HOSTS, base, isolated=True))

    def run(case, how, folder):
        job = Job(options, hosts, mpi, folder, *how.get("arguments", ()), program=how.get("program", "busy"),
                  variables=how.get("variables"))
        try:
            case(job)
        finally:
            job.clean_up()

    return {case.__name__: functools.partial(run, case, how) for case, how in CASES.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--match", default="", help="only the cases whose name this expression matches")
    options = parser.parse_args()
    reason = several.why_not()
    if reason or subprocess.run([*LOGIN_NODE, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        print(f"skipped: {reason or 'namespaces of processes are not permitted here'}")
        return
    with contextlib.ExitStack() as stack:
        sys.exit(open_mpi.report_cases(map(open_mpi.OpenMpi, open_mpi.installed()),
                                       lambda mpi: cases_of(mpi, options, stack), options.match))


if __name__ == "__main__":
    main()
