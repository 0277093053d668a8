# SPDX-License-Identifier: BSD-3-Clause
"""fathom snap where there is nothing to take. What it takes from a job is tested by test/mpi/flight.py."""
import os
import socket

import harness


def own_mark():
    """What the library says of a process (base/process_mark.h)."""
    with open("/proc/self/stat", encoding="utf-8") as file:
        start = file.read().rsplit(")", 1)[1].split()[19]
    return f"{os.getpid()} {start} {os.readlink('/proc/self/ns/pid')} {socket.gethostname()}"


class SnapTest(harness.CliTest):
    def start(self):
        """A run whose job, this process, still runs."""
        os.mkdir(self.path("r"))
        os.symlink("1 " + own_mark(), self.path("r", ".started"))

    def test_a_run_that_is_not_there(self):
        self.assert_refused(self.fathom("snap", "r"), 1, "there is no run 'r'")

    def test_a_run_that_has_ended(self):
        os.mkdir(self.path("r"))
        self.assert_refused(self.fathom("snap", "r"), 1, "the job of 'r' is no longer running")
        self.assertEqual(os.listdir(self.path("r")), [])

    def test_one_snapshot_at_a_time(self):
        self.start()
        os.symlink("snap-9", self.path("r", ".snap"))
        self.assert_refused(self.fathom("snap", "r"), 1, "another snapshot of 'r' is being taken")
        self.assertEqual(sorted(os.listdir(self.path("r"))), [".snap", ".started"])

    def test_a_job_without_a_flight_recorder(self):
        self.start()
        os.mkdir(self.path("r", "snap-1"))
        self.assert_refused(self.fathom("snap", "r"), 1, "no process of 'r' answered", "fathom run --flight 16M")
        self.assertEqual(sorted(os.listdir(self.path("r"))), [".started", "snap-1"])

    def test_a_further_job_of_a_script_and_a_spawned_world_are_asked(self):
        os.mkdir(self.path("r"))
        open(self.path("r", "profile.json"), "w", encoding="utf-8").close()  # of the first job, which has ended
        for name in ("job-5", "world-6", "job-7", "other"):
            os.mkdir(self.path("r", name))
            os.symlink("5 " + own_mark(), self.path("r", name, ".started"))
        open(self.path("r", "job-7", "profile.json"), "w", encoding="utf-8").close()
        os.symlink("snap-9", self.path("r", "world-6", ".snap"))
        self.assert_refused(self.fathom("snap", "r"), 1, "another snapshot of 'r/world-6' is being taken")
        os.unlink(self.path("r", "world-6", ".snap"))
        self.assert_refused(self.fathom("snap", "r"), 1, "no process of 'r/job-5' answered")
        self.assertEqual(sorted(os.listdir(self.path("r"))), ["job-5", "job-7", "other", "profile.json", "world-6"])
        self.assertEqual([os.listdir(self.path("r", name)) for name in ("job-5", "world-6")], [[".started"]] * 2)

    def test_a_trace_and_a_flight_recorder_exclude_each_other(self):
        self.assert_refused(self.fathom("run", "--trace", "--flight", "16M", "--", "true"), 2, "--flight")


if __name__ == "__main__":
    harness.main()
