# SPDX-License-Identifier: BSD-3-Clause
"""The communication matrix: rows send, columns receive."""
from plots import style

import numpy
from matplotlib import colors, figure, ticker

from plots.profile import shortened

MOST_CELLS = 512       # on each side; more ranks share cells, so that no thin line is lost to scaling
ANNOTATED_RANKS = 12   # up to this many, each cell says its value
MOST_HOST_NAMES = 20
MOST_HOST_LINES = 64


def summed(profile, metric):
    """The matrix, `step` ranks to a cell, and step."""
    step = -(-profile.ranks // MOST_CELLS)
    side = -(-profile.ranks // step)
    cell = profile.source // step * side + profile.destination // step
    values = numpy.bincount(cell, weights=getattr(profile, metric), minlength=side * side)
    return values.reshape(side, side), step


def talked(profile, step, side):
    """Cells in which any message went, also one of no bytes."""
    cells = numpy.zeros(side * side, bool)
    some = profile.messages > 0
    cells[profile.source[some] // step * side + profile.destination[some] // step] = True
    return cells.reshape(side, side)


def colour_scale(values, linear):
    highest = values.max(initial=0)
    if linear or highest <= 0:
        return colors.Normalize(0, max(highest, 1))
    lowest = values[values > 0].min()
    if highest < 10 * lowest:  # one decade at least, so that near values get near colours
        middle = (lowest * highest) ** 0.5
        lowest, highest = middle / 10 ** 0.5, middle * 10 ** 0.5
    return colors.LogNorm(lowest, highest)


def describe_ranks(axes, profile, step):
    axes.set_xlabel("receiving rank")
    axes.set_ylabel("sending rank")
    if profile.ranks <= 24:
        axes.set_xticks(range(profile.ranks))
        axes.set_yticks(range(profile.ranks))
    else:
        # Round numbers of ranks: powers of two and their multiples, as ranks mostly come.
        distance = 1
        while profile.ranks / distance > 8:
            distance *= 2
        places = numpy.arange(0, profile.ranks, distance)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(places, [str(place) for place in places])
    axes.tick_params(length=3)


def mark_hosts(axes, profile):
    runs = profile.host_runs()
    ends = [run[2] for run in runs[:-1]]
    if profile.ranks > profile.world_size:
        ends.append(profile.world_size)
    if 0 < len(ends) < MOST_HOST_LINES:
        for end in ends:
            axes.axhline(end - 0.5, color=style.RULE, linewidth=0.6, zorder=0.5)
            axes.axvline(end - 0.5, color=style.RULE, linewidth=0.6, zorder=0.5)
    if 1 < len(runs) <= MOST_HOST_NAMES and all(run[0] for run in runs):
        top = axes.secondary_xaxis("top")
        top.set_xticks([(first + end - 1) / 2 for _, first, end in runs])
        crowded = sum(len(run[0]) for run in runs) > 60
        top.set_xticklabels([run[0][-16:] for run in runs], fontsize=8, color=style.FAINT,
                            rotation=90 if crowded else 0)
        top.tick_params(length=0, pad=2)
        top.spines["top"].set_visible(False)


def annotate(axes, values, seen, norm, unit):
    for (row, column), value in numpy.ndenumerate(values):
        if not seen[row, column]:
            continue
        axes.text(column, row, shortened(value, unit), ha="center", va="center", fontsize=11 if len(values) <= 6 else 7,
                  color=style.ink_on(style.amounts()(norm(max(value, norm.vmin)))))


def draw(profile, metric, linear):
    values, step = summed(profile, metric)
    seen = talked(profile, step, len(values))
    unit = "B" if metric == "bytes" else ""
    picture = figure.Figure(figsize=(8.4, 8.2))
    axes = picture.add_axes((0.10, 0.075, 0.74, 0.76))
    norm = colour_scale(values, linear)
    shown = numpy.ma.masked_where(~seen, values)
    if isinstance(norm, colors.LogNorm):  # pairs that only sent empty messages have a colour too
        shown = numpy.ma.maximum(shown, norm.vmin)
    extent = (-0.5, len(values) * step - 0.5, len(values) * step - 0.5, -0.5)
    image = axes.imshow(shown, cmap=style.amounts(), norm=norm, interpolation="nearest",
                        extent=extent, aspect="equal", rasterized=True)
    axes.set_xlim(-0.5, profile.ranks - 0.5)
    axes.set_ylim(profile.ranks - 0.5, -0.5)
    describe_ranks(axes, profile, step)
    mark_hosts(axes, profile)
    if profile.ranks <= ANNOTATED_RANKS:
        annotate(axes, values, seen, norm, unit)
        edges = numpy.arange(0.5, profile.ranks - 1)
        axes.set_xticks(edges, minor=True)
        axes.set_yticks(edges, minor=True)
        axes.grid(which="minor", color=style.RULE, linewidth=0.8)
        axes.tick_params(which="minor", length=0)
    if not seen.any():
        axes.text(0.5, 0.5, "no messages", transform=axes.transAxes, ha="center", color=style.FAINT)
    add_scale(picture, axes, image, metric, unit, linear)
    head(picture, profile, metric, values, step)
    return picture


def add_scale(picture, axes, image, metric, unit, linear):
    bar = picture.colorbar(image, cax=picture.add_axes((0.865, 0.075, 0.025, 0.76)))
    bar.ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: shortened(v, unit)))
    low, high = image.norm.vmin, image.norm.vmax
    if not linear and high / max(low, 1e-9) < 100:  # too short for a tick at each power of ten
        bar.set_ticks(numpy.geomspace(low, high, 6))
    bar.ax.minorticks_off()
    bar.outline.set_edgecolor(style.FAINT)
    bar.set_label(f"{metric}, {'linear' if linear else 'logarithmic'} scale; white: never talked",
                  color=style.FAINT, fontsize=9, labelpad=6)


def head(picture, profile, metric, values, step):
    what = "Bytes" if metric == "bytes" else "Messages"
    total = shortened(values.sum(), "B" if metric == "bytes" else "")
    details = [style.plural(profile.world_size, "rank"), f"{total}{'' if metric == 'bytes' else ' messages'}"]
    if str(profile.choice):
        details.append(str(profile.choice))
    if step > 1:
        details.append(f"{step} × {step} ranks to a cell")
    if profile.ranks > profile.world_size:
        details.append(f"from {profile.world_size} on: processes of other worlds")
    style.title(picture, f"{profile.name[:40]}: {what.lower()} from rank to rank",
                " · ".join(details))
