# SPDX-License-Identifier: BSD-3-Clause
"""Where the nodes of a network are drawn, and which way its links take.

Trees are drawn in levels, hosts at the bottom. Where every switch has hosts: grids, whose switches have coordinates, as
grids (a third dimension aslant, further ones as blocks beside each other; links around a torus as stubs at both ends,
links that pass over switches as arcs); dragonflies, the groups of which are found by their names or their
links, as a circle of circles; all others on a circle, in the order of the file, which keeps groups together.
"""
import numpy

PIECES = 12  # of an arc


class Layers:
    """Hosts at the bottom in their order; above them each switch over the middle of what it links below."""

    def __init__(self, network):
        self.places = places = numpy.zeros((len(network.nodes), 2))
        for level in range(network.levels.max(initial=0) + 1):
            members = numpy.nonzero(network.levels == level)[0]
            if level > 0:
                below = [[places[o, 0] for o in network.neighbours[n] if network.levels[o] == level - 1] or [0.5]
                         for n in members]
                members = members[numpy.argsort([numpy.mean(x) for x in below], kind="stable")]
            places[members, 0] = (numpy.arange(len(members)) + 0.5) / len(members)
            places[members, 1] = level
        self.is_host = network.is_host

    def path(self, source, target):
        return self.places[[source, target]]

    def name(self, node):
        """Where from the node, in points, how turned, and which part of the text stands there."""
        return ((0, -6), 90, "center", "top") if self.is_host[node] else ((8, 4), 0, "left", "bottom")


class Circle:
    """Switches on a circle in the order of the file, the hosts of each outside it."""

    def __init__(self, network):
        self.angles = numpy.zeros(len(network.nodes))
        self.places = numpy.zeros((len(network.nodes), 2))
        sector = 2 * numpy.pi / len(network.switches)
        for number, switch in enumerate(network.switches):
            self.put(switch, number * sector, 1)
            hosts = network.hosts_of(switch)
            for at, host in enumerate(hosts):
                self.put(host, (number + 0.8 * ((at + 0.5) / len(hosts) - 0.5)) * sector, 1.12)
        self.is_host = network.is_host
        self.has_outside = self.is_host.any() and not self.is_host.all()

    def put(self, node, angle, radius):
        self.angles[node] = numpy.pi / 2 - angle  # clockwise from the top
        self.places[node] = radius * numpy.cos(self.angles[node]), radius * numpy.sin(self.angles[node])

    def path(self, source, target):
        return self.places[[source, target]]

    def name(self, node):
        outside = self.is_host[node] or not self.has_outside
        along = numpy.array([numpy.cos(self.angles[node]), numpy.sin(self.angles[node])])
        towards = along[0] if outside else -along[0]
        across = "left" if towards > 0.4 else "right" if towards < -0.4 else "center"
        return tuple((7 if outside else -8) * along), 0, across, "center"


class GridPlaces:
    """Switches at their coordinates; the hosts of each below it on the right."""

    def __init__(self, network):
        self.coordinates = {switch: numpy.array(network.coordinates[switch]) for switch in network.switches}
        extent = numpy.max(list(self.coordinates.values()), axis=0) + 1
        self.extent = extent
        self.steps = steps = self.steps_of(extent)
        self.places = numpy.zeros((len(network.nodes), 2))
        self.is_host = network.is_host
        for switch, at in self.coordinates.items():
            self.places[switch] = sum(c * step for c, step in zip(at, steps))
            hosts = network.hosts_of(switch)
            for number, host in enumerate(hosts):
                turn = -numpy.pi / 4 + 0.7 * (number - (len(hosts) - 1) / 2) / max(len(hosts) / 2, 1)
                self.places[host] = self.places[switch] + 0.3 * numpy.array([numpy.cos(turn), numpy.sin(turn)])
        self.is_full = self.has_far_links(network)

    @staticmethod
    def steps_of(extent):
        """In the plane, by dimension: the last runs to the right, the one before downwards."""
        steps = [numpy.zeros(2) for _ in extent]
        spans = [1.0, 1.0]
        for back, length in enumerate(extent[::-1]):
            if back == 2:
                steps[-3] = numpy.array([0.7, 0.5]) / length
                continue
            axis = back % 2
            steps[-1 - back][axis] = spans[axis] * (1 if axis == 0 else -1)
            spans[axis] *= length + (0.6 if back > 2 else 0)
        return steps

    def has_far_links(self, network):
        """Whether rows are linked all to all, and not just around."""
        return any(1 < self.turn(s, t)[1] < self.extent[self.turn(s, t)[0]] - 1 for s, t in network.ends
                   if s in self.coordinates and t in self.coordinates)

    def turn(self, source, target):
        """The dimension in which a link goes, and how far."""
        difference = numpy.abs(self.coordinates[target] - self.coordinates[source])
        dimension = int(numpy.argmax(difference))
        return dimension, difference[dimension]

    def path(self, source, target):
        ends = self.places[[source, target]]
        if source not in self.coordinates or target not in self.coordinates:
            return ends
        dimension, far = self.turn(source, target)
        along = ends[1] - ends[0]
        if far <= 1 and numpy.linalg.norm(along) < 1.5:
            return ends
        if far > 1 and not self.is_full:  # around: out at one end, in at the other
            stub = self.steps[dimension] * (1 if self.coordinates[source][dimension] > 0 else -1)
            stub *= min(0.36, 0.36 / numpy.linalg.norm(stub))
            return numpy.array([ends[0], ends[0] + stub, [numpy.nan, numpy.nan], ends[1] - stub, ends[1]])
        part = numpy.linspace(0, 1, PIECES)[:, None]
        aside = numpy.array([along[1], -along[0]]) * (0.10 + 0.03 * far)
        return ends[0] + part * along + 4 * part * (1 - part) * aside

    def name(self, node):
        return ((4, -2), 0, "left", "top") if self.is_host[node] else ((-3, 4), 0, "right", "bottom")


