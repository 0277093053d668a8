#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that are watched while they run: what a reader sees, and what it must not change.

usage: live.py --binaries FOLDER --library libfathom.so --cli fathom [--match CASE]
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import time

from watched_job import ENDED, GONE, RANKS, ROOT, Job, open_mpi, run_cases


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
    # Each rank sends to the next with tags 0, 1 and 2.
    for number, rank in enumerate(last["ranks"]):
        for side, peer, pair in (("sent", (number + 1) % RANKS, (number, (number + 1) % RANKS)),
                                 ("received", (number - 1) % RANKS, ((number - 1) % RANKS, number))):
            used = [channel for channel in rank["channels"] if channel[side]]
            assert sorted((channel["peer"], channel["tag"]) for channel in used) == [(peer, 0), (peer, 1), (peer, 2)], used
            sums = tuple(sum(channel[name] for channel in used) for name in (side, side + "_bytes"))
            assert sums == expected[*pair, "point-to-point"], (number, side, sums)
        assert rank["channels_left_out"] == 0


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


SEND, SYNCHRONOUS, RECEIVE, COLLECTIVE = range(4)  # RequestKind
ANYONE, NOBODY = -1, -2


def line_of(way):
    source = (ROOT / "test/live/programs/blocked.c").read_text(encoding="utf-8").splitlines()
    return f"blocked.c:{next(i for i, line in enumerate(source, 1) if line.endswith(f'// line: {way}'))}"


def blocked(options, mpi, folder, way, function):
    """Rank 0 in this function, as a reader sees it; and what the sample says of communicators, by their ids."""
    job = Job(options, mpi, folder, "blocked", way, folder / "go-on")
    thread = lambda sample, rank: sample["ranks"][rank]["threads"][0]
    stays = lambda sample: any(t["function"] == function and t["since"] > 0.3 for t in sample["ranks"][0]["threads"])
    try:
        sample = job.until(stays)
        again = job.until(lambda sample: thread(sample, 0)["since"] > 1)
        assert thread(again, 0)["calls"] == thread(sample, 0)["calls"]
        assert again["ranks"][0]["mpi"] > 1, again["ranks"][0]
    finally:
        (folder / "go-on").touch()
    code, out, err = job.end()
    assert (code, out, err) == (0, "done\n", ""), (code, out, err)
    blocks = thread(sample, 0)
    assert blocks["place"] == line_of(way), (blocks["place"], line_of(way))
    return blocks, {item["id"]: item for item in sample["communicators"]}, sample


def pending(kind, peer, tag, size):
    return {"kind": kind, "peer": peer, "tag": tag, "bytes": size}


def of_world(blocks, communicators):
    """What the thread waits for, all of it on MPI_COMM_WORLD."""
    for item in blocks["pending"]:
        assert communicators[item.pop("communicator")]["name"] == "MPI_COMM_WORLD"
    return blocks["pending"]


def a_blocked_receive_is_seen_with_its_peer_tag_and_line(options, mpi, folder):
    blocks, communicators, _ = blocked(options, mpi, folder, "receive", "MPI_Recv")
    assert of_world(blocks, communicators) == [pending(RECEIVE, 3, 7, 4)], blocks
    assert communicators[blocks["communicator"]]["members"] == [0, 1, 2, 3]


def a_receive_from_anyone_is_seen_as_such(options, mpi, folder):
    blocks, communicators, _ = blocked(options, mpi, folder, "any", "MPI_Recv")
    assert of_world(blocks, communicators) == [pending(RECEIVE, ANYONE, ANYONE, 4)], blocks


def a_synchronous_send_is_seen_waiting_for_its_receiver(options, mpi, folder):
    blocks, communicators, _ = blocked(options, mpi, folder, "synchronous", "MPI_Ssend")
    assert of_world(blocks, communicators) == [pending(SYNCHRONOUS, 3, 5, 4)], blocks


def a_wait_shows_the_requests_that_are_incomplete(options, mpi, folder):
    blocks, communicators, _ = blocked(options, mpi, folder, "waitall", "MPI_Waitall")
    assert of_world(blocks, communicators) == [pending(RECEIVE, 3, 2, 8), pending(SYNCHRONOUS, 3, 3, 4)], blocks
    assert blocks["all"] == 1 and blocks["left_out"] == 0


def a_collective_is_seen_with_its_number_and_root(options, mpi, folder):
    job = Job(options, mpi, folder, "blocked", "collective", folder / "go-on")
    waits = lambda sample: any(thread["function"] == "MPI_Reduce" and thread["since"] > 0.3
                               for thread in sample["ranks"][1]["threads"])
    try:
        sample = job.until(waits)
    finally:
        (folder / "go-on").touch()
    assert job.end()[:2] == (0, "done\n")
    blocks = sample["ranks"][1]["threads"][0]
    communicator = {item["id"]: item for item in sample["communicators"]}[blocks["communicator"]]
    assert communicator["members"] == [3, 1], communicator
    assert (blocks["collective"], blocks["root"], blocks["place"]) == (3, 1, line_of("collective")), blocks
    assert sample["ranks"][3]["threads"][0]["function"] == "", sample["ranks"][3]


