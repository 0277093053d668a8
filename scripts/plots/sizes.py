# SPDX-License-Identifier: BSD-3-Clause
"""The histogram of message sizes, in powers of two, by class."""
from plots import style

import numpy
from matplotlib import figure, ticker

from plots.profile import BadProfile, shortened

BINS = 65  # bin 0: empty messages; bin b: 2^(b-1) to 2^b - 1 bytes


def bin_of(size):
    return int(size).bit_length()


def histogram(profile):
    """(label, counts by bin) of each class, the most messages first; small ones put together."""
    counts = {}
    try:
        for entry in profile.sizes:
            label = str(entry["class"]) + (" (hidden)" if entry.get("hidden") else "")
            bins = counts.setdefault(label, numpy.zeros(BINS))
            for sizes, messages in (("size", "messages"), ("bin_low", "bin_messages")):
                for size, count in zip(entry.get(sizes, []), entry.get(messages, []), strict=True):
                    bins[bin_of(size)] += count
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadProfile(f"message_sizes is damaged: {error}; 'fathom report' tells where") from None
    ordered = sorted(counts.items(), key=lambda item: -item[1].sum())
    ordered = [item for item in ordered if item[1].sum() > 0]
    most = len(style.CATEGORIES)
    if len(ordered) > most:
        others = sum(bins for _, bins in ordered[most - 1:])
        ordered = ordered[:most - 1] + [(f"{len(ordered) - most + 1} other classes", others)]
    return ordered


def edge(size):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if size < 1024 or unit == "EiB":
            return f"{size} {unit}"
        size //= 1024


def unknown(profile, total):
    """A killed receiver leaves no sizes."""
    missing = profile.messages.sum() - total.sum()
    return f"sizes of {shortened(missing)} more not known" if missing > 0 and total.any() else ""


def draw(profile):
    series = histogram(profile)
    picture = figure.Figure(figsize=(9.6, 5.6))
    axes = picture.add_axes((0.085, 0.17, 0.89, 0.65))
    total = sum((bins for _, bins in series), numpy.zeros(BINS))
    style.title(picture, f"{profile.name[:40]}: message sizes",
                " · ".join(filter(None, [style.plural(profile.world_size, "rank"),
                                         f"{shortened(total.sum())} messages", unknown(profile, total),
                                         str(profile.choice)])))
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_ylabel("messages")
    axes.set_xlabel("message size: from this on, below the next (KiB = 1024 B)")
    used = numpy.nonzero(total)[0]
    if not len(used):
        axes.text(0.5, 0.5, "no messages", transform=axes.transAxes, ha="center", color=style.FAINT)
        axes.set_xticks([])
        axes.set_yticks([])
        return picture
    first, last = used[0], used[-1]
    places = numpy.arange(first, last + 1)
    bottom = numpy.zeros(len(places))
    for colour, (label, bins) in zip(style.CATEGORIES, series):
        axes.bar(places, bins[first:last + 1], bottom=bottom, width=0.86, color=colour, label=label)
        bottom += bins[first:last + 1]
    for place, height in zip(places, bottom):
        if height > 0:
            axes.annotate(shortened(height), (place, height), xytext=(0, 3), ha="center",
                          textcoords="offset points", fontsize=8 if len(places) < 20 else 6.5)
    axes.set_xticks(places, [edge(0 if b == 0 else 1 << (b - 1)) for b in map(int, places)],
                    rotation=45 if len(places) > 8 else 0, ha="right" if len(places) > 8 else "center",
                    fontsize=9)
    axes.set_ylim(0, bottom.max() * 1.12)
    axes.set_xlim(first - 0.7, max(last, first + 5) + 0.7)
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: shortened(v)))
    axes.yaxis.grid(True, color="#e5e5e5", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(length=3)
    axes.legend(frameon=False, fontsize=9, loc="best")
    return picture
