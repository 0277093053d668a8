"""What a simulation put on the links: loads of the links of each run, and the network coloured by load."""
from plots import style  # first: it selects the backend

import csv
import glob
import json
import os
import re
import xml.etree.ElementTree as xml

import numpy
from matplotlib import cm, collections, colors, figure

from plots.profile import BadProfile, shortened

MOST_LINKS = 40  # named in the picture of loads; of larger networks the most loaded ones
MOST_NAMES = 60  # nodes with their names
GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


def load_results(path):
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        if results["schema"] != "fathom-simulation/1":
            raise BadProfile(f"{path}: has schema {results['schema']}, not fathom-simulation/1")
        return results["runs"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadProfile(f"{path}: is no result of a simulation: {error}") from None


def snapshots(folder):
    """{name of the picture: path} of the GraphML files beside the results."""
    found = glob.glob(os.path.join(folder, "links-*.graphml")) + glob.glob(os.path.join(folder, "run-*", "links-*.graphml"))
    return {"network-" + os.path.relpath(path, folder).replace(os.sep, "-")[:-len(".graphml")]: path
            for path in sorted(found)}


def heading(path, what):
    """A file's "run-3/links-at-50.graphml" or "links-3-at-50.graphml" as "Run 3: WHAT at 50 s"."""
    found = re.search(r"(?:run-|links-|utilisation-)(\d+)\b", path[path.rfind("run-") if "/run-" in path else path.rfind("/") + 1:])
    at = re.search(r"-at-([0-9.e+-]+)\.graphml$", path)
    return (f"Run {found[1]}: " if found else "") + what + (f" at {at[1]} s" if at else "")


def say_no_load(axes, why):
    axes.set(xlim=(0, 1), ylim=(1, 0), xticks=[], yticks=[])
    axes.text(0.5, 0.5, f"no load: {why}", ha="center", va="center", color=style.FAINT)


def draw_loads(run):
    """Congestion of each link: the highest, and for runs of many jobs the mean over time."""
    links = sorted(run["links"], key=lambda link: -link["traffic"] / link["capacity"])
    shown = [link for link in links[:MOST_LINKS] if link["traffic"] > 0]
    picture = figure.Figure(figsize=(9.6, 1.6 + 0.24 * max(len(shown), 3)))
    height = picture.get_figheight()
    axes = picture.add_axes((0.26, 0.55 / height, 0.71, 1 - 1.55 / height))
    places = numpy.arange(len(shown))
    over_time = bool(shown) and "mean_traffic" in shown[0]
    axes.barh(places, [link["traffic"] / link["capacity"] for link in shown], height=0.78,
              color=style.CATEGORIES[4] if over_time else style.CATEGORIES[0], label="highest at any time")
    if over_time:
        axes.barh(places, [link["mean_traffic"] / link["capacity"] for link in shown], height=0.4,
                  color=style.CATEGORIES[0], label="mean over time")
        axes.legend(frameon=False, loc="lower right")
    axes.set_yticks(places, [f"{link['source']} → {link['target']}"[-34:] for link in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("congestion: bytes over the link's capacity")
    axes.grid(axis="x", color=style.RULE, linewidth=0.6)
    axes.set_axisbelow(True)
    if not shown:
        say_no_load(axes, f"none of the {len(links)} links counted carried anything")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    names = [run.get(key) for key in ("scheduler", "selection", "placement", "routing", "model")]
    more = f" · the {len(shown)} most loaded of {len(links)} links" if len(links) > len(shown) > 0 else ""
    style.title(picture, f"{run['cluster'][:40]}: load of the links",
                " · ".join(filter(None, names)) + f" · seed {run['seed']}{more}")
    return picture


def timelines(folder):
    """{name of the picture: path} of the utilisation beside the results of runs in time."""
    found = glob.glob(os.path.join(folder, "utilisation-*.csv")) + glob.glob(os.path.join(folder, "run-*", "utilisation.csv"))
    return {os.path.relpath(path, folder).replace(os.sep, "-")[:-len(".csv")]: path for path in sorted(found)}


def read_rows(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except (OSError, csv.Error) as error:
        raise BadProfile(f"{path}: cannot be read: {error}") from None


def draw_timeline(path, _=""):
    """Links, the busiest on top, over time by the part of their capacity in use; above them the ranks that wait, where
    a replay has told."""
    rows = read_rows(path)
    links = {}
    for row in rows:
        links.setdefault(f"{row['source']} → {row['target']}"[-34:], []).append(
            (float(row["from_s"]), float(row["to_s"]), float(row["utilisation"])))
    busiest = sorted(links, key=lambda name: -sum((to - begin) * part for begin, to, part in links[name]))[:MOST_LINKS]
    waiting_path = path.replace("utilisation", "waiting")
    waiting = read_rows(waiting_path) if os.path.exists(waiting_path) else []
    end = max([float(row["to_s"]) for row in waiting or rows], default=1)
    picture = figure.Figure(figsize=(9.6, 1.9 + 0.2 * max(len(busiest), 3) + (1.4 if waiting else 0)))
    height = picture.get_figheight()
    axes = picture.add_axes((0.26, 0.55 / height, 0.62, 0.2 * max(len(busiest), 3) / height))
    amounts = style.amounts()
    for at, name in enumerate(busiest):
        axes.broken_barh([(begin, to - begin) for begin, to, _ in links[name]], (at - 0.45, 0.9),
                         facecolors=amounts([part for _, _, part in links[name]]))
    axes.set_yticks(range(len(busiest)), busiest, fontsize=8)
    axes.set_ylim(max(len(busiest), 1) - 0.5, -0.5)
    axes.set_xlim(0, end)
    axes.set_xlabel("simulated time, s")
    bar = picture.colorbar(cm.ScalarMappable(colors.Normalize(0, 1), amounts),
                           cax=picture.add_axes((0.91, 0.55 / height, 0.02, 0.2 * max(len(busiest), 3) / height)))
    bar.set_label("part of the capacity in use", color=style.FAINT, fontsize=9)
    if waiting:
        above = picture.add_axes((0.26, 1 - 2.1 / height, 0.62, 1.0 / height))
        above.stairs([float(row["waiting_ranks"]) for row in waiting],
                     [0, *(float(row["to_s"]) for row in waiting)], fill=True, color=style.CATEGORIES[0])
        above.set_xlim(0, end)
        above.set_ylim(0, None)
        above.set_xticklabels([])
        above.set_ylabel("ranks that wait", fontsize=9)
    for one in picture.axes[:1] + (picture.axes[2:] if waiting else []):
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    more = f"the {len(busiest)} busiest of {len(links)} links that carried anything" if len(links) > len(busiest) else ""
    style.title(picture, heading(path, "links over time"), more)
    return picture


class Network:
    """Nodes with places in the plane, and links with their congestion, from a snapshot."""

    def __init__(self, path):
        try:
            root = xml.parse(path).getroot()
        except (OSError, xml.ParseError) as error:
            raise BadProfile(f"{path}: cannot be read: {error}") from None
        graph = root.find(GRAPHML + "graph")
        self.nodes = [node.get("id") for node in graph.iter(GRAPHML + "node")]
        place = {name: number for number, name in enumerate(self.nodes)}
        self.is_host = numpy.array([self.value(node, "typ") == "host" for node in graph.iter(GRAPHML + "node")])
        edges = list(graph.iter(GRAPHML + "edge"))
        self.ends = numpy.array([(place[e.get("source")], place[e.get("target")]) for e in edges]).reshape(-1, 2)
        traffic = numpy.array([float(self.value(e, "traffic") or 0) for e in edges])
        self.congestion = traffic / numpy.array([float(self.value(e, "capacity")) for e in edges])
        self.neighbours = [[] for _ in self.nodes]
        for source, target in self.ends:
            self.neighbours[source].append(target)
        self.levels = self.hops_from([n for n, host in enumerate(self.is_host) if host])
        self.places = self.layered() if self.levels.max(initial=0) > 1 else self.by_distance()

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

    def layered(self):
        """Hosts at the bottom in their order; above them each switch over the middle of what it links below."""
        places = numpy.zeros((len(self.nodes), 2))
        for level in range(self.levels.max() + 1):
            members = numpy.nonzero(self.levels == level)[0]
            if level > 0:
                below = [[places[o, 0] for o in self.neighbours[n] if self.levels[o] == level - 1] or [0.5] for n in members]
                members = members[numpy.argsort([numpy.mean(x) for x in below], kind="stable")]
            places[members, 0] = (numpy.arange(len(members)) + 0.5) / len(members)
            places[members, 1] = level
        return places

    def by_distance(self):
        """Every switch has hosts: distances in the plane as near to hops as two dimensions permit (classical
        scaling, W. Torgerson 1952). Hosts stand on their switch."""
        switches = numpy.nonzero(~self.is_host)[0] if not self.is_host.all() else numpy.arange(len(self.nodes))
        squares = numpy.array([self.hops_from([s])[switches] for s in switches], float) ** 2
        middle = squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()
        values, vectors = numpy.linalg.eigh(-middle / 2)
        plane = vectors[:, -2:] * numpy.sqrt(numpy.maximum(values[-2:], 0))
        places = numpy.zeros((len(self.nodes), 2))
        places[switches] = plane
        for node in numpy.nonzero(self.is_host)[0]:
            if self.neighbours[node] and not self.is_host.all():
                places[node] = places[self.neighbours[node][0]]
        return places


def draw_network(path):
    network = Network(path)
    picture = figure.Figure(figsize=(9.6, 6.4))
    axes = picture.add_axes((0.02, 0.03, 0.86, 0.82))
    axes.set_axis_off()
    norm = colors.Normalize(0, max(network.congestion.max(initial=0), 1e-30))
    begins, ends = network.places[network.ends[:, 0]], network.places[network.ends[:, 1]]
    span = numpy.ptp(network.places, axis=0).clip(1e-9)
    along = (ends - begins) / span
    aside = numpy.stack([along[:, 1], -along[:, 0]], 1)
    aside *= 0.004 * span / numpy.linalg.norm(aside, axis=1).clip(1e-9)[:, None]
    lines = numpy.stack([begins + aside, ends + aside], 1)  # each direction on its right
    order = numpy.argsort(network.congestion)
    axes.add_collection(collections.LineCollection(
        lines[order], cmap=style.amounts(), norm=norm, array=network.congestion[order],
        linewidths=0.6 + 2.6 * norm(network.congestion[order]), zorder=1))
    for is_host, marker, size in ((True, "s", 16), (False, "o", 46)):
        places = network.places[network.is_host == is_host]
        axes.scatter(places[:, 0], places[:, 1], s=size, marker=marker, color=style.INK, zorder=2)
    if len(network.nodes) <= MOST_NAMES:
        for name, (x, y), host in zip(network.nodes, network.places, network.is_host):
            axes.annotate(name, (x, y), xytext=(0, -13) if host else (9, 3), textcoords="offset points",
                          ha="center" if host else "left",
                          fontsize=6.5, rotation=45 if host else 0)
    axes.autoscale_view()
    axes.margins(0.05)
    bar = picture.colorbar(cm.ScalarMappable(norm, style.amounts()), cax=picture.add_axes((0.9, 0.08, 0.02, 0.7)))
    bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}" if value < 1000 else shortened(value))
    bar.set_label("congestion: bytes over the link's capacity", color=style.FAINT, fontsize=9)
    hosts = int(network.is_host.sum())
    style.title(picture, heading(path, "load of the network"), f"{hosts:,} hosts · {len(network.nodes) - hosts:,} switches · {len(network.ends):,} links; "
                "each direction on the right of its way")
    return picture