def watched_by_fathom_run(options, mpi, folder, *arguments):
    """A job that `fathom run --live` starts. The library is the one beside it."""
    command = [options.cli, "run", "--live", "-o", folder / "run", "--"]
    return Job(options, mpi, folder, "busy", folder / "stop", folder / "log", *arguments, variables={}, command=command)


def counts_survive_the_death_of_all_ranks(options, mpi, folder):
    job = watched_by_fathom_run(options, mpi, folder, "paused")
    sample = job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"]))
    (folder / "stop").touch()
    logs = [folder / f"log.{rank}" for rank in range(RANKS)]
    job.until(lambda _: all(struct.unpack("3Q", log.read_bytes()[:24])[2] == 1 for log in logs))
    with subprocess.Popen([job.reader, job.run, "0.2"], stdout=subprocess.PIPE, text=True) as watcher:
        watcher.stdout.readline()
        for rank in sample["ranks"]:
            os.kill(rank["pid"], signal.SIGKILL)
        seen = json.loads(watcher.communicate(timeout=60)[0].splitlines()[-1])
    assert watcher.returncode == 0 and [rank["state"] for rank in seen["ranks"]] == [GONE] * RANKS, seen
    code, _, err = job.end()
    assert code != 0 and "the run was cut short" in err, (code, err)
    sums = traffic_of_profile(job.run)
    for rank, log in enumerate(logs):
        wrote = struct.unpack("3Q", log.read_bytes()[:24])
        assert sums[rank, (rank + 1) % RANKS, "point-to-point"] == wrote[:2], (rank, sums, wrote)
    profile = json.loads((job.run / "profile.json").read_text(encoding="utf-8"))
    assert all(rank.get("reported", True) for rank in profile["ranks"]), profile["ranks"]
    calls = sum(sum(block["calls"]) for block in profile["calls"] if block["function"] == "MPI_Sendrecv")
    assert calls == sum(struct.unpack("Q", log.read_bytes()[:8])[0] for log in logs)
    assert not (job.run / "live").exists()


def ranks_that_are_killed_at_once_lose_nothing(options, mpi, folder):
    """They kill themselves some microseconds after MPI_Init, when nobody can have looked for them."""
    job = Job(options, mpi, folder, "early", folder / "stop", folder / "log", variables={},
              command=[options.cli, "run", "--live", "-o", folder / "run", "--"])
    code, _, err = job.end()
    assert code != 0 and "the run was cut short" in err, (code, err)
    killed_early_agrees(job.run, [folder / f"log.{rank}" for rank in range(RANKS)])


def killed_early_agrees(run, logs):
    """At least one rank has killed itself, and what each has received is in the profile. mpirun may have ended the
    others between a message and what they write of it."""
    sums = traffic_of_profile(run)
    wrote = [struct.unpack("2Q", log.read_bytes()[:16]) for log in logs]
    assert (3, 300) in wrote, wrote
    for rank, received in enumerate(wrote):
        counted = sums.get(((rank - 1) % len(logs), rank, "point-to-point"), (0, 0))
        assert received <= counted <= (3, 300), (rank, sums, wrote)
    profile = json.loads((run / "profile.json").read_text(encoding="utf-8"))
    assert all(rank.get("reported", True) for rank in profile["ranks"]), profile["ranks"]


def threads_that_communicate_together_are_seen(options, mpi, folder):
    (folder / "stop").touch()
    native = Job(options, mpi, folder, "threads", folder / "stop", variables={}).end()
    (folder / "stop").unlink()
    job = Job(options, mpi, folder, "threads", folder / "stop")
    with_calls = lambda sample: all(sum(thread["calls"] > 20 for thread in rank["threads"]) >= 3 for rank in sample["ranks"])
    job.until(with_calls)
    with subprocess.Popen([job.reader, job.run, "0.2"], stdout=subprocess.PIPE, text=True) as watcher:
        watcher.stdout.readline()
        (folder / "stop").touch()
        last = json.loads(watcher.communicate(timeout=60)[0].splitlines()[-1])
    assert job.end() == native == (0, "done\n", ""), native
    expected = traffic_of_profile(job.run)
    for side in ("sent", "received"):
        assert traffic_of_sample(last, side) == expected, (side, traffic_of_sample(last, side), expected)


