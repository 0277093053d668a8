# SPDX-License-Identifier: BSD-3-Clause
"""While a job runs: the line at its start, the heartbeat, fathom status, and what readers say of a run that is not complete."""
import json
import os
import pty
import signal
import socket
import stat
import subprocess
import time

import fixtures
import harness

# Runs until the file "go" is there, and then leaves the profile that a library in rank 0 would leave.
WAITS = """#!/usr/bin/python3
import os, shutil, sys, time
sys.stdout.write("half a li"); sys.stdout.flush()
open("ready", "w").close()
while not os.path.exists("go"):
    if not os.path.exists("job"):  # the test is over, and its folder is gone
        sys.exit(6)
    time.sleep(0.02)
print("ne")
if os.path.exists("leave.json"):
    shutil.copy("leave.json", os.path.join(os.environ["FATHOM_OUTPUT"], "profile.json"))
sys.exit(5)
"""


def mark_of(pid):
    """What the library says of a process (base/process_mark.h)."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        start = file.read().rsplit(")", 1)[1].split()[19]
    return f"{pid} {start} {os.readlink('/proc/self/ns/pid')} {socket.gethostname()}"


class StatusTest(harness.CliTest):
    def setUp(self):
        super().setUp()
        with open(self.path("job"), "w", encoding="utf-8") as file:
            file.write(WAITS)
        os.chmod(self.path("job"), stat.S_IRWXU)
        self.library = self.path("libfathom.so")
        open(self.library, "w", encoding="utf-8").close()
        with open(self.path("leave.json"), "w", encoding="utf-8") as file:
            json.dump(fixtures.hpcc4(), file)
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith(("FATHOM_", "SLURM_", "OMPI_"))},
                            "FATHOM_LIBRARY": self.library, "LC_ALL": "C.UTF-8"}

    def start(self, *words, **variables):
        job = subprocess.Popen([harness.FATHOM, "run", "-o", "my run", *words, "--", "./job", "an argument"], cwd=self.folder,
                               env={**self.environment, **variables}, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(self.finish, job)
        self.wait_for("ready")
        return job

    def wait_for(self, name):
        for _ in range(1000):
            if os.path.exists(self.path(name)):
                return
            time.sleep(0.02)
        self.fail("there is no " + name)

    def finish(self, job):
        open(self.path("go"), "w", encoding="utf-8").close()
        return job.communicate(timeout=30) if job.poll() is None else ("", "")

    def status(self, run="my run"):
        result = self.fathom("status", run, "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["jobs"][0]


class WhileItRuns(StatusTest):
    def test_status(self):
        job = self.start("--source", "pml")
        running = self.status()
        self.assertEqual((running["state"], running["records"], running["command"]),
                         ("running", "counts and times, source pml", "./job 'an argument'"))
        self.assertIn(str(job.pid), running["process"])
        self.assertIn("still running, for", self.fathom("status", "my run").stdout)
        self.finish(job)
        self.assertEqual((self.status()["state"], self.status()["profile"]), ("ended", True))
        self.assertIn("next        fathom report 'my run'\n", self.fathom("status", "my run").stdout)
        self.assertNotIn(".running", os.listdir(self.path("my run")))

    def test_streams_and_exit_code_are_the_jobs(self):
        job = self.start()
        output, errors = self.finish(job)
        self.assertEqual((output, job.returncode), ("half a line\n", 5))
        # The loader says that our made-up library is none.
        first, *others = [line for line in errors.splitlines() if not line.startswith("ERROR: ld.so")]
        self.assertEqual(first, "fathom: recording counts and times, source auto in my run")
        self.assertEqual(len(others), 1, errors)
        self.assertIn("next: fathom report 'my run'", others[0])

    def test_quiet(self):
        _, errors = self.finish(self.start("--log", "quiet"))
        self.assertNotIn("recording", errors)

    def test_report_says_still_running(self):
        self.start()
        self.assert_refused(self.fathom("report", "my run"), 1, "still running, for", "its profile is written when it ends")
        os.makedirs(self.path("my run", "partial"))  # one rank was killed: its counts must wait for the others'
        with open(self.path("my run", "partial", "1.0.rows"), "wb") as file:
            file.write(b"rows")
        self.assert_refused(self.fathom("report", "my run"), 1, "still running, for")
        self.assertEqual(os.listdir(self.path("my run", "partial")), ["1.0.rows"])

    def test_a_running_job_is_not_replaced(self):
        self.start()
        self.assert_refused(self.fathom("run", "-o", "my run", "--force", "--", "./job", FATHOM_LIBRARY=self.library), 2,
                            "still running", "choose another folder")
        self.assertEqual(self.status()["state"], "running")

    def test_killed_without_a_word(self):
        job = self.start()
        job.send_signal(signal.SIGKILL)
        job.wait()
        self.assertEqual(self.status()["state"], "lost")
        self.assert_refused(self.fathom("report", "my run"), 1, "ended abruptly", "it was killed")
        open(self.path("go"), "w", encoding="utf-8").close()
        for _ in range(1000):
            if os.path.exists(self.path("my run", "profile.json")):
                break
            time.sleep(0.02)
        self.assertEqual(self.fathom("report", "my run").returncode, 0)
        self.assertEqual(self.fathom("run", "-o", "my run", "--force", "--", "./job", FATHOM_LIBRARY=self.library).returncode, 5)

    def test_job_that_outlives_fathom(self):
        job = self.start()
        os.symlink("7 " + mark_of(os.getpid()), self.path("my run", ".started"))  # as a rank would
        job.send_signal(signal.SIGKILL)
        job.wait()
        self.assertEqual(self.status()["state"], "running")


class WithoutFathomRun(StatusTest):
    """A job that preloads the library itself leaves RUN/.started."""

    def mark(self, content):
        os.makedirs(self.path("my run"))
        os.symlink(content, self.path("my run", ".started"))
        return self.status()["state"]

    def test_running(self):
        self.assertEqual(self.mark("7 " + mark_of(os.getpid())), "running")
        self.assert_refused(self.fathom("report", "my run"), 1, "still running")

    def test_killed(self):
        other = subprocess.Popen(["sleep", "100"])
        mark = mark_of(other.pid)
        other.kill()
        other.wait()
        self.assertEqual(self.mark("7 " + mark), "lost")

    def test_rank_0_left_its_counts(self):  # its MPI ended with a session, or it was cut short
        other = subprocess.Popen(["sleep", "100"])
        mark = mark_of(other.pid)
        other.kill()
        other.wait()
        self.assertEqual(self.mark("7 " + mark), "lost")
        os.makedirs(self.path("my run", "partial"))
        for rank, state in ((1, "lost"), (0, "ended")):
            open(self.path("my run", "partial", f"7.{rank}.rows"), "wb").close()
            self.assertEqual(self.status()["state"], state)

    def test_number_that_another_process_has_now(self):
        pid, start, *rest = mark_of(os.getpid()).split(" ")
        self.assertEqual(self.mark(" ".join(["7", pid, str(int(start) - 1), *rest])), "lost")

    def test_other_host(self):
        self.assertEqual(self.mark("7 " + mark_of(os.getpid()).rsplit(" ", 1)[0] + " elsewhere"), "unknown")
        self.assertIn("perhaps still running (process", self.fathom("status", "my run").stdout)

    def test_damaged(self):
        for number, content in enumerate(("7", "7 x", "7 1 2", "\xff")):
            os.makedirs(self.path(str(number)))
            os.symlink(content, self.path(str(number), ".started"))
            self.assertEqual(self.status(str(number))["state"], "unknown")

    def test_no_run(self):
        self.assert_refused(self.fathom("status", "nowhere"), 1, "there is no run 'nowhere'")


class Heartbeat(StatusTest):
    def on_terminal(self, beats, **variables):
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            words = [harness.FATHOM, "run", "-o", "my run", "--", "./job"]
            os.execve(harness.FATHOM, words, {**self.environment, **variables})
        said = b""
        with open(terminal, "rb", buffering=0) as screen:
            try:
                while some := screen.read(4096):
                    said += some
                    if os.path.exists(self.path("ready")) and said.count(b"running for") >= beats:
                        open(self.path("go"), "w", encoding="utf-8").close()
            except OSError:  # the last process has closed it
                pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 5, said)
        return said.decode()

    def test_on_a_terminal(self):
        said = self.on_terminal(2, FATHOM_HEARTBEAT="1")
        self.assertIn("fathom: running for 1.00 s; recorded: nothing yet; fathom status 'my run'", said)
        self.assertIn("running for 2.00 s", said)

    def test_can_be_switched_off(self):
        open(self.path("go"), "w", encoding="utf-8").close()
        self.assertNotIn("running for", self.on_terminal(0, FATHOM_HEARTBEAT="0"))

    def test_not_without_a_terminal(self):
        job = self.start(FATHOM_HEARTBEAT="1")
        time.sleep(2.5)
        output, errors = self.finish(job)
        self.assertEqual(output, "half a line\n")
        self.assertNotIn("running for", errors)


if __name__ == "__main__":
    harness.main()
