# SPDX-License-Identifier: BSD-3-Clause
"""A placement before and after, as `fathom place --json` has it."""
import numpy
from matplotlib import ticker

from . import loads, style

SCHEMA = "fathom-placement/1"
SIDES = ("before", "after")
LEAST_CHANGE = 5e-4  # would be shown as 0.0 %
COLORS = {"before": style.CATEGORIES[1], "after": style.CATEGORIES[0]}


def pictures(document):
    return {"placement": lambda: draw_placement(document)}


def rows_of(document, unit):
    """(what, before, after, change) of everything that is compared."""
    before, after = (document[side] for side in SIDES)
    texts = {"congestion": ("worst link", unit.text), "seconds": ("time", style.seconds if not unit.relative else unit.text),
             "p95_congestion": ("p95 of links", unit.text), "mean_congestion": ("mean link", unit.text),
             "imbalance": ("max over mean", lambda value: f"{value:.3g}"),
             "hop_bytes": ("hop-bytes", lambda value: style.shortened(value, "B")),
             "host_bytes": ("host-bytes", lambda value: style.shortened(value, "B"))}
    rows = [("placement", before["placement"], after["placement"], ""), ("routing", before["routing"], after["routing"], "")]
    for key, (name, text) in texts.items():
        if before.get(key) is None or after.get(key) is None:
            continue
        ratio = after[key] / before[key] if before[key] else float(after[key] != 0) + 1
        change = "same" if abs(ratio - 1) < LEAST_CHANGE else f"{100 * (ratio - 1):+.1f} %" if before[key] else ""
        rows.append((name, text(before[key]), text(after[key]), change))
    return rows


@style.drawn
def draw_placement(document):
    """Loads of all links from the highest to the lowest with both placements, and what changes."""
    links = document["links"]
    values = {side: numpy.sort([loads.congestion(link, side) for link in links])[::-1] for side in SIDES}
    most = max([*values["before"], *values["after"]], default=0)
    unit = loads.Unit([link["capacity"] for link in links], most or 1)
    picture = style.Picture(figsize=(11.2, 5.6))
    axes = picture.add_axes((0.075, 0.115, 0.44, 0.64))
    style.plain(axes)
    for side in SIDES:
        axes.stairs(values[side] / unit.size, numpy.arange(len(links) + 1), color=COLORS[side], linewidth=2, label=side, baseline=None)
    bound = document["lower_bound"]["congestion"]
    if document["objective"] == "congestion" and bound > 1e-9 * most:
        axes.axhline(bound / unit.size, color=style.FAINT, linewidth=1, linestyle=":", label="no placement can go below")
    axes.set_xlim(0, max(len(links), 1))
    axes.set_ylim(0, 1.05 * (most or 1) / unit.size)
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    axes.set_xlabel(f"{len(links):,} links, those of hosts included, the most loaded first")
    axes.set_ylabel(unit.label)
    axes.legend(loc="best", frameon=False, fontsize=9)
    put_table(picture, document, rows_of(document, unit))
    style.title(picture, loads.heading(document, "placement before and after"),
                f"to minimise {document['objective']} · {document['ranks']:,} ranks on {document['hosts']:,} hosts, "
                f"{document['moved_ranks']:,} of them on another host afterwards", worst_links(document, unit))
    return picture


def worst_links(document, unit):
    said = []
    for side in SIDES:
        link = document[side].get("worst_link")
        said.append(f"{side}: {loads.link_name(link)}, {unit.text(loads.congestion(link))}" if link else f"{side}: none")
    return "worst link " + " · ".join(said)


def put_table(picture, document, rows):
    for column, (left, title) in enumerate(((0.56, ""), (0.68, "before"), (0.79, "after"), (0.90, "change"))):
        for line, row in enumerate([("", "before", "after", "change"), *rows]):
            color = COLORS.get(title, style.INK) if line == 0 else style.INK
            text = picture.text(left, 0.74 - 0.055 * line, style.printable(row[column]), fontsize=9.5, va="top", color=color,
                                fontweight="bold" if line == 0 else "normal", gid="cell")
            style.fit(picture, text, left + 0.115)
