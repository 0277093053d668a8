#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How many messages lie in the queues of jobs that are watched: what readers see, and what they may not.

usage: queues.py --binaries FOLDER --library libfathom.so --cli fathom [--match CASE]
"""
import json
import subprocess
import time

from watched_job import NOT_PERMITTED, RANKS, READ, Job, open_mpi, run_cases


def queues_of(sample):
    return [(rank["unexpected"], rank["posted"]) for rank in sample["ranks"]]


# By rank: unexpected messages, and posted receives, of which MPI_T does not count the three from any rank.
FULL, EMPTY = [(17, 0), (0, 10), (0, 0), (0, 0)], [(0, 0)] * RANKS
FULL_SAYS_MPI_T = [(17, 0), (0, 7), (0, 0), (0, 0)]


def said_by_mpi_t(folder, state):
    return [tuple(map(int, (folder / f"q.{state}-{rank}").read_text(encoding="ascii").split())) for rank in range(RANKS)]


def until_in_state(job, folder, state):
    """Until all ranks of the job have come to this state."""
    for _ in range(6000):
        if len(list(folder.glob(f"q.{state}-*"))) == RANKS:
            return
        assert job.process.poll() is None, job.process.communicate()
        time.sleep(0.01)
    raise AssertionError(f"the ranks did not come to {state}")


def in_state(job, folder, state):
    """A sample of the job after all its ranks have come to this state."""
    until_in_state(job, folder, state)
    return job.until(lambda _: True)


def skip_where_nobody_may_read(sample):
    """Where only ancestors of a process may read its memory (kernel.yama.ptrace_scope), the reader may not."""
    if all(rank["queues"] == NOT_PERMITTED for rank in sample["ranks"]):
        raise open_mpi.Skipped("the memory of other processes may not be read here")


def queue_job(options, mpi, folder, **settings):
    return Job(options, mpi, folder, "queues", folder / "q", **settings)


def let_end(folder):
    (folder / "q.empty").touch()
    (folder / "q.end").touch()


def the_queues_have_the_lengths_that_mpi_says(options, mpi, folder):
    plain = queue_job(options, mpi, folder, variables={})
    try:
        # No rank may go on before the last has looked: it would match what another is about to count.
        for state, then in (("full", "empty"), ("empty", "end")):
            until_in_state(plain, folder, state)
            (folder / f"q.{then}").touch()
    finally:
        let_end(folder)
        native = plain.end()
    said = said_by_mpi_t(folder, "full"), said_by_mpi_t(folder, "empty")
    assert said in ((FULL_SAYS_MPI_T, EMPTY), ([(-1, -1)] * RANKS,) * 2), said  # -1: there are no such variables
    for path in folder.glob("q.*"):
        path.unlink()
    job = queue_job(options, mpi, folder)
    try:
        for state, known, then in (("full", FULL, "empty"), ("empty", EMPTY, "end")):
            samples = [in_state(job, folder, state) for _ in range(3)]
            skip_where_nobody_may_read(samples[0])
            for sample in samples:
                assert queues_of(sample) == known, (state, queues_of(sample))
                assert [rank["queues"] for rank in sample["ranks"]] == [READ] * RANKS
            shown = subprocess.run([options.cli, "top", job.run, "--json"], capture_output=True, text=True, check=True).stdout
            assert [(rank["unexpected"], rank["posted"]) for rank in json.loads(shown)["ranks"]] == known, shown
            (folder / f"q.{then}").touch()
    finally:
        let_end(folder)
        end = job.end()
    assert end == native == (0, "done\n", ""), (end, native)


def queues_that_may_not_be_read_are_not_known(options, mpi, folder):
    """A reader to whom the system refuses the memory of others."""
    refused = options.binaries / "refused"
    if subprocess.run([refused, "true"], check=False).returncode != 0:
        raise open_mpi.Skipped("no system call can be refused here")
    job = queue_job(options, mpi, folder)
    try:
        skip_where_nobody_may_read(in_state(job, folder, "full"))
        sample = json.loads(subprocess.run([refused, job.reader, job.run], capture_output=True, text=True, check=True).stdout)
        assert queues_of(sample) == [(None, None)] * RANKS, sample["ranks"]
        assert [rank["queues"] for rank in sample["ranks"]] == [NOT_PERMITTED] * RANKS
        page = subprocess.run([refused, options.cli, "top", job.run, "--once"], capture_output=True, text=True, check=True).stdout
        assert "unexpected messages are not known" in page and "kernel.yama.ptrace_scope" in page, page
        allowed = subprocess.run([options.cli, "top", job.run, "--once"], capture_output=True, text=True, check=True).stdout
        assert "not known" not in allowed and "17 in queues of unexpected messages" in allowed, allowed
        # Whoever may read it leaves what it has seen to the others.
        with subprocess.Popen([options.cli, "watch-host", job.run]) as watcher:
            try:
                job.until(lambda _: list((job.run / "live").glob("*")))
                sample = json.loads(subprocess.run([refused, job.reader, job.run], capture_output=True, text=True, check=True).stdout)
                assert queues_of(sample) == FULL, sample["ranks"]
            finally:
                let_end(folder)  # it waits for the ranks
            assert watcher.wait(timeout=60) == 0
    finally:
        let_end(folder)
        end = job.end()
    assert end == (0, "done\n", ""), end


def queues_of_communicators_that_come_and_go_are_read(options, mpi, folder):
    """A communicator may be freed while the reader looks: then it looks again, and believes nothing that cannot be."""
    job = Job(options, mpi, folder, "communicators", folder / "stop")
    try:
        skip_where_nobody_may_read(job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"])))
        ranks = [rank for _ in range(30) for rank in job.sample()["ranks"]]
        read = [rank for rank in ranks if rank["queues"] == READ]
        assert len(read) > len(ranks) / 2, [rank["queues"] for rank in ranks]
        assert all(rank["unexpected"] < 100 and rank["posted"] < 100 for rank in read), read
        assert all(rank["unexpected"] is None for rank in ranks if rank["queues"] != READ)
    finally:
        (folder / "stop").touch()
        end = job.end()
    assert end == (0, "done\n", ""), end


def queues_of_another_pml_are_not_known(options, mpi, folder):
    words = mpi.for_ranks({"LD_PRELOAD": options.library, "FATHOM_OUTPUT": folder / "run", "FATHOM_LIVE": "1"})
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log", variables={}, more=[*open_mpi.UCX, *words])
    try:
        sample = job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"]))
        assert queues_of(sample) == [(None, None)] * RANKS and sample["ranks"][0]["queues"] == 0, sample["ranks"]
        page = subprocess.run([options.cli, "top", job.run, "--once"], capture_output=True, text=True, check=True).stdout
        assert "unexpected" not in page.split("unexp.")[0] and "unexp." in page, page
    finally:
        (folder / "stop").touch()
    assert job.end()[:2] == (0, "done\n")


if __name__ == "__main__":
    run_cases(__doc__, [
        the_queues_have_the_lengths_that_mpi_says,
        queues_that_may_not_be_read_are_not_known,
        queues_of_another_pml_are_not_known,
        queues_of_communicators_that_come_and_go_are_read,
    ])
