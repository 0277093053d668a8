#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Windows of a job on two hosts, which are network namespaces of this machine (hosts.py): what a flight recorder kept,
and the next seconds of a job that counts, with --live, which starts a sampler on each host, and without, where somebody
starts fathom watch-host there. Ranks of both hosts are in them, and their messages are joined. Neither host
sees the processes of the other, so what is asked there is asked through the run directory.

    windows.py FATHOM FLIGHT_PROGRAM ASKED_PROGRAM

Needs what hosts.py needs, and skips otherwise. The last line is "N passed, N failed, N skipped".
"""
import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "mpi")]
import attach_late  # noqa: E402
import hosts  # noqa: E402
import open_mpi  # noqa: E402

PATIENCE = 60
CASES = {"flight recorder": (["--flight", "2M"], [], ["3000", "loop"]), "window": (["--live"], ["--for", "1s"], []),
         "window without --live": ([], ["--for", "1s"], [])}


def wait_until(holds):
    until = time.monotonic() + PATIENCE
    while not holds() and time.monotonic() < until:
        time.sleep(0.1)


def keepers_of(run):
    count = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = pathlib.Path("/proc", process, "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        count += words[0].endswith(b"fathom-keeper") and os.fsencode(run) in words
    return count


def on_host_of(pid, *command):
    """As somebody who logs in there would start it: with its network, name and processes."""
    return subprocess.Popen(["nsenter", "--target", str(pid), "--net", "--uts", "--pid", "--mount", *command], stderr=subprocess.PIPE, text=True)


def a_process_of(made, host, program):
    pids = subprocess.run(["ip", "netns", "pids", made.namespace(host)], capture_output=True, text=True, check=True).stdout.split()
    return next(pid for pid in pids if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == os.path.basename(program))


def check(checks, made, mpi, cli, case, program, folder):
    options, words, arguments = CASES[case]
    made.folder = folder  # where the program looks for the file "stop"
    run, first = folder / "run", made.names[0]

    def fathom(*command):
        return subprocess.run([cli, *command], env=mpi.environment, capture_output=True, text=True, timeout=120)

    job = subprocess.Popen(["ip", "netns", "exec", made.namespace(first), "unshare", "--uts", "sh", "-c", f'hostname {first}; exec "$@"',
                            "sh", cli, "run", "-o", str(run), *options, "--", *hosts.command(made, mpi, program), *arguments],
                           cwd=folder, env=mpi.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    ranks = len(made.names) * hosts.RANKS_PER_HOST
    begun = (lambda: keepers_of(run) == ranks) if case == "flight recorder" else lambda: attach_late.pages_of(run) == ranks
    wait_until(lambda: begun() or job.poll() is not None)
    watchers = [on_host_of(a_process_of(made, host, program), cli, "watch-host", str(run))
                for host in made.names[1:] if case == "window without --live"]
    until = time.monotonic() + PATIENCE
    for number in itertools.count(1):
        taken = fathom("snap", str(run), *words)
        found = fathom("trace", "check", str(run / f"snap-{number}"), "--json")
        facts = json.loads(found.stdout) if found.returncode == 0 else {}
        # A rank that has just begun has not sent much.
        if facts.get("joined_messages", 0) > 30 or taken.returncode != 0 or time.monotonic() > until:
            break
    checks.expect(f"{case}: it is taken", taken.returncode == 0 and f"of {ranks} ranks are in" in taken.stderr, taken.stderr)
    checks.expect(f"{case}: messages are joined", facts.get("joined_messages", 0) > 30 and facts.get("inexact_processes") == 0,
                  found.stdout + found.stderr)
    info = fathom("trace", "info", str(run / f"snap-{number}")).stdout
    checks.expect(f"{case}: both hosts are in it", all(name in info for name in made.names), info)
    for watcher in watchers:
        for child in pathlib.Path(f"/proc/{watcher.pid}/task/{watcher.pid}/children").read_text(encoding="ascii").split():
            os.kill(int(child), signal.SIGTERM)
        said = watcher.communicate(timeout=60)[1]
        checks.expect(f"{case}: the watcher ends", watcher.returncode == 0, said)
    (folder / "stop").touch()
    output, said = job.communicate(timeout=120)
    checks.expect(f"{case}: the job ends as it should", job.returncode == 0, f"{job.returncode} {output} {said[-800:]}")


def main():
    cli, flight, asked = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:4])
    checks = hosts.Checks()
    if reason := hosts.why_not():
        print(f"skipped: {reason}")
        checks.skipped += 1
        return checks.summary()
    mpi = open_mpi.OpenMpi(open_mpi.tested()[0])
    with tempfile.TemporaryDirectory(prefix="fathom-windows-") as folder, hosts.Hosts(2, pathlib.Path(folder), isolated=True) as made:
        for number, case in enumerate(CASES):
            (pathlib.Path(folder) / str(number)).mkdir()
            check(checks, made, mpi, cli, case, asked if number else flight, pathlib.Path(folder) / str(number))
    return checks.summary()


if __name__ == "__main__":
    sys.exit(main())
