# SPDX-License-Identifier: BSD-3-Clause
"""Whole programs that take turns on the same cores, so that other load on the machine affects all alike."""

import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

import jobs
import real_programs

TURN_s = 0.1  # so long that filling the caches anew at its start does not count
LIMIT_s = 600


class ProgramJob:
    """A whole program that runs in turns. Between them its processes are stopped."""

    def __init__(self, workspace, installation, variant, program, bound):
        self.name = f"{program.title}, {variant},"
        self.directory = workspace.run_directory()
        real_programs.prepare(program, self.directory)
        line = jobs.command_line(workspace, installation, variant, 2 if bound else program.ranks, program.command,
                                 self.directory, ("--bind-to", "core") if bound else jobs.OVERSUBSCRIBED)
        self.seconds = 0.0
        self.log = open(self.directory / "log", "w+")
        start = time.monotonic()
        # In a session of its own: a group with stopped processes gets a SIGHUP when the shell that started it ends.
        self.process = subprocess.Popen(line, cwd=self.directory, stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT, start_new_session=True,
                                        env=installation.environment | {"TMPDIR": str(self.directory)})
        self.end = select.poll()
        self.end_file = os.pidfd_open(self.process.pid)
        self.end.register(self.end_file, select.POLLIN)
        self.run_from(start)

    def turn(self):
        """Runs for one turn. Whether the program goes on after it."""
        if self.process.returncode is None:
            if self.seconds > LIMIT_s:
                raise jobs.Failed(f"{self.name} did not end within {LIMIT_s} s")
            start = time.monotonic()
            for pid in self.stopped:
                signal_process(pid, signal.SIGCONT)
            self.run_from(start)
        return self.process.returncode is None

    def run_from(self, start):
        self.end.poll(1000 * max(0, start + TURN_s - time.monotonic()))
        self.stopped = []
        if self.process.poll() is None:
            # Again, until none is left that another has started in the meantime.
            while running := [pid for pid in descendants(self.process.pid) if pid not in self.stopped]:
                for pid in running:
                    signal_process(pid, signal.SIGSTOP)
                self.stopped += running
        self.seconds += time.monotonic() - start

    def taken(self):
        """Seconds, of a run that has ended well."""
        if self.process.returncode != 0:
            self.log.seek(0)
            raise jobs.Failed(f"{self.name} ended with exit code {self.process.returncode}: {self.log.read()[-1500:]}")
        return self.seconds

    def close(self):
        for pid in self.stopped:
            signal_process(pid, signal.SIGCONT)
        jobs.stop(self.process)
        os.close(self.end_file)
        self.log.close()
        shutil.rmtree(self.directory)


def signal_process(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it has ended


def descendants(pid):
    """The process `pid` and all that it and they have started, those first that have started none."""
    children = {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = file.read_text().rsplit(")", 1)[1].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        children.setdefault(int(parent), []).append(int(file.parent.name))

    def below(parent):
        return [found for child in children.get(parent, []) for found in below(child)] + [parent]
    return below(pid)
