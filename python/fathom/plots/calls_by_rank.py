# SPDX-License-Identifier: BSD-3-Clause
"""The time of each rank in each MPI function, as a grid: which calls cost which ranks more than others."""
import collections
import dataclasses

import numpy

from . import bars, matrix, style

ANNOTATED_RANKS = 12   # up to this many, each cell says its value


@dataclasses.dataclass
class Cells:
    """What the colours mean."""
    text: object = staticmethod(lambda value: style.time(value * 1e9))
    meaning: str = "colours: time of a rank in such calls"
    nothing: str = "none"


def rows_of(table):
    """[(function, {rank: seconds})], that with most time first; the last may be the sum of all others."""
    functions = {}
    for rank, name, seconds in zip(table["rank"], table["name"], table["exclusive_seconds"]):
        if not style.is_program(name):
            functions.setdefault(name, collections.Counter())[int(rank)] += seconds
    sums = [(name, sum(of_rank.values())) for name, of_rank in functions.items()]
    shown, others = bars.with_most_time(sums, bars.LEAST_SHARE * sum(seconds for _, seconds in sums))
    rows = [(name, functions[name]) for name, _ in shown]
    if others:
        together = collections.Counter()
        for name, _ in others:
            together.update(functions[name])
        rows.append((f"{len(others)} other functions", together))
    return rows


def grid(rows, ranks):
    """Seconds, which cells to colour, and how many ranks share a cell, which then has their mean."""
    step = -(-ranks // matrix.MOST_CELLS)
    values = numpy.zeros((len(rows), -(-ranks // step)))
    seen = numpy.zeros(values.shape, bool)
    for number, (_, of_rank) in enumerate(rows):
        for rank, seconds in of_rank.items():
            values[number, rank // step] += seconds
            seen[number, rank // step] = True
    sharing = numpy.bincount(numpy.arange(ranks) // step)
    return values / sharing, seen, step


@style.drawn
def draw(job, table, linear=False):
    """`table`: rank, name (an MPI function; "(program)" is left out), exclusive_seconds; pairs may come several times."""
    rows = rows_of(table)
    ranks = max([job.ranks, *(rank + 1 for _, of_rank in rows for rank in of_rank)])
    height = 2.3 + 0.34 * max(len(rows), 3)
    picture = style.Picture(figsize=(9.6, height))
    axes = picture.add_axes((0.22, 0.62 / height, 0.61, 1 - 1.95 / height))
    if not rows:
        style.title(picture, job.heading("time in MPI calls, by rank"), job.details())
        style.plain(axes)
        style.say_nothing_there(axes, "no time in MPI calls")
        return picture
    values, seen, step = grid(rows, ranks)
    norm = matrix.colour_scale(values, linear)
    painted = matrix.coloured(values, seen, norm)
    axes.imshow(painted, interpolation="nearest", extent=(-0.5, values.shape[1] * step - 0.5, len(rows) - 0.5, -0.5),
                aspect="auto", rasterized=True)
    axes.set_xlim(-0.5, ranks - 0.5)
    axes.set_yticks(numpy.arange(len(rows)), [name for name, _ in rows], fontsize=9)
    places = numpy.arange(0, ranks, 1 if ranks <= 24 else style.count_ticks(ranks, 16))
    axes.set_xticks(places, [str(place) for place in places])
    axes.set_xlabel("rank")
    axes.tick_params(length=3)
    if ranks <= ANNOTATED_RANKS:
        for (row, column), value in numpy.ndenumerate(values):
            if seen[row, column]:
                axes.text(column, row, Cells.text(value), ha="center", va="center", fontsize=8.5 if ranks <= 8 else 6,
                          color=style.ink_on(painted[row, column]))
    if ranks <= matrix.RULED_RANKS:
        axes.set_xticks(numpy.arange(0.5, ranks - 1), minor=True)
        axes.set_yticks(numpy.arange(0.5, len(rows) - 1), minor=True)
        axes.grid(which="minor", color=style.RULE, linewidth=0.6)
        axes.tick_params(which="minor", length=0)
    matrix.add_scale(picture, axes, Cells(), norm)
    sharing = f"mean of {step} ranks in a cell" if step > 1 else ""
    style.title(picture, job.heading("time in MPI calls, by rank"), job.details(sharing),
                matrix.meaning_of_colours(Cells(), values, seen, norm))
    return picture
