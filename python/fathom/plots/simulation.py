# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation put on the links: loads of the links of each run, and over time. The network: network.py."""
import csv
import glob
import json
import os
import re

import numpy
from matplotlib import cm, colors, ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg

from . import loads, network, style
from .profile import BadProfile

MOST_LINKS = 40  # over time
LEAST_LINES = 6  # the height that their picture has at least


def load_results(path):
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
        if results["schema"] != "fathom-simulation/1":
            raise BadProfile(f"{path}: has schema {results['schema']}, not fathom-simulation/1")
        return results["runs"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadProfile(f"{path}: is not the result of a simulation: {error}") from None


def snapshots(folder):
    """{name of the picture: path} of the GraphML files beside the results."""
    found = glob.glob(os.path.join(folder, "links-*.graphml")) + glob.glob(os.path.join(folder, "run-*", "links-*.graphml"))
    return {"network-" + os.path.relpath(path, folder).replace(os.sep, "-")[:-len(".graphml")]: path
            for path in sorted(found)}


def run_and_moment(name, runs):
    """Of which run a picture is, and of which moment in words: "run-3-links-at-50", "links-3-at-0.005", "utilisation-2"."""
    found = re.search(r"(?:run|links|utilisation)-(\d+)", name)
    at = re.search(r"-at-([0-9.e+-]+)$", name)
    number = int(found[1]) if found else 0
    return runs[number - 1] if 0 < number <= len(runs) else None, style.seconds(float(at[1])) if at and float(at[1]) else ""


def say_no_load(axes, why):
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    axes.text(0.5, 0.5, f"no load: {why}", ha="center", va="center", color=style.FAINT)


def curve(axes, values, color, **options):
    """Values from the highest to the lowest, a step for each."""
    axes.stairs(numpy.sort(values)[::-1], numpy.arange(len(values) + 1), color=color, **options)


def level(axes, value, text, **options):
    """A line across the axes, named at its right end."""
    axes.axhline(value, linewidth=1, **options)
    return axes.annotate(text, (1, value), xycoords=("axes fraction", "data"), xytext=(4, 0), textcoords="offset points",
                         va="center", fontsize=8.5, color=options["color"], gid="level", annotation_clip=False)


def apart(labels, axes):
    """Moves names of levels that would cover each other upwards and downwards."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    labels = sorted(labels, key=lambda label: label.xy[1])
    before = -numpy.inf
    for label in labels:
        box = label.get_window_extent(renderer)
        if box.y0 < before:
            label.xyann = (4, label.xyann[1] + (before - box.y0) * 72 / axes.figure.dpi)
            box = label.get_window_extent(renderer)
        before = box.y1 + 1


@style.drawn
def draw_loads(run):
    """Congestion of all links from the highest to the lowest, with what tells how even it is; for runs of many jobs the
    highest at any time, and the mean over time."""
    links = run["links"]
    values = numpy.array([loads.congestion(link) for link in links])
    host = run.get("worst_host_link")
    host_load = loads.congestion(host) if host and not run.get("host_links") else 0
    most = max(values.max(initial=0), host_load)
    unit = loads.Unit([link["capacity"] for link in links], most or 1)
    picture = style.Picture(figsize=(11.2, 5.6))
    axes = picture.add_axes((0.075, 0.115, 0.47, 0.64))
    style.plain(axes)
    style.title(picture, loads.heading(run, "load of the links"), loads.choices(run), loads.worst(run))
    if not values.max(initial=0) > 0:
        say_no_load(axes, f"none of the {len(links)} links counted carried anything")
        return picture
    over_time = "mean_traffic" in links[0]
    curve(axes, values / unit.size, style.CATEGORIES[4 if over_time else 0], fill=True, label="highest at any time")
    if over_time:
        curve(axes, [loads.congestion(link, "mean_traffic") / unit.size for link in links], style.CATEGORIES[0], fill=True,
              label="mean over time")
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncol=2)  # above: bars may fill the axes
    mean, high = float(values.mean()), loads.p95(values)
    labels = [level(axes, high / unit.size, f"p95 {unit.text(high)}", color=style.CATEGORIES[2], linestyle="--"),
              level(axes, mean / unit.size, f"mean {unit.text(mean)}", color=style.INK, linestyle="--")]
    if host_load > values.max():
        labels.append(level(axes, host_load / unit.size, f"link of a host {unit.text(host_load)}", color=style.CATEGORIES[5], linestyle=":"))
    axes.set_xlim(0, len(links))
    axes.set_ylim(0, 1.05 * most / unit.size)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.set_xlabel(f"{len(links):,} links{'' if run.get('host_links') else ' between switches'}, the most loaded first")
    axes.set_ylabel(unit.label)
    apart(labels, axes)
    number_steps(axes, values, unit)
    unused = int((values == 0).sum())
    for line, text in enumerate((f"imbalance {values.max() / mean:.3g} (max over mean)", f"{unused:,} of {len(links):,} links unused")):
        picture.text(0.70, 0.755 - 0.04 * line, text, fontsize=9, va="top", gid="facts")
    network.list_hot_links(picture, loads.hot_links(values, [loads.link_name(link) for link in links],
                                                    [link["traffic"] for link in links], unit), 0.70, 0.66)
    return picture


def number_steps(axes, values, unit):
    """The numbers of the list of hot links, above their steps; those that have room."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    rank, taken = 0, []
    for number, (load, equal) in enumerate(loads.equals(values), 1):
        text = axes.annotate(str(number), (rank + min(len(equal), 0.02 * len(values)) / 2, load / unit.size), xytext=(0, 7),
                             textcoords="offset points", ha="center", va="center", fontsize=8, fontweight="bold", gid="hot")
        rank += len(equal)
        box = text.get_window_extent(renderer)
        if any(box.overlaps(other) for other in taken):
            text.remove()
        else:
            taken.append(box)


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


def mean_rate(run, name):
    """", 12.4 GB/s on average", if the run says what this link, one of its worst, carried in how many seconds."""
    for link in ((run or {}).get(key) for key in ("worst_link", "worst_host_link")):
        if link and loads.link_name(link) == name and run.get("seconds") and link["capacity"] >= loads.LEAST_REAL_CAPACITY:
            return f", {style.shortened(link['traffic'] / run['seconds'], 'B/s')} on average,"
    return ""


@style.drawn
def draw_timeline(path, run=None):
    """Links, the busiest on top, over time by the part of their capacity in use; above them the ranks that wait, where
    a replay has told."""
    rows = read_rows(path)
    links = {}
    for row in rows:
        links.setdefault(loads.link_name(row), []).append(
            (float(row["from_s"]), float(row["to_s"]), float(row["utilisation"])))
    busy = {name: sum((to - begin) * part for begin, to, part in links[name]) for name in links}
    alike = {}  # links of which each is as busy as the others at any time share a line
    for name in sorted(links, key=lambda name: -busy[name]):
        alike.setdefault(tuple((begin, round(part, 3)) for begin, _, part in links[name]), []).append(name)
    lines = list(alike.values())[:MOST_LINKS]
    busiest = [names[0] for names in lines]
    labels = [names[0] + (f" and {len(names) - 1:,} more" if len(names) > 1 else "") for names in lines]
    waiting_path = path.replace("utilisation", "waiting")
    waiting = read_rows(waiting_path) if os.path.exists(waiting_path) else []
    end = max([float(row["to_s"]) for row in waiting or rows], default=1)
    size, sign, _ = style.time_unit(end * 1e9)
    scale = 1e9 / size
    picture = style.Picture(figsize=(11.2, 2.2 + 0.2 * max(len(busiest), LEAST_LINES) + (1.4 if waiting else 0)))
    height, width = picture.get_figheight(), picture.get_figwidth()
    left = max(0.35 + style.width_of(picture, labels, 8), 1.2) / width
    across = 0.88 - left
    axes = picture.add_axes((left, 0.55 / height, across, 0.2 * max(len(busiest), LEAST_LINES) / height))
    amounts = style.amounts()
    most = min(max([part for name in busiest for _, _, part in links[name]], default=1), 1) or 1
    for at, name in enumerate(busiest):
        axes.broken_barh([(begin * scale, (to - begin) * scale) for begin, to, _ in links[name]], (at - 0.45, 0.9),
                         facecolors=amounts([part / most for _, _, part in links[name]]))
    axes.set_yticks(range(len(busiest)), labels, fontsize=8)
    axes.set_ylim(max(len(busiest), 1) - 0.5, -0.5)
    axes.set_xlim(0, end * scale)
    axes.set_xlabel(f"simulated time, {sign}")
    bar = picture.colorbar(cm.ScalarMappable(colors.Normalize(0, 100 * most), amounts),
                           cax=picture.add_axes((0.91, 0.55 / height, 0.02, 0.2 * max(len(busiest), LEAST_LINES) / height)))
    bar.set_label("% of the capacity in use", color=style.FAINT, fontsize=9)
    if waiting:
        above = picture.add_axes((left, 1 - 2.4 / height, across, 1.0 / height))
        above.stairs([float(row["waiting_ranks"]) for row in waiting],
                     [0, *(float(row["to_s"]) * scale for row in waiting)], fill=True, color=style.CATEGORIES[0])
        above.set_xlim(0, end * scale)
        above.set_ylim(0, None)
        above.set_xticklabels([])
        above.set_ylabel("ranks that wait", fontsize=9)
    for one in picture.axes[:1] + (picture.axes[2:] if waiting else []):
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    drawn = sum(map(len, lines))
    more = f"the {drawn:,} busiest of {len(links):,} links" if len(links) > drawn else f"all {len(links):,} links"
    more += " that carried anything"
    if busiest:
        whole = (run or {}).get("seconds") or end  # the last interval may end after the run
        share = style.percent(busy[busiest[0]] / whole)
        more += f" · worst link {busiest[0]}, {share} of its capacity{mean_rate(run, busiest[0])} over {style.seconds(whole)}"
    style.title(picture, loads.heading(run, "links over time") if run else "links over time",
                loads.choices(run) if run else "", more)
    return picture
