# SPDX-License-Identifier: BSD-3-Clause
"""Bars: the time in each MPI function, and how each rank's time is divided."""
import numpy
from matplotlib import ticker

from . import style

MOST_FUNCTIONS = 14
LEAST_SHARE = 0.0005  # of all ranks' time; less would be a bar of no length
MOST_BARS = 64  # of ranks; more are drawn without gaps, because single ones cannot be told apart


def waits_by_function(waits):
    """Seconds of waiting by function, from a table of waits."""
    sums = {}
    for function, seconds in zip(waits["function"], waits["seconds"]):
        sums[function] = sums.get(function, 0.0) + seconds
    return sums


def with_most_time(rows, least):
    """(rows of their own, the others that share one). `rows`: (name, seconds, …); `least`: seconds that can be seen."""
    rows = sorted((row for row in rows if row[1] > 0), key=lambda row: -row[1])
    shown = [row for row in rows if row[1] >= least]
    if len(shown) > MOST_FUNCTIONS:
        shown = shown[:MOST_FUNCTIONS - 1]
    others = rows[len(shown):]
    return shown, others if sum(row[1] for row in others) >= least else []


@style.drawn
def draw_calls(job, calls, waits=None):
    """The MPI functions with most time, of all ranks together; within it what `waits` (function, seconds) says was
    waiting for other ranks. `calls`: name, exclusive_seconds, count; "(program)" is the rest. Where calls are missing
    ("(program or missing)") no shares are given."""
    rows = [row for row in zip(calls["name"], calls["exclusive_seconds"], calls["count"])]
    program = sum(seconds for name, seconds, _ in rows if style.is_program(name))
    partial = style.lacks_calls(name for name, _, _ in rows)
    rows = [row for row in rows if not style.is_program(row[0])]
    inside = sum(seconds for _, seconds, _ in rows)
    shown, others = with_most_time(rows, LEAST_SHARE * (inside + program))
    waiting = waits_by_function(waits) if waits is not None else {}
    if others:
        label = f"{len(others)} other functions"
        waiting[label] = sum(waiting.get(row[0], 0.0) for row in others)
        shown.append((label, sum(row[1] for row in others), sum(row[2] for row in others)))
    picture = style.Picture(figsize=(9.6, 1.7 + 0.3 * max(len(shown), 3)))
    height = picture.get_figheight()
    axes = picture.add_axes((0.22, 0.58 / height, 0.50, 1 - 1.6 / height))
    share = f"{style.percent(inside / (inside + program))} of the ranks' time is inside MPI" if inside + program > 0 and not partial else ""
    style.title(picture, job.heading("time in MPI calls"), job.details(share))
    style.plain(axes)
    if not shown:
        style.say_nothing_there(axes, "no time in MPI calls")
        return picture
    size, _, unit = style.time_unit(shown[0][1] * 1e9)
    places = numpy.arange(len(shown))
    of_waiting = numpy.array([min(waiting.get(name, 0.0), seconds) for name, seconds, _ in shown]) * 1e9 / size
    whole = numpy.array([seconds for _, seconds, _ in shown]) * 1e9 / size
    if waits is not None:
        axes.barh(places, of_waiting, height=0.72, color=style.WAITING, label="waiting for other ranks")
    axes.barh(places, whole - of_waiting, left=of_waiting, height=0.72, color=style.IN_MPI,
              label="otherwise in MPI" if waits is not None else None)
    for place, (name, seconds, count) in enumerate(shown):
        part = "" if partial else f"{style.percent(seconds / (inside + program))} · "
        axes.annotate(f"{part}{style.plural(int(count), 'call')}", (whole[place], place), xytext=(5, 0),
                      textcoords="offset points", va="center", fontsize=8.5, color=style.FAINT)
    axes.set_yticks(places, [name for name, _, _ in shown], fontsize=9)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, whole[0] * 1.02)
    axes.set_xlabel(f"{unit}, sum of all ranks; the shares are of all ranks' time")
    axes.xaxis.grid(True, color=style.RULE, linewidth=0.6)
    if waits is not None:
        axes.legend(loc="lower right", bbox_to_anchor=(1.52, 0.0), frameon=False, fontsize=9)
    return picture


