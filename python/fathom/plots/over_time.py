# SPDX-License-Identifier: BSD-3-Clause
"""The job over time, all ranks together: time in the MPI functions, and what was sent."""
import numpy
from matplotlib import ticker

from . import style

LEAST_SHARE = 0.0005  # of all ranks' time; less cannot be seen


def _axes(job, what, right):
    picture = style.Picture(figsize=(9.6, 5.2))
    axes = picture.add_axes((0.115, 0.115, right - 0.115, 0.70))
    style.title(picture, job.heading(what), job.details())
    style.plain(axes)
    return picture, axes


def _time_axis(axes, edges_ns):
    """Time since the run began. Returns the edges in its unit."""
    size, _, name = style.time_unit(edges_ns[-1])
    axes.set_xlim(edges_ns[0] / size, edges_ns[-1] / size)
    axes.set_xlabel(f"{name} since the run began")
    return numpy.asarray(edges_ns) / size


@style.drawn
def draw_time_profile(job, edges_ns, by_function, ranks, normalized=True):
    """Where time goes: the functions with most time, by bin; the rest is the program's own work.

    `by_function`: ns of all `ranks` ranks in each bin.
    """
    ordered = sorted(((name, numpy.asarray(values, float)) for name, values in by_function.items() if not style.is_program(name)),
                     key=lambda entry: -entry[1].sum())
    ranks_ns = numpy.diff(edges_ns) * ranks
    ordered = [entry for entry in ordered if entry[1].sum() > LEAST_SHARE * ranks_ns.sum()]
    most = len(style.CATEGORIES) - 1
    if len(ordered) > most + 1:
        ordered = ordered[:most] + [(f"{len(ordered) - most} other functions", sum(values for _, values in ordered[most:]))]
    picture, axes = _axes(job, "MPI calls over time", 0.76)
    edges = _time_axis(axes, edges_ns)
    if normalized:
        white = "the program's own work" + (", and calls that the trace lacks" if style.lacks_calls(by_function) else "")
        scale, label = 100 / numpy.maximum(ranks_ns, 1), f"% of all ranks' time; white: {white}"
    else:
        size, sign, _ = style.time_unit(max(sum((values for _, values in ordered), numpy.zeros(1)).max(), 1))
        scale, label = 1 / size, f"{sign} of all ranks in each {style.time(edges_ns[1] - edges_ns[0])}"
    axes.set_ylabel(label)
    bottom = numpy.zeros(len(edges) - 1)
    for color, (name, values) in zip(style.CATEGORIES, ordered):
        axes.stairs(bottom + values * scale, edges, baseline=bottom, fill=True, color=color, label=name)
        bottom = bottom + values * scale
    if normalized:
        axes.set_ylim(0, max(100, bottom.max()))  # threads may sum to more
    else:
        axes.set_ylim(bottom=0)
    if ordered:
        handles, labels = axes.get_legend_handles_labels()
        axes.legend(handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
    else:
        style.say_nothing_there(axes, "no MPI calls")
    return picture


@style.drawn
def draw_communication(job, edges_ns, values, output):
    """Bytes ("size") or messages ("count") sent in each bin of time."""
    word, unit = ("bytes", "B") if output == "size" else ("messages", "")
    picture, axes = _axes(job, f"{word} sent over time", 0.975)
    edges = _time_axis(axes, edges_ns)
    axes.stairs(values, edges, fill=True, color=style.CATEGORIES[0])
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: style.shortened(value, unit)))
    axes.set_ylabel(f"{word} in each {style.time(edges_ns[1] - edges_ns[0])}")
    axes.set_ylim(bottom=0)
    axes.yaxis.grid(True, color=style.RULE, linewidth=0.6)
    return picture


def of_analysis(table, ranks):
    """(edges_ns, by_function, ranks) of the analysis "time-profile"'s table."""
    begin, end = (numpy.asarray(table[name], float) * 1e9 for name in ("bin_start_s", "bin_end_s"))
    edges = numpy.append(begin, end[-1])
    functions = {name: numpy.asarray(table[name], float) * 1e9 for name in table if name not in ("bin_start_s", "bin_end_s")}
    return edges, functions, ranks
