#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a job over several hosts that are network namespaces of this machine, natively and under Fathom.

    hosts.py LIBFATHOM LIBFATHOM_TRACE FATHOM [--keep]

Each host is a network namespace with a host name of its own; a bridge in one more namespace connects
them, so the machine's own network is not touched. Each Open MPI of open_mpi.tested() starts a daemon on
each through an agent script that enters the namespace instead of calling ssh, and the job talks TCP
between hosts and shared memory inside one, with coll/han's hierarchical collectives switched on. Where
the kernel permits, each host's CLOCK_MONOTONIC is also minutes away from the others': a trace has to
bring them together.

Needs root and the right to make network namespaces; skips otherwise. Removes all it made. The last line is
"N passed, N failed, N skipped".
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import open_mpi  # noqa: E402

PREFIX = f"fthm{os.getpid()}"  # of every namespace made here
NETWORK = "10.213.77"
RANKS_PER_HOST = 2
SKEW_S = 137  # of each host's clock against the one before
RING_BYTES, RING_ROUNDS = 1000, 3
ALLREDUCE_BYTES = 16384 * 4
HAN_COLLECTIVES = ("MPI_Allreduce", "MPI_Bcast", "MPI_Reduce", "MPI_Gather", "MPI_Scatter", "MPI_Allgather")


