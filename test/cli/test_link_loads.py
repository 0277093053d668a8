# SPDX-License-Identifier: BSD-3-Clause
"""What routings put on every link, held against a second reckoning: exact to the byte and the flow, ties included.

The rules are those of docs/simulator.md, written down here once more in the plainest way: all shortest ways are listed,
sums are of whole numbers. The traffic is made up, in the manner of CG (rows of a process grid and its transpose, all of
one size, so that hardly two demands differ) and of MILC (a halo in four dimensions, with a size for each), on a cluster
of the kind that the reference simulator comes with, on one with trunks, and on a fat tree of three levels.
"""
import functools
import itertools
import json
import random
import re

import fixtures
import harness

RANKS = 128
NODE = '<node id="{}"><data key="t">{}</data><data key="s">{}</data></node>'
EDGE = '<edge source="{}" target="{}"><data key="c">{}</data></edge>'


def natural(name):
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


class Cluster:
    def __init__(self, slots):
        self.slots, self.hosts, self.capacity = slots, [], {}
        self.neighbours = {}

    def cable(self, one, other, capacity):
        for source, target in ((one, other), (other, one)):
            self.capacity[source, target] = capacity
            self.neighbours.setdefault(source, []).append(target)

    def host(self, name, switch, capacity):
        self.hosts.append(name)
        self.cable(name, switch, capacity)

    def graphml(self):
        switches = [name for name in self.neighbours if name not in self.hosts]
        cables = {tuple(sorted(ends)): capacity for ends, capacity in self.capacity.items()}
        return ('<graphml><key id="t" for="node" attr.name="typ"/><key id="s" for="node" attr.name="slots"/>'
                '<key id="c" for="edge" attr.name="capacity"/><graph edgedefault="undirected">'
                + "\n".join([NODE.format(name, "host", self.slots) for name in self.hosts]
                            + [NODE.format(name, "switch", 0) for name in switches]
                            + [EDGE.format(*ends, capacity) for ends, capacity in cables.items()])
                + "</graph></graphml>")

    @functools.cache
    def hops_to(self, target):
        hops, reached = {target: 0}, [target]
        for node in reached:
            for other in self.neighbours[node]:
                if other not in hops:
                    hops[other] = hops[node] + 1
                    reached.append(other)
        return hops

    def choices(self, node, target):
        """The nodes one hop nearer, by name, digits by value; hosts pass nothing on."""
        hops = self.hops_to(target)
        nearer = [n for n in self.neighbours[node] if hops[n] == hops[node] - 1 and (n == target or n not in self.hosts)]
        return sorted(nearer, key=natural)

    def ways(self, node, target):
        """Every shortest one, in the order of choices."""
        if node == target:
            return [[node]]
        return [[node] + rest for nearer in self.choices(node, target) for rest in self.ways(nearer, target)]

    def counted(self, way):
        return [link for link in itertools.pairwise(way) if link[0] not in self.hosts and link[1] not in self.hosts]


def two_levels(edges, cores, hosts, slots, trunk=1):
    cluster = Cluster(slots)
    for edge in range(edges):
        for host in range(hosts):
            cluster.host(f"node{edge * hosts + host:02}", f"edge{edge}", 1)
        for core in range(cores):
            cluster.cable(f"edge{edge}", f"core{core + 8}", trunk if core else 1)  # core8, core9, core10: by value
    return cluster


def three_levels():
    """XGFT(3;4,2,2;1,2,2): bottom switch (z, y), middle (z, parent), top (parent, parent's parent)."""
    cluster = Cluster(8)
    for z, y in itertools.product(range(2), repeat=2):
        for x in range(4):
            cluster.host(f"h{z}{y}{x}", f"a{z}{y}", 1)
    for z, y, parent in itertools.product(range(2), repeat=3):
        cluster.cable(f"a{z}{y}", f"b{z}{parent}", 1)
        cluster.cable(f"b{z}{parent}", f"c{parent}{y}", 1)  # y as the number of the top switch
    return cluster