def a_sampler_is_no_child_of_a_rank(options, mpi, folder):
    """Nobody else keeps the pages here, so a rank starts a sampler."""
    native = Job(options, mpi, folder, "children", variables={}).end()
    job = Job(options, mpi, folder, "children", variables={"LD_PRELOAD": options.library, "FATHOM_OUTPUT": folder / "run",
                                                           "FATHOM_LIVE": "sampled"})
    end = job.end()
    assert end == native == (0, "0 signals, 0 children\n", ""), (end, native)
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log",
              variables={"LD_PRELOAD": options.library, "FATHOM_OUTPUT": folder / "run2", "FATHOM_LIVE": "sampled"})
    ranks = job.until_seen(folder / "run2")
    samplers = [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if sampler_of(path, folder / "run2")]
    assert len(samplers) == 1, samplers
    parent = (samplers[0].parent / "stat").read_text(encoding="ascii").rpartition(")")[2].split()[1]
    assert int(parent) not in [rank["pid"] for rank in ranks]
    (folder / "stop").touch()
    assert job.end() == (0, "done\n", "")
    for _ in range(600):
        if not sampler_of(samplers[0], folder / "run2"):
            break
        time.sleep(0.1)
    assert not sampler_of(samplers[0], folder / "run2"), "the sampler outlives the job"
    assert sorted(path.name for path in (folder / "run2").iterdir()) == ["profile.json"]


def sampler_of(cmdline, run):
    try:
        words = cmdline.read_bytes().split(b"\0")
    except OSError:
        return False
    return words[0] == b"fathom-sampler" and os.fsencode(run) in words


def a_fortran_program_is_seen_with_its_line(options, mpi, folder):
    job = Job(options, mpi, folder, "fortran", folder / "go-on")
    waits = lambda sample: any(thread["function"] == "MPI_Recv" and thread["since"] > 0.3 for thread in sample["ranks"][0]["threads"])
    thread = job.until(waits)["ranks"][0]["threads"][0]
    (folder / "go-on").touch()
    assert job.end() == (0, "done\n", "")
    source = (ROOT / "test/live/programs/fortran.f90").read_text(encoding="utf-8").splitlines()
    line = next(number for number, text in enumerate(source, 1) if text.endswith("! line: receive"))
    assert thread["place"] == f"fortran.f90:{line}", thread
    assert [(item["peer"], item["tag"], item["bytes"]) for item in thread["pending"]] == [(3, 7, 4)], thread


