# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that a test watches while they run, and the cases that do so."""
import argparse
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test"))
import open_mpi  # noqa: E402

RANKS = 4
ENDED, GONE = 3, 4  # of ProcessState in live/job_state.h
READ, NOT_PERMITTED = 1, 2  # of QueueAccess there


class Job:
    """A job in a folder of its own. `ways`: words before the program's own."""

    def __init__(self, options, mpi, folder, program, *arguments, variables=None, command=(), more=()):
        self.run, self.reader = folder / "run", options.binaries / "print_job"
        words = mpi.for_ranks({"LD_PRELOAD": options.library, "FATHOM_OUTPUT": self.run, "FATHOM_LIVE": "1"}
                              if variables is None else variables)
        self.program = mpi.program(options.binaries / program)
        self.process = subprocess.Popen([*command, *mpi.launch(RANKS, *words, *more, self.program, *arguments)], cwd=folder,
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

    def until_seen(self, run):
        """The ranks of the job that writes to this run directory, once all are seen."""
        self.run = run
        return self.until(lambda sample: True)["ranks"]

    def end(self):
        """(exit code, output)."""
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


def builds():
    """Both of 4.1, and 5.0.7 if it is there."""
    rows = list(open_mpi.installed())
    try:
        rows.append(open_mpi.later_row("5.0.7"))
    except LookupError as sentence:
        print(f"skip {sentence}", flush=True)
    return [open_mpi.OpenMpi(row) for row in rows]


def run_cases(text, cases):
    """Runs the cases, functions of (options, mpi, folder), on each Open MPI; ends the program."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=pathlib.Path, required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--match", default="", help="only the cases whose name this expression matches")
    options = parser.parse_args()
    sys.exit(open_mpi.report_cases(
        builds(),
        lambda mpi: {case.__name__: lambda folder, case=case: case(options, mpi, folder) for case in cases}, options.match))