def cg_like():
    rows, columns = 8, 16
    pairs = {}
    for rank in range(RANKS):
        row, column = divmod(rank, columns)
        for distance in (1, 2, 4, 8):
            pairs[rank, row * columns + (column ^ distance)] = 296400
        transpose = (column // 2) * columns + 2 * row + column % 2
        if transpose != rank:
            pairs[rank, transpose] = pairs.get((rank, transpose), 0) + 296400
    return pairs


def milc_like():
    extents, sizes = (4, 4, 4, 2), (8000, 8000, 24000, 5000)
    pairs = {}
    for place in itertools.product(*map(range, extents)):
        rank = functools.reduce(lambda number, at: number * at[1] + at[0], zip(place, extents), 0)
        for dimension, step in itertools.product(range(4), (-1, 1)):
            to = list(place)
            to[dimension] = (to[dimension] + step) % extents[dimension]
            other = functools.reduce(lambda number, at: number * at[1] + at[0], zip(to, extents), 0)
            pairs[rank, other] = pairs.get((rank, other), 0) + sizes[dimension]
    return pairs


def drawn():
    draw = random.Random(7)
    return {(draw.randrange(RANKS), draw.randrange(RANKS)): draw.randrange(4) for _ in range(3000)}  # also of no bytes


def hosts_of_ranks(cluster, placement):
    used = cluster.hosts[:-(-RANKS // cluster.slots)]
    if placement == "block":
        return [used[rank // cluster.slots] for rank in range(RANKS)]
    return [used[rank % len(used)] for rank in range(RANKS)]


def demands(pairs, hosts):
    """[source, destination, bytes, flows], heaviest first; among equals by the first pair, source ranks as text."""
    found = {}
    for source, destination in sorted(pairs, key=lambda pair: (str(pair[0]), pair[1])):
        if hosts[source] == hosts[destination]:
            continue
        demand = found.setdefault((hosts[source], hosts[destination]), [0, 0])
        demand[0] += pairs[source, destination]
        demand[1] += 1
    return sorted(([*ends, *amounts] for ends, amounts in found.items()), key=lambda demand: -demand[2])


def modulo_way(cluster, source, destination, number):
    way, divisor = [source], 1
    while way[-1] != destination:
        choices = cluster.choices(way[-1], destination)
        way.append(choices[number // divisor % len(choices)])
        divisor *= len(choices)
    return way


def way_of(cluster, routing, source, destination, loads):
    if routing in ("dmodk", "smodk"):
        return modulo_way(cluster, source, destination, cluster.hosts.index(destination if routing == "dmodk" else source))
    if routing == "minimal":
        return cluster.ways(source, destination)[0]

    def cost(way, total):
        return total([loads[link][0] / cluster.capacity[link] for link in cluster.counted(way)] + [0])

    def key(way):
        if routing == "greedy-sum":
            return cost(way, sum)
        return [(cost(way[at:], max), natural(way[at + 1])) for at in range(len(way) - 1)]  # hop by hop

    return min(cluster.ways(source, destination), key=key)  # the first of equals


def expected(cluster, pairs, placement, routing):
    loads = {link: [0, 0] for link in cluster.capacity if link[0] not in cluster.hosts and link[1] not in cluster.hosts}
    for source, destination, size, flows in demands(pairs, hosts_of_ranks(cluster, placement)):
        for link in cluster.counted(way_of(cluster, routing, source, destination, loads)):
            loads[link][0] += size
            loads[link][1] += flows
    return loads


class LinkLoads(harness.CliTest):
    CLUSTERS = {"two": two_levels(5, 2, 4, 8), "trunks": two_levels(5, 3, 4, 8, trunk=4), "three": three_levels()}
    TRAFFIC = {"cg": cg_like(), "milc": milc_like(), "drawn": drawn()}
    PLACEMENTS, ROUTINGS = ("block", "cyclic"), ("dmodk", "smodk", "minimal", "greedy-sum", "greedy-max")

    def simulated(self):
        """{(cluster, job, placement, routing): run}."""
        words = ["simulate", "--placement", ",".join(self.PLACEMENTS), "--routing", ",".join(self.ROUTINGS), "-o", "out"]
        for name, cluster in self.CLUSTERS.items():
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write(cluster.graphml())
            words += ["--cluster", name]
        for name, pairs in self.TRAFFIC.items():
            rows = [(*pair, size, 1) for pair, size in pairs.items()]
            self.write_run(name, fixtures.profile(RANKS, [fixtures.block("point-to-point", False, rows)], []))
            words += ["--job", name]
        result = self.fathom(*words)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            return {tuple(run[key] for key in ("cluster", "job", "placement", "routing")): run for run in json.load(file)["runs"]}

    def test_every_link_has_the_bytes_and_flows_of_an_independent_calculation(self):
        runs = self.simulated()
        self.assertEqual(len(runs), 3 * 3 * 2 * 5)
        differing = set()
        for (cluster, job, placement, routing), run in runs.items():
            with self.subTest(cluster=cluster, job=job, placement=placement, routing=routing):
                loads = expected(self.CLUSTERS[cluster], self.TRAFFIC[job], placement, routing)
                self.assertEqual({(link["source"], link["target"]): [link["traffic"], link["flows"]] for link in run["links"]}, loads)
                largest = max(size for size, _ in loads.values())
                self.assertEqual(run["max_traffic"], largest)
                self.assertEqual(run["max_congestion"], max(loads[link][0] / self.CLUSTERS[cluster].capacity[link] for link in loads))
                differing.add((cluster, job, largest))
        self.assertGreater(len(differing), 30)  # the cases differ

    def test_loads_are_normalised_to_block_placement_with_dmodk(self):
        # By hand: host 0 sends 6, 3 and 2 bytes to hosts 5, 6 and 7 on the other edge switch, over two cores. D-mod-K puts
        # 6 and 2, to odd hosts, on one core and 3 on the other; greedy 6 on one, 3 and 2 on the other.
        cluster = two_levels(2, 2, 4, 1)
        with open(self.path("hand"), "w", encoding="utf-8") as file:
            file.write(cluster.graphml())
        rows = [(0, 5, 6, 1), (0, 6, 3, 1), (0, 7, 2, 1)]
        self.write_run("run", fixtures.profile(8, [fixtures.block("point-to-point", False, rows)], []))
        result = self.fathom("simulate", "--cluster", "hand", "--job", "run", "--routing", "dmodk,greedy-max,greedy-sum", "-o", "out")
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.path("out", "results.json"), encoding="utf-8") as file:
            largest = [run["max_traffic"] for run in json.load(file)["runs"]]
        self.assertEqual([value / largest[0] for value in largest], [1, 0.75, 0.75])


if __name__ == "__main__":
    harness.main()
