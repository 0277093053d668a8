# SPDX-License-Identifier: BSD-3-Clause
"""What a simulation put on the links: loads of the links of each run, and over time. The network: network.py."""
import csv
import glob
import json
import os
import re

import numpy
from matplotlib import cm, colors

from . import style
from .profile import BadProfile

MOST_LINKS = 40  # named in the picture of loads; of larger networks the most loaded ones


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


@style.drawn
def draw_loads(run):
    """Congestion of each link: the highest, and for runs of many jobs the mean over time."""
    links = sorted(run["links"], key=lambda link: -link["traffic"] / link["capacity"])
    shown = [link for link in links[:MOST_LINKS] if link["traffic"] > 0]
    picture = style.Picture(figsize=(9.6, 1.6 + 0.24 * max(len(shown), 3)))
    height = picture.get_figheight()
    axes = picture.add_axes((0.26, 0.55 / height, 0.71, 1 - 1.55 / height))
    places = numpy.arange(len(shown))
    over_time = bool(shown) and "mean_traffic" in shown[0]
    axes.barh(places, [link["traffic"] / link["capacity"] for link in shown], height=0.78,
              color=style.CATEGORIES[4] if over_time else style.CATEGORIES[0], label="highest at any time")
    if over_time:
        axes.barh(places, [link["mean_traffic"] / link["capacity"] for link in shown], height=0.4,
                  color=style.CATEGORIES[0], label="mean over time")
        axes.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), ncol=2)  # above: bars may fill the axes
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


@style.drawn
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
    picture = style.Picture(figsize=(9.6, 1.9 + 0.2 * max(len(busiest), 3) + (1.4 if waiting else 0)))
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
