#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that hang for a known reason, and jobs that are only slow: does fathom top --why name culprit and cause?

All of them but LONG run on the first Open MPI of open_mpi.tested(), and those of QUICK on the others and on the later
releases that are here; with --all or FATHOM_TEST_LATER, all run on each.

usage: test_verdicts.py --program HANGS --cli FATHOM [--verbose] [--all] [--build NAME] [MODE...]
"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
sys.dont_write_bytecode = True
import open_mpi  # noqa: E402

EVERYONE = [0, 1, 2, 3]

# Mode: cause, culprits, words that the sentence must have. The places are those of programs/hangs.c.
STUCK = {
    "cycle-of-receives": ("cycle-of-receives", [0, 1], ["MPI_Recv from 1, tag 5", "hangs.c:"]),
    "ring-of-receives": ("cycle-of-receives", EVERYONE, ["MPI_Recv from 3, tag 5"]),
    "ring-of-sends": ("cycle-of-sends", EVERYONE, ["MPI_Send to 1, tag 5"]),
    "synchronous-sends": ("cycle-of-sends", [0, 1], ["MPI_Ssend to 1, tag 5"]),
    "send-and-receives": ("cycle", [0, 1, 2], ["MPI_Send to 1, tag 8", "MPI_Recv from 2, tag 7"]),
    "receive-in-place-of-barrier": ("missing-participant", [3], ["MPI_Barrier #", "rank 3 is not there", "MPI_Recv from 0, tag 7"]),
    "finalize-in-place-of-barrier": ("process-finalizing", [3], ["rank 3 is not there", "MPI_Finalize"]),
    "wait-in-place-of-allreduce": ("missing-participant", [2], ["MPI_Allreduce #", "MPI_Wait, receiving from 1, tag 3"]),
    "gather-without-one": ("missing-participant", [1], ["MPI_Recv from 0, tag 7"]),
    "barrier-or-allreduce": ("different-collectives", [3], ["rank 3 in MPI_Allreduce", "in MPI_Barrier"]),
    "bcast-or-reduce": ("different-collectives", [3], ["rank 3 in MPI_Reduce", "in MPI_Bcast"]),
    "different-roots": ("different-roots", [2], ["rank 2 with root 1", "with root 0"]),
    "wrong-tag": ("unmatched-message", [0], ["MPI_Recv from 0, tag 7", "rank 0 has sent 1 message with tag 8"]),
    "wrong-tag-rendezvous": ("unmatched-message", [0], ["rank 0 has sent 1 message with tag 8"]),
    "wrong-communicator": ("unmatched-message", [0], ["1 message on", "where the receive is on MPI_COMM_WORLD"]),
    "wrong-rank": ("unmatched-message", [0], ["rank 0 has sent 1 message with tag 7 to rank 2 instead"]),
    "stopped": ("process-stopped", [3], ["rank 3 is not there: its process is stopped"]),
    "order-of-communicators": ("cycle-of-collectives", EVERYONE, ["MPI_Barrier #1 on"]),
    "part-and-whole": ("cycle-of-collectives", [2, 3], ["MPI_Barrier #1 on"]),
    "any-source": ("missing-participant", [0], ["MPI_Recv from any rank, any tag"]),
    "waitall": ("missing-participant", [0], ["MPI_Waitall, receiving from 2, tag 1"]),
    "waitany": ("cycle-of-receives", [0, 1, 2], ["MPI_Waitany, receiving from 1, tag 1"]),
    "probe": ("missing-participant", [3], ["MPI_Probe from 2, tag 6"]),
    "polling": ("missing-participant", [3], ["rank 3 is not there: it has been in a loop of MPI_Test or MPI_Iprobe, receiving from 2, tag 6"]),
    "asking-for-status": ("missing-participant", [3], ["a loop of MPI_Test or MPI_Iprobe, receiving from 2, tag 6"]),
    "probing": ("missing-participant", [3], ["a loop of MPI_Test or MPI_Iprobe, receiving from any rank, tag 6"]),
    "testing-all": ("cycle-of-receives", [2, 3], ["a loop of MPI_Test or MPI_Iprobe, receiving from"]),
    "ibarrier": ("missing-participant", [3], ["MPI_Recv from 0, tag 7"]),
    "sendrecv": ("unmatched-message", None, ["MPI_Sendrecv, receiving from"]),
    "oneself": ("cycle-of-receives", [2], ["MPI_Recv from 2, tag 7"]),
    "sizes-of-allreduce": ("different-sizes", [3], ["different sizes to MPI_Allreduce #", "ranks 0-2 with 8 bytes", "rank 3 with 16 bytes"]),
    "sizes-of-bcast": ("different-sizes", [0], ["Rank 0 has been in MPI_Bcast #", "with 100,000 bytes", "which ranks 1-3 have left"]),
    "sizes-of-reduce": ("different-sizes", [0, 2], ["Ranks 0, 2 have been in MPI_Reduce #", "which ranks 1, 3 have left"]),
    "sizes-of-gather": ("different-sizes", [0, 3], ["Ranks 0, 3 have been in MPI_Gather #", "which ranks 1, 2 have left"]),
    "counts-of-alltoallv": ("different-sizes", [3], ["Rank 3 has been in MPI_Alltoallv #", "which ranks 0-2 have left"]),
    "send-to-one-that-finalizes": ("process-finalizing", [1], ["MPI_Ssend to 1, tag 2", "rank 1 has not received it"]),
}
# What runs on each Open MPI each time; and what takes ten seconds, and runs with the whole.
QUICK = ("receive-in-place-of-barrier", "wrong-tag", "sizes-of-allreduce", "waitany")
LONG = ("sizes-of-reduce", "sizes-of-gather", "counts-of-alltoallv")
SLOW = {
    "polling-for-two": ("slow-rank", [2], ["rank 2"]),
    "polling-with-sleeps": (None, [3], ["rank 3 is not there"]),
    "slow-rank": ("slow-rank", [3], ["rank 3 is not there: it has been computing"]),
    "sleeping-rank": ("idle-rank", [3], ["uses no processor"]),
    "pipeline": (None, None, []),
    "workers": (None, None, []),
    "large-message-while-computing": ("slow-rank", [0], ["rank 0"]),
    "ibarrier-while-computing": ("slow-rank", [1], ["rank 1"]),
    "tests-between-work": (None, None, []),
    "many-allreduces": (None, None, []),
    "ping-pong": (None, None, []),
    "early-finalizers": ("slow-rank", [0], ["rank 0"]),
}


