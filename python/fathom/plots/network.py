# SPDX-License-Identifier: BSD-3-Clause
"""The network coloured by load, from a GraphML snapshot of a simulation.

Links that carry nothing are grey. The hottest links have numbers, which a list beside the network explains. layouts.py
says where nodes are; a name that would cover another one is left out.
"""
import xml.etree.ElementTree as xml

import numpy
from matplotlib import cm, collections, colors, patches
from matplotlib.backends.backend_agg import FigureCanvasAgg

from . import layouts, loads, style
from .profile import BadProfile

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"
NAME_SIZE = 6.5  # points
MOST_NAMES = 400   # nodes; hosts of larger networks are not named
UNUSED = "#c8c8c8"


class Network:
    """Nodes, and links with their congestion, from a snapshot."""

    def __init__(self, path):
        try:
            root = xml.parse(path).getroot()
        except (OSError, xml.ParseError) as error:
            raise BadProfile(f"{path}: cannot be read: {error}") from None
        graph = root.find(GRAPHML + "graph")
        nodes = list(graph.iter(GRAPHML + "node"))
        self.nodes = [style.printable(node.get("id")) for node in nodes]
        place = {node.get("id"): number for number, node in enumerate(nodes)}
        self.name = self.value(graph, "name", own=True) or ""
        self.is_host = numpy.array([self.value(node, "typ") == "host" for node in nodes])
        self.coordinates = {number: tuple(map(int, text.split(","))) for number, text in
                            enumerate(self.value(node, "coordinates") for node in nodes) if text}
        edges = list(graph.iter(GRAPHML + "edge"))
        self.ends = numpy.array([(place[e.get("source")], place[e.get("target")]) for e in edges]).reshape(-1, 2)
        self.traffic = numpy.array([float(self.value(e, "traffic") or 0) for e in edges])
        self.capacity = numpy.array([float(self.value(e, "capacity")) for e in edges])
        self.congestion = self.traffic / self.capacity
        self.neighbours = [[] for _ in self.nodes]
        for source, target in self.ends:
            self.neighbours[source].append(target)
        self.switches = numpy.nonzero(~self.is_host)[0] if not self.is_host.all() else numpy.arange(len(self.nodes))
        self.levels = self.hops_from(numpy.nonzero(self.is_host)[0])

    @staticmethod
    def value(element, key, own=False):
        for data in element.findall(GRAPHML + "data") if own else element.iter(GRAPHML + "data"):
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

    def link_name(self, number):
        return " → ".join(self.nodes[end] for end in self.ends[number])

    def is_of_host(self):
        """By link; in a network without switches, none is."""
        return numpy.zeros(len(self.ends), bool) if self.is_host.all() else self.is_host[self.ends].any(axis=1)

    def hosts_of(self, switch):
        return [] if self.is_host.all() else sorted({node for node in self.neighbours[switch] if self.is_host[node]})


def name_groups(axes, places, renderer):
    """Draws the circles of the groups, and their names inside. Returns the boxes that the names take."""
    taken = []
    for centre, name in zip(places.centres, places.names):
        axes.add_patch(patches.Circle(centre, 1.13 * places.radius, facecolor="#f5f5f5", edgecolor=style.RULE,
                                      linewidth=0.8, zorder=0))
        text = axes.annotate(name, centre, ha="center", va="center", fontsize=NAME_SIZE + 2, fontweight="bold", color=style.INK,
                             zorder=5, gid="group", bbox={"facecolor": "white", "alpha": 0.8, "linewidth": 0, "pad": 0.6})
        taken.append(text.get_window_extent(renderer))
    return taken


def leave_room(axes, network, places):
    """Around the network, for the names of the outermost nodes."""
    picture = axes.figure
    longest = style.width_of(picture, [max(network.nodes, key=len)], NAME_SIZE) if network.nodes else 0
    box = axes.get_position()
    across, up = box.width * picture.get_figwidth(), box.height * picture.get_figheight()
    beside = min(longest / across, 0.42)  # part of the axes
    axes.margins(max(0.06, beside / (1 - 2 * beside)), 0.06)
    if isinstance(places, layouts.Layers):  # names of hosts hang down
        below = max(0.06, min((longest + 0.15) / up, 0.6))
        levels = max(places.places[:, 1].max(initial=0), 1)
        axes.set_ylim(-levels * below / (1 - below), 1.06 * levels)


