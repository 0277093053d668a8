# SPDX-License-Identifier: BSD-3-Clause
"""Colours and type shared by the pictures. Safe for colour-blind readers and in greyscale.

Figures are made without pyplot: no display is needed, and no backend of the caller changed.
"""
import io

import matplotlib
from matplotlib import colors, figure
from matplotlib.backends.backend_agg import FigureCanvasAgg
import numpy

INK = "#222222"
FAINT = "#777777"
RULE = "#dddddd"     # lines between hosts and cells
NOTHING = "#ffffff"  # a pair that never talked

# Okabe & Ito, "Color Universal Design" (2008), without its yellow, which is faint on white.
CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")
PROGRAM, WAITING, IN_MPI = CATEGORIES[0], CATEGORIES[5], CATEGORIES[4]

_TYPE = {
    "font.family": "DejaVu Sans", "font.size": 10, "text.color": INK, "axes.labelcolor": INK,
    "axes.edgecolor": FAINT, "xtick.color": INK, "ytick.color": INK, "axes.linewidth": 0.8,
    "svg.fonttype": "none", "figure.facecolor": "white", "text.parse_math": False,
}


PROGRAM_NAME, PARTIAL_NAME = "(program)", "(program or missing)"  # of the row of time outside the recorded calls


def is_program(name):
    return name in (PROGRAM_NAME, PARTIAL_NAME)


def lacks_calls(names):
    """Whether rows of these names are of a trace that lacks calls, so that nobody knows the time outside MPI."""
    return PARTIAL_NAME in names


LEAST_SIZE = 8  # points: a title that would have to be smaller takes two lines


class Picture(figure.Figure):
    """A Figure that a notebook shows without a magic line: figures get their pictures in notebooks from pyplot's
    backends, and these are made without pyplot."""

    def draw(self, renderer):
        with matplotlib.rc_context(_TYPE):
            super().draw(renderer)

    def _repr_png_(self):
        written = io.BytesIO()
        self.savefig(written, format="png", dpi=110)
        return written.getvalue()


def drawn(draw):
    """Decorates a function that makes a picture: its text has our type, and the caller's settings stay as they are."""
    def make(*arguments, **options):
        with matplotlib.rc_context(_TYPE):
            return draw(*arguments, **options)
    make.__doc__, make.__name__ = draw.__doc__, draw.__name__
    return make


def amounts():
    """Light to dark. Begins well away from the white of pairs that never talked, and ends before black, so that the
    largest values still look coloured."""
    magma = matplotlib.colormaps["magma_r"](numpy.linspace(0.14, 0.80, 256))
    chosen = colors.ListedColormap(magma)
    chosen.set_bad((1, 1, 1, 0))  # lets the lines between hosts through
    return chosen


def ink_on(colour):
    """White or INK, whichever has more contrast with the colour (WCAG 2.1, relative luminance)."""
    def luminance(of):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colors.to_rgb(of)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    def contrast(text):
        lighter, darker = sorted((luminance(text), luminance(colour)), reverse=True)
        return (lighter + 0.05) / (darker + 0.05)
    return max(("white", INK), key=contrast)


def plural(count, noun):
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def printable(name):
    return "".join(c if c.isprintable() else "?" for c in name)


def title(picture, heading, details, more=""):
    """Left-aligned above everything, in inches from the top so that it fits any height. Lines that are too long become
    smaller, not shorter. `more`: a third line, for which 1.3 inches must be free instead of 1."""
    height = picture.get_figheight()
    for inches, text, options in ((0.32, heading, {"fontsize": 14, "fontweight": "bold"}),
                                  (0.62, details, {"fontsize": 10, "color": FAINT}),
                                  (0.88, more, {"fontsize": 10, "color": INK})):
        if not text:
            continue
        if "; " in text and width_of(picture, [text], LEAST_SIZE) > 0.96 * picture.get_figwidth():
            text, inches = text.replace("; ", ";\n", 1), inches + 0.08
        fit(picture, picture.text(0.02, 1 - inches / height, text, va="center", gid="title", **options), 0.98)


def fit(picture, text, right):
    """Makes a text small enough to end at `right`, in parts of the picture's width."""
    box = text.get_window_extent(FigureCanvasAgg(picture).get_renderer())
    room = right * picture.get_figwidth() * picture.dpi - box.x0
    if box.width > room > 0:
        text.set_fontsize(text.get_fontsize() * room / box.width)


def width_of(picture, texts, fontsize):
    """Of the widest of these texts, in inches."""
    renderer = FigureCanvasAgg(picture).get_renderer()
    widths = []
    for each in texts:
        text = picture.text(0, 0, each, fontsize=fontsize)
        widths.append(text.get_window_extent(renderer).width / picture.dpi)
        text.remove()
    return max(widths, default=0)


def plain(axes):
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.set_axisbelow(True)
    axes.tick_params(length=3)


def legend_beside(axes, **options):
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9, **options)


def say_nothing_there(axes, why):
    axes.set(xlim=(0, 1), ylim=(0, 1), xticks=[], yticks=[])
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color=FAINT)


# ---- units ----

_TIMES = ((1e9, "s", "seconds"), (1e6, "ms", "milliseconds"), (1e3, "µs", "microseconds"), (1, "ns", "nanoseconds"))


def time_unit(ns):
    """Size in ns, sign and name of the largest unit of which there is one at least."""
    return next((unit for unit in _TIMES if ns >= unit[0]), _TIMES[-1])


def percent(share):
    """"61 %", "0.6 %"."""
    return f"{100 * share:.0f} %" if share >= 0.095 else f"{100 * share:.1f} %"


def time(ns):
    """"12.3 ms"."""
    size, sign, _ = time_unit(ns)
    return f"{shortened(ns / size)} {sign}"


def seconds(value):
    """"12.3 µs", "1.50 ms", "215 s": three digits; "0" for 0."""
    if value == 0:
        return "0"
    size, sign, _ = time_unit(value * 1e9 * (1 + 5e-4))  # 999.6 µs are 1.00 ms
    amount = value * 1e9 / size
    return f"{amount:.{0 if amount >= 99.95 else 1 if amount >= 9.995 else 2}f} {sign}"


def shortened(value, unit=""):
    """12.3 M, 1.50 GB: three digits, powers of 1000."""
    for prefix in ("", "k", "M", "G", "T", "P", "E"):
        if value < 999.5 or prefix == "E":
            break
        value /= 1000
    digits = 0 if (prefix == "" and value == int(value)) or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {prefix}{unit}".rstrip()


def count_ticks(positions, most):
    """Every how many of them has a label, so that at most `most` have: powers of two, as ranks mostly come."""
    distance = 1
    while positions / distance > most:
        distance *= 2
    return distance