def is_connected(network, members):
    inside, reached, found = set(members), [members[0]], {members[0]}
    for node in reached:
        for other in network.neighbours[node]:
            if other in inside and other not in found:
                found.add(other)
                reached.append(other)
    return found == inside


def are_all_joined(groups, network):
    """Whether every two groups are linked."""
    group_of = {switch: number for number, members in enumerate(groups) for switch in members}
    pairs = {(group_of[s], group_of[t]) for s, t in network.ends if s in group_of and t in group_of}
    return len({(one, other) for one, other in pairs if one != other}) == len(groups) * (len(groups) - 1)


def by_name(network):
    """The coarsest groups of switches whose names begin with the same words and that are connected, every two of them linked; [] if there
    are none."""
    names = [network.nodes[switch].split(".") for switch in network.switches]  # "c.r0.1.2"
    for length in range(1, min(map(len, names))):
        found = {}
        for switch, name in zip(network.switches, names):
            found.setdefault(tuple(name[:length]), []).append(switch)
        groups = list(found.values())
        hang_together = all(len(members) > 1 and is_connected(network, members) for members in groups)
        if len(groups) > 1 and hang_together and are_all_joined(groups, network):
            return groups
    return []


def by_links(network):
    """Groups of a dragonfly whose names say nothing: within a group, the ends of a link have many neighbours in common.
    [] unless every two of the groups found are linked."""
    switches = set(network.switches)
    around = {switch: switches.intersection(network.neighbours[switch]) for switch in network.switches}
    common = {(s, t): len(around[s] & around[t]) for s in around for t in around[s]}
    most = max(common.values(), default=0)
    group_of = {}
    groups = []
    for first in network.switches:
        if first in group_of:
            continue
        members = [first]
        group_of[first] = len(groups)
        for node in members:
            for other in sorted(around[node]):
                if other not in group_of and 2 * common[node, other] > most:
                    group_of[other] = len(groups)
                    members.append(other)
        groups.append(sorted(members))
    return groups if len(groups) > 2 and min(map(len, groups)) > 1 and are_all_joined(groups, network) else []


class Groups:
    """Each group of switches a circle, the hosts of each switch outside it; the groups on a circle."""

    def __init__(self, network, groups):
        self.places = numpy.zeros((len(network.nodes), 2))
        self.angles = numpy.zeros(len(network.nodes))  # in its group
        self.is_host = network.is_host
        self.members = groups
        self.names = [self.name_of(network, members) for members in groups]
        self.radius = min(0.55 * numpy.sin(numpy.pi / len(groups)), 0.45)  # of the switches of a group
        self.outer = 1.42 * self.radius                                   # of their hosts
        self.centres = []
        for number, members in enumerate(groups):
            turn = numpy.pi / 2 - 2 * numpy.pi * number / len(groups)  # clockwise from the top
            centre = numpy.array([numpy.cos(turn), numpy.sin(turn)])
            self.centres.append(centre)
            sector = 2 * numpy.pi / len(members)
            for place, switch in enumerate(members):
                self.put(switch, centre, turn - place * sector, self.radius)
                hosts = network.hosts_of(switch)
                for at, host in enumerate(hosts):
                    self.put(host, centre, self.angles[switch] + 0.8 * sector * ((at + 0.5) / len(hosts) - 0.5), self.outer)

    @staticmethod
    def name_of(network, members):
        """What the names of its switches have in common: "s4"."""
        parts = [network.nodes[switch].split(".") for switch in members]
        same = [each[0] for each in zip(*parts) if len(set(each)) == 1]
        return ".".join(same)

    def put(self, node, centre, angle, radius):
        self.angles[node] = angle
        self.places[node] = centre + radius * numpy.array([numpy.cos(angle), numpy.sin(angle)])

    def path(self, source, target):
        return self.places[[source, target]]

    def name(self, node):
        along = numpy.array([numpy.cos(self.angles[node]), numpy.sin(self.angles[node])])
        towards = along[0] if self.is_host[node] else -along[0]
        across = "left" if towards > 0.4 else "right" if towards < -0.4 else "center"
        return tuple((6 if self.is_host[node] else -7) * along), 0, across, "center"


def placed(network):
    if network.levels.max(initial=0) > 1:
        return Layers(network)
    if all(switch in network.coordinates for switch in network.switches):
        return GridPlaces(network)
    groups = by_name(network) or by_links(network)
    return Groups(network, groups) if groups else Circle(network)
