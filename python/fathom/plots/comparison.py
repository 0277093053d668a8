# SPDX-License-Identifier: BSD-3-Clause
"""Runs side by side, as `fathom compare --json` has them: what changed, or how the program scales."""
import numpy
from matplotlib import ticker

from . import style

SCHEMA = "fathom-comparison/1"
SIGNIFICANT = 0.05   # as in analysis/repeats.h
MOST_CHANGES = 14
LEAST_SHARE = 0.0005  # of the run; a smaller change would be a bar of no length
SLOWER, FASTER, BY_CHANCE = style.CATEGORIES[5], style.CATEGORIES[2], style.CATEGORIES[6]


def pictures(comparison):
    """What draws each picture of a comparison, by its name."""
    made = {}
    if comparison.get("functions"):
        made["changes"] = lambda: draw_changes(comparison)
    if comparison["runs"].get("side"):
        made["repeats"] = lambda: draw_repeats(comparison)
    elif len(set(comparison["runs"]["ranks"])) > 1:
        made["scaling"] = lambda: draw_scaling(comparison)
    return made


def _named(table):
    """(what, change in seconds, p or None) of each row of a table with seconds."""
    names = table.get("name") or [f"{function} in {place}" if place else function
                                  for function, place in zip(table["function"], table["place"])]
    p = table.get("p") or [None] * len(names)
    return [(name, last - first, chance)
            for name, first, last, chance in zip(names, table["first_seconds"], table["last_seconds"], p)]


@style.drawn
def draw_changes(comparison):
    """The largest changes of time by call site, or by function where sites are not known, and of computing."""
    sites = comparison.get("call_sites")
    rows = _named(sites) if sites else [row for row in _named(comparison["functions"]) if row[0] != "(program)"]
    rows += [("computing", *row[1:]) for row in _named(comparison["functions"]) if row[0] == "(program)"]
    longest = max(comparison["runs"]["seconds"])
    rows = sorted((row for row in rows if abs(row[1]) > LEAST_SHARE * longest), key=lambda row: -abs(row[1]))[:MOST_CHANGES]
    picture = style.Picture(figsize=(9.6, 1.7 + 0.3 * max(len(rows), 3)))
    height = picture.get_figheight()
    axes = picture.add_axes((0.40, 0.58 / height, 0.55, 1 - 1.6 / height))
    repeated = "side" in comparison["runs"]
    style.title(picture, "what takes more time, and what less", "medians of the repeats; " * repeated + "of the mean rank")
    style.plain(axes)
    if not rows:
        style.say_nothing_there(axes, "nothing changed by more than 0.05 % of the run")
        return picture
    size, _, unit = style.time_unit(max(abs(change) for _, change, _ in rows) * 1e9)
    for kind, color, chosen in (("more", SLOWER, lambda change, p: change > 0 and not (p is not None and p >= SIGNIFICANT)),
                                ("less", FASTER, lambda change, p: change <= 0 and not (p is not None and p >= SIGNIFICANT)),
                                ("chance explains it", BY_CHANCE, lambda change, p: p is not None and p >= SIGNIFICANT)):
        bars = [(place, change * 1e9 / size) for place, (_, change, p) in enumerate(rows) if chosen(change, p)]
        if bars:
            axes.barh(*zip(*bars), height=0.72, color=color, label=kind)
    axes.set_yticks(range(len(rows)), [style.printable(name)[:52] for name, _, _ in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.axvline(0, color=style.INK, linewidth=0.8)
    axes.set_xlabel(f"change in {unit}")
    axes.xaxis.grid(True, color=style.RULE, linewidth=0.6)
    axes.legend(loc="best", frameon=False, fontsize=9)
    return picture


@style.drawn
def draw_repeats(comparison):
    """The run time of each repeat, and the median of each side."""
    runs = comparison["runs"]
    side, seconds = numpy.asarray(runs["side"]), numpy.asarray(runs["seconds"], float)
    totals = comparison["totals"]
    p = dict(zip(totals["quantity"], totals["p"])).get("seconds")
    picture = style.Picture(figsize=(9.6, 3.6))
    axes = picture.add_axes((0.12, 0.16, 0.84, 0.60))
    chance = "" if p is None else f"chance alone makes such a difference with a probability of {p:.3f} (Mann-Whitney test)"
    style.title(picture, "run time of the repeats", chance)
    style.plain(axes)
    if not seconds.max() > 0:
        style.say_nothing_there(axes, "the run times are not known")
        return picture
    size, _, unit = style.time_unit(seconds.max() * 1e9)
    for place, (which, label) in enumerate((("first", "before"), ("last", "after"))):
        values = numpy.sort(seconds[side == which]) * 1e9 / size
        offsets = numpy.linspace(-0.18, 0.18, len(values)) if len(values) > 1 else numpy.zeros(1)
        axes.plot(values, place + offsets, "o", color=style.CATEGORIES[place], markersize=6, alpha=0.8)
        axes.plot([numpy.median(values)] * 2, [place - 0.32, place + 0.32], color=style.INK, linewidth=1.5)
        axes.annotate(f"median {style.shortened(float(numpy.median(values)))} {unit}", (numpy.median(values), place - 0.34),
                      ha="center", va="bottom", fontsize=9, color=style.FAINT)
    axes.set_yticks((0, 1), [f"before ({(side == 'first').sum()})", f"after ({(side == 'last').sum()})"])
    axes.set_ylim(1.6, -0.6)
    axes.set_xlabel(unit)
    axes.xaxis.grid(True, color=style.RULE, linewidth=0.6)
    return picture


@style.drawn
def draw_scaling(comparison):
    """Run time by number of ranks, beside what perfect strong scaling from the first run would take."""
    runs = comparison["runs"]
    order = numpy.argsort(runs["ranks"], kind="stable")
    ranks, seconds = (numpy.asarray(runs[name], float)[order] for name in ("ranks", "seconds"))
    picture = style.Picture(figsize=(9.6, 5.2))
    axes = picture.add_axes((0.10, 0.115, 0.86, 0.70))
    style.title(picture, "run time by number of ranks", "dashed: the same problem, perfectly divided")
    style.plain(axes)
    if not seconds.min() > 0:
        style.say_nothing_there(axes, "the run times are not known")
        return picture
    base = runs["ranks"][0] * runs["seconds"][0]
    axes.plot(ranks, base / ranks, "--", color=style.FAINT, linewidth=1.2)
    axes.plot(ranks, seconds, "o-", color=style.CATEGORIES[0])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted(set(ranks)), [f"{count:.0f}" for count in sorted(set(ranks))])
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}" if seconds.max() < 20 * seconds.min() else ""))
    axes.set_xlabel("ranks")
    axes.set_ylabel("seconds")
    axes.yaxis.grid(True, color=style.RULE, linewidth=0.6)
    return picture
