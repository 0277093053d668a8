#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast `fathom view` answers about a made-up trace (bench/trace/pattern.h).

usage: bench/view.py [--events N] [--ranks N] [--build DIR] [--keep RUN]

Prints how fast the pyramid is built, and its size beside the trace's; the time from the start of the server to the
first picture (what the page asks for before it draws: the list of runs, the metadata, the strip, and the coarsest
tiles of all ranks), with the run's files in memory and not; how long tiles, single calls, messages, call trees and
windows take; and the server's memory. 100 million events and 1,024 ranks are the figures to aim at; they need 5 GB
of disk for the joined trace and some minutes.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Server:
    def __init__(self, fathom, run):
        self.started = time.monotonic()
        self.process = subprocess.Popen([fathom, "view", run, "--no-browser"], text=True, stdout=subprocess.PIPE)
        found = re.search(r"127\.0\.0\.1:(\d+)/\?token=(\w+)", self.process.stdout.readline())
        if not found:
            sys.exit("fathom view does not start")
        self.connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=600)
        self.headers = {"Authorization": f"Bearer {found[2]}"}

    def ask(self, path):
        """(status, body, seconds)"""
        begin = time.monotonic()
        self.connection.request("GET", path, headers=self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        return answer.status, body, time.monotonic() - begin

    def until(self, path, ready=lambda body: True):
        """Seconds since the start of the server until there is an answer."""
        while True:
            status, body, _ = self.ask(path)
            if status == 200 and ready(body):
                return time.monotonic() - self.started, body
            if status not in (200, 202):
                sys.exit(body.decode(errors="replace"))
            time.sleep(0.02)

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            values = dict(line.split(":", 1) for line in file if line.startswith(("VmHWM", "RssAnon", "RssFile", "RssShmem")))
        return {name: int(value.split()[0]) // 1024 for name, value in values.items()}

    def end(self):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=60)


def size_of(folder, ending=""):
    return sum(path.stat().st_size for path in pathlib.Path(folder).rglob("*" + ending) if path.is_file())


def is_ready(what):
    return lambda body: what in json.loads(body)["timeline"]["ready"]


def times(server, paths, what):
    seconds = []
    for path in paths:
        status, body, taken = server.ask(path)
        if status != 200:
            print(f"{what}: status {status}: {body[:200]!r}")
            return
        seconds.append(taken * 1000)
    seconds.sort()
    if not seconds:
        return
    print(f"{what:26} median {statistics.median(seconds):8.2f} ms, p95 {seconds[int(len(seconds) * 0.95)]:8.2f} ms, "
          f"longest {seconds[-1]:8.2f} ms ({len(seconds)} questions)")


def forget(run):
    """Leaves none of the run's files in the kernel's memory."""
    for path in pathlib.Path(run).rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def first_picture(fathom, run, what):
    server = Server(fathom, run)
    server.until("/api/runs")
    _, body = server.until("/api/meta")
    server.until("/api/strip")
    for row in range(json.loads(body)["timeline"]["rows"]):
        taken, _ = server.until(f"/api/tile?level=0&row={row}")
    print(f"first picture, {what:12}{taken:8.2f} s")
    return server


def measure(fathom, run, events, statistics_asked):
    shutil.rmtree(pathlib.Path(run) / "view", ignore_errors=True)
    cold = Server(fathom, run)
    first, _ = cold.until("/api/tile")
    waits, body = cold.until("/api/meta", is_ready("waits"))
    raw, _ = cold.until("/api/meta", is_ready("raw"))
    print(f"first tile, nothing kept   {first:8.2f} s: calls and messages at {events / first / 1e6:.1f} million events/s")
    print(f"waits and path             {waits:8.2f} s: the whole pyramid at {events / waits / 1e6:.1f} million events/s")
    print(f"memory while building      {cold.memory_mib()} MiB")
    trace, pyramid = size_of(pathlib.Path(run) / "trace"), size_of(pathlib.Path(run) / "view", ".pyramid")
    print(f"trace                      {trace / 1e6:8.2f} MB, pyramid {pyramid / 1e6:.2f} MB ({pyramid / trace:.2f} of it)")
    cold.end()
    subprocess.run(["sync"], check=True)
    forget(run)
    first_picture(fathom, run, "cold").end()
    warm = first_picture(fathom, run, "warm")
    raw, body = warm.until("/api/meta", is_ready("raw"))
    print(f"single calls, pyramid kept {raw:8.2f} s (the trace is joined again)")
    meta = json.loads(body)
    layout, span = meta["timeline"], meta["span"]
    chance = random.Random(1)
    tiles = []
    for _ in range(300):
        level = chance.randrange(layout["levels"])
        tiles.append(f"/api/tile?level={level}&row={chance.randrange(layout['rows'])}"
                     f"&column={chance.randrange(layout['columns'][level])}")
    times(warm, tiles, "tiles")
    for group in layout["groups"][1:]:
        chosen = [chance.randrange(layout["levels"]) for _ in range(100)]
        rows = -(-len(meta["processes"]["rank"]) // (64 * group))
        times(warm, [f"/api/tile?level={level}&group={group}&row={chance.randrange(rows)}"
                     f"&column={chance.randrange(layout['columns'][level])}" for level in chosen], f"tiles of {group} ranks a line")
    # What a tile of the last level covers, of 64 ranks.
    def windows(bins):
        for _ in range(40):
            begin = chance.randrange(span["from_ns"], max(span["from_ns"] + 1, span["to_ns"] - bins * layout["bin_ns"][-1]))
            first = chance.randrange(layout["rows"]) * 64
            last = min(first + 64, meta["ranks"]) - 1
            yield f"from={begin}&to={begin + bins * layout['bin_ns'][-1]}&ranks={first}-{last}"
    times(warm, ["/api/raw?" + window for window in windows(64)], "calls of 64 ranks, 64 bins")
    times(warm, ["/api/messages?" + window for window in windows(64)], "messages of the same")
    times(warm, ["/api/calls?" + window for window in list(windows(64))[:10]], "call tree of the same")
    times(warm, ["/api/window?" + window for window in list(windows(64))[:statistics_asked]], "statistics of the same")
    print(f"memory after that          {warm.memory_mib()} MiB")
    warm.end()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=2_000_000)
    parser.add_argument("--ranks", type=int, default=64)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--statistics", type=int, default=5, help="how many windows' statistics are asked for: they go through the whole run")
    parser.add_argument("--keep", help="a run that is there already, or is to be made and kept")
    options = parser.parse_args()
    fathom = options.build / "cli/fathom"
    with tempfile.TemporaryDirectory(prefix="fathom-bench-") as folder:
        run = options.keep or os.path.join(folder, "run")
        if not os.path.exists(os.path.join(run, "trace")):
            subprocess.run([options.build / "bench/trace/trace_generate", run, "--ranks", str(options.ranks), "--events",
                            str(options.events)], check=True, stdout=subprocess.DEVNULL)
        said = subprocess.run([fathom, "trace", "info", run, "--json"], check=True, capture_output=True, text=True)
        info = json.loads(said.stdout)
        events = sum(process["records"] for process in info["processes"])
        print(f"{events} events, {len(info['processes'])} ranks")
        measure(fathom, run, events, options.statistics)


if __name__ == "__main__":
    main()
