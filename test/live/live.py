#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are watched while they run: what a reader sees, and what it must not change.

usage: live.py --binaries FOLDER --library libfathom.so --cli fathom [CASE...]
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import open_mpi  # noqa: E402

RANKS = 4
ENDED, GONE = 3, 4  # of ProcessState in live/job_state.h


class Job:
    """A job in a folder of its own. `ways`: words before the program's own."""

    def __init__(self, options, mpi, folder, program, *arguments, variables=None, command=()):
        self.run, self.reader = folder / "run", options.binaries / "print_job"
        words = mpi.for_ranks({"LD_PRELOAD": options.library, "FATHOM_OUTPUT": self.run, "FATHOM_LIVE": "1"}
                              if variables is None else variables)
        self.program = mpi.program(options.binaries / program)
        self.process = subprocess.Popen([*command, *mpi.launch(RANKS, *words, self.program, *arguments)], cwd=folder,
                                        env=mpi.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def sample(self):
        """What a reader sees now; nothing if it sees no process."""
        read = subprocess.run([self.reader, self.run], capture_output=True, text=True, check=False)
        return json.loads(read.stdout) if read.returncode == 0 else None

    def until(self, holds):
        """The first sample for which this holds."""
        for _ in range(600):
            sample = self.sample()
            if sample and len(sample["ranks"]) == RANKS and holds(sample):
                return sample
            if self.process.poll() is not None:
                raise AssertionError(f"the job ended: {self.process.communicate()}")
            time.sleep(0.1)
        raise AssertionError(f"it did not come to that: {self.sample()}")

    def end(self):
        """(exit code, output)."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


def traffic_of_profile(run):
    """{(from, to, class): (messages, bytes)}"""
    profile = json.loads((run / "profile.json").read_text(encoding="utf-8"))
    sums = {}
    for block in profile["traffic"]:
        for source, target, size, messages in zip(block["source"], block["destination"], block["bytes"], block["messages"]):
            before = sums.get((source, target, block["class"]), (0, 0))
            sums[source, target, block["class"]] = before[0] + messages, before[1] + size
    return sums


def traffic_of_sample(sample, side):
    return {(pair["from"], pair["to"], pair["kind"]): (pair[side], pair[side + "_bytes"])
            for pair in sample["pairs"] if pair[side]}


def the_last_sample_is_the_profile(options, mpi, folder):
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log")
    job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"]))
    with subprocess.Popen([job.reader, job.run, "0.2"], stdout=subprocess.PIPE, text=True) as watcher:
        time.sleep(0.5)
        (folder / "stop").touch()
        lines = watcher.communicate(timeout=120)[0].splitlines()
        assert watcher.returncode == 0, "the watcher does not end with the job"
    code, out, err = job.end()
    assert (code, out, err) == (0, "done\n", ""), (code, out, err)
    last, earlier = json.loads(lines[-1]), json.loads(lines[0])
    assert [rank["state"] for rank in last["ranks"]] == [ENDED] * RANKS, last["ranks"]
    assert earlier["ranks"][0]["sent"] < last["ranks"][0]["sent"], "nothing was seen to move"
    expected = traffic_of_profile(job.run)
    assert len(expected) > RANKS
    for side in ("sent", "received"):
        assert traffic_of_sample(last, side) == expected, (side, traffic_of_sample(last, side), expected)
    assert sorted(path.name for path in job.run.iterdir()) == ["profile.json"]


def watching_changes_neither_output_nor_exit_code(options, mpi, folder):
    (folder / "stop").touch()
    ends = []
    for variables in ({}, None):
        ends.append(Job(options, mpi, folder, "busy", folder / "stop", folder / "log", variables=variables).end())
    assert ends[0] == ends[1] == (0, "done\n", ""), ends


def another_user_sees_nothing(options, mpi, folder):
    if os.geteuid() != 0:
        raise open_mpi.Skipped("only root can become another user")
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log")
    sample = job.until(lambda sample: True)
    try:
        for rank in sample["ranks"]:
            folders = f"/proc/{rank['pid']}/fd"
            pages = [name for name in os.listdir(folders) if "memfd:fathom-live" in os.readlink(f"{folders}/{name}")]
            assert len(pages) == 1, pages
            assert os.stat(f"{folders}/{pages[0]}").st_mode & 0o077 == 0
            other = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
            tried = subprocess.run([*other, "cat", f"{folders}/{pages[0]}"], capture_output=True, text=True, check=False)
            assert tried.returncode != 0 and "Permission denied" in tried.stderr, tried
    finally:
        (folder / "stop").touch()
    assert job.end()[0] == 0


CASES = [the_last_sample_is_the_profile, watching_changes_neither_output_nor_exit_code, another_user_sees_nothing]


def builds(library):
    """Both of 4.1, and 5.0.7 if it is there."""
    rows = list(open_mpi.installed())
    try:
        rows.append(open_mpi.later_row("5.0.7"))
    except LookupError as sentence:
        print(f"skip {sentence}", flush=True)
    return [open_mpi.OpenMpi(row) for row in rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    failed = False
    for mpi in builds(options.library):
        for case in CASES:
            if options.cases and case.__name__ not in options.cases:
                continue
            with tempfile.TemporaryDirectory(prefix="fathom-live-") as folder:
                try:
                    case(options, mpi, pathlib.Path(folder))
                    print(f"ok {case.__name__} on {mpi.title}", flush=True)
                except open_mpi.Skipped as reason:
                    print(f"skip {case.__name__} on {mpi.title}: {reason}", flush=True)
                except Exception as problem:  # also a reader that fails: the next case runs
                    print(f"FAILED {case.__name__} on {mpi.title}: {type(problem).__name__}: {problem}", flush=True)
                    failed = True
    sys.exit(failed)


if __name__ == "__main__":
    main()
