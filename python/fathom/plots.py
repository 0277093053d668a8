# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of a run as matplotlib Figures: figure.savefig("traffic.png"), or shown by a notebook.

The matrix, the histogram and the timeline are those of `fathom plot` (scripts/plots).
"""
import os
import sys

import numpy
from matplotlib import figure, ticker


def _shared():
    """scripts/plots, beside the package or where it was installed."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("../../scripts", "../../../../share/fathom", "/usr/local/share/fathom", "/usr/share/fathom"):
        path = os.path.normpath(os.path.join(here, folder))
        if os.path.isdir(os.path.join(path, "plots")) and path not in sys.path:
            sys.path.append(path)
    from plots import matrix, sizes, style
    from plots.profile import Choice, Profile, shortened
    return matrix, sizes, style, Choice, Profile, shortened


def _profile(run, Profile, Choice, class_name=None, hidden=None):
    """The run as the pictures know it."""
    table = run.traffic
    blocks = [{"class": name, "hidden": bool(own), "source": rows["source"], "destination": rows["destination"],
               "bytes": rows["bytes"], "messages": rows["messages"]}
              for (name, own), rows in table.groupby(["class", "hidden"], observed=True)]
    document = {"application": {"executable": run.application, "seconds": run.seconds},
                "world_size": run.header["world_size"], "traffic": blocks,
                "ranks": [{"rank": rank, "host": host} for rank, host in run.header["hosts"].items()],
                "message_sizes": run.sizes_by_class()}
    return Profile(document, Choice(class_name, hidden is True, hidden is False))


def comm_matrix(run, output="size", linear=False, class_name=None, hidden=None):
    matrix, _, _, Choice, Profile, _ = _shared()
    return matrix.draw(_profile(run, Profile, Choice, class_name, hidden), "messages" if output == "count" else "bytes", linear)


def message_histogram(run, class_name=None, hidden=None):
    _, sizes, _, Choice, Profile, _ = _shared()
    return sizes.draw(_profile(run, Profile, Choice, class_name, hidden))


def _axes(style, run, what, xlabel, ylabel, legend=True):
    picture = figure.Figure(figsize=(9.6, 5.6))
    axes = picture.add_axes((0.115, 0.13, 0.68 if legend else 0.86, 0.69))
    name = "".join(c if c.isprintable() else "?" for c in os.path.basename(run.application))
    style.title(picture, f"{name[:40] or 'unnamed program'}: {what}", style.plural(run.ranks, "rank"))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    return picture, axes


_UNITS = (("seconds", "s", 1e9), ("milliseconds", "ms", 1e6), ("microseconds", "µs", 1e3), ("nanoseconds", "ns", 1))


def _unit(ns):
    """Name, sign and size in ns of the largest unit of which there is one at least."""
    return next((unit for unit in _UNITS if ns >= unit[2]), _UNITS[-1])


def _each(edges):
    """"in each 5.82 ms", of equal bins."""
    width = edges[1] - edges[0]
    _, sign, size = _unit(width)
    return f"in each {width / size:.3g} {sign}"


def _legend(axes):
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)


def time_profile(run, num_bins=50, normalized=True):
    """Where time goes: the functions with most exclusive time, by bin; the rest is outside every call."""
    style = _shared()[2]
    table = run.time_profile(num_bins, normalized)
    functions = table.drop(columns=["bin_start", "bin_end", "idle_time"])
    ordered = functions[functions.sum().sort_values(ascending=False).index]
    shown = ordered.iloc[:, :len(style.CATEGORIES) - 1].copy()
    if ordered.shape[1] > shown.shape[1]:
        shown["other functions"] = ordered.iloc[:, shown.shape[1]:].sum(axis=1)
    edges = numpy.append(table["bin_start"], table["bin_end"].iloc[-1])
    unit, _, size = _unit(edges[-1] - edges[0])
    picture, axes = _axes(style, run, "time in calls", unit,
                          "share of all ranks' time" if normalized else f"seconds of all ranks {_each(edges)}")
    heights = shown.T.to_numpy() * (1 if normalized else 1e-9)
    axes.stackplot(edges / size, numpy.hstack([heights, heights[:, -1:]]), labels=list(shown.columns),
                   colors=style.CATEGORIES, step="post")  # the last step ends at the last edge
    axes.set_ylim(bottom=0)
    _legend(axes)
    return picture


