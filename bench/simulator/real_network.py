#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Predicted against measured: a small fat tree of network namespaces, Open MPI over TCP, real programs.

    bench/simulator/real_network.py FATHOM [--check] [--put] [--write]

Eight hosts, namespaces of this machine, are linked to two leaf switches, and these by one uplink each to a spine.
Every link is shaped by tc tbf, slow enough that two cores can serve eight polling ranks. Hosts hand single frames to
their links, as real interfaces do, and use TCP's Reno: with what virtual links do otherwise (frames of 64 KiB, which a
short queue drops as a whole) flows do not share a link evenly. The program is traced once on this machine's shared
memory, where the shaped network plays no part; `fathom simulate --model replay` predicts its time on the tree, and it is
run there. `fathom place` then looks for a better placement, whose rankfile mpirun gets.

PTRANS is that of Debian's hpcc, whose first transposition is traced (bench/simulator/programs/ptrans_only.c); the other
programs are in bench/simulator/programs/patterns.c.

Known beforehand, and not fitted to the programs: the rates of the links; the part of a rate that is left for data when
two hosts send each other (frames' headers and acknowledgements take the rest), measured with plain sockets; Open MPI's
eager limit for TCP, 64 KiB. Open MPI sends (btl_tcp_flags 1): with its PUT protocol, the answer to a rendezvous waits in
the socket after the data that the answerer sends itself, and exchanges take up to twice as long; --put shows that.
--check asserts that ranks run where the rankfile says and prints no times; it skips where namespaces are not permitted.
--write puts the table into docs/simulator-models.md.
"""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "test/hosts"), str(ROOT / "bench")]
import hosts  # noqa: E402
import jobs  # noqa: E402
import open_mpi  # noqa: E402

HOSTS, PER_LEAF = 8, 4
HOST_MBIT, UPLINK_MBIT = 10, 10  # a quarter of full bisection
RUNS = 3
# By name: words for patterns.c; without any, PTRANS.
PROGRAMS = {"HPCC PTRANS, 2,000 × 2,000": (), "FT-like all-to-all, 2 × 400 kB": ("alltoall", 2, 400000),
            "halo, 2 × 1 MB": ("halo", 2, 1000000), "allreduce, 2 MB": ("allreduce", 1, 2000000),
            "allreduce, 8 MB": ("allreduce", 1, 8000000), "pairs across, 3 × 1 MB": ("pairs", 3, 1000000)}
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


class FatTree(hosts.Hosts):
    """Leaves and spine are bridges in one namespace; cables are pairs of veth, shaped at both ends."""

    def cable(self, a_namespace, a, b_namespace, b, mbit):
        hosts.ip("-n", a_namespace, "link", "add", a, "type", "veth", "peer", "name", b, "netns", b_namespace)
        for namespace, device in ((a_namespace, a), (b_namespace, b)):
            hosts.ip("-n", namespace, "link", "set", device, "up", "gso_max_segs", "1")
            subprocess.run(["tc", "-n", namespace, "qdisc", "add", "dev", device, "root", "tbf", "rate", f"{mbit}mbit",
                            "burst", "16kb", "latency", "50ms"], check=True)

    def bridge(self, name):
        hosts.ip("-n", self.switch, "link", "add", name, "type", "bridge")
        hosts.ip("-n", self.switch, "link", "set", name, "up")

    def into(self, port, bridge):
        hosts.ip("-n", self.switch, "link", "set", port, "master", bridge)

    def connect(self):
        self.add(self.switch)
        self.bridge("spine")
        for leaf in range(HOSTS // PER_LEAF):
            self.bridge(f"leaf{leaf}")
            self.cable(self.switch, f"up{leaf}", self.switch, f"down{leaf}", UPLINK_MBIT)
            self.into(f"up{leaf}", f"leaf{leaf}")
            self.into(f"down{leaf}", "spine")
        for number, host in enumerate(self.names):
            namespace = self.namespace(host)
            self.add(namespace)
            self.cable(namespace, "eth0", self.switch, f"port{number}", HOST_MBIT)
            self.into(f"port{number}", f"leaf{number // PER_LEAF}")
            subprocess.run(["ip", "netns", "exec", namespace, "sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno"], check=True)
            hosts.ip("-n", namespace, "addr", "add", f"{hosts.NETWORK}.{number + 1}/24", "dev", "eth0")


SOCKETS = """
import socket, sys, threading, time
role, size, other = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def send_all(s):
    block, left = b"x" * 65536, size
    while left > 0: left -= s.send(block[:left])
def receive_all(s):
    left = size
    while left > 0: left -= len(s.recv(min(left, 1 << 20)))
if role == "server":
    s = socket.create_server(("", 5555)).accept()[0]
else:
    time.sleep(0.5)
    s = socket.create_connection((other, 5555))
begin = time.time()
thread = threading.Thread(target=receive_all, args=(s,))
thread.start(); send_all(s); thread.join()
if role == "client": print(time.time() - begin)
time.sleep(0.2)
"""


def payload_part(tree):
    """Of a link's rate: what two hosts get for their data that send each other at once."""
    size = 2_000_000
    def start(host, role, **more):
        return subprocess.Popen(["ip", "netns", "exec", tree.namespace(tree.names[host]), sys.executable, "-c", SOCKETS, role,
                                 str(size), f"{hosts.NETWORK}.2"], text=True, **more)
    parts = []
    for _ in range(RUNS):
        server, client = start(1, "server"), start(0, "client", stdout=subprocess.PIPE)
        parts.append(size / float(client.communicate()[0]) / (HOST_MBIT * 1e6 / 8))
        server.wait()
    return statistics.median(parts)


def write_cluster(path, names, part):
    """The tree as fathom simulate reads it; names sort in the order of the hosts."""
    node = '<node id="{}"><data key="typ">{}</data><data key="slots">1</data></node>\n'.format
    edge = ('<edge source="{}" target="{}"><data key="capacity">{:.1f}</data><data key="latency">2e-5</data></edge>\n').format
    text = "".join(node(name, "host") for name in names) + node("spine", "switch")
    for leaf in range(HOSTS // PER_LEAF):
        text += node(f"leaf{leaf}", "switch") + edge(f"leaf{leaf}", "spine", UPLINK_MBIT * 1e6 / 8 * part)
    text += "".join(edge(name, f"leaf{n // PER_LEAF}", HOST_MBIT * 1e6 / 8 * part) for n, name in enumerate(names))
    path.write_text('<graphml><key id="typ" for="node" attr.name="typ"/><key id="slots" for="node" attr.name="capacity"/>'
                    '<key id="capacity" for="edge" attr.name="capacity"/><key id="latency" for="edge" attr.name="latency"/>'
                    f'<graph edgedefault="undirected">\n{text}</graph></graphml>\n')


class Program:
    def __init__(self, name, command, preloaded=None, phase=None):
        self.name, self.command = name, [str(word) for word in command]
        self.mpi_words = ["-x", f"LD_PRELOAD={preloaded}"] if preloaded else []
        self.record_words = ["--phases", phase] if phase else []


class Bench:
    def __init__(self, fathom, folder, tree):
        self.fathom, self.folder, self.tree = fathom, folder, tree
        self.installation = open_mpi.preferred()
        self.patterns = self.compile("patterns")
        self.mca = [] if "--put" in sys.argv else ["--mca", "btl_tcp_flags", "1"]
        self.cluster = folder / "tree.graphml"
        self.part = payload_part(tree)
        write_cluster(self.cluster, tree.names, self.part)

    def compile(self, name, *flags):
        subprocess.run([self.installation.mpicc, "-O1", f"-I{ROOT}", *flags, "-o", self.folder / name,
                        ROOT / f"bench/simulator/programs/{name}.c", "-ldl"], check=True, env=self.installation.environment)
        return self.folder / name

    def programs(self):
        for name, words in PROGRAMS.items():
            if words:
                yield Program(name, [self.patterns, *words])
            elif HPCC_INPUT.exists() and shutil.which("hpcc"):
                lines = HPCC_INPUT.read_text().splitlines()
                # HPL's size, block size and grid; then one more size for PTRANS alone, and no more block sizes.
                lines[5], lines[7], lines[10], lines[11] = "16", "50", "2", str(HOSTS // 2)
                lines[32:36] = ["1", "2000", "0", "50"]
                (self.folder / "hpccinf.txt").write_text("\n".join(lines[:36]) + "\n")
                yield Program(name, [shutil.which("hpcc")], self.compile("ptrans_only", "-shared", "-fPIC"), "transposition")
            else:
                print(f"left out: {name}; hpcc is not installed", file=sys.stderr)

    def tool(self, *words):
        done = subprocess.run([self.fathom, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=self.installation.environment, cwd=self.folder)
        if done.returncode != 0:
            sys.exit(f"fathom {words[0]}: {done.stderr}")
        return done.stdout

    def record(self, program):
        run = self.folder / "run"
        self.tool("run", "--trace", "--force", *program.record_words, "-o", run, "--", self.installation.mpirun, "--oversubscribe",
                  *program.mpi_words, "--mca", "pml", "ob1", "--mca", "mpi_yield_when_idle", "1", "-n", HOSTS, *program.command)
        return run

    def run(self, program, rankfile):
        """Seconds, and the host of each rank."""
        extra = ["--rankfile", str(rankfile)] if rankfile else []
        done = self.tree.run(
            [self.installation.mpirun, "-n", str(HOSTS), "--host", ",".join(f"{h}:1" for h in self.tree.names), *extra,
             *([] if rankfile else ["--bind-to", "none"]), "--mca", "plm_rsh_agent", str(self.tree.agent), "--mca", "pml", "ob1",
             "--mca", "btl", "self,tcp", *self.mca, "--mca", "btl_tcp_if_include", f"{hosts.NETWORK}.0/24",
             "--mca", "oob_tcp_if_include", f"{hosts.NETWORK}.0/24", "--mca", "mpi_yield_when_idle", "1",
             *program.mpi_words, *program.command], self.installation.environment)
        if done.returncode != 0:
            sys.exit(f"mpirun: {done.stderr[-2000:]}")
        where = dict(re.findall(r"rank (\d+) on (\S+)", done.stdout))
        return float(re.search(r"seconds ([\d.]+)", done.stdout).group(1)), [where[str(r)] for r in range(HOSTS)]

    def predict(self, run, placement):
        self.tool("simulate", "--cluster", self.cluster, "--job", run, "--model", "replay", *placement,
                  "--loggops", "L=10000,o=5000,g=0,G=0.1,O=0,S=65536", "-o", self.folder / "sim", "--force")
        return json.loads((self.folder / "sim/results.json").read_text())["runs"][0]["seconds"]

    def advise(self, run):
        path = self.folder / "rankfile"
        self.tool("place", run, "--cluster", self.cluster, "--hosts", ",".join(self.tree.names),
                  "--objective", "time", "--format", "rankfile", "-o", path, "--force")
        return path

    def measure(self, program, rankfile):
        """Medians of interleaved runs: block placement, and that of the rankfile."""
        runs = [(self.run(program, None)[0], self.run(program, rankfile)[0]) for _ in range(RUNS)]
        return [statistics.median(seconds) for seconds in zip(*runs)]


def check(bench):
    """A written rankfile is accepted, and ranks run where it says."""
    program = Program("pairs", [bench.patterns, "pairs", 1, 1000])
    path = bench.advise(bench.record(program))
    asked = [re.search(r"=(\S+)", line).group(1) for line in sorted(path.read_text().splitlines())]
    _, where = bench.run(program, path)
    right = where == asked and asked != sorted(asked)
    print(f"FAILED: ranks on {where}, the rankfile says {asked}" if not right else "ranks run where the rankfile says")
    print(f"{int(right)} passed, {int(not right)} failed, 0 skipped")
    return 0 if right else 1


def table(bench):
    head = ["program", "block: predicted", "measured", "ratio", "advised: predicted", "measured", "ratio",
            "gain predicted", "measured"]
    rows = []
    for program in bench.programs():
        run = bench.record(program)
        path = bench.advise(run)
        predicted = [bench.predict(run, options) for options in (["--placement", "block"], ["--rankfile", path])]
        measured = bench.measure(program, path)
        row = [program.name]
        for p, m in zip(predicted, measured):
            row += [f"{p:.2f} s", f"{m:.2f} s", f"{p / m:.3f}"]
        rows.append(row + [f"{1 - after / before:.0%}" for before, after in (predicted, measured)])
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    return "\n".join([jobs.markdown_table(head, rows), "", f"Medians of {RUNS} interleaved runs; "
                      f"{bench.part:.1%} of a link's rate is left for data in an exchange between two hosts. "
                      f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end."])


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    if len(words) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    reason = hosts.why_not()
    if reason:
        print(f"skipped: {reason}\n0 passed, 0 failed, 1 skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix="fathom-network.") as name:
        folder = pathlib.Path(name)
        with FatTree(HOSTS, folder, skewed=False) as tree:
            bench = Bench(os.path.abspath(words[0]), folder, tree)
            if "--check" in sys.argv:
                return check(bench)
            text = table(bench)
    print(text)
    if "--write" in sys.argv:
        jobs.write_section("simulator-models.md", "real-network", text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
