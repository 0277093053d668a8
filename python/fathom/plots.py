"""Pictures of a run as matplotlib Figures: figure.savefig("traffic.png"), or shown by a notebook.

The matrix and the histogram are those of `fathom plot` (scripts/plots).
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
    from plots.profile import Choice, Profile
    return matrix, sizes, style, Choice, Profile


def _profile(run, Profile, Choice, class_name=None, hidden=None):
    """The run as the pictures know it."""
    table = run.traffic
    blocks = [{"class": name, "hidden": bool(own), "source": rows["source"], "destination": rows["destination"],
               "bytes": rows["bytes"], "messages": rows["messages"]}
              for (name, own), rows in table.groupby(["class", "hidden"], observed=True)]
    document = {"application": {"executable": run.application, "seconds": run.seconds},
                "world_size": run.header["world_size"], "traffic": blocks,
                "ranks": [{"rank": rank, "host": host} for rank, host in run.header["hosts"].items()],
                "message_sizes": run._core.message_sizes()}
    return Profile(document, Choice(class_name, hidden is True, hidden is False))


def comm_matrix(run, output="size", linear=False, class_name=None, hidden=None):
    matrix, _, _, Choice, Profile = _shared()
    return matrix.draw(_profile(run, Profile, Choice, class_name, hidden), "messages" if output == "count" else "bytes", linear)


def message_histogram(run, class_name=None, hidden=None):
    _, sizes, _, Choice, Profile = _shared()
    return sizes.draw(_profile(run, Profile, Choice, class_name, hidden))


def _axes(style, run, what, label):
    picture = figure.Figure(figsize=(9.6, 5.6))
    axes = picture.add_axes((0.085, 0.13, 0.72, 0.69))
    style.title(picture, f"{os.path.basename(run.application) or 'unnamed program'}: {what}", f"{run.ranks:,} ranks")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_xlabel("seconds")
    axes.set_ylabel(label)
    return picture, axes


def time_profile(run, num_bins=50, normalized=True):
    """Where time goes: the functions with most exclusive time, by bin; the rest is outside every call."""
    style = _shared()[2]
    table = run.time_profile(num_bins, normalized)
    functions = table.drop(columns=["bin_start", "bin_end", "idle_time"])
    ordered = functions[functions.sum().sort_values(ascending=False).index]
    shown = ordered.iloc[:, :len(style.CATEGORIES) - 1].copy()
    if ordered.shape[1] > shown.shape[1]:
        shown["other functions"] = ordered.iloc[:, shown.shape[1]:].sum(axis=1)
    picture, axes = _axes(style, run, "time in MPI", "share of all ranks' time" if normalized else "ns of all ranks")
    axes.stackplot(table["bin_start"] / 1e9, shown.T.to_numpy(), labels=list(shown.columns), colors=style.CATEGORIES, step="post")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    return picture


def comm_over_time(run, output="size", bins=50):
    style = _shared()[2]
    picture, axes = _axes(style, run, "communication over time", "bytes" if output == "size" else "messages")
    values, edges = run.comm_over_time(output, bins=bins)
    axes.stairs(values, edges / 1e9, fill=True, color=style.CATEGORIES[0])
    return picture


def idle_time(run):
    """Each rank's time: computing, waiting for others, and the rest in MPI."""
    style = _shared()[2]
    table = run.analysis("idle-time")["idle_time"]
    picture, axes = _axes(style, run, "time of each rank", "seconds")
    axes.set_xlabel("rank")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))
    waiting = table["waiting_seconds"]
    parts = (("computing", table["program_seconds"], style.CATEGORIES[0]), ("waiting for others", waiting, style.CATEGORIES[5]),
             ("in MPI otherwise", (table["mpi_seconds"] - waiting).clip(lower=0), style.CATEGORIES[4]))
    bottom = numpy.zeros(len(table))
    # Bars of one width without gaps: thousands of ranks can be told apart from afar only.
    edges = numpy.append(table["rank"] - 0.5, table["rank"].iloc[-1] + 0.5) if len(table) else [0, 1]
    for label, values, color in parts:
        axes.stairs(bottom + values.to_numpy(), edges, baseline=bottom, fill=True, color=color, label=label)
        bottom = bottom + values.to_numpy()
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9)
    return picture
