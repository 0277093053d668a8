# SPDX-License-Identifier: BSD-3-Clause
"""Matrices of ranks by ranks: who sent how much to whom, and who waited for whom."""
import dataclasses

import numpy
from matplotlib import cm, colors, ticker

from . import style

MOST_CELLS = 512       # on each side; more ranks share cells, so that no thin line is lost to scaling
ANNOTATED_RANKS = 16   # up to this many, each cell says its value
RULED_RANKS = 64       # up to this many, lines part the cells
MOST_HOST_NAMES = 20
MOST_HOST_LINES = 64
# The colours are for the largest values that make up this share of the sum; the rest has one pale colour. A few bytes
# that the library sends between two ranks would otherwise stretch a logarithmic scale until all else is one colour.
SHARE_WITH_COLOURS = 0.999
PALE = "#fbeee0"


@dataclasses.dataclass
class Pairs:
    """What is drawn: a value for each pair that is there; pairs may come several times and are summed up."""
    ranks: int
    row: numpy.ndarray
    column: numpy.ndarray
    value: numpy.ndarray
    seen: numpy.ndarray        # of each pair: whether to colour it, though its value may be 0
    text: object               # value -> "12.3 MB"
    rows: str = "sending rank"
    columns: str = "receiving rank"
    meaning: str = "bytes"     # of the colours
    nothing: str = "never talked"
    hosts: list = dataclasses.field(default_factory=list)   # Profile.host_runs()
    world_size: int = 0

    def cells(self):
        """Summed values, which cells to colour, and how many ranks share a cell."""
        step = -(-self.ranks // MOST_CELLS)
        side = -(-self.ranks // step)
        cell = self.row // step * side + self.column // step
        values = numpy.bincount(cell, weights=self.value, minlength=side * side)
        there = numpy.zeros(side * side, bool)
        there[cell[self.seen]] = True
        return values.reshape(side, side), there.reshape(side, side), step


def smallest_with_colours(values):
    """The smallest value that has a colour of its own."""
    ordered = numpy.sort(values[values > 0])[::-1]
    sums = numpy.cumsum(ordered)
    return ordered[numpy.searchsorted(sums, SHARE_WITH_COLOURS * sums[-1])]


def colour_scale(values, linear):
    """Logarithmic where the values that matter differ by more than a factor of ten, else from 0."""
    highest = values.max(initial=0)
    if linear or highest <= 0:
        return colors.Normalize(0, max(highest, 1))
    lowest = smallest_with_colours(values)
    return colors.Normalize(0, highest) if highest < 10 * lowest else colors.LogNorm(lowest, highest)


def describe_ranks(axes, pairs):
    axes.set_xlabel(pairs.columns)
    axes.set_ylabel(pairs.rows)
    distance = 1 if pairs.ranks <= 24 else style.count_ticks(pairs.ranks, 8)
    places = numpy.arange(0, pairs.ranks, distance)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(places, [str(place) for place in places])
    axes.tick_params(length=3)


def mark_hosts(axes, pairs):
    runs = pairs.hosts
    ends = [run[2] for run in runs[:-1]]
    if pairs.ranks > pairs.world_size > 0:
        ends.append(pairs.world_size)
    if 0 < len(ends) < MOST_HOST_LINES:  # many lines stay behind the traffic
        line = {"color": style.FAINT, "zorder": 2.5, "alpha": 0.6} if len(ends) < MOST_HOST_NAMES else {
            "color": style.RULE, "zorder": 0.5}
        for end in ends:
            axes.axhline(end - 0.5, linewidth=0.7, **line)
            axes.axvline(end - 0.5, linewidth=0.7, **line)
    if 1 < len(runs) <= MOST_HOST_NAMES and all(run[0] for run in runs):
        top = axes.secondary_xaxis("top")
        top.set_xticks([(first + end - 1) / 2 for _, first, end in runs])
        # 0.085 in for each letter at this size; the axes are 6.2 in wide
        crowded = any(0.085 * len(name[-16:]) > 6.2 * (end - first) / pairs.ranks for name, first, end in runs)
        top.set_xticklabels([run[0][-16:] for run in runs], fontsize=8, color=style.FAINT,
                            rotation=90 if crowded else 0)
        top.tick_params(length=0, pad=2)
        top.spines["top"].set_visible(False)


def coloured(values, seen, norm):
    """Red, green, blue and opacity of each cell; nothing where no message went."""
    amounts = style.amounts()
    painted = amounts(norm(numpy.maximum(values, norm.vmin)))
    least = smallest_with_colours(values) if (values > 0).any() else 1
    painted[values < least] = colors.to_rgba(PALE)
    painted[~seen] = (1, 1, 1, 0)
    return painted


def annotate(axes, pairs, values, seen, painted):
    few = len(values) <= 6
    size = 11 if few else 7 if len(values) <= 12 else 5.8
    for (row, column), value in numpy.ndenumerate(values):
        if not seen[row, column]:
            continue
        text = pairs.text(value) if len(values) <= 12 else pairs.text(value).replace(" ", "")
        axes.text(column, row, text, ha="center", va="center", fontsize=size,
                  color=style.ink_on(painted[row, column]))


def rule(axes, ranks):
    edges = numpy.arange(0.5, ranks - 1)
    axes.set_xticks(edges, minor=True)
    axes.set_yticks(edges, minor=True)
    axes.grid(which="minor", color=style.RULE, linewidth=0.8 if ranks <= ANNOTATED_RANKS else 0.4)
    axes.tick_params(which="minor", length=0)


def meaning_of_colours(pairs, values, seen, norm):
    least = smallest_with_colours(values) if (values > 0).any() else 1
    below = f"; pale: less than {pairs.text(least)}" if (values[seen] < least).any() else ""
    scale = "logarithmic" if isinstance(norm, colors.LogNorm) else "linear"
    return f"{pairs.meaning}, {scale} scale{below}; white: {pairs.nothing}"


def add_scale(picture, axes, pairs, norm, label=""):
    """The colours beside the axes, as high as these, with a label that fits beside them."""
    bar = picture.colorbar(cm.ScalarMappable(norm, style.amounts()), cax=picture.add_axes((0.865, axes.get_position().y0, 0.025, axes.get_position().height)))
    bar.ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: pairs.text(value)))
    low, high = norm.vmin, norm.vmax
    if isinstance(norm, colors.LogNorm) and high / low < 100:  # too short for a tick at each power of ten
        bar.set_ticks(numpy.geomspace(low, high, 6))
    bar.ax.minorticks_off()
    bar.outline.set_edgecolor(style.FAINT)
    bar.set_label(label, color=style.FAINT, fontsize=9, labelpad=6)