def a_full_disk_costs_the_samples_alone(options, mpi, folder):
    """The run directory lies in a file system of a few KiB."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode != 0:
        raise open_mpi.Skipped("no file system can be mounted here")
    small = folder / "small"
    small.mkdir()
    native = Job(options, mpi, folder, "busy", folder / "stop", folder / "log", variables={})
    (folder / "stop").touch()
    expected = native.end()
    (folder / "stop").unlink()
    # What is counted does not fit either, so that the profile is missing too; the program must not notice.
    command = ["unshare", "--mount", "sh", "-c", f'mount -t tmpfs -o size=16k tmpfs {small} && head -c 15k /dev/zero > {small}/full; exec "$@"',
               "sh", options.cli, "run", "--live", "-o", small / "run", "--"]
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log", variables={}, command=command)
    for _ in range(600):
        if all((folder / f"log.{rank}").exists() and struct.unpack("Q", (folder / f"log.{rank}").read_bytes()[:8])[0] > 300
               for rank in range(RANKS)) or job.process.poll() is not None:
            break
        time.sleep(0.1)
    time.sleep(1.5)  # several samples
    (folder / "stop").touch()
    code, out, _ = job.end()
    assert (code, out) == expected[:2], (code, out, expected)


def a_reader_without_the_processes_sees_the_file_system(options, mpi, folder):
    job = watched_by_fathom_run(options, mpi, folder)
    elsewhere = ["unshare", "--pid", "--fork", "--mount-proc"]  # as on a login node: other processes
    if subprocess.run([*elsewhere, "true"], capture_output=True, check=False).returncode != 0:
        job.process.terminate()
        job.end()
        raise open_mpi.Skipped("no namespace of processes can be made here")
    job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"]))
    file = job.run / "live"
    try:
        for _ in range(100):
            if file.is_dir() and any(path.suffix == "" for path in file.iterdir()):
                break
            time.sleep(0.1)
        paths = [path for path in file.iterdir() if path.suffix == ""]
        assert len(paths) == 1 and paths[0].stat().st_mode & 0o077 == 0 and file.stat().st_mode & 0o077 == 0
        with subprocess.Popen([*elsewhere, job.reader, job.run, "0.3"], stdout=subprocess.PIPE, text=True) as watcher:
            samples = map(json.loads, watcher.stdout)
            first = next(sample for sample in samples if len(sample["ranks"]) == RANKS)
            sent = first["ranks"][0]["sent"]
            assert any(sample["ranks"][0]["sent"] > sent for sample in samples), "nothing was seen to move"
            (folder / "stop").touch()
            watcher.communicate(timeout=60)
    finally:
        (folder / "stop").touch()
    assert job.end()[:2] == (0, "done\n")
    assert watcher.returncode == 0, "the watcher does not end with the job"
    assert not file.exists()


def a_forked_child_adds_nothing(options, mpi, folder):
    job = Job(options, mpi, folder, "blocked", "forked", folder / "go-on")
    waits = lambda sample: any(thread["function"] == "MPI_Barrier" and thread["since"] > 0.2
                               for thread in sample["ranks"][0]["threads"])
    try:
        sample = job.until(waits)
    finally:
        (folder / "go-on").touch()
    assert job.end()[:2] == (0, "done\n")
    for source, target in ((0, 1), (1, 0), (2, 3), (3, 2)):
        assert traffic_of_sample(sample, "sent")[source, target, "point-to-point"] == (3, 12)
    profile = traffic_of_profile(job.run)
    assert all(source != target for source, target, kind in profile if kind == "point-to-point"), profile
    assert len([key for key in profile if key[2] == "point-to-point"]) == RANKS, profile


def without_room_for_shared_memory_the_job_runs_as_ever(options, mpi, folder):
    (folder / "stop").touch()
    limited = ["prlimit", "--fsize=100000000", "--"]  # bytes
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log", command=limited)
    assert job.end() == (0, "done\n", "")
    notes = json.loads((job.run / "profile.json").read_text(encoding="utf-8"))["coverage"]["notes"]
    assert any("could not be watched live" in note and "ulimit -f" in note for note in notes), notes


def ranks_of_another_host_are_seen_through_its_file(options, mpi, folder):
    """A host with another name, and a reader to whom its processes do not exist."""
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log")
    host = ["unshare", "--uts", "sh", "-c", 'hostname node02 && exec "$@"', "sh"]
    elsewhere = ["unshare", "--pid", "--fork", "--mount-proc"]
    able = [subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0 for words in (host, elsewhere)]
    if not all(able):
        (folder / "stop").touch()
        job.end()
        raise open_mpi.Skipped("no namespaces can be made here")
    job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"]))
    with subprocess.Popen([*host, options.cli, "watch-host", job.run], stderr=subprocess.PIPE, text=True) as keeper:
        while not (job.run / "live/node02").exists():
            assert keeper.poll() is None, keeper.communicate()
            time.sleep(0.05)
        read = subprocess.run([*elsewhere, job.reader, job.run], capture_output=True, text=True, check=True)
        (folder / "stop").touch()
        assert job.end()[:2] == (0, "done\n")
        assert keeper.wait(timeout=30) == 0, keeper.stderr.read()
    sample = json.loads(read.stdout)
    assert [(rank["rank"], rank["host"]) for rank in sample["ranks"]] == [(rank, "node02") for rank in range(RANKS)]
    assert sample["late"] == [] and not (job.run / "live").exists()


def readers_that_die_harm_nothing(options, mpi, folder):
    job = Job(options, mpi, folder, "busy", folder / "stop", folder / "log")
    job.until(lambda sample: all(rank["sent"] > 100 for rank in sample["ranks"]))
    for _ in range(5):
        with subprocess.Popen([job.reader, job.run, "0.01"], stdout=subprocess.PIPE) as reader:
            reader.stdout.read(10)
            reader.kill()
    (folder / "stop").touch()
    assert job.end() == (0, "done\n", "")


if __name__ == "__main__":
    run_cases(__doc__, [
        a_sampler_is_no_child_of_a_rank,
        ranks_that_are_killed_at_once_lose_nothing,
        threads_that_communicate_together_are_seen,
        a_fortran_program_is_seen_with_its_line,
        a_full_disk_costs_the_samples_alone,
        ranks_of_another_host_are_seen_through_its_file,
        readers_that_die_harm_nothing,
        a_forked_child_adds_nothing,
        without_room_for_shared_memory_the_job_runs_as_ever,
        counts_survive_the_death_of_all_ranks,
        a_reader_without_the_processes_sees_the_file_system,
        a_blocked_receive_is_seen_with_its_peer_tag_and_line,
        a_receive_from_anyone_is_seen_as_such,
        a_synchronous_send_is_seen_waiting_for_its_receiver,
        a_wait_shows_the_requests_that_are_incomplete,
        a_collective_is_seen_with_its_number_and_root,
        the_last_sample_is_the_profile,
        watching_changes_neither_output_nor_exit_code,
        another_user_sees_nothing,
    ])