def stack(axes, ranks, parts, what):
    """Bars of each rank, one part on the other: (label, values, color)."""
    bottom = numpy.zeros(len(ranks))
    edges = numpy.append(ranks - 0.5, ranks[-1] + 0.5)
    for label, values, color in parts:
        if len(ranks) <= MOST_BARS:
            axes.bar(ranks, values, bottom=bottom, width=0.86, color=color, label=label)
        else:
            axes.stairs(bottom + values, edges, baseline=bottom, fill=True, color=color, label=label)
        bottom = bottom + values
    axes.set_xlim(edges[0] - 0.2, edges[-1] + 0.2)
    axes.xaxis.set_major_locator(ticker.MultipleLocator(style.count_ticks(len(ranks), 16)))
    axes.set_xlabel("rank")
    axes.set_ylabel(what)
    axes.yaxis.grid(True, color=style.RULE, linewidth=0.6)


@style.drawn
def draw_ranks(job, idle):
    """Each rank's time: computing, waiting for others, and the rest in MPI. `idle`: rank, program_seconds,
    waiting_seconds (left out: not known), mpi_seconds."""
    ranks = numpy.asarray(idle["rank"])
    known = "waiting_seconds" in idle
    waiting = numpy.asarray(idle["waiting_seconds"], float) if known else numpy.zeros(len(ranks))
    parts = [("computing", numpy.asarray(idle["program_seconds"], float), style.PROGRAM),
             ("waiting for other ranks", waiting, style.WAITING),
             ("otherwise in MPI" if known else "in MPI",
              numpy.clip(numpy.asarray(idle["mpi_seconds"], float) - waiting, 0, None), style.IN_MPI)]
    if not known:
        del parts[1]
    picture = style.Picture(figsize=(9.6, 5.2))
    axes = picture.add_axes((0.085, 0.115, 0.69, 0.70))
    whole = sum(values.sum() for _, values, _ in parts)
    share = f"{style.percent(waiting.sum() / whole)} of the ranks' time is waiting" if known and whole > 0 else ""
    threads = "MPI calls of all threads" if whole > 1.001 * job.seconds * len(ranks) > 0 else ""
    style.title(picture, job.heading("time of each rank"), job.details(share, threads))
    style.plain(axes)
    if not len(ranks):
        style.say_nothing_there(axes, "no ranks")
        return picture
    size, _, unit = style.time_unit(sum(values for _, values, _ in parts).max() * 1e9)
    stack(axes, ranks, [(label, values * 1e9 / size, color) for label, values, color in parts], unit)
    style.legend_beside(axes)
    return picture


@style.drawn
def draw_path(job, path):
    """Which ranks the critical path runs through: its seconds on each, computing and in MPI calls. `path`: rank, name,
    seconds; the name "(program)" is computing."""
    rank = numpy.asarray(path["rank"], numpy.int64)
    seconds = numpy.asarray(path["seconds"], float)
    computing = numpy.asarray(path["name"], object) == "(program)"
    count = max([job.ranks, *(rank + 1)])
    whole = seconds.sum()
    picture = style.Picture(figsize=(9.6, 5.2))
    axes = picture.add_axes((0.085, 0.115, 0.69, 0.70))
    share = f"{style.percent(seconds[computing].sum() / whole)} of it is computing" if whole > 0 else ""
    style.title(picture, job.heading("the critical path"), job.details(share))
    style.plain(axes)
    if not whole > 0:
        style.say_nothing_there(axes, "no critical path")
        return picture
    parts = [(label, numpy.bincount(rank[chosen], weights=seconds[chosen], minlength=count), color)
             for label, chosen, color in (("computing", computing, style.PROGRAM), ("in MPI", ~computing, style.IN_MPI))]
    size, _, unit = style.time_unit(sum(values for _, values, _ in parts).max() * 1e9)
    stack(axes, numpy.arange(count), [(label, values * 1e9 / size, color) for label, values, color in parts],
          f"{unit} on the path")
    style.legend_beside(axes)
    return picture