class Job:
    """A job that runs until it is left; nothing of it stays."""

    def __init__(self, options, folder, *words):
        self.mpi, self.cli, self.run = options.mpi, options.cli, os.path.join(folder, "run")
        launcher = self.mpi.launch(4, self.mpi.program(options.program), words[-1])
        # So that a rank that was killed does not take the others with it.
        if words[-1] == "gone":
            launcher[1:1] = ["--enable-recovery"]
        self.process = subprocess.Popen([options.cli, "run", "--live", "--log", "quiet", "-o", self.run, *words[:-1], "--", *launcher],
                                        env=self.mpi.environment, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            for number in (signal.SIGCONT, signal.SIGTERM):
                os.killpg(self.process.pid, number)
        try:
            self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.communicate()

    def why(self):
        """The verdict and the exit code, or None while the job begins."""
        said = subprocess.run([self.cli, "top", self.run, "--why", "--json", "--interval", "500ms"], env=self.mpi.environment, text=True,
                              capture_output=True, check=False, timeout=60)
        return (json.loads(said.stdout), said.returncode) if said.stdout else None


def differences(found, code, cause, culprits, words, hung):
    wrong = []
    if cause is not None and found["cause"] != cause:
        wrong.append(f"cause is {found['cause']}, not {cause}")
    if culprits is not None and found["culprits"] != culprits:
        wrong.append(f"culprits are {found['culprits']}, not {culprits}")
    if found["hung"] != hung:
        wrong.append("hung is not " + str(hung))
    if code != (4 if hung else 0):
        wrong.append(f"exit code is {code}")
    return wrong + [f"the sentence lacks '{part}'" for part in words if part not in found["text"]]


def stuck(options, mode, cause, culprits, words):
    """The job has some seconds to get stuck."""
    if mode == "counts-of-alltoallv" and not options.mpi.is_later:
        raise open_mpi.Skipped("this Open MPI sends messages of nothing, too, and goes on")
    with tempfile.TemporaryDirectory(prefix="fathom-verdict-") as folder, Job(options, folder, mode) as job:
        wrong = ["there was no verdict"]
        for _ in range(20):
            time.sleep(0.5)
            if answer := job.why():
                wrong = differences(*answer, cause, culprits, words, True)
                said = answer[0]["text"]
                if not wrong:
                    return said, []
            elif job.process.poll() is not None:
                return "", ["the job has ended: " + job.process.stderr.read()]
        return said if "said" in locals() else "", wrong


def slow(options, mode, cause, culprits, words):
    """Never once taken for stuck, and explained at least once."""
    with tempfile.TemporaryDirectory(prefix="fathom-verdict-") as folder, Job(options, folder, mode) as job:
        said, explained = "", False
        for _ in range(7):
            time.sleep(0.4)
            if answer := job.why():
                said = answer[0]["text"]
                if answer[0]["hung"] or answer[1] != 0:
                    return said, ["a false alarm"]
                explained = explained or not differences(*answer, cause, culprits, words, False)
        return said, [] if explained else [f"the last answer was not {cause} of {culprits}: {words}"]


def ends_a_stuck_job(options, mode, words):
    with tempfile.TemporaryDirectory(prefix="fathom-verdict-") as folder, \
            Job(options, folder, "--stuck-after", "2s", "--kill", mode) as job:
        said = job.process.communicate(timeout=60)[1]
        wrong = [] if job.process.returncode == 124 else [f"exit code {job.process.returncode}, not 124"]
        return said, wrong + [f"it does not say '{part}'" for part in words if part not in said]


def lets_a_slow_job_end(options):
    with tempfile.TemporaryDirectory(prefix="fathom-verdict-") as folder, \
            Job(options, folder, "--stuck-after", "2s", "--kill", "many-allreduces") as job:
        said = job.process.communicate(timeout=90)[1]
        return said, ["the job was ended"] if job.process.returncode != 0 or "stuck" in said else []


def ends_by_itself(options, mode, words):
    """Open MPI ends the job: what it says, and what fathom run adds."""
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="fathom-verdict-") as folder, Job(options, folder, "--stuck-after", "30s", mode) as job:
            said = job.process.communicate(timeout=60)[1]
            wrong = ["the job did not fail"] if job.process.returncode in (0, 124) else []
            wrong += [f"it does not say '{part}'" for part in words if part not in said]
        # The launcher of 4.1 crashes itself now and then while it passes on what ranks say that abort.
        if not wrong or "Segmentation fault" not in said:
            break
    return said, wrong


