# SPDX-License-Identifier: BSD-3-Clause
"""The histogram of message sizes, in powers of two, by class: how many messages, and how many bytes."""
import numpy
from matplotlib import ticker

from . import style
from .profile import BadProfile

BINS = 65  # bin 0: empty messages; bin b: 2^(b-1) to 2^b - 1 bytes


def bin_of(size):
    return int(size).bit_length()


def histogram(profile):
    """(label, messages by bin, bytes by bin) of each class, the most messages first; small ones put together.

    Where a profile has only the bin of a size, its messages count with the middle of the bin, as in the analysis
    "histograms".
    """
    counts = {}
    try:
        for entry in profile.sizes:
            label = str(entry["class"]) + (" (hidden)" if entry.get("hidden") else "")
            messages, volume = counts.setdefault(label, (numpy.zeros(BINS), numpy.zeros(BINS)))
            for sizes, numbers, middle in (("size", "messages", 1), ("bin_low", "bin_messages", 1.5)):
                for size, count in zip(entry.get(sizes, []), entry.get(numbers, []), strict=True):
                    messages[bin_of(size)] += count
                    volume[bin_of(size)] += count * size * middle
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise BadProfile(f"message_sizes is damaged: {error}; 'fathom report' tells where") from None
    ordered = sorted(counts.items(), key=lambda item: -item[1][0].sum())
    ordered = [(label, *both) for label, both in ordered if both[0].sum() > 0]
    most = len(style.CATEGORIES)
    if len(ordered) > most:
        rest = ordered[most - 1:]
        ordered = ordered[:most - 1] + [(f"{len(rest)} other classes", sum(of[1] for of in rest), sum(of[2] for of in rest))]
    return ordered


def edge(size):
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"):
        if size < 1024 or unit == "EiB":
            return f"{size} {unit}"
        size //= 1024


def unknown(profile, total):
    """A killed receiver leaves no sizes."""
    missing = profile.messages.sum() - total.sum()
    return f"sizes of {style.shortened(missing)} more not known" if missing > 0 and total.any() else ""


def draw_bars(axes, series, places, unit):
    """Stacked by class, with the sum on top."""
    bottom = numpy.zeros(len(places))
    for colour, (label, heights) in zip(style.CATEGORIES, series):
        axes.bar(places, heights[places], bottom=bottom, width=0.86, color=colour, label=label)
        bottom += heights[places]
    crowded = len(places) >= 14  # figures would run into each other
    for place, height in zip(places, bottom):
        if height > 0:
            axes.annotate(style.shortened(height, unit), (place, height), xytext=(0, 3), ha="center", va="bottom",
                          rotation=90 if crowded else 0, textcoords="offset points", fontsize=7 if crowded else 8)
    axes.set_ylim(0, max(bottom.max(), 1) * (1.25 if crowded else 1.15))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: style.shortened(value, unit)))
    axes.yaxis.grid(True, color="#e5e5e5", linewidth=0.8)


@style.drawn
def draw(profile):
    series = histogram(profile)
    picture = style.Picture(figsize=(9.6, 7.4))
    above = picture.add_axes((0.095, 0.53, 0.66, 0.345))
    below = picture.add_axes((0.095, 0.125, 0.66, 0.345))
    total = sum((messages for _, messages, _ in series), numpy.zeros(BINS))
    volume = sum((of_class for _, _, of_class in series), numpy.zeros(BINS)).sum()
    style.title(picture, f"{profile.name[:40]}: message sizes",
                " · ".join(filter(None, [style.plural(profile.world_size, "rank"),
                                         f"{style.shortened(total.sum())} messages", style.shortened(volume, "B"),
                                         unknown(profile, total), str(profile.choice)])))
    for axes, label in ((above, "messages"), (below, "bytes")):
        style.plain(axes)
        axes.set_ylabel(label)
    used = numpy.nonzero(total)[0]
    if not len(used):
        for axes in (above, below):
            style.say_nothing_there(axes, "no messages")
        return picture
    first, last = used[0], used[-1]
    places = numpy.arange(first, last + 1)
    draw_bars(above, [(label, messages) for label, messages, _ in series], places, "")
    draw_bars(below, [(label, of_class) for label, _, of_class in series], places, "B")
    for axes in (above, below):
        axes.set_xlim(first - 0.7, max(last, first + 5) + 0.7)
    above.set_xticks(places, [])
    many = len(places) > 8
    below.set_xticks(places, [edge(0 if b == 0 else 1 << (b - 1)) for b in map(int, places)],
                     rotation=45 if many else 0, ha="right" if many else "center", fontsize=9)
    below.set_xlabel("message size: from this on, below the next (KiB = 1024 B)")
    style.legend_beside(above)
    return picture