def comm_over_time(run, output="size", bins=50):
    _, _, style, _, _, shortened = _shared()
    values, edges = run.comm_over_time(output, bins=bins)
    unit, _, size = _unit(edges[-1] - edges[0])
    of = ("bytes", "B") if output == "size" else ("messages", "")
    picture, axes = _axes(style, run, f"{of[0]} sent over time", unit, f"{of[0]} {_each(edges)}", legend=False)
    axes.stairs(values, edges / size, fill=True, color=style.CATEGORIES[0])
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: shortened(value, of[1])))
    axes.set_ylim(bottom=0)
    return picture


def timeline(run, start=None, end=None):
    """Calls of each rank as bars, messages as arrows: of this window, or of some messages from the middle of the run on."""
    from fathom.filters import nanoseconds
    _shared()
    from plots import timeline as charts
    if start is None and end is None:
        first, last = _window_of_messages(run, charts.MESSAGE_EVENTS // 2)
    else:
        first, last = nanoseconds(start or 0), run.processes()["last_ns"].max() + 1 if end is None else nanoseconds(end)
    if first >= last:
        raise ValueError(f"the window from {start} to {end} is empty")
    part = run.slice(first, last)
    name = os.path.basename(run.application) or "unnamed program"
    chart = charts.Timeline((), first, last, [rank for rank in part.processes().index if rank < charts.MOST_LANES], name)
    calls = part.calls()
    calls = calls[(calls["depth"] == 0) & calls["Process"].isin(chart.ranks)]
    chart.bars = list(zip(calls["Process"], calls["start_ns"], calls["end_ns"], calls["Name"]))
    sent = part.messages(hidden=True)
    sent = sent[(sent["send_entered_ns"] >= first) & sent["sender"].isin(chart.ranks) & sent["receiver"].isin(chart.ranks)]
    chart.arrows = list(zip(*(sent[column] for column in ("sender", "send_entered_ns", "receiver", "received_ns", "hidden"))))
    return charts.draw(chart)


def _window_of_messages(run, most):
    moments = run.messages(hidden=True)["received_ns"].sort_values()
    last = int(run.processes()["last_ns"].max())
    chosen = moments[moments >= last // 2][:most] if (moments >= last // 2).any() else moments[:most]
    return (int(chosen.iloc[0]), int(chosen.iloc[-1]) + 1) if len(chosen) else (0, last + 1)


_MOST_BARS = 64


def idle_time(run):
    """Each rank's time: computing, waiting for others, and the rest in MPI."""
    style = _shared()[2]
    table = run.analysis("idle-time")["idle_time"]
    picture, axes = _axes(style, run, "time of each rank", "rank", "seconds")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    waiting = table["waiting_seconds"]
    parts = (("computing", table["program_seconds"], style.CATEGORIES[0]), ("waiting for others", waiting, style.CATEGORIES[5]),
             ("in MPI otherwise", (table["mpi_seconds"] - waiting).clip(lower=0), style.CATEGORIES[4]))
    bottom = numpy.zeros(len(table))
    few = len(table) <= _MOST_BARS
    edges = numpy.append(table["rank"] - 0.5, table["rank"].iloc[-1] + 0.5) if len(table) else [0, 1]
    for label, values, color in parts:
        if few:
            axes.bar(table["rank"], values, bottom=bottom, width=0.86, color=color, label=label)
        else:  # without gaps: thousands of ranks can be told apart from afar only
            axes.stairs(bottom + values.to_numpy(), edges, baseline=bottom, fill=True, color=color, label=label)
        bottom = bottom + values.to_numpy()
    _legend(axes)
    return picture