def main():
    parser = argparse.ArgumentParser()
    for name in ("--program", "--cli"):
        parser.add_argument(name, required=True)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--all", action="store_true", help="everything on each Open MPI")
    parser.add_argument("--build", help="only on this one")
    parser.add_argument("modes", nargs="*")
    options = parser.parse_args()
    cases = [(mode, stuck, (mode, *expected)) for mode, expected in STUCK.items()]
    cases += [(mode, slow, (mode, *expected)) for mode, expected in SLOW.items()]
    cases += [("run --kill of a stuck job", ends_a_stuck_job, ("receive-in-place-of-barrier", ["the job is stuck: 3 of 4 ranks have been in MPI_Barrier"])),
              ("gone", ends_a_stuck_job, ("gone", ["rank 3 is not there: its process is gone"])),
              ("truncated", ends_by_itself, ("truncated", ["MPI_ERR_TRUNCATE"])),
              ("run --kill of a slow job", lets_a_slow_job_end, ())]
    is_whole = options.all or bool(os.environ.get("FATHOM_TEST_LATER"))
    rows = open_mpi.tested()
    if not os.environ.get("FATHOM_TEST_LATER"):
        rows = [*rows, *(row for row in open_mpi.later_rows()[0] if not row.has_peruse and row.mpicc == "mpicc")]
    failed = 0
    for row in rows:
        if options.build and row.name != options.build:
            continue
        options.mpi = open_mpi.OpenMpi(row)
        for name, case, arguments in cases:
            is_wanted = name not in LONG if row == rows[0] else name in QUICK
            if name not in options.modes if options.modes else not (is_whole or is_wanted):
                continue
            try:
                said, wrong = case(options, *arguments)
            except open_mpi.Skipped as reason:
                print(f"skip {row.name} {name}: {reason}", flush=True)
                continue
            failed += bool(wrong)
            if wrong or options.verbose:
                print(f"{'FAILED' if wrong else 'ok'} {row.name} {name}: {'; '.join(wrong)}\n    {said}", flush=True)
    print(f"{failed} failed" if failed else "all as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
