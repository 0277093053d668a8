# SPDX-License-Identifier: BSD-3-Clause
"""Simulated combinations side by side, as `fathom simulate --compare --json` has them; the best is marked."""
from . import loads, style

SCHEMA = "fathom-simulation-comparison/1"
MOST_SHOWN = 40
JUDGED_BY = {"max_congestion": "congestion of the worst link", "seconds": "run time", "response_s": "mean response of the jobs"}
CHOICES = ("cluster", "scheduler", "selection", "placement", "routing", "seed")
NAMED_OTHERWISE = (*CHOICES, "topology", "host_selector", "process_mapper", "router")  # keys of scenarios for these


def contests(comparison):
    """Combinations that compete with each other: those of one job and model, judged by one thing."""
    found = {}
    for one in comparison["combinations"]:
        found.setdefault((one["job"], one["model"], one["judged_by"]), []).append(one)
    return found


def pictures(comparison):
    """What draws each picture of a comparison, by its name. A single combination in a single folder is nothing to compare."""
    several = [rows for rows in contests(comparison).values() if len(rows) > 1 or len(comparison["folders"]) > 1]
    return {f"combinations-{number}" if len(several) > 1 else "combinations": lambda rows=rows: draw_combinations(comparison, rows)
            for number, rows in enumerate(several, 1)}


def least(one):
    return best_run(one)["value"]


def names_of(rows):
    """What of each combination differs from the others: choices, and what else its scenario varies."""
    keys = [key for key in CHOICES if len({one.get(key) for one in rows}) > 1] or ["placement", "routing"]
    names = []
    for one in rows:
        also = [f"{key}={value}" for key, value in one["varied"].items() if key.split(".")[-1] not in NAMED_OTHERWISE]
        names.append(style.printable(", ".join([str(one.get(key, "")) for key in keys] + also)))
    return names


def folder_name(folder):
    """"A: dragonfly:switches=4;…", with what tells it apart."""
    apart = ", ".join(str(folder[key]) for key in folder if key != "name")
    return style.printable(folder["name"] + (f": {apart}" if apart else ""))


def unit_of(rows, most):
    links = [run[name] for one in rows for run in one["runs"] if run for name in ("worst_link", "worst_host_link") if name in run]
    is_time = rows[0]["judged_by"] != "max_congestion"
    return loads.Unit([] if is_time else [link["capacity"] for link in links], most)


@style.drawn
def draw_combinations(comparison, rows):
    """A bar for each combination, and for each folder where there are several, best first; the best has a star."""
    names = dict(zip(map(id, rows), names_of(rows)))
    known = [one for one in rows if any(run and run["value"] is not None for run in one["runs"])]
    shown = sorted(known, key=lambda one: (not one["best"], least(one)))[:MOST_SHOWN]
    most = max([run["value"] or 0 for one in shown for run in one["runs"] if run], default=0) or 1
    unit = unit_of(rows, most)
    folders = comparison["folders"]
    picture = style.Picture(figsize=(11.2, 1.9 + 0.2 * len(folders) + (0.16 + 0.16 * len(folders)) * max(len(shown), 3)))
    height, width = picture.get_figheight(), picture.get_figwidth()
    labels = [("★ " if one["best"] else "") + names[id(one)] for one in shown]
    left = min(max((0.3 + 1.15 * style.width_of(picture, labels, 9)) / width, 0.12), 0.6)  # bold ones are wider
    axes = picture.add_axes((left, 0.6 / height, 0.93 - left, 1 - (1.8 + 0.2 * len(folders)) / height))
    style.plain(axes)
    thick = 0.8 / len(folders)
    for folder, name in enumerate(folders):
        bars = [(place - 0.4 + (folder + 0.5) * thick, one["runs"][folder]["value"], one["best"]) for place, one in enumerate(shown)
                if one["runs"][folder] and one["runs"][folder]["value"] is not None]
        color = style.CATEGORIES[folder % len(style.CATEGORIES)]
        axes.barh([at for at, _, _ in bars], [value / unit.size for _, value, _ in bars], height=0.9 * thick, color=color,
                  alpha=0.85, label=folder_name(name))
        for at, value, best in bars:
            axes.annotate(unit.text(value), (value / unit.size, at), xytext=(3, 0), textcoords="offset points", va="center",
                          fontsize=7.5, fontweight="bold" if best else "normal", gid="value")
    axes.set_yticks(range(len(shown)), labels, fontsize=9)
    for label, one in zip(axes.get_yticklabels(), shown):
        label.set_fontweight("bold" if one["best"] else "normal")
    axes.set_ylim(max(len(shown), 1) - 0.4, -0.6)
    axes.set_xlim(0, 1.12 * most / unit.size)
    judged = JUDGED_BY[rows[0]["judged_by"]]
    axes.set_xlabel(unit.label if rows[0]["judged_by"] == "max_congestion" else f"{judged}, {unit.sign}")
    if len(folders) > 1:
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncol=1, frameon=False, fontsize=9)
    best = [one for one in shown if one["best"]]
    said = f"★ best: {names[id(best[0])]}{where_best(best[0], folders)}, {unit.text(least(best[0]))}" if best else ""
    if len(best) > 1:
        said += f" · {len(best) - 1} more equally good"
    clusters = {one.get("cluster") for one in rows}
    where = f" on {style.printable(clusters.pop())}" if len(clusters) == 1 and None not in clusters else ""
    more = f"the best {len(shown)} of {len(rows):,} combinations" if len(rows) > len(shown) else style.plural(len(rows), "combination")
    style.title(picture, f"{style.printable(rows[0]['job'])}{where}: which combination is best",
                f"{more} · model {rows[0]['model']} · judged by {judged}", said + reason(best))
    return picture


def best_run(one):
    return min((run for run in one["runs"] if run and run["value"] is not None), key=lambda run: run["value"])


def where_best(one, folders):
    return f" in {style.printable(folders[one['runs'].index(best_run(one))]['name'])}" if len(folders) > 1 else ""


def reason(best):
    """The worst link of the best combination."""
    if not best:
        return ""
    run = best_run(best[0])
    return f" · {loads.worst(run)}" if "worst_link" in run or "worst_host_link" in run else ""
