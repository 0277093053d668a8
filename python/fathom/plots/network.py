# SPDX-License-Identifier: BSD-3-Clause
"""The network coloured by load, from a GraphML snapshot of a simulation.

Trees are drawn in levels, hosts at the bottom. Where every switch has hosts: grids, whose switches have coordinates, as
grids (a third dimension aslant, further ones as blocks beside each other; links around a torus as stubs at both ends,
links that pass over switches as arcs); all others on a circle, in the order of the file, which
keeps groups together. A name that would cover another one is left out.
"""
import xml.etree.ElementTree as xml

import numpy
from matplotlib import cm, collections, colors, ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg

from . import style
from .profile import BadProfile
from .simulation import heading

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
NAME_SIZE = 6.5  # points
PIECES = 12      # of an arc


class Network:
    """Nodes, and links with their congestion, from a snapshot."""

    def __init__(self, path):
        try:
            root = xml.parse(path).getroot()
        except (OSError, xml.ParseError) as error:
            raise BadProfile(f"{path}: cannot be read: {error}") from None
        graph = root.find(GRAPHML + "graph")
        nodes = list(graph.iter(GRAPHML + "node"))
        self.nodes = [node.get("id") for node in nodes]
        place = {name: number for number, name in enumerate(self.nodes)}
        self.is_host = numpy.array([self.value(node, "typ") == "host" for node in nodes])
        self.coordinates = {number: tuple(map(int, text.split(","))) for number, text in
                            enumerate(self.value(node, "coordinates") for node in nodes) if text}
        edges = list(graph.iter(GRAPHML + "edge"))
        self.ends = numpy.array([(place[e.get("source")], place[e.get("target")]) for e in edges]).reshape(-1, 2)
        traffic = numpy.array([float(self.value(e, "traffic") or 0) for e in edges])
        self.congestion = traffic / numpy.array([float(self.value(e, "capacity")) for e in edges])
        self.neighbours = [[] for _ in self.nodes]
        for source, target in self.ends:
            self.neighbours[source].append(target)
        self.switches = numpy.nonzero(~self.is_host)[0] if not self.is_host.all() else numpy.arange(len(self.nodes))
        self.levels = self.hops_from(numpy.nonzero(self.is_host)[0])

    @staticmethod
    def value(element, key):
        for data in element.iter(GRAPHML + "data"):
            if data.get("key") == key:
                return data.text
        return None

    def hops_from(self, starts):
        hops = numpy.full(len(self.nodes), -1)
        hops[starts] = 0
        reached = list(starts)
        for node in reached:
            for other in self.neighbours[node]:
                if hops[other] < 0:
                    hops[other] = hops[node] + 1
                    reached.append(other)
        return numpy.maximum(hops, 0)

    def hosts_of(self, switch):
        return [] if self.is_host.all() else sorted({node for node in self.neighbours[switch] if self.is_host[node]})


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


def placed(network):
    if network.levels.max(initial=0) > 1:
        return Layers(network)
    if all(switch in network.coordinates for switch in network.switches):
        return GridPlaces(network)
    return Circle(network)


def put_names(axes, network, places):
    """Those that cover no other one; if not all hosts or not all switches have room, as many as do, in order."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    taken = []
    for node in [*network.switches, *numpy.nonzero(network.is_host)[0]]:
        offset, turn, across, upwards = places.name(node)
        text = axes.annotate(network.nodes[node], places.places[node], xytext=offset, textcoords="offset points", ha=across,
                             va=upwards, rotation=turn, fontsize=NAME_SIZE, zorder=4, gid="name",
                             bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.4})
        box = text.get_window_extent(renderer)
        if any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)


def aside(path, span):
    """Each direction on its right."""
    along = numpy.diff(path, axis=0) / span
    right = numpy.stack([along[:, 1], -along[:, 0]], 1)
    right *= 0.004 * span / numpy.linalg.norm(right, axis=1).clip(1e-9)[:, None]
    known = right[~numpy.isnan(right[:, 0])]
    return path + known[0]


@style.drawn
def draw_network(path):
    network = Network(path)
    places = placed(network)
    picture = style.Picture(figsize=(9.6, 6.4))
    axes = picture.add_axes((0.02, 0.03, 0.83, 0.82))
    axes.set_axis_off()
    norm = colors.Normalize(0, max(network.congestion.max(initial=0), 1e-30))
    span = numpy.ptp(places.places, axis=0).clip(1e-9)
    order = numpy.argsort(network.congestion)
    axes.add_collection(collections.LineCollection(
        [aside(places.path(source, target), span) for source, target in network.ends[order]], cmap=style.amounts(), norm=norm,
        array=network.congestion[order], linewidths=0.6 + 2.6 * norm(network.congestion[order]), zorder=1))
    for is_host, marker, size in ((True, "s", 10), (False, "o", 34)):
        some = places.places[network.is_host == is_host]
        axes.scatter(some[:, 0], some[:, 1], s=size, marker=marker, color=style.INK, zorder=2)
    axes.autoscale_view()
    axes.margins(0.06)
    if isinstance(places, Circle):
        axes.set_aspect("equal")
    bar = picture.colorbar(cm.ScalarMappable(norm, style.amounts()), cax=picture.add_axes((0.87, 0.08, 0.02, 0.7)))
    bar.formatter = ticker.ScalarFormatter(useOffset=False)
    bar.formatter.set_powerlimits((-3, 4))  # one power of ten for all ticks
    bar.set_label("congestion: bytes over the link's capacity", color=style.FAINT, fontsize=9)
    hosts = int(network.is_host.sum())
    style.title(picture, heading(path, "load of the network"), f"{hosts:,} hosts · {len(network.nodes) - hosts:,} switches · "
                f"{len(network.ends):,} links; each direction on the right of its way")
    put_names(axes, network, places)
    return picture