@style.drawn
def draw_pairs(pairs, heading, details, linear=False):
    values, seen, step = pairs.cells()
    names = 1.35 if 1 < len(pairs.hosts) <= MOST_HOST_NAMES else 0.95  # inches above: a title, and names of hosts
    height = 6.85 + names
    picture = style.Picture(figsize=(8.4, height))
    axes = picture.add_axes((0.10, 0.63 / height, 6.22 / 8.4, 6.22 / height))
    norm = colour_scale(values, linear)
    painted = coloured(values, seen, norm)
    extent = (-0.5, len(values) * step - 0.5, len(values) * step - 0.5, -0.5)
    axes.imshow(painted, interpolation="nearest", extent=extent, aspect="equal", rasterized=True)
    axes.set_xlim(-0.5, pairs.ranks - 0.5)
    axes.set_ylim(pairs.ranks - 0.5, -0.5)
    describe_ranks(axes, pairs)
    mark_hosts(axes, pairs)
    if pairs.ranks <= ANNOTATED_RANKS:
        annotate(axes, pairs, values, seen, painted)
    if pairs.ranks <= RULED_RANKS:
        rule(axes, pairs.ranks)
    if seen.any():
        add_scale(picture, axes, pairs, norm, meaning_of_colours(pairs, values, seen, norm))
    else:
        axes.text(0.5, 0.5, pairs.nothing, transform=axes.transAxes, ha="center", color=style.FAINT)
    sharing = f"{step} × {step} ranks to a cell" if step > 1 else ""
    style.title(picture, heading, " · ".join(filter(None, [details, sharing])))
    return picture


def draw(profile, metric, linear=False):
    """Traffic: `metric` is "bytes" or "messages"."""
    unit = "B" if metric == "bytes" else ""
    total = style.shortened(getattr(profile, metric).sum(), unit) + ("" if metric == "bytes" else " messages")
    others = f"from {profile.world_size} on: processes of other worlds" if profile.ranks > profile.world_size else ""
    pairs = Pairs(profile.ranks, profile.source, profile.destination, getattr(profile, metric), profile.messages > 0,
                  lambda value: style.shortened(value, unit), meaning=metric, hosts=profile.host_runs(),
                  world_size=profile.world_size)
    return draw_pairs(pairs, f"{profile.name[:40]}: {metric} from rank to rank",
                      " · ".join(filter(None, [style.plural(profile.world_size, "rank"), total, str(profile.choice), others])),
                      linear)


def draw_waits(job, waits, ranks, linear=False):
    """Who waited for whom. `waits`: rank (that waited), culprit (that it waited for), seconds."""
    row, column = (numpy.asarray(waits[key], numpy.int64) for key in ("rank", "culprit"))
    seconds = numpy.asarray(waits["seconds"], float)
    known = (row >= 0) & (column >= 0) & (seconds > 0)
    row, column, seconds = row[known], column[known], seconds[known]
    side = max([ranks, *(row + 1), *(column + 1)])
    pairs = Pairs(side, row, column, seconds, numpy.ones(len(row), bool), lambda value: style.time(value * 1e9),
                  "rank that waited", "rank that it waited for", "time waited", "never waited")
    return draw_pairs(pairs, job.heading("who waited for whom"),
                      job.details(f"{style.time(seconds.sum() * 1e9)} of waiting, sum of all ranks" if len(row) else "no waits"),
                      linear)
