#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How good the placements of `fathom place` are, beside Scotch and METIS on the same jobs and networks.

    bench/simulator/placement.py [--ranks 64,256] [--networks torus,…] [--jobs halo2d,…] [--keep FILE.jsonl] [--write]

Measured are hop-bytes: bytes x links on shortest paths, summed here from where each program puts the ranks. Ranks are
numbered at random, so that no placement is good by accident.

Scotch (Debian's package scotch) maps with scotch_gmap onto an architecture made from the network: its hosts with their
slots, the distances between them, and their division into halves (by planes on tori and meshes, by number elsewhere, which
follows the subtrees and groups). Where Scotch has the torus or mesh itself, that is tried too. Its usual strategy, the same without
imbalance (-b0), and the one for quality and balance (-cqb) are tried. METIS
(Debian's package metis) divides the job into as many parts as there are hosts, by recursive bisection and k-way; part k
goes to host k. Where a program overfills a host all the same, its ranks with the fewest bytes move to the free slots that cost least.
The best of what each of the two found counts. Seconds are wall-clock time: of `fathom place` as a whole, and of the faster
of the programs' runs.

Each combination is appended to --keep when it is done, and taken from there if it is in it. --write puts the table into
docs/placement.md.
"""

import argparse
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

import numpy
import scipy.sparse
import scipy.sparse.csgraph

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import jobs  # noqa: E402

sys.path.insert(0, str(jobs.ROOT / "test/cli"))
import fixtures  # noqa: E402

BYTES = 1000
LIMIT_S = 600  # of one run of a program


# Networks by name and number of ranks: a specification, and slots by host if they differ.

def uneven(hosts, ranks, seed):
    """1 to 7 slots for each host, with room for exactly `ranks`."""
    draw = random.Random(seed)
    slots = [1 + draw.randrange(7) for _ in range(hosts)]
    while sum(slots) != ranks:
        at = draw.randrange(hosts)
        slots[at] = min(7, max(1, slots[at] + (1 if sum(slots) < ranks else -1)))
    return slots


SQUARE = {64: "8,8", 256: "16,16", 1024: "32,32", 4096: "64,64"}
CUBE = {64: "4,4,4", 256: "8,8,4", 1024: "16,8,8", 4096: "16,16,16"}
TREE = {64: "m=4,4,4;w=1,2,2", 256: "m=8,8,4;w=1,4,4", 1024: "m=16,8,8;w=1,8,4", 4096: "m=16,16,16;w=1,8,8"}
DRAGONFLY = {64: "switches=4;globals=1;hosts=4;groups=4", 256: "switches=8;globals=1;hosts=4;groups=8",
             1024: "switches=8;globals=2;hosts=8;groups=16", 4096: "switches=16;globals=2;hosts=8;groups=32"}
HOSTS_OF_4 = {64: "4,4", 256: "8,8", 1024: "16,16", 4096: "32,32"}
NETWORKS = {
    "torus 2-D": lambda ranks: (f"torus:dims={SQUARE[ranks]}", None),
    "mesh 2-D": lambda ranks: (f"mesh:dims={SQUARE[ranks]}", None),
    "torus 3-D": lambda ranks: (f"torus:dims={CUBE[ranks]}", None),
    "tree": lambda ranks: (f"xgft:{TREE[ranks]}", None),
    "dragonfly": lambda ranks: (f"dragonfly:{DRAGONFLY[ranks]}", None),
    "torus 2-D, uneven": lambda ranks: (f"torus:dims={HOSTS_OF_4[ranks]}", uneven(ranks // 4, ranks, 1)),
    "tree, uneven": lambda ranks: (f"xgft:m=4,{ranks // 16};w=1,2", uneven(ranks // 4, ranks, 2)),
}


# Jobs by name: {(one, other): bytes in both directions together}.

def grid(ranks, dimensions, periodic):
    extent = [1] * dimensions
    rest, factor, factors = ranks, 2, []
    while rest > 1:
        while rest % factor == 0:
            factors.append(factor)
            rest //= factor
        factor += 1
    for factor in reversed(factors):
        extent[extent.index(min(extent))] *= factor
    pairs = {}
    for rank in range(ranks):
        stride = 1
        for length in extent:
            at = rank // stride % length
            if at + 1 < length:
                pairs[rank, rank + stride] = 2 * BYTES
            elif periodic and length > 2:
                pairs[rank - (length - 1) * stride, rank] = 2 * BYTES
            stride *= length
    return pairs


def geometric(ranks):
    """Points in a square, each with about eight neighbours within a radius; bytes differ."""
    draw = random.Random(ranks)
    points = numpy.array([(draw.random(), draw.random()) for _ in range(ranks)])
    pairs, radius = {}, math.sqrt(8 / (math.pi * ranks))
    for one in range(ranks):
        near = numpy.hypot(*(points[one + 1:] - points[one]).T) < radius
        for other in numpy.flatnonzero(near):
            pairs[one, one + 1 + int(other)] = 2 * (1 + draw.randrange(BYTES))
    return pairs


def at_random(ranks):
    """Four partners drawn for each rank; bytes differ."""
    draw = random.Random(ranks + 1)
    pairs = {}
    for one in range(ranks):
        for other in draw.sample(range(ranks), 4):
            if one != other:
                pairs[min(one, other), max(one, other)] = 2 * (1 + draw.randrange(BYTES))
    return pairs


def in_groups(ranks):
    size = 16
    return {(one, other): 2 * BYTES for first in range(0, ranks, size)
            for one in range(first, first + size) for other in range(one + 1, first + size)}


JOBS = {
    "halo 2-D": lambda ranks: grid(ranks, 2, False), "halo 2-D, periodic": lambda ranks: grid(ranks, 2, True),
    "halo 3-D": lambda ranks: grid(ranks, 3, False), "halo 3-D, periodic": lambda ranks: grid(ranks, 3, True),
    "geometric": geometric, "random": at_random, "groups of 16": in_groups,
}


def renumbered(pairs, ranks):
    number = list(range(ranks))
    random.Random(7).shuffle(number)
    return {(number[one], number[other]): size for (one, other), size in pairs.items()}


class Job:
    def __init__(self, name, ranks):
        self.ranks = ranks
        self.pairs = renumbered(JOBS[name](ranks), ranks)
        self.one, self.other = numpy.array(list(self.pairs)).T
        self.bytes = numpy.array(list(self.pairs.values()), dtype=float)
        self.partners = [[] for _ in range(ranks)]
        for (one, other), size in self.pairs.items():
            self.partners[one].append((other, size))
            self.partners[other].append((one, size))

    def write_run(self, folder):
        folder.mkdir()
        rows = [row for (one, other), size in self.pairs.items()
                for row in ((one, other, size // 2, 1), (other, one, size // 2, 1))]
        made = fixtures.profile(self.ranks, [fixtures.block("point-to-point", False, rows)], [])
        (folder / "profile.json").write_text(json.dumps(made))

    def write_for_scotch(self, path):
        """Partners are numbered from 0, after the bytes."""
        lines = ["0", f"{self.ranks} {2 * len(self.pairs)}", "0 010"]
        lines += [f"{len(partners)} {' '.join(f'{size} {other}' for other, size in partners)}" for partners in self.partners]
        path.write_text("\n".join(lines) + "\n")

    def write_for_metis(self, path):
        """Partners are numbered from 1, before the bytes."""
        lines = [f"{self.ranks} {len(self.pairs)} 001"]
        lines += [" ".join(f"{other + 1} {size}" for other, size in partners) for partners in self.partners]
        path.write_text("\n".join(lines) + "\n")


class Network:
    """What `fathom simulate --graphml` writes of a cluster, with other slots if they are given."""

    def __init__(self, specification, slots, folder):
        self.cluster, self.specification = specification, specification
        path = folder / "network.graphml"
        if not path.exists():
            Job("halo 2-D", 64).write_run(folder / "small")
            command(["simulate", "--cluster", specification, "--job", str(folder / "small"), "--hosts", "n0", "--slots",
                     "64", "--graphml", "-o", str(folder / "sim")])
            path = folder / "sim" / "links-1.graphml"
        root = xml.etree.ElementTree.parse(path).getroot()
        space = re.match(r"\{.*\}", root.tag).group()
        keys = {key.get("id"): key.get("attr.name") for key in root.iter(space + "key")}
        nodes, self.hosts = {}, []
        for node in root.iter(space + "node"):
            nodes[node.get("id")] = len(nodes)
            data = {keys[one.get("key")]: one.text for one in node.iter(space + "data")}
            if data.get("typ") == "host":
                self.hosts.append(node.get("id"))
        self.hosts.sort(key=lambda name: int(name[1:]))
        self.host_nodes = [nodes[name] for name in self.hosts]
        links = {(nodes[edge.get("source")], nodes[edge.get("target")]) for edge in root.iter(space + "edge")}
        self.links = sorted({tuple(sorted(link)) for link in links})
        self.node_count = len(nodes)
        self.slots = slots or [1] * len(self.hosts)
        if slots:
            self.cluster = str(folder / "uneven.graphml")
            self.write_with_slots(root, space, keys)
        one, other = numpy.array(self.links).T
        matrix = scipy.sparse.coo_matrix((numpy.ones(len(one)), (one, other)), shape=(len(nodes),) * 2).tocsr()
        hops = scipy.sparse.csgraph.shortest_path(matrix, method="D", directed=False, unweighted=True, indices=self.host_nodes)
        self.hops = hops[:, self.host_nodes].astype(numpy.int32)

    def write_with_slots(self, root, space, keys):
        capacity = [key for key, name in keys.items() if name == "capacity"]
        slots = dict(zip(self.hosts, self.slots))
        for node in root.iter(space + "node"):
            for data in node.iter(space + "data"):
                if node.get("id") in slots and data.get("key") in capacity:
                    data.text = str(slots[node.get("id")])
        xml.etree.ElementTree.register_namespace("", space.strip("{}"))
        xml.etree.ElementTree.ElementTree(root).write(self.cluster)

    def hop_bytes(self, job, places):
        places = numpy.asarray(places)
        return float(job.bytes @ self.hops[places[job.one], places[job.other]])

    def write_architectures(self, folder):
        """Files for scotch_gmap, whose processors are numbered as the hosts are."""
        made, known = folder / "network.tgt", re.fullmatch(r"(torus|mesh):dims=([\d,]+)", self.specification)
        extent = list(map(int, known.group(2).split(","))) if known else [len(self.hosts)]
        domain = [0] * len(self.hosts)
        number = numpy.arange(len(self.hosts)).reshape(extent)

        def divide(hosts, at):  # the number of a half is twice that of the whole, and one more
            if hosts.size == 1:
                domain[int(hosts.flat[0])] = at
                return
            longest = max(range(hosts.ndim), key=lambda axis: hosts.shape[axis])
            one, other = numpy.array_split(hosts, 2, axis=longest)
            divide(one, 2 * at)
            divide(other, 2 * at + 1)

        divide(number, 1)
        with open(made, "w", encoding="ascii") as file:
            file.write(f"deco\n0\n{len(self.hosts)} {max(domain)}\n")
            for host, slots in enumerate(self.slots):
                file.write(f"{host} {slots} {domain[host]}\n")
            for host in range(1, len(self.hosts)):
                file.write(" ".join(map(str, self.hops[host, :host])) + "\n")
        if not known or set(self.slots) != {1}:
            return [made]
        native = folder / "native.tgt"
        native.write_text(f"{known.group(1)}{len(extent)}D\n{' '.join(map(str, extent[::-1]))}\n")
        return [made, native]


def command(words):
    return program([str(jobs.BUILD / "cli/fathom"), *words])


def program(words, **more):
    start = time.monotonic()
    result = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT_S, **more)
    if result.returncode != 0:
        raise jobs.Failed(f"{' '.join(words)} ended with {result.returncode}: {result.stderr[-500:]}")
    return result.stdout, time.monotonic() - start


def within_slots(job, network, places):
    """Moves ranks off overfull hosts, those with the fewest bytes first, to the free slots that cost least."""
    places = numpy.array(places)
    free = numpy.array(network.slots) - numpy.bincount(places, minlength=len(network.hosts))
    for host in numpy.flatnonzero(free < 0):
        ranks = sorted(numpy.flatnonzero(places == host), key=lambda rank: sum(size for _, size in job.partners[rank]))
        for rank in ranks[:-free[host]]:
            others, sizes = numpy.array(job.partners[rank], dtype=int).reshape(-1, 2).T
            cost = network.hops[:, places[others]] @ sizes
            cost[free <= 0] = numpy.iinfo(cost.dtype).max
            to = int(numpy.argmin(cost))
            places[rank] = to
            free[to] -= 1
            free[host] += 1
    return list(map(int, places))


def with_fathom(job, network, folder):
    words = ["place", str(folder / "run"), "--cluster", network.cluster, "--routing", "minimal", "--objective", "hop-bytes",
             "--json"]
    text, seconds = command(words + ["--hosts", ",".join(network.hosts)])
    made = json.loads(text)
    best = made["candidates"][1]
    number = {name: host for host, name in enumerate(network.hosts)}
    places = [number[name] for name in best["host_of_rank"]]
    sum_here = network.hop_bytes(job, places)
    if sum_here != best["hop_bytes"] or within_slots(job, network, places) != places:
        raise jobs.Failed(f"fathom place says {best['hop_bytes']}, its placement has {sum_here}, or a host is overfull")
    return sum_here, seconds, made["lower_bound"]["hop_bytes"]


def with_scotch(job, network, architectures, folder):
    graph, made = folder / "scotch.grf", folder / "scotch.map"
    job.write_for_scotch(graph)
    best, fastest = math.inf, math.inf
    for path in architectures:
        for strategy in (["-b0"], [], ["-cqb"]):
            _, seconds = program(["scotch_gmap", str(graph), str(path), str(made), *strategy])
            rows = [list(map(int, line.split())) for line in made.read_text().splitlines()[1:]]
            places = [0] * job.ranks
            for rank, at in rows:
                places[rank] = at
            best = min(best, network.hop_bytes(job, within_slots(job, network, places)))
            fastest = min(fastest, seconds)
    return best, fastest


def with_metis(job, network, folder):
    graph, shares = folder / "metis.graph", folder / "metis.shares"
    job.write_for_metis(graph)
    shares.write_text("".join(f"{host} = {slots / sum(network.slots):.9f}\n" for host, slots in enumerate(network.slots)))
    best, fastest = math.inf, math.inf
    for kind in ("rb", "kway"):
        try:
            _, seconds = program(["gpmetis", f"-ptype={kind}", "-ufactor=1", f"-tpwgts={shares}", str(graph),
                                  str(len(network.hosts))])
        except jobs.Failed:
            continue
        places = list(map(int, pathlib.Path(f"{graph}.part.{len(network.hosts)}").read_text().split()))
        best = min(best, network.hop_bytes(job, within_slots(job, network, places)))
        fastest = min(fastest, seconds)
    return best, fastest


def measure(options, done):
    for ranks in options.ranks:
        for network_name in options.networks:
            todo = [name for name in options.jobs if (network_name, name, ranks) not in done]
            if not todo:
                continue
            with tempfile.TemporaryDirectory(prefix="fathom-placement.") as name:
                folder = pathlib.Path(name)
                network = Network(*NETWORKS[network_name](ranks), folder)
                architectures = network.write_architectures(folder)
                for job_name in todo:
                    jobs.progress(f"{ranks} ranks, {network_name}, {job_name}")
                    job = Job(job_name, ranks)
                    own = folder / job_name.replace(" ", "-").replace(",", "")
                    own.mkdir()
                    job.write_run(own / "run")
                    ours, seconds, bound = with_fathom(job, network, own)
                    scotch, scotch_s = with_scotch(job, network, architectures, own)
                    metis, metis_s = with_metis(job, network, own)
                    row = {"network": network_name, "job": job_name, "ranks": ranks, "fathom": ours, "bound": bound,
                           "scotch": scotch, "metis": metis if math.isfinite(metis) else None, "fathom_s": seconds,
                           "scotch_s": scotch_s, "metis_s": metis_s if math.isfinite(metis_s) else None}
                    done[network_name, job_name, ranks] = row
                    if options.keep:
                        with open(options.keep, "a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
    return done


def ratio_text(row):
    other = min(row["scotch"], row["metis"] or math.inf)
    if row["fathom"] == other:
        return "=" + ("*" if row["fathom"] <= row["bound"] * (1 + 1e-9) else "")
    text = f"{row['fathom'] / other:.3f}"
    return text + ("*" if row["fathom"] <= row["bound"] * (1 + 1e-9) else "")


def table(options, done):
    rows = []
    for network in options.networks:
        for ranks in options.ranks:
            mine = [done[network, job, ranks] for job in options.jobs if (network, job, ranks) in done]
            if len(mine) < len(options.jobs):
                continue
            rows.append([network, f"{ranks:,}", *map(ratio_text, mine), f"{max(row['fathom_s'] for row in mine):.1f} s",
                         f"{max(row['scotch_s'] for row in mine):.1f} s",
                         f"{max(row['metis_s'] or 0 for row in mine):.1f} s"])
    return jobs.markdown_table(["network", "ranks", *options.jobs, "Fathom at most", "Scotch", "METIS"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words = lambda text: [word.strip() for word in text.split(";")]  # noqa: E731
    parser.add_argument("--ranks", type=lambda text: list(map(int, text.split(","))), default=[64, 256, 1024, 4096])
    parser.add_argument("--networks", type=words, default=list(NETWORKS), help="separated by semicolons")
    parser.add_argument("--jobs", type=words, default=list(JOBS), help="separated by semicolons")
    parser.add_argument("--keep", metavar="FILE", help="a line of JSON for each combination; those in it are not run again")
    parser.add_argument("--write", action="store_true", help="put the table into docs/placement.md")
    options = parser.parse_args()
    done = {}
    if options.keep and os.path.exists(options.keep):
        for line in open(options.keep, encoding="utf-8"):
            row = json.loads(line)
            done[row["network"], row["job"], row["ranks"]] = row
    measure(options, done)
    jobs.progress("")
    worse = [row for row in done.values() if row["fathom"] > min(row["scotch"], row["metis"] or math.inf)]
    ratios = [row["fathom"] / min(row["scotch"], row["metis"] or math.inf) for row in done.values()]
    text = (f"{table(options, done)}\n\n{len(done)} combinations; in {len(worse)} Fathom is worse than the better of the two; "
            f"median ratio {statistics.median(ratios):.3f}. On {jobs.machine()}, load {os.getloadavg()[0]:.1f} at the end.")
    print(text)
    for row in worse:
        print(f"worse: {row}", file=sys.stderr)
    if options.write:
        jobs.write_section("placement.md", "quality", text)


if __name__ == "__main__":
    jobs.main(main)