def ip(*words):
    subprocess.run(["ip", *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


class Hosts:
    """Namespaces that look like hosts; removed at the end, with whatever still runs in them. `isolated`: what mpirun
    starts on the others also has process numbers of its own, so that no host sees the processes of another."""

    def __init__(self, count, folder, skewed=True, isolated=False):
        self.isolated = isolated
        self.skewed = skewed and clocks_can_be_skewed()
        self.names = [f"node{chr(ord('a') + i)}" for i in range(count)]
        self.switch = f"{PREFIX}-switch"
        self.made = []
        self.agent = folder / "agent"
        self.folder = folder

    def namespace(self, host):
        return f"{PREFIX}-{host}"

    def add(self, namespace):
        ip("netns", "add", namespace)
        self.made.append(namespace)
        ip("-n", namespace, "link", "set", "lo", "up")

    def connect(self):
        self.add(self.switch)
        ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.switch, "link", "set", "bridge", "up")
        for i, host in enumerate(self.names):
            namespace = self.namespace(host)
            self.add(namespace)
            ip("-n", namespace, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{i}",
               "netns", self.switch)
            ip("-n", self.switch, "link", "set", f"port{i}", "master", "bridge")
            ip("-n", self.switch, "link", "set", f"port{i}", "up")
            ip("-n", namespace, "addr", "add", f"{NETWORK}.{i + 1}/24", "dev", "eth0")
            ip("-n", namespace, "link", "set", "eth0", "up")

    def __enter__(self):
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        # What mpirun calls in place of ssh: agent HOST COMMAND...
        skews = "".join(f'{name}) skew="--time --monotonic {SKEW_S * i}";; ' for i, name in enumerate(self.names))
        # The first process of a namespace takes all others with it when it ends, so it waits for them.
        alone = "--pid --fork --mount-proc" if self.isolated else ""
        wait = "; while set -- /proc/[0-9]*; [ \\$# -gt 1 ]; do sleep 0.1; done" if self.isolated else ""
        self.agent.write_text(
            "#!/bin/sh\n"
            "host=$1; shift\n"
            + (f"case $host in {skews}esac\n" if self.skewed else "") +
            f'exec ip netns exec "{PREFIX}-$host" unshare --uts $skew {alone} sh -c "hostname $host; $*{wait}"\n')
        self.agent.chmod(0o755)
        return self

    def __exit__(self, *_):
        for namespace in reversed(self.made):
            found = subprocess.run(["ip", "netns", "pids", namespace], stdout=subprocess.PIPE, text=True)
            for pid in map(int, found.stdout.split()):  # a daemon of a job that failed
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            subprocess.run(["ip", "netns", "del", namespace], stderr=subprocess.DEVNULL)

    def on_first(self, command):
        """The words that run a command on the first host, as a user who is logged in there would."""
        first = self.names[0]
        return ["ip", "netns", "exec", self.namespace(first), "unshare", "--uts", "sh", "-c",
                f'hostname {first}; exec "$@"', "sh", *map(str, command)]

    def run(self, command, environment):
        return subprocess.run(
            self.on_first(command),
            cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, timeout=120)


def clocks_can_be_skewed():
    return subprocess.run(["unshare", "--time", "--monotonic", "1", "true"], stderr=subprocess.DEVNULL).returncode == 0


def source_of(mpi):
    """The source that counts in a job of this build."""
    return "peruse" if mpi.has_peruse else "pml"


def command(hosts, mpi, program, extra=()):
    count = len(hosts.names) * RANKS_PER_HOST
    if mpi.is_later:  # coll/han is on by default, and PRRTE is another program with parameters of its own
        words = ["--map-by", f"ppr:{RANKS_PER_HOST}:node", "--prtemca", "plm_ssh_agent", str(hosts.agent),
                 "--prtemca", "prte_if_include", f"{NETWORK}.0/24", "--mca", "btl", "self,sm,tcp"]
    else:
        words = ["--mca", "plm_rsh_agent", str(hosts.agent), "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24",
                 "--mca", "btl", "self,vader,tcp", "--mca", "coll_han_priority", "100", "--mca", "osc", "pt2pt"]
    return [mpi.mpirun, "-n", str(count), "--host", ",".join(f"{h}:{RANKS_PER_HOST}" for h in hosts.names), "--bind-to", "none",
            *words, "--mca", "pml", "ob1", "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24",
            "--mca", "mpi_yield_when_idle", "1", *extra, str(program)]


def launch(hosts, mpi, program, extra=(), before=()):
    return hosts.run([*before, *command(hosts, mpi, program, extra)], mpi.environment)


class Checks:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def expect(self, name, right, detail=""):
        if right:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {detail}", flush=True)

    def summary(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped")
        return 1 if self.failed else 0


def matrix(profile, wanted):
    """{(source, destination): (bytes, messages)} of the blocks that `wanted` accepts."""
    cells = {}
    for block in profile["traffic"]:
        if not wanted(block):
            continue
        for s, d, size, messages in zip(block["source"], block["destination"], block["bytes"],
                                        block["messages"]):
            old = cells.get((s, d), (0, 0))
            cells[s, d] = (old[0] + size, old[1] + messages)
    return cells


def check_profile(checks, name, profile, hosts, mpi):
    count = len(hosts.names) * RANKS_PER_HOST
    coverage = profile["coverage"]
    checks.expect(f"{name}: source", profile["source"] == source_of(mpi),
                  f"{profile['source']}, steps down: {coverage.get('steps_down')}")
    checks.expect(f"{name}: verdict", coverage["verdict"] == "exact", json.dumps(coverage)[:2000])
    placed = [r["host"] for r in sorted(profile["ranks"], key=lambda r: r["rank"])]
    expected = [h for h in hosts.names for _ in range(RANKS_PER_HOST)]
    checks.expect(f"{name}: hosts", placed == expected, f"{placed} instead of {expected}")

    ring = matrix(profile, lambda b: b["class"] == "point-to-point" and b["communicator"] == 0)
    right = {(r, (r + 1) % count): (RING_BYTES * RING_ROUNDS, RING_ROUNDS) for r in range(count)}
    checks.expect(f"{name}: the ring, pair by pair", ring == right, f"{ring} instead of {right}")

    put = matrix(profile, lambda b: b["class"] == "one-sided" and b["hidden"] != mpi.is_later)
    if mpi.is_later:  # no component sends messages for it, so it is counted as posted
        right = {(r, (r + 1) % count): (8, 1) for r in range(count)}
        checks.expect(f"{name}: MPI_Put, pair by pair", put == right, f"{put} instead of {right}")
    else:  # messages with headers, and between further pairs those of the fences
        short = [r for r in range(count) if put.get((r, (r + 1) % count), (0, 0))[0] < 8]
        checks.expect(f"{name}: MPI_Put, pair by pair", not short, f"of {short} missing in {put}")

    # coll/han works on communicators of its own; what it sends there belongs to the program's collective.
    internal = {c["id"] for c in profile["communicators"] if c.get("internal")}
    served = {b["class"] for b in profile["traffic"] if b["communicator"] in internal and any(b["messages"])}
    missing = [c for c in ("MPI_Allreduce", "MPI_Bcast") if c not in served]
    checks.expect(f"{name}: coll/han's communicators carry the program's collectives", not missing,
                  f"{missing} not on internal communicators, only {sorted(served)}")
    allreduce = matrix(profile, lambda b: b["class"] == "MPI_Allreduce")
    across = sum(size for (s, d), (size, _) in allreduce.items()
                 if s // RANKS_PER_HOST != d // RANKS_PER_HOST)
    checks.expect(f"{name}: MPI_Allreduce between hosts", across >= ALLREDUCE_BYTES, f"{across} bytes")
    # A collective's data filed under "library" would show as large messages there.
    library = matrix(profile, lambda b: b["class"] == "library")
    large = {pair: cell for pair, cell in library.items() if cell[0] > 1024 * max(cell[1], 1)}
    checks.expect(f"{name}: no collective's data in class library", not large, str(large))
    known = {"point-to-point", "one-sided", "library", "MPI_Alltoall", "MPI_Barrier", *HAN_COLLECTIVES}
    strange = {b["class"] for b in profile["traffic"]} - known
    checks.expect(f"{name}: no class that the program did not use", not strange, str(strange))


def check_trace(checks, hosts, mpi, program, libraries, folder):
    """Trace and profile agree, and no message arrives before it was sent by more than the clocks' uncertainty."""
    name = f"{len(hosts.names)} hosts, {mpi.title}, trace"
    run = folder / f"trace-{len(hosts.names)}-{mpi.name}"
    traced = launch(hosts, mpi, program, ["-x", f"LD_PRELOAD={libraries[1]}", "-x", f"FATHOM_OUTPUT={run}"])
    checks.expect(f"{name}: exit code", traced.returncode == 3, f"{traced.returncode}: {traced.stderr[-1500:]}")

    def fathom(*words):
        return subprocess.run([libraries[2], "trace", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    checked = fathom("check", run)
    checks.expect(f"{name}: agrees with the profile", checked.returncode == 0, checked.stdout[-2000:])
    info = fathom("info", run).stdout
    found = re.search(r"aligned to ±(\d+) ns", info)
    uncertainty = int(found.group(1)) if found else -1
    checks.expect(f"{name}: the clocks' uncertainty is known", 0 < uncertainty < 50_000_000, info)
    sent, received = {}, {}
    for line in fathom("print", "--json", run).stdout.splitlines():
        event = json.loads(line) if line.startswith("{") else {}
        if event.get("class") != "point-to-point":
            continue
        if event["kind"] == "sent":
            sent.setdefault((event["rank"], event["peer"], event["tag"]), []).append(event["time_ns"])
        elif event["kind"] == "received":
            received.setdefault((event["peer"], event["rank"], event["tag"]), []).append(event["time_ns"])
    checks.expect(f"{name}: messages are in the trace", len(sent) >= len(hosts.names) * RANKS_PER_HOST, str(sent))
    pairs = [(pair, s, r) for pair in sent for s, r in zip(sent[pair], received.get(pair, []))]
    early = [(pair, s, r) for pair, s, r in pairs if r + 2 * uncertainty < s]
    checks.expect(f"{name}: nothing is received before it is sent", not early, f"±{uncertainty}: {early[:3]}")
    late = [(pair, s, r) for pair, s, r in pairs if r > s + 30_000_000_000]
    checks.expect(f"{name}: clocks are brought together", not late, str(late[:3]))


def check(checks, hosts, mpi, libraries, folder):
    name = f"{len(hosts.names)} hosts, {mpi.title}"
    program = folder / f"hosts-{mpi.name}"
    mpi.compile(program, [HERE / "hosts.c"])
    native = launch(hosts, mpi, program)
    if native.returncode != 3 or "scatter" not in native.stdout:
        checks.skipped += 1
        print(f"skipped {name}: the job does not even run natively (exit code {native.returncode}): "
              f"{native.stderr[-1500:]}")
        return
    run, by_command = (folder / f"{how}-{len(hosts.names)}-{mpi.name}" for how in ("run", "command"))
    mpi.environment["FATHOM_LIBRARY"] = str(libraries[0])
    for title, where, how in (
            (name, run, {"extra": ["-x", f"LD_PRELOAD={libraries[0]}", "-x", f"FATHOM_SOURCE={source_of(mpi)}",
                                   "-x", f"FATHOM_OUTPUT={run}"]}),
            (f"{name}, fathom run", by_command, {"before": [libraries[2], "run", "-o", by_command, "--"]})):
        profiled = launch(hosts, mpi, program, **how)
        checks.expect(f"{title}: exit code", profiled.returncode == native.returncode,
                      f"{profiled.returncode}: {profiled.stderr[-1500:]}")
        checks.expect(f"{title}: output", profiled.stdout == native.stdout,
                      f"{profiled.stdout!r} instead of {native.stdout!r}")
        path = where / "profile.json"
        checks.expect(f"{title}: profile.json", path.exists(), profiled.stderr[-1500:])
        if path.exists():
            check_profile(checks, title, json.loads(path.read_text()), hosts, mpi)
    check_trace(checks, hosts, mpi, program, libraries, folder)
    if mpi.series == 6 and len(hosts.names) == 2 and not mpi.has_standard_abi:
        check_mapped_memory(checks, hosts, mpi, libraries[0], folder)


def check_mapped_memory(checks, hosts, mpi, library, folder):
    """What coll/han of 6.0 copies inside a host is named, and only where it does."""
    program = folder / f"mapped-{mpi.name}"
    mpi.compile(program, [HERE / "mapped_memory.c"])
    for words, maps in (((), True), (("unmapped",), False)):
        name = f"{len(hosts.names)} hosts, {mpi.title}, memory {'' if maps else 'not '}mapped"
        run = folder / f"mapped-{mpi.name}-{maps}"
        job = command(hosts, mpi, program, ["-x", f"LD_PRELOAD={library}", "-x", f"FATHOM_OUTPUT={run}"])
        done = hosts.run([*job, *words], mpi.environment)
        found = re.fullmatch(r"mapped (\d+)\n", done.stdout)
        checks.expect(f"{name}: the program maps it", found and (int(found[1]) > 0) == maps,
                      f"{done.returncode}: {done.stdout} {done.stderr[-1500:]}")
        coverage = json.loads((run / "profile.json").read_text())["coverage"] if (run / "profile.json").exists() else {}
        gaps = [(gap["function"], gap["module"], gap["calls"], "between hosts" in gap["reason"])
                for gap in coverage.get("not_visible", ["no profile"])]
        wanted = [("MPI_Alltoall", "coll/han", len(hosts.names) * RANKS_PER_HOST, True)] if maps else []
        checks.expect(f"{name}: coll/han's copies", gaps == wanted, str(coverage)[:1500])


def why_not():
    """A sentence if this machine does not let us make hosts."""
    if os.geteuid() != 0:
        return "making network namespaces needs root"
    for tool in ("ip", "unshare", "hostname"):
        if not shutil.which(tool):
            return f"{tool} is not installed"
    probe = f"{PREFIX}-probe"
    made = subprocess.run(["ip", "netns", "add", probe], stderr=subprocess.PIPE, text=True)
    if made.returncode != 0:
        return f"network namespaces are not permitted here: {made.stderr.strip()}"
    usable = subprocess.run(["ip", "-n", probe, "link", "add", "probe0", "type", "veth", "peer", "name",
                             "probe1"],
                            stderr=subprocess.PIPE, text=True)
    subprocess.run(["ip", "netns", "del", probe])
    if usable.returncode != 0:
        return f"virtual network links are not permitted here: {usable.stderr.strip()}"
    if subprocess.run(["unshare", "--uts", "hostname", "node"], stderr=subprocess.DEVNULL).returncode != 0:
        return "a host name of one's own (unshare --uts) is not permitted here"
    return None


def main():
    arguments = [a for a in sys.argv[1:] if a != "--keep"]
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    checks = Checks()
    reason = why_not()
    if reason:
        print(f"skipped: {reason}")
        checks.skipped += 1
        return checks.summary()
    builds = open_mpi.tested()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-hosts."))
    try:
        for count in (2, 4):
            with Hosts(count, folder) as hosts:
                for mpi in map(open_mpi.OpenMpi, builds):
                    check(checks, hosts, mpi, [pathlib.Path(a).resolve() for a in arguments], folder)
    finally:
        if "--keep" in sys.argv:
            print(f"kept {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return checks.summary()


if __name__ == "__main__":
    sys.exit(main())