def put_names(axes, network, places):
    """Those that cover no other one; if not all hosts or not all switches have room, as many as do, in order."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    taken = name_groups(axes, places, renderer) if isinstance(places, layouts.Groups) else []
    hosts = numpy.nonzero(network.is_host)[0]
    for node in [*network.switches, *(hosts if len(network.nodes) <= MOST_NAMES else [])]:
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


def number_hot_links(axes, network, places, span):
    """A number on the first link of each of the hottest loads, where it leaves the middle towards its target."""
    for number, (_, links) in enumerate(loads.equals(network.congestion), 1):
        source, target = network.ends[links[0]]
        path = aside(places.path(source, target), span)
        path = path[~numpy.isnan(path[:, 0])]
        at = 0.4 * path[len(path) // 2 - 1] + 0.6 * path[len(path) // 2]
        axes.annotate(str(number), at, ha="center", va="center", fontsize=8, fontweight="bold", color="white", zorder=6,
                      gid="hot",
                      bbox={"boxstyle": "circle,pad=0.22", "facecolor": style.INK, "edgecolor": "white", "linewidth": 0.8})


def list_hot_links(picture, lines, left, top):
    """The numbered list beside the picture, in parts of it. A name that is too long for a line takes two."""
    height = picture.get_figheight()
    picture.text(left, top, "hot links" if lines else "", fontsize=10, fontweight="bold", va="top")
    at = top - 0.32 / height
    for number, (name, details) in enumerate(lines, 1):
        text = f"{number}  {name}"
        if style.width_of(picture, [text], 9) > (0.99 - left) * picture.get_figwidth():
            text = text.replace(" → ", "\n    → ")
        for words, options in ((text, {"fontsize": 9, "gid": "hot link"}),
                               (f"    {details}", {"fontsize": 8, "color": style.FAINT})):
            style.fit(picture, picture.text(left, at, words, va="top", **options), 0.99)
            at -= 0.2 * (words.count("\n") + 1) / height
        at -= 0.12 / height


@style.drawn
def draw_network(path, run=None, at=""):
    """The network of a snapshot, which is of this `run` of the results, at a moment in words."""
    network = Network(path)
    places = layouts.placed(network)
    picture = style.Picture(figsize=(11.2, 7.0))
    axes = picture.add_axes((0.01, 0.045, 0.63, 0.80))
    axes.set_axis_off()
    most = max(network.congestion.max(initial=0), 1e-30)
    unit = loads.Unit(network.capacity, most)
    norm = colors.Normalize(0, most / unit.size)
    span = numpy.ptp(places.places, axis=0).clip(1e-9)
    shown = network.congestion / unit.size
    thin = min(1, (200 / max(len(network.ends), 1)) ** 0.3)  # and so would thick links
    for used in (False, True):
        links = [number for number in numpy.argsort(shown, kind="stable") if (shown[number] > 0) == used]
        paths = [aside(places.path(*network.ends[number]), span) for number in links]
        if used:
            axes.add_collection(collections.LineCollection(
                paths, cmap=style.amounts(), norm=norm, array=shown[links],
                linewidths=thin * (0.6 + 2.6 * norm(shown[links])), zorder=2, gid="used"))
        else:
            axes.add_collection(collections.LineCollection(paths, colors=UNUSED, linewidths=0.5 * thin, zorder=1, gid="unused"))
    small = min(1, 80 / max(len(network.nodes), 1))  # large nodes would hide the links of large networks
    for is_host, marker, size in ((True, "s", 10), (False, "o", 34)):
        some = places.places[network.is_host == is_host]
        axes.scatter(some[:, 0], some[:, 1], s=size * small, marker=marker, color=style.INK, zorder=3)
    axes.autoscale_view()
    leave_room(axes, network, places)
    if isinstance(places, (layouts.Circle, layouts.Groups)):
        axes.set_aspect("equal")
    bar = picture.colorbar(cm.ScalarMappable(norm, style.amounts()), cax=picture.add_axes((0.66, 0.10, 0.015, 0.62)))
    bar.set_label(unit.label, color=style.FAINT, fontsize=9)
    hosts, unused = int(network.is_host.sum()), int((network.traffic == 0).sum())
    facts = (f"{style.plural(hosts, 'host')} · {len(network.nodes) - hosts:,} switches · {len(network.ends):,} links, "
             f"each direction on the right of its way; grey: {unused:,} unused")
    picture.text(0.02, 0.015, facts, fontsize=9, color=style.FAINT, gid="facts")
    what = "load of the network" + (f" at {at}" if at else "")
    title_network(picture, network, unit, run, what)
    names = [network.link_name(number) for number in range(len(network.ends))]
    list_hot_links(picture, loads.hot_links(network.congestion, names, network.traffic, unit, network.is_of_host()), 0.745, 0.80)
    number_hot_links(axes, network, places, span)
    put_names(axes, network, places)
    return picture


def title_network(picture, network, unit, run, what):
    said = "no link carries anything"
    if network.congestion.max(initial=0) > 0:
        worst = int(numpy.argmax(network.congestion))
        host = " (a host's)" if network.is_of_host()[worst] else ""
        rate = "" if unit.relative else f" at {style.shortened(network.capacity[worst], 'B/s')}"
        said = (f"worst link {network.link_name(worst)}{host}, {unit.text(network.congestion[worst])} "
                f"({style.shortened(network.traffic[worst], 'B')}{rate})")
    if run:
        style.title(picture, loads.heading(run, what), loads.choices(run), said)
    else:
        style.title(picture, f"{style.printable(network.name)}: {what}", said)
